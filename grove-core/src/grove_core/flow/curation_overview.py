"""What curation would look at: what goes stale, what went lately and why, what never helped."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from grove_core.flow.decaying import JudgedLearning, judged, stale_learnings
from grove_core.flow.event_history import find_events
from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import LearningStatus
from grove_core.model.statistics import LearningStats
from grove_core.model.value import Value, frozen
from grove_core.stats.decay import UNUSED_SHOWINGS
from grove_core.text import clean_line
from grove_core.workspace import Workspace

LATELY: Final = timedelta(days=30)
LONGEST_REASON: Final = 500
_NO_EVENT: Final = "no event says when and why"


@frozen(kw_only=True, eq=False, repr=False)
class CuratedLearning(Value):
    """A learning, and what is to be said about it."""

    judged: JudgedLearning
    reason: str
    at: datetime | None = None
    superseded_by: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class Overview(Value):
    """What curation would look at."""

    going_stale: tuple[CuratedLearning, ...]
    archived: tuple[CuratedLearning, ...]
    superseded: tuple[CuratedLearning, ...]
    corrected: tuple[CuratedLearning, ...]
    never_used: tuple[CuratedLearning, ...]
    never_shown: tuple[CuratedLearning, ...]
    explained: tuple[CuratedLearning, ...]


def overview(workspace: Workspace) -> Overview:
    """Look at every learning that can be listed."""
    usage = workspace.usage()
    learnings = judged(workspace, workspace.library.iterate(), usage)
    history = histories(workspace)
    successors = {old: one for one in learnings for old in one.found.hit.learning.supersedes}
    explained = [_explained(one, history, successors) for one in learnings]
    active = [one for one in explained if _status(one.judged) is LearningStatus.ACTIVE]
    return Overview(
        going_stale=tuple(
            CuratedLearning(judged=one, reason=one.verdict.explanation)
            for one in stale_learnings(learnings)
        ),
        archived=_lately(explained, LearningStatus.ARCHIVED, workspace.now),
        superseded=_lately(explained, LearningStatus.SUPERSEDED, workspace.now),
        corrected=_corrected(active, usage, history),
        never_used=_never_used(active),
        never_shown=_never_shown(active, workspace.now),
        explained=tuple(sorted(explained, key=_order)),
    )


def histories(workspace: Workspace) -> Mapping[str, list[StatsEvent]]:
    """Read what curation has done to each learning."""
    found: dict[str, list[StatsEvent]] = {}
    for logged in find_events(workspace, [Archived, Restored, Corrected]):
        event = logged.event
        if isinstance(event, Archived | Restored | Corrected):
            found.setdefault(event.learning_id, []).append(event)
    return found


def _explained(
    one: JudgedLearning,
    history: Mapping[str, list[StatsEvent]],
    successors: Mapping[str, JudgedLearning],
) -> CuratedLearning:
    """Return how a learning stands to the rule, or what put it out of sight."""
    learning = one.found.hit.learning
    events = history.get(learning.id, ())
    if learning.status is LearningStatus.ARCHIVED:
        archived = [event for event in events if isinstance(event, Archived)]
        if not archived:
            return CuratedLearning(judged=one, reason=f"archived; {_NO_EVENT}")
        last = archived[-1]
        why = f": {clean_line(last.reason, LONGEST_REASON)}" if last.reason else ""
        return CuratedLearning(judged=one, reason=f"archived {last.ts:%Y-%m-%d}{why}", at=last.ts)
    if learning.status is LearningStatus.SUPERSEDED:
        return _superseded(one, events, successors)
    return CuratedLearning(judged=one, reason=one.verdict.explanation)


def _superseded(
    one: JudgedLearning, events: Sequence[StatsEvent], successors: Mapping[str, JudgedLearning]
) -> CuratedLearning:
    corrected = [each for each in events if isinstance(each, Corrected) and each.superseded_by]
    if corrected:
        last = corrected[-1]
        # A log comes with a clone, as its learnings do.
        new_id = clean_line(last.superseded_by or "", LONGEST_REASON)
        reason = f"superseded {last.ts:%Y-%m-%d} by {new_id}{_why(last)}"
        return CuratedLearning(judged=one, reason=reason, at=last.ts, superseded_by=new_id)
    successor = successors.get(one.found.hit.learning.id)
    if successor is None:
        return CuratedLearning(judged=one, reason=f"superseded; {_NO_EVENT}")
    new = successor.found.hit.learning
    return CuratedLearning(
        judged=one, reason=f"superseded by {new.id}", at=new.timestamp, superseded_by=new.id
    )


def _lately(
    explained: Sequence[CuratedLearning], status: LearningStatus, now: datetime
) -> tuple[CuratedLearning, ...]:
    """Choose what has got a status within 30 days, newest first."""
    dated = [
        (one.at, one)
        for one in explained
        if _status(one.judged) is status and one.at is not None and now - one.at <= LATELY
    ]
    return tuple(one for _, one in sorted(dated, key=lambda each: each[0], reverse=True))


def _corrected(
    active: Sequence[CuratedLearning],
    usage: Mapping[str, LearningStats],
    history: Mapping[str, list[StatsEvent]],
) -> tuple[CuratedLearning, ...]:
    found = []
    for one in active:
        learning_id = one.judged.found.hit.learning.id
        events = [each for each in history.get(learning_id, ()) if isinstance(each, Corrected)]
        if learning_id in usage and usage[learning_id].corrected and events:
            times = f"{len(events)} time{'' if len(events) == 1 else 's'}"
            last = events[-1]
            reason = f"said to be wrong {times}, last {last.ts:%Y-%m-%d}; still active{_why(last)}"
            found.append(CuratedLearning(judged=one.judged, reason=reason, at=last.ts))
    return tuple(found)


def _why(event: Corrected) -> str:
    """Quote what somebody said is wrong with a learning."""
    return f': "{clean_line(event.why, LONGEST_REASON)}"' if event.why else ""


def _never_used(active: Sequence[CuratedLearning]) -> tuple[CuratedLearning, ...]:
    return tuple(
        CuratedLearning(
            judged=one.judged,
            reason=f"shown in {one.judged.verdict.surfaced} sessions, used in none",
        )
        for one in active
        if one.judged.verdict.surfaced >= UNUSED_SHOWINGS and not one.judged.verdict.referenced
    )


def _never_shown(active: Sequence[CuratedLearning], now: datetime) -> tuple[CuratedLearning, ...]:
    found = []
    for one in active:
        verdict, created = one.judged.verdict, one.judged.found.hit.learning.timestamp
        if not verdict.surfaced and not verdict.referenced and now - created > LATELY:
            reason = f"written {created:%Y-%m-%d} and never shown"
            found.append(CuratedLearning(judged=one.judged, reason=reason))
    return tuple(found)


def _status(one: JudgedLearning) -> LearningStatus:
    return one.found.hit.learning.status


def _order(one: CuratedLearning) -> tuple[int, float]:
    """Active ones first, the soonest due first; then what went last."""
    position = list(LearningStatus).index(_status(one.judged))
    went = one.at.timestamp() if one.at is not None else 0.0
    return position, one.judged.verdict.days_left if position == 0 else -went
