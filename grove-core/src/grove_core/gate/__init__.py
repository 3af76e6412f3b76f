"""The gate: a pure function from a state and an event to the next state and a decision.

Nothing else in grove sets a gate's status. The rows of the table in the documentation
(``docs/reference/gate.md``) are the functions of ``cycles`` and ``stopping``.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from attrs import evolve

from grove_core.gate.cycles import (
    Outcome,
    reflection_accepted,
    skip_accepted,
    ticket_close_failed,
    ticket_closed,
    ticket_detected,
)
from grove_core.gate.stopping import session_ended, stop
from grove_core.model.gate import (
    CircuitBreaker,
    Cycle,
    Decision,
    Forced,
    Gate,
    GateEvent,
    GatePolicy,
    GateStatus,
    ReflectionResult,
    SessionEnded,
    SkipDecision,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
)
from grove_core.model.session import EventType, TraceEvent


def step(
    gate: Gate, event: GateEvent, now: datetime, policy: GatePolicy
) -> tuple[Gate, Decision, tuple[TraceEvent, ...]]:
    """Move the gate by one event."""
    outcome = _HANDLERS[type(event)](gate, event, now, policy)
    notes = list(outcome.notes)
    if outcome.gate.status is not gate.status:
        change = {"from": gate.status.value, "to": outcome.gate.status.value}
        notes.append((EventType.GATE_STATUS_CHANGED, change))
    trace = tuple(
        TraceEvent(event_type=kind, timestamp=now, details=details) for kind, details in notes
    )
    return outcome.gate, outcome.decision, trace


def _forced(gate: Gate, event: Forced, now: datetime, _: GatePolicy) -> Outcome:
    cycle = gate.cycle
    if not event.status.reflection_pending:
        cycle = None
    elif not gate.status.reflection_pending or cycle is None:
        tickets = (gate.ticket,) if gate.ticket is not None else ()
        cycle = Cycle(tickets=tickets, opened_at=now, before=GateStatus.IDLE)
    forced = evolve(gate, status=event.status, cycle=cycle, breaker=CircuitBreaker())
    return Outcome(forced, notes=[(EventType.FORCED, {"status": event.status.value})])


_HANDLERS: Final[dict[type, Callable[[Gate, Any, datetime, GatePolicy], Outcome]]] = {
    TicketDetected: ticket_detected,
    TicketClosed: ticket_closed,
    TicketCloseFailed: ticket_close_failed,
    StopRequested: stop,
    ReflectionResult: reflection_accepted,
    SkipDecision: skip_accepted,
    SessionEnded: session_ended,
    Forced: _forced,
}
