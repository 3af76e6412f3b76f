"""Session state: updates under the lock, the beginning and the end, and what is still pending."""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from attrs import evolve

from grove_core.environment import ENDS_FOLDER, ended_sessions
from grove_core.errors import StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.gate import (
    Decision,
    FinishedCycle,
    Gate,
    GateEvent,
    SessionEnded,
    SkipDecider,
    SkipDecision,
    Verdict,
)
from grove_core.model.hook import HookInput
from grove_core.model.session import (
    EventType,
    InjectedLearning,
    InjectionOutcome,
    Session,
    Trace,
    TraceEvent,
)
from grove_core.model.ticket import Ticket
from grove_core.quotation import quote_line
from grove_core.storage import files
from grove_core.text import one_line, shorten

if TYPE_CHECKING:
    from grove_core.model.events import Skip, StatsEvent
    from grove_core.project import Project

IDLE_LIMIT: Final = timedelta(hours=24)
_UNREADABLE: Final = (
    "grove: the state of session {session_id} cannot be read; a ticket closed there may still have"
    " its reflection pending."
)
MOST_EVENTS: Final = 500
KEPT_FROM_START: Final = 10
LONGEST_DETAIL: Final = 300
"""Characters."""
_SKIPS: Final = "skips"
"""The reasons of the last reflections, all of which agents have skipped, one a line."""
_SKIPS_NAMED: Final = 3
_SKIPS_KEPT: Final = 1_000
_LONGEST_REASON: Final = 160


class SessionUpdate(NamedTuple):
    """What becomes of a session: its new state, events for its gate, lines for its trace."""

    session: Session
    events: Sequence[GateEvent] = ()
    trace: Sequence[TraceEvent] = ()
    if_different: bool = False
    """Write nothing where neither session nor gate would differ."""


def update_session(
    project: "Project",
    known: Session,
    change: Callable[[Session], SessionUpdate],
    *,
    literals: Collection[str] | None = None,
    is_tentative: bool = False,
) -> tuple[Session, Sequence[Decision]]:
    """Change a session under its lock and step its gate; then log.

    ``known`` is what is changed where nothing is stored. A tentative block leaves all as it is.
    """
    decisions: list[Decision] = []
    dropped: list[Session] = []

    def apply(stored: Session | None) -> Session:
        before = stored or known
        after, decisions[:] = _step(project, before, change(before))
        if is_tentative and any(one.verdict is Verdict.BLOCK for one in decisions):
            dropped.append(after)
            return before
        # Under the lock: another process must not take back what this one has just said.
        close_waits = bool(after.intents)
        if literals is None:
            project.prefilter.set_close_waits(known.id, close_waits=close_waits)
        else:
            project.prefilter.write(known.id, literals, close_waits=close_waits)
        return after

    session = project.sessions.update(known.id, apply)
    while project.sessions.faults:
        project.diagnostics.log("error", project.sessions.faults.pop(), session=known.id)
    if dropped:
        return dropped[0], decisions
    _log_decisions(project, session.id, decisions)
    # Last, since it asks git: what is said above must be on disk if that takes too long.
    if session.baseline is not None and any(one.baseline_moves for one in decisions):
        from grove_core.services.session_mode import renew_baseline

        session = renew_baseline(project, session)
    return session, decisions


def _step(
    project: "Project", before: Session, update: SessionUpdate
) -> tuple[Session, Sequence[Decision]]:
    gate = update.session.gate
    decisions: list[Decision] = []
    trace = list(update.trace)
    if update.events:
        from grove_core.gate import step  # many hooks write a session and leave its gate alone

        for event in update.events:
            gate, decision, notes = step(gate, event, project.now, project.policy)
            decisions.append(decision)
            trace += notes
    if update.if_different and gate == before.gate and update.session == before:
        return before, decisions
    session = evolve(
        update.session,
        gate=gate,
        trace=extend_trace(update.session.trace, trace),
        updated_at=project.now,
    )
    return session, decisions


def _log_decisions(project: "Project", session_id: str, decisions: Iterable[Decision]) -> None:
    events: list[StatsEvent] = []
    for decision in decisions:
        if decision.finished is not None:
            events.append(_cycle_event(session_id, decision.finished, project.now))
        if decision.auto_skip is not None:
            events.append(skip_event(session_id, decision.auto_skip, None))
    project.log_events(events)


def _cycle_event(session_id: str, finished: FinishedCycle, now: datetime) -> "StatsEvent":
    from grove_core.model.events import GateCycle

    return GateCycle(
        ts=now,
        session_id=session_id,
        ticket_id=finished.tickets[0].ticket_id if finished.tickets else None,
        outcome=finished.outcome.value,
        blocks=finished.blocks,
        seconds=finished.seconds,
    )


def skip_event(session_id: str, decision: SkipDecision, ticket_id: str | None) -> "Skip":
    """Make the log's event of a skip."""
    from grove_core.model.events import Skip

    return Skip(
        ts=decision.timestamp,
        session_id=session_id,
        reason=decision.reason,
        decider=decision.decider.value,
        lines_changed=decision.lines_changed,
        ticket_id=ticket_id,
    )


def note_skip(project: "Project", decision: SkipDecision | None) -> None:
    """Count how often agents skip in a row; a reflection, or a person's skip, ends the row."""
    path = project.project_cache / _SKIPS
    with suppress(OSError, StorageError):
        if decision is None or decision.decider is not SkipDecider.AGENT:
            path.unlink(missing_ok=True)
            return
        files.make_directory(path.parent)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{one_line(decision.reason)}\n")


def skips_in_a_row(project: "Project") -> str:
    """Say at the start of a session that agents have skipped again and again."""
    try:
        path = project.project_cache / _SKIPS
        reasons = path.read_text(encoding="utf-8").splitlines()[-_SKIPS_KEPT:]
    except (OSError, ValueError):
        return ""
    if len(reasons) < _SKIPS_NAMED:
        return ""
    return (
        f"grove: agents have skipped the last {len(reasons)} reflections here; the last"
        " time they said:\n"
        f"{quote_line(reasons[-1], _LONGEST_REASON)}\n"
        "If this session teaches something, write it down: grove reflect."
    )


def trace_event(kind: EventType, now: datetime, **details: object) -> TraceEvent:
    """Make a trace event with short details; those that are ``None`` are left out."""
    texts = {
        name: shorten(one_line(str(value)), LONGEST_DETAIL)
        for name, value in details.items()
        if value is not None
    }
    return TraceEvent(event_type=kind, timestamp=now, details=texts)


def extend_trace(trace: Trace, events: Sequence[TraceEvent]) -> Trace:
    """Add events to a trace, which keeps its beginning and the newest."""
    together = (*trace.events, *events)
    dropped = max(0, len(together) - MOST_EVENTS)
    newest = together[KEPT_FROM_START + dropped :]
    kept = together[:KEPT_FROM_START] + newest if dropped else together
    return Trace(events=kept, dropped=trace.dropped + dropped)


def current_ticket(gate: Gate) -> Ticket | None:
    """Return the ticket that the work at hand belongs to."""
    cycle = gate.cycle or (gate.broken_cycles[-1] if gate.broken_cycles else None)
    closed = cycle.tickets[0] if cycle is not None and cycle.tickets else None
    return closed if gate.status.reflection_pending or gate.ticket is None else gate.ticket


def ticket_of(gate: Gate) -> str | None:
    """Return the id of the ticket that the work at hand belongs to."""
    ticket = current_ticket(gate)
    return ticket.ticket_id if ticket is not None else None


def new_session(project: "Project", call: HookInput) -> Session:
    """Make the state of a session that grove has not seen yet."""
    return Session(
        id=call.session_id,
        host=call.host,
        cwd=call.cwd or str(project.start),
        project_root=str(project.root),
        created_at=project.now,
        updated_at=project.now,
        transcript_path=call.transcript_path,
        process_id=call.process_id,
        prompt_id=call.prompt_id,
    )


def is_over(session: Session, project: "Project") -> bool:
    """Return whether a session has ended, with or without saying so."""
    if session.ended_at is not None or project.now - session.updated_at > IDLE_LIMIT:
        return True
    return session.process_id is not None and not files.is_running(session.process_id)


class OpenSessions:
    """Which sessions of a project may still have something to say: one empty file each."""

    def __init__(self, project: "Project") -> None:
        self._directory = project.project_cache / "open-sessions"

    def add(self, session_id: str) -> None:
        """Note a session."""
        with suppress(OSError, StorageError):
            files.make_directory(self._directory)
            (self._directory / session_id).touch()

    def remove(self, session_id: str) -> None:
        """Forget a session."""
        with suppress(OSError):
            (self._directory / session_id).unlink(missing_ok=True)

    def all(self) -> Sequence[str]:
        """List the sessions by id; files of other names are ignored."""
        try:
            return sorted(filter(is_session_id, os.listdir(self._directory)))  # noqa: PTH208 - names are all we need
        except OSError:
            return ()


def finish_ends(project: "Project") -> None:
    """Do what follows from the ends that SessionEnd has only written down, in all projects."""
    home = project.paths.home
    for session_id in filter(is_session_id, ended_sessions(os.fspath(home))):
        note = home / ENDS_FOLDER / session_id
        try:
            seconds, _, reason = note.read_text().partition(" ")
            at = datetime.fromtimestamp(float(seconds), UTC)
            session = project.session(session_id)
            # One that has gone on since has not ended.
            if session is not None and session.ended_at is None and session.updated_at <= at:
                end_session(project.elsewhere(Path(session.project_root), at), session, reason)
            note.unlink(missing_ok=True)
        except (OSError, ValueError, StorageError) as error:
            project.diagnostics.log("info", f"an end waits: {error}", session=session_id)


def end_session(project: "Project", known: Session, reason: str) -> None:
    """Close a session's state: what was shown and not used is dismissed; it stays resumable."""
    pending: list[InjectedLearning] = []

    def change(stored: Session) -> SessionUpdate:
        pending[:] = _pending(stored)
        # The last stop has measured already, and a session that goes on takes a new baseline.
        ended = evolve(
            dismiss(stored, project.now),
            ended_at=project.now,
            baseline=None,
            measurement=None,
        )
        note = trace_event(EventType.SESSION_END, project.now, reason=reason)
        return SessionUpdate(ended, [SessionEnded(change=stored.measurement)], [note])

    session, _ = update_session(project, known, change)
    _log_dismissals(project, session.id, pending)
    project.prefilter.remove(session.id)
    if _past_reflection(session):
        OpenSessions(project).add(session.id)
    else:
        OpenSessions(project).remove(session.id)


def close_dead_sessions(project: "Project", current: str) -> list[str]:
    """Dismiss for sessions that died in silence, and name what is pending of past ones."""
    notices: list[str] = []
    open_sessions = OpenSessions(project)
    for session_id in open_sessions.all():
        if session_id == current:
            continue
        session = project.session(session_id)
        if session is None:
            if project.sessions.path(session_id).exists():
                notices.append(_UNREADABLE.format(session_id=session_id))
        elif not is_over(session, project):
            continue
        elif notice := _past_reflection(_dismiss_stored(project, session)):
            notices.append(notice)
        open_sessions.remove(session_id)
    return notices


def _past_reflection(session: Session) -> str:
    from grove_core.services.messages import past_reflection  # few hooks have anything to say

    return past_reflection(session)


def _dismiss_stored(project: "Project", session: Session) -> Session:
    pending: list[InjectedLearning] = []

    def change(stored: Session | None) -> Session:
        pending[:] = _pending(stored or session)
        return dismiss(stored or session, project.now)

    after = project.sessions.update(session.id, change)
    _log_dismissals(project, session.id, pending)
    return after


def dismiss(session: Session, now: datetime) -> Session:
    """Mark what was shown and not used as dismissed; doing it twice changes nothing."""
    pending = _pending(session)
    if not pending:
        return session
    injected = tuple(
        evolve(one, outcome=InjectionOutcome.DISMISSED) if one in pending else one
        for one in session.injected
    )
    ids = " ".join(one.learning_id for one in pending)
    note = trace_event(EventType.LEARNING_DISMISSED, now, learnings=ids)
    return evolve(session, injected=injected, trace=extend_trace(session.trace, [note]))


def _pending(session: Session) -> list[InjectedLearning]:
    return [one for one in session.injected if one.outcome is InjectionOutcome.PENDING]


def _log_dismissals(
    project: "Project", session_id: str, dismissed: Iterable[InjectedLearning]
) -> None:
    from grove_core.model.events import Dismissed

    def event(one: InjectedLearning) -> Dismissed:
        return Dismissed(ts=project.now, learning_id=one.learning_id, session_id=session_id)

    project.log_by_area((event(one), one.personal) for one in dismissed)
