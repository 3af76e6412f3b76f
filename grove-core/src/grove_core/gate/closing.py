"""Tickets: in progress, closed, and not closed after all."""

from datetime import datetime

from attrs import evolve

from grove_core.gate.outcome import Notes, Outcome, describe, finish, is_same_ticket
from grove_core.model.gate import (
    CircuitBreaker,
    Credit,
    Cycle,
    CycleOutcome,
    Decision,
    Gate,
    GateCredit,
    GatePolicy,
    GateStatus,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    TicketReopened,
)
from grove_core.model.session import EventType
from grove_core.model.ticket import Ticket


def ticket_detected(gate: Gate, event: TicketDetected, now: datetime, _: GatePolicy) -> Outcome:
    """A ticket is in progress: from idle to active."""
    ticket = with_known_details(event.ticket, gate.ticket)
    notes = [(EventType.TICKET_DETECTED, describe(ticket))]
    if gate.status.owes_reflection:
        return Outcome(gate, notes=notes)
    ticket = evolve(ticket, detected_at=ticket.detected_at or now)
    status = GateStatus.ACTIVE if gate.status is GateStatus.IDLE else gate.status
    return Outcome(evolve(gate, status=status, ticket=ticket), notes=notes)


def ticket_closed(gate: Gate, event: TicketClosed, now: datetime, _: GatePolicy) -> Outcome:
    """A ticket was closed: a reflection becomes pending, unless a credit counts for it."""
    ticket = with_known_details(event.ticket, gate.ticket)
    notes = [(EventType.TICKET_CLOSED, describe(ticket))]
    in_progress = gate.ticket
    if in_progress is not None and is_same_ticket(in_progress, ticket):
        in_progress = None
    if gate.status.owes_reflection and gate.cycle is not None:
        joined = _join(gate.cycle, ticket, gate.status)
        return Outcome(evolve(gate, ticket=in_progress, cycle=joined), notes=notes)
    cycle = Cycle(tickets=(ticket,), opened_at=now, before=gate.status, before_ticket=gate.ticket)
    opened = evolve(
        gate,
        status=GateStatus.PENDING,
        ticket=in_progress,
        cycle=cycle,
        breaker=CircuitBreaker(),
    )
    if gate.credit is None or not _counts_for(gate.credit, ticket):
        return Outcome(opened, notes=notes)
    return _spend(gate.credit, opened, now, notes)


def _join(cycle: Cycle, ticket: Ticket, status: GateStatus) -> Cycle:
    """Add a ticket to a cycle that is open already."""
    if any(is_same_ticket(ticket, other) for other in cycle.tickets):
        return cycle
    # Session mode opened a cycle without tickets: should this close fail, it is still pending.
    before = cycle.before if cycle.tickets else status
    return evolve(cycle, tickets=(*cycle.tickets, ticket), before=before)


def _counts_for(credit: GateCredit, ticket: Ticket) -> bool:
    return ticket.detected_at is None or credit.earned_at >= ticket.detected_at


def _spend(credit: GateCredit, opened: Gate, now: datetime, notes: Notes) -> Outcome:
    if credit.kind is Credit.REFLECTED:
        status, outcome = GateStatus.REFLECTED, CycleOutcome.REFLECTED
    else:
        status, outcome = GateStatus.SKIPPED, CycleOutcome.SKIPPED
    finished = finish(opened, outcome, now)
    paid = evolve(opened, status=status, credit=None)
    return Outcome(paid, Decision(finished=finished), notes)


def ticket_close_failed(
    gate: Gate, event: TicketCloseFailed, now: datetime, _: GatePolicy
) -> Outcome:
    """A close that counted did not happen: as before the close."""
    return _take_back(gate, event.ticket, EventType.TICKET_CLOSE_FAILED, now)


def ticket_reopened(gate: Gate, event: TicketReopened, now: datetime, _: GatePolicy) -> Outcome:
    """A ticket is open again: as before its close, if that is still pending."""
    return _take_back(gate, event.ticket, EventType.TICKET_REOPENED, now)


def _take_back(gate: Gate, ticket: Ticket, note: EventType, now: datetime) -> Outcome:
    notes = [(note, describe(ticket))]
    cycle = gate.cycle
    if not gate.status.owes_reflection or cycle is None:
        return Outcome(gate, notes=notes)
    left = tuple(other for other in cycle.tickets if not is_same_ticket(other, ticket))
    if left == cycle.tickets:
        return Outcome(gate, notes=notes)
    in_progress = gate.ticket
    if cycle.before_ticket is not None and is_same_ticket(cycle.before_ticket, ticket):
        in_progress = cycle.before_ticket
    if left or cycle.before.owes_reflection:
        still_pending = evolve(gate, ticket=in_progress, cycle=evolve(cycle, tickets=left))
        return Outcome(still_pending, notes=notes)
    before = evolve(
        gate, status=cycle.before, ticket=in_progress, cycle=None, breaker=CircuitBreaker()
    )
    finished = finish(gate, CycleOutcome.NO_CHANGE, now)
    return Outcome(before, Decision(finished=finished), notes)


def with_known_details(ticket: Ticket, known: Ticket | None) -> Ticket:
    """Fill in what an event does not tell from the ticket that is in progress."""
    if known is None or not is_same_ticket(ticket, known):
        return ticket
    return evolve(
        ticket,
        title=ticket.title or known.title,
        description=ticket.description or known.description,
        labels=ticket.labels or known.labels,
        detected_at=known.detected_at,
    )
