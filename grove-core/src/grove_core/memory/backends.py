"""Backends as they stand to a project, and what came from them: values of the library."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from grove_core.memory.untrusted import cleaned, line_with_paths
from grove_core.model.learning import Learning
from grove_core.model.memory import Detection, Hit, Receipt, ReceiptStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area, BackendSpec, MemoryBackend
from grove_core.plugins.facade import Provided
from grove_core.stats_cache.stamps import Stamp


@frozen(kw_only=True, eq=False, repr=False)
class BackendState(Value):
    """A memory backend and how it stands to a project."""

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
    """A backend that is open."""

    state: BackendState
    area: Area
    backend: MemoryBackend


@frozen(kw_only=True, eq=False, repr=False)
class FoundLearning(Value):
    """A hit and where it came from."""

    hit: Hit
    backend: str
    area: Area


class Availability(NamedTuple):
    """Where to look, to see that the same backends are available."""

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
    """Return how a backend stands to a project."""
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
    """Tell where to look."""
    used = [root / path for one in states if one.is_active for path in one.spec.paths]
    others = [one for one in states if not one.is_active]
    if not all(one.spec.paths for one in others):
        return None
    unused = [root / path for one in others for path in one.spec.paths]
    return Availability(used, unused, "\n".join(looks[one.spec.name] for one in others))


def located(learning: Learning, opened: OpenBackend, *, complete: bool = True) -> FoundLearning:
    """Say where a learning came from, and clean it."""
    hit = cleaned(Hit(learning=learning, relevance=1.0, complete=complete))
    return FoundLearning(hit=hit, backend=opened.backend.name, area=opened.area)


def queued_receipt(learning: Learning, backend: str) -> Receipt:
    """Make the receipt of a learning that waits in the outbox."""
    return Receipt(learning_id=learning.id, status=ReceiptStatus.QUEUED, backend=backend)
