"""Curation: archiving, restoring and superseding learnings, each with its status line and event."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area
from grove_core.storage import files
from grove_core.text import clean_line
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from grove_core.model.events import StatsEvent

REASON_LENGTH_MAX: Final = 200
BY_HAND: Final = "by hand"


class Outcome(Enum):
    """What became of one learning."""

    CHANGED = "changed"
    """It has its new status; in a dry run, it would have."""
    UNCHANGED = "unchanged"
    """It had it already."""
    REFUSED = "refused"
    """It cannot have it."""


@frozen(kw_only=True, eq=False, repr=False)
class Curated(Value):
    """What curation has done to one learning."""

    learning_id: str
    outcome: Outcome
    detail: str
    summary: str = ""


@contextmanager
def curating(workspace: Workspace) -> Iterator[None]:
    """Let no other process curate meanwhile."""
    lock = workspace.paths.cache / "curation.lock"
    with files.locked(lock) if _has_place(lock) else nullcontext():
        yield


def _has_place(lock: Path) -> bool:
    try:
        files.make_directory(lock.parent)
    except StorageError:
        return False
    return os.access(lock if lock.exists() else lock.parent, os.W_OK)


def archive(
    workspace: Workspace, ids: Iterable[str], reason: str = "", *, dry_run: bool
) -> list[Curated]:
    """Archive learnings."""
    note = note_of(reason, BY_HAND, workspace.now)
    reason = clean_line(reason, REASON_LENGTH_MAX) or BY_HAND

    def archive_one(found: FoundLearning) -> Curated:
        return archive_found(workspace, found, reason, note, dry_run=dry_run)

    return _curate(workspace, ids, archive_one, dry_run=dry_run)


def note_of(reason: str, otherwise: str, now: datetime) -> str:
    """Write what stands in the status line of an archived learning."""
    day = f"{now:%Y-%m-%d}"
    return f"{clean_line(reason, REASON_LENGTH_MAX) or otherwise} {day}"


def archive_found(
    workspace: Workspace, found: FoundLearning, reason: str, note: str, *, dry_run: bool
) -> Curated:
    """Archive one learning; to be called while ``curating``."""
    from grove_core.model.events import Archived

    learning = found.hit.learning
    if learning.status is not LearningStatus.ACTIVE:
        return _curated(
            learning, Outcome.UNCHANGED, f"{learning.id} is {learning.status.value} already"
        )
    event = Archived(ts=workspace.now, learning_id=learning.id, reason=reason)
    refusal = _change(workspace, found, LearningStatus.ARCHIVED, note, event, dry_run=dry_run)
    return refusal or _curated(learning, Outcome.CHANGED, reason)


def restore(
    workspace: Workspace, ids: Iterable[str], reason: str = "", *, dry_run: bool
) -> list[Curated]:
    """Take learnings back from the archive."""
    from grove_core.model.events import Restored

    reason = clean_line(reason, REASON_LENGTH_MAX) or BY_HAND

    def restore_one(found: FoundLearning) -> Curated:
        learning = found.hit.learning
        if learning.status is LearningStatus.SUPERSEDED:
            final = f"{learning.id} is superseded, which is final; write what holds as a new one"
            return _curated(learning, Outcome.REFUSED, final)
        event = Restored(ts=workspace.now, learning_id=learning.id, reason=reason)
        if learning.status is LearningStatus.ACTIVE:
            if learning.id not in workspace.hidden:
                return _curated(learning, Outcome.UNCHANGED, f"{learning.id} is active already")
            if not dry_run:
                workspace.log_events([event], personal=found.area is Area.PERSONAL)
            return _curated(learning, Outcome.CHANGED, reason)
        refusal = _change(workspace, found, LearningStatus.ACTIVE, "", event, dry_run=dry_run)
        return refusal or _curated(learning, Outcome.CHANGED, reason)

    return _curate(workspace, ids, restore_one, dry_run=dry_run)


def supersede(
    workspace: Workspace, old_id: str, new_id: str, session_id: str, *, dry_run: bool
) -> Curated:
    """Put one learning in another one's place, for good."""
    from grove_core.model.events import Corrected

    def supersede_one(found: FoundLearning) -> Curated:
        learning = found.hit.learning
        if learning.status is LearningStatus.SUPERSEDED:
            return _superseded_already(workspace, learning, new_id)
        objection = _objection(found, workspace.library.get(new_id), new_id)
        if objection:
            return _curated(learning, Outcome.REFUSED, objection)
        event = Corrected(
            ts=workspace.now, learning_id=old_id, session_id=session_id, superseded_by=new_id
        )
        status, note = LearningStatus.SUPERSEDED, f"by {new_id}"
        refusal = _change(workspace, found, status, note, event, dry_run=dry_run)
        return refusal or _curated(learning, Outcome.CHANGED, note)

    return _curate(workspace, [old_id], supersede_one, dry_run=dry_run)[0]


def _superseded_already(workspace: Workspace, learning: Learning, new_id: str) -> Curated:
    from grove_core.flow.succession import find_successor

    successor = find_successor(workspace, learning)
    by = successor.hit.learning.id if successor is not None else ""
    words = f"{learning.id} is superseded already{f', by {by}' if by else ''}"
    if by == new_id:
        return _curated(learning, Outcome.UNCHANGED, words)
    name = clean_line(new_id, REASON_LENGTH_MAX)
    return _curated(learning, Outcome.REFUSED, f"{words}; {name} was not put there")


def no_such_learning(learning_id: str) -> str:
    """Say that an id names nothing."""
    name = clean_line(learning_id, REASON_LENGTH_MAX)
    return f"no learning has the id {name}; `grove list --all` names those there are"


def _objection(old: FoundLearning, new: FoundLearning | None, new_id: str) -> str:
    """Tell why a learning cannot take another one's place, if it cannot."""
    if new_id == old.hit.learning.id:
        return f"{new_id} cannot take its own place"
    if new is None:
        return no_such_learning(new_id)
    status = new.hit.learning.status
    if status is not LearningStatus.ACTIVE:
        return f"{new_id} is {status.value} itself; name an active learning"
    if new.area is Area.PERSONAL and old.area is not Area.PERSONAL:
        return f"{new_id} is personal, and others who share the project could not read it"
    return ""


def _curate(
    workspace: Workspace,
    ids: Iterable[str],
    curate_one: Callable[[FoundLearning], Curated],
    *,
    dry_run: bool,
) -> list[Curated]:
    names = list(dict.fromkeys(ids))
    if dry_run:
        return list(_each(workspace, names, curate_one))
    with curating(workspace):
        return list(_each(workspace, names, curate_one))


def _each(
    workspace: Workspace, ids: Sequence[str], curate_one: Callable[[FoundLearning], Curated]
) -> Iterator[Curated]:
    for learning_id in ids:
        found = workspace.library.get(learning_id)
        if found is None:
            unknown = no_such_learning(learning_id)
            yield Curated(learning_id=learning_id, outcome=Outcome.REFUSED, detail=unknown)
        else:
            yield curate_one(found)


def _change(
    workspace: Workspace,
    found: FoundLearning,
    status: LearningStatus,
    note: str,
    event: "StatsEvent",
    *,
    dry_run: bool,
) -> Curated | None:
    """Set the status, then log it: an event must not tell of what did not happen."""
    if dry_run:
        return None
    try:
        workspace.library.set_status(found.hit.learning.id, status, note)
    except (BackendError, LearningNotFoundError) as error:
        return _curated(found.hit.learning, Outcome.REFUSED, str(error))
    workspace.log_events([event], personal=found.area is Area.PERSONAL)
    return None


def _curated(learning: Learning, outcome: Outcome, detail: str) -> Curated:
    return Curated(
        learning_id=learning.id, outcome=outcome, detail=detail, summary=learning.summary
    )
