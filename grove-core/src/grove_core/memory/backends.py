"""Backends as they stand to a project, and what came from them: values of the library."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from attrs import frozen

from grove_core.memory.untrusted import cleaned, line_with_paths
from grove_core.model.learning import Learning
from grove_core.model.memory import Detection, Hit, Receipt, ReceiptStatus
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area, BackendSpec, MemoryBackend
from grove_core.plugins.facade import Provided
from grove_core.stats_cache.stamps import Stamp


@frozen(kw_only=True, eq=False, repr=False)
class BackendState(Value):
    """A memory backend and how it stands to a project.

    Attributes:
        provided: The specification, and the plugin that offers it.
        detection: What makes it available; ``None`` when nothing does.
        is_primary: Whether the project's learnings go there.
        why: The reason for the above, for people.
        has_failed: Whether it could not say what makes it available.
    """

    provided: Provided[BackendSpec]
    detection: Detection | None
    is_primary: bool
    why: str
    has_failed: bool = False

    @property
    def spec(self) -> BackendSpec:
        """The specification."""
        return self.provided.value

    @property
    def is_active(self) -> bool:
        """Whether it is searched."""
        return self.detection is not None and self.detection.usable


@frozen(kw_only=True, eq=False, repr=False)
class OpenBackend(Value):
    """A backend that is open.

    Attributes:
        state: How it stands to the project.
        area: Whose learnings it was opened for.
        backend: The backend itself.
    """

    state: BackendState
    area: Area
    backend: MemoryBackend


@frozen(kw_only=True, eq=False, repr=False)
class FoundLearning(Value):
    """A hit and where it came from.

    Attributes:
        hit: The hit, cleaned: what a backend returns is untrusted text.
        backend: Name of the backend.
        area: Whose learnings were searched.
    """

    hit: Hit
    backend: str
    area: Area


class Availability(NamedTuple):
    """Where to look, to see that the same backends are available.

    Attributes:
        used: Files and folders of the backends that are available.
        unused: Those of the others.
        unused_stamp: How the latter looked before the backends were asked.
    """

    used: Sequence[Path]
    unused: Sequence[Path]
    unused_stamp: Stamp


def judge(
    provided: Provided[BackendSpec],
    detection: Detection | None,
    *,
    is_primary: bool,
    has_failed: bool = False,
) -> BackendState:
    """Tell how a backend stands to a project.

    Args:
        provided: The specification, and the plugin that offers it.
        detection: What makes it available, if anything does.
        is_primary: Whether the project's learnings go there.
        has_failed: Whether it could not say what makes it available.

    Returns:
        The same, with the reason for people.
    """
    if detection is None:
        why = "not available in this project"
    elif not detection.usable:
        why = line_with_paths(detection.note) or "cannot be used here"
    else:
        note = detection.note or f"found {detection.marker}"
        why = line_with_paths(note)
    return BackendState(
        provided=provided,
        detection=detection,
        is_primary=is_primary,
        why=why,
        has_failed=has_failed,
    )


def availability(
    states: Sequence[BackendState], root: Path, looks: Mapping[str, Stamp]
) -> Availability | None:
    """Tell where to look.

    Args:
        states: The backends as they stand to the project.
        root: The project's root.
        looks: By backend, how its paths looked before it was asked.

    Returns:
        The places; ``None`` when a backend that is not available has none: what makes it available
        may be anything.
    """
    used = [root / path for one in states if one.is_active for path in one.spec.paths]
    others = [one for one in states if not one.is_active]
    if not all(one.spec.paths for one in others):
        return None
    unused = [root / path for one in others for path in one.spec.paths]
    return Availability(used, unused, "\n".join(looks[one.spec.name] for one in others))


def located(learning: Learning, opened: OpenBackend, *, complete: bool = True) -> FoundLearning:
    """Say where a learning came from, and clean it.

    Args:
        learning: What a backend returned.
        opened: The backend.
        complete: Whether all its fields are the stored ones.

    Returns:
        The learning as a hit of full relevance.
    """
    hit = cleaned(Hit(learning=learning, relevance=1.0, complete=complete))
    return FoundLearning(hit=hit, backend=opened.backend.name, area=opened.area)


def queued_receipt(learning: Learning, backend: str) -> Receipt:
    """Make the receipt of a learning that waits in the outbox.

    Args:
        learning: The learning.
        backend: Name of the backend it is meant for.

    Returns:
        The receipt.
    """
    return Receipt(learning_id=learning.id, status=ReceiptStatus.QUEUED, backend=backend)
