"""Moving a session's gate: the one place where the pure gate meets files, logs and plugins."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from grove_core.model.gate import Decision, FinishedCycle, Gate, GateEvent
from grove_core.model.reflection import SkipDecision
from grove_core.model.session import Session, TraceEvent
from grove_core.model.ticket import Ticket
from grove_core.model.value import Value
from grove_core.tracing import extend

if TYPE_CHECKING:
    from grove_core.model.events import GateCycle, Skip, StatsEvent
    from grove_core.workspace import Workspace


@frozen(kw_only=True, eq=False, repr=False)
class Change(Value):
    """What to do to a session."""

    session: Session
    events: Sequence[GateEvent] = ()
    trace: Sequence[TraceEvent] = ()
    if_different: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class Moved(Value):
    """A session after a change."""

    session: Session
    before: Gate
    decisions: tuple[Decision, ...]


def move(
    workspace: "Workspace",
    session_id: str,
    change: Callable[[Session], Change],
    *,
    absent: Callable[[], Session],
    cause: str,
    words: Collection[str] | None = None,
) -> Moved:
    """Change a session under its lock, then do what follows from it."""
    moved: list[Moved] = []

    def apply(stored: Session | None) -> Session:
        before = stored if stored is not None else absent()
        result = _apply(workspace, before, change(before))
        moved[:] = [result]
        # Under the lock: another process must not take back what this one has just said.
        close_waits = bool(result.session.intents)
        if words is None:
            workspace.prefilter.set_close_waits(session_id, close_waits=close_waits)
        else:
            workspace.prefilter.write(session_id, words, close_waits=close_waits)
        return result.session

    stored = workspace.sessions.update(session_id, apply)
    result = evolve(moved[0], session=stored)
    _report_set_aside(workspace)
    _follow(workspace, result, cause)
    # Last, since it asks git: what is said above must be on disk if that takes too long.
    if any(decision.baseline_moves for decision in result.decisions):
        from grove_core.flow.session_mode import renew_baseline

        result = evolve(result, session=renew_baseline(workspace, result.session))
    return result


def _apply(workspace: "Workspace", before: Session, change: Change) -> Moved:
    gate = change.session.gate
    decisions: list[Decision] = []
    trace = list(change.trace)
    if change.events:
        from grove_core.gate import step  # many hooks write a session and leave its gate alone

        for event in change.events:
            gate, decision, notes = step(gate, event, workspace.now, workspace.policy)
            decisions.append(decision)
            trace += notes
    if change.if_different and gate == before.gate and change.session == before:
        return Moved(session=before, before=before.gate, decisions=tuple(decisions))
    session = evolve(
        change.session,
        gate=gate,
        trace=extend(change.session.trace, trace),
        updated_at=workspace.now,
    )
    return Moved(session=session, before=before.gate, decisions=tuple(decisions))


def _follow(workspace: "Workspace", moved: Moved, cause: str) -> None:
    """Log what ended and tell the plugins, now that the state is on disk."""
    events: list[StatsEvent] = []
    for decision in moved.decisions:
        if decision.finished is not None:
            events.append(_cycle_event(moved.session.id, decision.finished, workspace.now))
        if decision.auto_skip is not None:
            events.append(skip_event(moved.session.id, decision.auto_skip, None))
    workspace.log_events(events)
    # Nothing is known yet of a session that no start has seen.
    observed = moved.session.observed or not moved.session.environment
    if moved.session.gate.status is not moved.before.status and observed:
        workspace.plugins.gate_changed(moved.session, moved.before, moved.session.gate, cause)


def _cycle_event(session_id: str, finished: FinishedCycle, now: datetime) -> "GateCycle":
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


def current_ticket(gate: Gate) -> Ticket | None:
    """Return which ticket the work at hand belongs to."""
    cycle = gate.cycle or (gate.broken_cycles[-1] if gate.broken_cycles else None)
    closed = cycle.tickets[0] if cycle is not None and cycle.tickets else None
    return closed if gate.status.owes_reflection or gate.ticket is None else gate.ticket


def ticket_of(gate: Gate) -> str | None:
    """Tell the id of the ticket that the work at hand belongs to."""
    ticket = current_ticket(gate)
    return ticket.ticket_id if ticket is not None else None


def _report_set_aside(workspace: "Workspace") -> None:
    while workspace.sessions.set_aside:
        aside = workspace.sessions.set_aside.pop()
        workspace.diagnostics.log(
            "error",
            f"session state could not be read and was set aside as {aside.path}: {aside.reason}",
            session=aside.session_id,
        )
