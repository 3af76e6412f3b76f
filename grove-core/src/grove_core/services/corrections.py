"""Telling an agent that what was shown here lately has been corrected since."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from grove_core.event_log import event_files
from grove_core.hosts.contract import StartSource
from grove_core.identifiers import is_learning_id
from grove_core.model.learning import Learning
from grove_core.model.session import EventType, Session
from grove_core.project import Project
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.text import clean_line, counted

NOTICE_DAYS: Final = timedelta(days=7)
_VIA: Final = "correction"
_MOST_LINES: Final = 5
# Of the newest: a log may name any number of learnings that are not there.
_MOST_LOOKED_UP: Final = 20
_LONGEST_SUMMARY: Final = 200
_DAY: Final = timedelta(days=1)


class Correction(NamedTuple):
    """A learning that was found to be wrong."""

    learning_id: str
    superseded_by: str | None
    corrected_at: datetime
    last_surfaced_before: datetime | None


def corrections_notice(
    corrections: Sequence[Correction], learnings: Mapping[str, Learning], now: datetime
) -> str:
    """Write the notice: a line for each learning that was shown within seven days."""
    latest = _stored(_latest(corrections, now), learnings)
    lines = [_line(one, learnings, now) for one in latest[:_MOST_LINES]]
    if len(latest) > _MOST_LINES:
        more = len(latest) - _MOST_LINES
        lines.append(f"grove: {more} more were corrected; `grove maintain list` names them.")
    return "\n".join(lines)


def _stored(
    corrections: Sequence[Correction], learnings: Mapping[str, Learning]
) -> list[Correction]:
    """Keep what is about stored learnings, and forget successors that are none."""
    return [
        one if one.superseded_by in learnings else one._replace(superseded_by=None)
        for one in corrections
        if one.learning_id in learnings
    ]


def _latest(corrections: Sequence[Correction], now: datetime) -> list[Correction]:
    """Take the last word on each learning that counts, and follow who has superseded whom."""
    # A learning that was also said to be wrong counts as superseded.
    order = sorted(corrections, key=lambda one: (bool(one.superseded_by), one.corrected_at))
    newest = {one.learning_id: one for one in order if is_learning_id(one.learning_id)}
    successors = {
        name: one.superseded_by
        for name, one in newest.items()
        if one.superseded_by and is_learning_id(one.superseded_by)
    }
    counting = [
        one._replace(superseded_by=_last_of(name, successors))
        for name, one in newest.items()
        if one.last_surfaced_before is not None
        and now - one.last_surfaced_before <= NOTICE_DAYS
        and one.last_surfaced_before <= one.corrected_at
    ]
    return sorted(counting, key=lambda one: (one.corrected_at, one.learning_id), reverse=True)


def _last_of(learning_id: str, successors: Mapping[str, str]) -> str | None:
    """Follow successors to the last one, which may lead in a circle."""
    seen = [learning_id]
    while (following := successors.get(seen[-1])) is not None and following not in seen:
        seen.append(following)
    return seen[-1] if len(seen) > 1 else None


def _line(one: Correction, learnings: Mapping[str, Learning], now: datetime) -> str:
    days = (now - (one.last_surfaced_before or now)) // _DAY
    shown = "today" if days < 1 else f"{counted(days, 'day')} ago"
    head = f"grove: the note {one.learning_id}, shown here {shown}, has been"
    if one.superseded_by is None:
        return (
            f"{head} found wrong since; check before you rely on it:"
            f" `grove show {one.learning_id}`."
        )
    summary = clean_line(learnings[one.superseded_by].summary, _LONGEST_SUMMARY)
    quoted = json.dumps(summary, ensure_ascii=False)
    return f"{head} superseded since by {one.superseded_by}, which says (quoted data): {quoted}"


def announce_corrections(project: Project, session: Session, source: StartSource) -> str:
    """Say what was corrected, each correction once in a session, and again after a compaction."""
    # Where nothing was ever logged, looking leaves nothing behind.
    if not event_files(project.files) and not project.paths.personal_events.exists():
        return ""
    again = source is StartSource.COMPACT
    known = set() if again else _announced(session)
    since = project.now - NOTICE_DAYS
    corrections = [Correction(*one) for one in project.numbers.corrections(since)]
    latest = [one for one in _latest(corrections, project.now) if _key(one) not in known]
    named = [(one.learning_id, one.superseded_by) for one in latest[:_MOST_LOOKED_UP]]
    names = sorted({name for pair in named for name in pair if name})
    stored = (project.library.get(name) for name in names)
    learnings = {one.hit.learning.id: one.hit.learning for one in stored if one is not None}
    new = [one for one in _stored(latest, learnings) if _key(one) not in known]
    if not new or not (_claim(project, session, new[:_MOST_LINES]) or again):
        return ""
    return corrections_notice(new, learnings, project.now)


def _announced(session: Session) -> set[tuple[str, str]]:
    return {
        (one.details.get("learnings", ""), one.details.get("superseded_by", ""))
        for one in session.trace.events
        if one.event_type is EventType.LEARNINGS_INJECTED and one.details.get("via") == _VIA
    }


def _key(one: Correction) -> tuple[str, str]:
    return one.learning_id, one.superseded_by or ""


def _claim(project: Project, session: Session, named: Sequence[Correction]) -> bool:
    """Note in the session what it is told; the client may hold two sets of hooks."""
    added: list[Correction] = []

    def change(stored: Session) -> SessionUpdate:
        known = _announced(stored)
        added[:] = [one for one in named if _key(one) not in known]
        trace = [
            trace_event(
                EventType.LEARNINGS_INJECTED,
                project.now,
                via=_VIA,
                learnings=one.learning_id,
                superseded_by=one.superseded_by,
            )
            for one in added
        ]
        return SessionUpdate(session=stored, trace=trace)

    update_session(project, session, change, cause="corrections")
    return bool(added)
