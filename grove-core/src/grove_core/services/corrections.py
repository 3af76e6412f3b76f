"""Telling an agent that what was shown here lately has been corrected since."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from grove_core.event_log import event_files
from grove_core.identifiers import is_learning_id
from grove_core.model.hook import StartSource
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.session import EventType, Session
from grove_core.project import Project
from grove_core.quotation import quote_line, shown_name
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.text import counted

if TYPE_CHECKING:
    from grove_core.stats.cache import Correction

NOTICE_DAYS: Final = timedelta(days=7)
_VIA: Final = "correction"
_MOST_LINES: Final = 5
# A log may name any number of learnings that are not there.
_MOST_LOOKED_UP: Final = 20
_LONGEST_SUMMARY: Final = 200
_DAY: Final = timedelta(days=1)


def announce_corrections(project: Project, session: Session, source: StartSource) -> str:
    """Say what was corrected, each correction once in a session, and again after a compaction."""
    # Where nothing was ever logged, looking leaves nothing behind.
    if not event_files(project.files) and not project.paths.personal_events.exists():
        return ""
    again = source is StartSource.COMPACT
    told = set() if again else _announced(session)
    latest = latest_of(project.numbers.corrections(project.now - NOTICE_DAYS), project.now)
    latest = [one for one in latest if one.key not in told][:_MOST_LOOKED_UP]
    names = {name for one in latest for name in one.key if name}
    stored = (project.library.get(name) for name in sorted(names))
    learnings = {one.hit.learning.id: one.hit.learning for one in stored if one is not None}
    new = [one for one in latest if is_stored(one, learnings)][:_MOST_LINES]
    if not new or not (_claim(project, session, new) or again):
        return ""
    return "\n".join(line_of(one, learnings, project.now) for one in new)


def latest_of(corrections: "Sequence[Correction]", now: datetime) -> "list[Correction]":
    """Take the last word on each learning that was shown within a week, the newest first."""
    # A learning that was also said to be wrong counts as superseded; others' logs come last.
    order = sorted(
        corrections, key=lambda one: (one.is_own, bool(one.superseded_by), one.corrected_at)
    )
    newest = {one.learning_id: one for one in order if is_learning_id(one.learning_id)}
    counting = [
        one
        for one in newest.values()
        if one.last_surfaced_before is not None
        and now - one.last_surfaced_before <= NOTICE_DAYS
        and one.last_surfaced_before <= one.corrected_at
    ]
    return sorted(counting, key=lambda one: (one.corrected_at, one.learning_id), reverse=True)


def is_stored(one: "Correction", learnings: Mapping[str, Learning]) -> bool:
    """Return whether the store itself says so, or this machine's log: others come with a clone."""
    old, new = learnings.get(one.learning_id), learnings.get(one.superseded_by or "")
    if old is None or new is None:
        return old is not None and one.is_own
    return old.status is LearningStatus.SUPERSEDED or old.id in new.supersedes


def line_of(one: "Correction", learnings: Mapping[str, Learning], now: datetime) -> str:
    """Write the line; a successor that is not stored is not named."""
    days = (now - (one.last_surfaced_before or now)) // _DAY
    shown = "today" if days < 1 else f"{counted(days, 'day')} ago"
    name = shown_name(one.learning_id)
    head = f"grove: the note {name}, shown here {shown}, has been"
    successor = learnings.get(one.superseded_by or "")
    if successor is None:
        return f"{head} found wrong since; check before you rely on it: `grove show {name}`."
    says = quote_line(successor.summary, _LONGEST_SUMMARY)
    return f"{head} superseded since by {shown_name(successor.id)} (quoted data): {says}"


def _announced(session: Session) -> set[tuple[str, str]]:
    return {
        (one.details.get("learnings", ""), one.details.get("superseded_by", ""))
        for one in session.trace.events
        if one.event_type is EventType.LEARNINGS_INJECTED and one.details.get("via") == _VIA
    }


def _claim(project: Project, session: Session, named: "Sequence[Correction]") -> bool:
    """Note in the session what it is told; the client may hold two sets of hooks."""
    added: list[Correction] = []

    def change(stored: Session) -> SessionUpdate:
        told = _announced(stored)
        added[:] = [one for one in named if one.key not in told]
        kind, now = EventType.LEARNINGS_INJECTED, project.now
        trace = [
            trace_event(
                kind, now, via=_VIA, learnings=one.learning_id, superseded_by=one.superseded_by
            )
            for one in added
        ]
        return SessionUpdate(session=stored, trace=trace)

    update_session(project, session, change)
    return bool(added)
