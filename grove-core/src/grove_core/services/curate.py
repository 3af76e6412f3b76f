"""Curation: archive, restore and supersede learnings, and show what is worth a look."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from attrs import evolve

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.services.decay import Aging, examine, examine_all, require_all_events
from grove_core.services.history import find_events, find_successor
from grove_core.stats.decay import UNUSED_SHOWINGS, DecayAssessment, DecayState
from grove_core.storage import files
from grove_core.text import clean_line, counted

REASON_LENGTH_MAX: Final = 200
LATELY: Final = timedelta(days=30)
_BY_HAND: Final = "by hand"
_LONGEST_REASON: Final = 500
_NO_EVENT: Final = "no event says when and why"
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
    return clean_line(text, REASON_LENGTH_MAX)


# --- What is worth a look -------------------------------------------------------------------------


@frozen(kw_only=True, eq=False, repr=False)
class Remark(Value):
    """A learning, and what is to be said about it."""

    learning: Learning
    assessment: DecayAssessment
    reason: str
    at: datetime | None = None
    superseded_by: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Overview(Value):
    """What curation would look at, by the reason for it, and how every learning stands."""

    sections: Mapping[str, Sequence[Remark]]
    explained: Sequence[Remark]


def overview(project: Project) -> Overview:
    """Look at every learning that can be listed."""
    examined = examine_all(project)
    histories: dict[str, list[StatsEvent]] = {}
    for logged in find_events(project, [Archived, Restored, Corrected]):
        name = str(getattr(logged.event, "learning_id", ""))
        histories.setdefault(name, []).append(logged.event)
    successors = {old: one.learning for one in examined for old in one.learning.supersedes}
    explained = [
        _remark_on(one, histories.get(one.learning.id, ()), successors.get(one.learning.id))
        for one in examined
    ]
    active = [one for one in explained if one.learning.status is LearningStatus.ACTIVE]
    return Overview(
        sections={
            "going_stale": [one for one in active if one.assessment.is_stale],
            "archived": _lately(explained, LearningStatus.ARCHIVED, project.now),
            "superseded": _lately(explained, LearningStatus.SUPERSEDED, project.now),
            "corrected": list(_corrected(active, histories)),
            "never_used": [
                evolve(one, reason=f"shown in {one.assessment.surfaced} sessions, used in none")
                for one in active
                if one.assessment.surfaced >= UNUSED_SHOWINGS and not one.assessment.referenced
            ],
            "never_shown": [
                evolve(one, reason=f"written {one.learning.timestamp:%Y-%m-%d} and never shown")
                for one in active
                if not (one.assessment.surfaced or one.assessment.referenced)
                and project.now - one.learning.timestamp > LATELY
            ],
        },
        explained=sorted(explained, key=_order),
    )


def _remark_on(one: Aging, events: Sequence[StatsEvent], successor: Learning | None) -> Remark:
    """Say how a learning stands to the rule, or what put it out of sight."""
    remark = Remark(
        learning=one.learning, assessment=one.assessment, reason=one.assessment.explanation
    )
    # A log comes with a clone, as its learnings do: its texts are cleaned.
    if one.learning.status is LearningStatus.ARCHIVED:
        for last in reversed(events):
            if isinstance(last, Archived):
                why = f": {clean_line(last.reason, _LONGEST_REASON)}" if last.reason else ""
                return evolve(remark, reason=f"archived {last.ts:%Y-%m-%d}{why}", at=last.ts)
        return evolve(remark, reason=f"archived; {_NO_EVENT}")
    if one.learning.status is not LearningStatus.SUPERSEDED:
        return remark
    for last in reversed(events):
        if isinstance(last, Corrected) and last.superseded_by:
            new_id = clean_line(last.superseded_by, _LONGEST_REASON)
            reason = f"superseded {last.ts:%Y-%m-%d} by {new_id}{_quoted(last.why)}"
            return evolve(remark, reason=reason, at=last.ts, superseded_by=new_id)
    if successor is None:
        return evolve(remark, reason=f"superseded; {_NO_EVENT}")
    reason = f"superseded by {successor.id}"
    return evolve(remark, reason=reason, at=successor.timestamp, superseded_by=successor.id)


def _lately(explained: Sequence[Remark], status: LearningStatus, now: datetime) -> list[Remark]:
    """Choose what has got a status within 30 days, newest first."""
    dated = [
        (one.at, one)
        for one in explained
        if one.learning.status is status and one.at is not None and now - one.at <= LATELY
    ]
    return [one for _, one in sorted(dated, key=lambda each: each[0], reverse=True)]


def _corrected(
    active: Sequence[Remark], histories: Mapping[str, Sequence[StatsEvent]]
) -> Iterator[Remark]:
    for one in active:
        history = histories.get(one.learning.id, ())
        events = [each for each in history if isinstance(each, Corrected)]
        if events:
            times = counted(len(events), "time")
            last = events[-1]
            why = f"last {last.ts:%Y-%m-%d}; still active{_quoted(last.why)}"
            yield evolve(one, reason=f"said to be wrong {times}, {why}", at=last.ts)


def _quoted(why: str | None) -> str:
    return f': "{clean_line(why, _LONGEST_REASON)}"' if why else ""


def _order(one: Remark) -> tuple[int, float]:
    """Active ones first, the soonest due first; then what went last."""
    position = list(LearningStatus).index(one.learning.status)
    went = one.at.timestamp() if one.at is not None else 0.0
    return position, one.assessment.days_left if position == 0 else -went
