"""What is worth a curator's look, and how every learning stands to decay."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import floor
from typing import Any, Final

from attrs import evolve

from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.project import Project
from grove_core.services.decay import Aging, examine_all
from grove_core.services.history import find_events
from grove_core.services.learnings import days_left, decay_document
from grove_core.services.result import Line, Result
from grove_core.stats.decay import UNUSED_SHOWINGS, DecayAssessment
from grove_core.text import clean_line, counted

_LATELY: Final = timedelta(days=30)
_LONGEST_REASON: Final = 500
_MOST_SHOWN: Final = 20
_NO_EVENT: Final = "no event says when and why"
# name of a section: its title, and what to do about it
_SECTIONS: Final = {
    "going_stale": (
        "Going stale: archived soon unless shown or used",
        "grove maintain archive --stale, or grove ref ID where one helped",
    ),
    "archived": ("Archived within 30 days", "grove maintain restore ID"),
    "superseded": ("Superseded within 30 days", ""),
    "corrected": (
        "Said to be wrong, and nothing has taken their place",
        "grove maintain supersede ID --by ID, or grove maintain archive ID",
    ),
    "never_used": (
        "Often shown, never used",
        "grove maintain archive ID, or fix its tags and files",
    ),
    "never_shown": ("Older than 30 days and never shown", ""),
}


@frozen(kw_only=True, eq=False, repr=False)
class _Remark(Value):
    """A learning, and what is to be said about it."""

    learning: Learning
    assessment: DecayAssessment
    reason: str
    at: datetime | None = None
    superseded_by: str | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "id": self.learning.id,
            "summary": self.learning.summary,
            "status": self.learning.status,
            "reason": self.reason,
            "at": self.at,
            "superseded_by": self.superseded_by,
            "days_left": days_left(self.assessment),
        }


def curation_overview(project: Project, *, explain: bool) -> Result:
    """Look at every learning that can be listed, for what curation would see to or for decay."""
    examined = examine_all(project)
    histories: dict[str, list[StatsEvent]] = {}
    for logged in find_events(project, [Archived, Restored, Corrected]):
        name = str(getattr(logged.event, "learning_id", ""))
        histories.setdefault(name, []).append(logged.event)
    successors = {old: one.learning for one in examined for old in one.learning.supersedes}
    remarks = [
        _remark_on(one, histories.get(one.learning.id, ()), successors.get(one.learning.id))
        for one in examined
    ]
    remarks.sort(key=_order)
    sections = _sections(remarks, histories, project.now)
    document: dict[str, Any] = {"total": len(remarks)}
    document |= {name: [one.document for one in ones] for name, ones in sections.items()}
    listed: Iterable[_Remark] = (one for ones in sections.values() for one in ones)
    total = f"{counted(len(remarks), 'learning')} in all"
    if explain:
        listed = remarks
        document["explained"] = [
            {**one.document, "decay": decay_document(one.assessment)} for one in remarks
        ]
        lines = [*(line for one in remarks for line in _explained(one)), (f"{total}.", "dim")]
    else:
        rest = "`grove maintain list --explain` says how each stands to decay"
        rest = rest if remarks else "they come from `reflect`"
        lines = [*_lines_of(sections), (f"{total}; {rest}.", "dim")]
    ids = dict.fromkeys(one.learning.id for one in listed)
    return Result(document=document, lines=lines, ids=list(ids))


def _sections(
    remarks: Sequence[_Remark], histories: Mapping[str, Sequence[StatsEvent]], now: datetime
) -> dict[str, list[_Remark]]:
    active = [one for one in remarks if one.learning.status is LearningStatus.ACTIVE]
    return {
        "going_stale": [one for one in active if one.assessment.is_stale],
        "archived": _lately(remarks, LearningStatus.ARCHIVED, now),
        "superseded": _lately(remarks, LearningStatus.SUPERSEDED, now),
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
            and now - one.learning.timestamp > _LATELY
        ],
    }


def _remark_on(one: Aging, events: Sequence[StatsEvent], successor: Learning | None) -> _Remark:
    """Say how a learning stands to the rule, or what put it out of sight."""
    remark = _Remark(
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


def _lately(remarks: Sequence[_Remark], status: LearningStatus, now: datetime) -> list[_Remark]:
    """Choose what has got a status within 30 days; it is in order, newest first."""
    of_status = (one for one in remarks if one.learning.status is status)
    return [one for one in of_status if one.at is not None and now - one.at <= _LATELY]


def _corrected(
    active: Sequence[_Remark], histories: Mapping[str, Sequence[StatsEvent]]
) -> Iterator[_Remark]:
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


def _order(one: _Remark) -> tuple[int, float]:
    """Active ones first, the soonest due first; then what went last."""
    position = list(LearningStatus).index(one.learning.status)
    went = one.at.timestamp() if one.at is not None else 0.0
    return position, one.assessment.days_left if position == 0 else -went


def _lines_of(sections: Mapping[str, Sequence[_Remark]]) -> Iterator[Line]:
    for name, ones in sections.items():
        if ones:
            title, hint = _SECTIONS[name]
            yield f"{title} ({len(ones)})", "bold"
            for one in ones[:_MOST_SHOWN]:
                yield f"  {one.learning.id}  {one.learning.summary}"
                yield f"    {one.reason}", "dim"
            if len(ones) > _MOST_SHOWN:
                yield f"  … and {len(ones) - _MOST_SHOWN} more (--json names all)", "dim"
            yield f"  → {hint}\n" if hint else "", "dim"
    if not any(sections.values()):
        yield "Nothing needs curation."


def _explained(one: _Remark) -> Iterator[Line]:
    found = one.assessment
    state = "" if days_left(found) is None else f"{found.state.value}: "
    rate = "none" if found.hit_rate is None else f"{100 * found.hit_rate:.0f} %"
    yield f"{one.learning.id}  {one.learning.summary}"
    yield f"    {state}{one.reason}"
    yield (
        (
            f"    last {found.verified_by} {found.last_verified:%Y-%m-%d}"
            f" · {floor(10 * found.days_since) / 10} of {found.passive_days} days"
            f" · shown {found.surfaced}, used {found.referenced}, hit rate {rate}"
            f" (immune from {100 * found.immunity_hit_rate:.0f} % of 3 or more)"
            f" · fast track {'yes' if found.fast_track else 'no'}"
        ),
        "dim",
    )
