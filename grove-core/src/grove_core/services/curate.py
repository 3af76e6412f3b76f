"""Curation: archive, restore and supersede learnings."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import Enum
from typing import Final

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.services.decay import Aging, examine, examine_all, require_all_events
from grove_core.services.history import find_successor
from grove_core.services.result import Line, Result
from grove_core.stats.decay import DecayState
from grove_core.storage import files
from grove_core.text import clean_line

_LONGEST_REASON: Final = 200
_BY_HAND: Final = "by hand"
_MOST_AT_ONCE: Final = 20


class Outcome(Enum):
    """What became of one learning; in a dry run, what would have."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@frozen(kw_only=True, eq=False, repr=False)
class Curated(Value):
    """What curation has done to one learning."""

    learning_id: str
    outcome: Outcome
    detail: str
    summary: str = ""


@contextmanager
def curating(project: Project) -> Iterator[None]:
    """Let no other process curate meanwhile."""
    lock = project.paths.cache / "curation.lock"
    try:
        files.make_directory(lock.parent)
        writable = os.access(lock if lock.exists() else lock.parent, os.W_OK)
    except StorageError:
        writable = False
    with files.locked(lock) if writable else nullcontext():
        yield


class Curator:
    """Curates the learnings of a project; a dry run says what it would do."""

    def __init__(self, project: Project, *, dry_run: bool = False) -> None:
        self._project = project
        self._dry_run = dry_run

    def archive(self, ids: Iterable[str], reason: str = "") -> list[Curated]:
        """Archive learnings."""
        reason = _line(reason) or _BY_HAND
        return self._each(ids, lambda found: self._archive(found, reason, reason))

    def archive_stale(self, reason: str) -> list[Curated]:
        """Archive what is due now or within seven days."""
        require_all_events(self._project)
        reason = _line(reason)
        with self._lock():
            return [
                self._archive(
                    one.found,
                    reason or f"going stale: {one.assessment.reason}",
                    reason or "going stale",
                )
                for one in examine_all(self._project)
                if one.assessment.is_stale
            ]

    def decay(self) -> list[Curated]:
        """Archive everything that is due."""
        with self._lock():
            examined = examine_all(self._project)
            require_all_events(self._project)
            return self._archive_due(examined)

    def archive_hidden(self) -> None:
        """Archive in their files what is hidden here and still due; a few: a command waits."""
        project = self._project
        names = [*project.hidden][:_MOST_AT_ONCE]
        if names:
            require_all_events(project)
            with self._lock():
                found = [one for one in map(project.library.get, names) if one is not None]
                self._archive_due(examine(project, found, project.usage(names)))

    def restore(self, ids: Iterable[str], reason: str = "") -> list[Curated]:
        """Take learnings back from the archive."""
        project, reason = self._project, _line(reason) or _BY_HAND

        def restore_one(found: FoundLearning) -> Curated:
            learning = found.hit.learning
            if learning.status is LearningStatus.SUPERSEDED:
                final = "is superseded, which is final; write what holds as a new one"
                return _curated(learning, Outcome.REFUSED, f"{learning.id} {final}")
            event = Restored(ts=project.now, learning_id=learning.id, reason=reason)
            if learning.status is not LearningStatus.ACTIVE:
                return self._change(found, LearningStatus.ACTIVE, "", event, detail=reason)
            if learning.id not in project.hidden:
                return _curated(learning, Outcome.UNCHANGED, f"{learning.id} is active already")
            if not self._dry_run:
                project.log_events([event], personal=found.area is Area.PERSONAL)
            return _curated(learning, Outcome.CHANGED, reason)

        return self._each(ids, restore_one)

    def supersede(self, old_id: str, new_id: str, session_id: str) -> Curated:
        """Put one learning in another one's place, for good."""
        project = self._project

        def supersede_one(found: FoundLearning) -> Curated:
            learning = found.hit.learning
            if learning.status is LearningStatus.SUPERSEDED:
                successor = find_successor(project, learning)
                by = successor.hit.learning.id if successor is not None else ""
                text = f"{learning.id} is superseded already{f', by {by}' if by else ''}"
                if by == new_id:
                    return _curated(learning, Outcome.UNCHANGED, text)
                text = f"{text}; {_line(new_id)} was not put there"
                return _curated(learning, Outcome.REFUSED, text)
            objection = _objection(found, project.library.get(new_id), new_id)
            if objection:
                return _curated(learning, Outcome.REFUSED, objection)
            event = Corrected(
                ts=project.now, learning_id=old_id, session_id=session_id, superseded_by=new_id
            )
            note = f"by {new_id}"
            return self._change(found, LearningStatus.SUPERSEDED, note, event, detail=note)

        return self._each([old_id], supersede_one)[0]

    def _lock(self) -> AbstractContextManager[None]:
        return nullcontext() if self._dry_run else curating(self._project)

    def _each(
        self, ids: Iterable[str], curate_one: Callable[[FoundLearning], Curated]
    ) -> list[Curated]:
        done = []
        with self._lock():
            for name in dict.fromkeys(ids):
                found = self._project.library.get(name)
                unknown = Curated(learning_id=name, outcome=Outcome.REFUSED, detail=_unknown(name))
                done.append(unknown if found is None else curate_one(found))
        return done

    def _archive(self, found: FoundLearning, reason: str, note: str) -> Curated:
        learning, now = found.hit.learning, self._project.now
        if learning.status is not LearningStatus.ACTIVE:
            detail = f"{learning.id} is {learning.status.value} already"
            return _curated(learning, Outcome.UNCHANGED, detail)
        event = Archived(ts=now, learning_id=learning.id, reason=reason)
        note = f"{note} {now:%Y-%m-%d}"
        return self._change(found, LearningStatus.ARCHIVED, note, event, detail=reason)

    def _archive_due(self, examined: Iterable[Aging]) -> list[Curated]:
        done = []
        for one in examined:
            if one.assessment.state is DecayState.DUE:
                # Looked at again: a reflection may have superseded it since, and that is final.
                found = one.found if self._dry_run else self._project.library.get(one.learning.id)
                if found is None:
                    gone = "is gone, or its backend cannot fetch it"
                    done.append(_curated(one.learning, Outcome.REFUSED, gone))
                else:
                    reason = f"decayed: {one.assessment.reason}"
                    done.append(self._archive(found, reason, "decayed"))
        return done

    def _change(
        self,
        found: FoundLearning,
        status: LearningStatus,
        note: str,
        event: StatsEvent,
        *,
        detail: str,
    ) -> Curated:
        """Set the status, then log it: an event must not record what did not happen."""
        learning = found.hit.learning
        if not self._dry_run:
            try:
                self._project.library.set_status(learning.id, status, note)
            except (BackendError, LearningNotFoundError) as error:
                return _curated(learning, Outcome.REFUSED, str(error))
            self._project.log_events([event], personal=found.area is Area.PERSONAL)
        return _curated(learning, Outcome.CHANGED, detail)


def _objection(old: FoundLearning, new: FoundLearning | None, new_id: str) -> str:
    """Say why a learning cannot take another one's place, if it cannot."""
    if new_id == old.hit.learning.id:
        return f"{new_id} cannot take its own place"
    if new is None:
        return _unknown(new_id)
    status = new.hit.learning.status
    if status is not LearningStatus.ACTIVE:
        return f"{new_id} is {status.value} itself; name an active learning"
    if new.area is Area.PERSONAL and old.area is not Area.PERSONAL:
        return f"{new_id} is personal, and others who share the project could not read it"
    return ""


def _unknown(learning_id: str) -> str:
    return f"no learning has the id {_line(learning_id)}; `grove list --all` names those there are"


def _curated(learning: Learning, outcome: Outcome, detail: str) -> Curated:
    return Curated(
        learning_id=learning.id, outcome=outcome, detail=detail, summary=learning.summary
    )


def _line(text: str) -> str:
    return clean_line(text, _LONGEST_REASON)


def curation_result(
    curated: Sequence[Curated], verb: str, *, dry_run: bool, nothing: str = ""
) -> Result:
    """Report what was done to each learning."""
    by_outcome = {each: [one for one in curated if one.outcome is each] for each in Outcome}
    changed = by_outcome[Outcome.CHANGED]
    refused = [one.detail for one in by_outcome[Outcome.REFUSED]]
    done = f"would be {verb}" if dry_run else verb
    lines: list[Line] = []
    for one in changed:
        lines += [f"{done}  {one.learning_id}  {one.summary}", f"    {one.detail}"]
    lines += [(one.detail, "dim") for one in by_outcome[Outcome.UNCHANGED]]
    return Result(
        document={
            "dry_run": dry_run,
            **{
                outcome.value: [
                    {"id": one.learning_id, "summary": one.summary, "detail": one.detail}
                    for one in ones
                ]
                for outcome, ones in by_outcome.items()
            },
            **({"error": "; ".join(refused)} if refused else {}),
        },
        lines=lines if curated else [nothing],
        ids=[one.learning_id for one in changed],
        exit_code=1 if refused else 0,
        warnings=refused,
    )
