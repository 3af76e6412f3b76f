"""What the handlers of the gate's events have in common."""

from datetime import datetime
from typing import TypeAlias

from attrs import evolve, field

from grove_core.model.gate import (
    CycleOutcome,
    Decision,
    FinishedCycle,
    Gate,
    SessionMode,
    SkipDecision,
)
from grove_core.model.session import EventType
from grove_core.model.ticket import Ticket
from grove_core.model.value import Value, frozen

Note: TypeAlias = tuple[EventType, dict[str, str]]
Notes: TypeAlias = list[Note]


@frozen(eq=False, repr=False)
class Outcome(Value):
    """What a handler found: the next state, the decision, and what to say in the trace."""

    gate: Gate
    decision: Decision = Decision()
    notes: Notes = field(factory=list)


def is_same_ticket(one: Ticket, other: Ticket) -> bool:
    """Return whether two descriptions mean the same ticket."""
    return one.source == other.source and one.ticket_id == other.ticket_id


def describe(ticket: Ticket) -> dict[str, str]:
    """Name a ticket in the trace."""
    details = {"system": ticket.source, "ticket": ticket.ticket_id or "unknown"}
    return {**details, "title": ticket.title} if ticket.title else details


def finish(gate: Gate, outcome: CycleOutcome, now: datetime) -> FinishedCycle:
    """Sum up the cycle that ends."""
    opened_at = gate.cycle.opened_at if gate.cycle is not None else now
    return FinishedCycle(
        outcome=outcome,
        tickets=gate.cycle.tickets if gate.cycle is not None else (),
        blocks=gate.breaker.cycle_blocks,
        seconds=max(0.0, (now - opened_at).total_seconds()),
    )


def skip_note(decision: SkipDecision) -> Note:
    """Tell a skip in the trace."""
    return EventType.SKIP, {"reason": decision.reason, "decider": decision.decider.value}


def with_new_baseline(memory: SessionMode) -> SessionMode:
    """Forget the lines that were counted against the old baseline."""
    return evolve(memory, lines_at_last_cycle=0)
