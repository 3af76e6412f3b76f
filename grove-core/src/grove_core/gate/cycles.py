"""Cycles: tickets in progress and closed, reflections and skips; and what all handlers say."""

from datetime import datetime
from typing import TypeAlias

from attrs import evolve, field

from grove_core.model.gate import (
    BrokenCycle,
    CircuitBreaker,
    Cycle,
    CycleOutcome,
    Decision,
    FinishedCycle,
    Gate,
    GateCredit,
    GatePolicy,
    GateStatus,
    ReflectionResult,
    SessionMode,
    SkipDecision,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
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
        tickets=gate.closed,
        blocks=gate.breaker.cycle_blocks,
        seconds=max(0.0, (now - opened_at).total_seconds()),
    )


def skip_note(decision: SkipDecision) -> Note:
    """Tell a skip in the trace."""
    return EventType.SKIP, {"reason": decision.reason, "decider": decision.decider.value}


def with_new_baseline(memory: SessionMode) -> SessionMode:
    """Forget the lines that were counted against the old baseline."""
    return evolve(memory, lines_at_last_cycle=0)


def ticket_detected(gate: Gate, event: TicketDetected, now: datetime, _: GatePolicy) -> Outcome:
    """A ticket is in progress: from idle to active."""
    ticket = with_known_details(event.ticket, gate.ticket)
    notes = [(EventType.TICKET_DETECTED, describe(ticket))]
    if gate.status.reflection_pending:
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
    if gate.status.reflection_pending and gate.cycle is not None:
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
    finished = finish(opened, CycleOutcome(gate.credit.kind.value), now)
    paid = evolve(opened, status=gate.credit.kind, credit=None)
    return Outcome(paid, Decision(finished=finished), notes)


def _join(cycle: Cycle, ticket: Ticket, status: GateStatus) -> Cycle:
    """Add a ticket to a cycle that is open already."""
    if any(is_same_ticket(ticket, other) for other in cycle.tickets):
        return cycle
    # Session mode opened a cycle without tickets: should this close fail, it is still pending.
    before = cycle.before if cycle.tickets else status
    return evolve(cycle, tickets=(*cycle.tickets, ticket), before=before)


def _counts_for(credit: GateCredit, ticket: Ticket) -> bool:
    if credit.ticket is not None:
        return is_same_ticket(credit.ticket, ticket)
    if ticket.detected_at is None:  # nobody can have skipped a ticket that was not seen yet
        return credit.kind is GateStatus.REFLECTED
    return credit.earned_at >= ticket.detected_at


def ticket_close_failed(
    gate: Gate, event: TicketCloseFailed, now: datetime, _: GatePolicy
) -> Outcome:
    """A close that counted did not happen, or the ticket is open again: as before the close."""
    ticket, cycle = event.ticket, gate.cycle
    note = EventType.TICKET_REOPENED if event.reopened else EventType.TICKET_CLOSE_FAILED
    notes = [(note, describe(ticket))]
    gate = evolve(gate, broken_cycles=_without(gate.broken_cycles, ticket))
    if not gate.status.reflection_pending or cycle is None:
        return Outcome(gate, notes=notes)
    left = tuple(other for other in cycle.tickets if not is_same_ticket(other, ticket))
    if left == cycle.tickets:
        return Outcome(gate, notes=notes)
    in_progress = gate.ticket
    if cycle.before_ticket is not None and is_same_ticket(cycle.before_ticket, ticket):
        in_progress = cycle.before_ticket
    if left or cycle.before.reflection_pending:
        still_pending = evolve(gate, ticket=in_progress, cycle=evolve(cycle, tickets=left))
        return Outcome(still_pending, notes=notes)
    before = evolve(
        gate, status=cycle.before, ticket=in_progress, cycle=None, breaker=CircuitBreaker()
    )
    finished = finish(gate, CycleOutcome.NO_CHANGE, now)
    return Outcome(before, Decision(finished=finished), notes)


def _without(cycles: tuple[BrokenCycle, ...], ticket: Ticket) -> tuple[BrokenCycle, ...]:
    """Take a ticket out of cycles that the breaker let go."""
    kept = []
    for one in cycles:
        left = tuple(other for other in one.tickets if not is_same_ticket(other, ticket))
        if left or not one.tickets:
            kept.append(evolve(one, tickets=left))
    return tuple(kept)


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


def reflection_accepted(
    gate: Gate, result: ReflectionResult, now: datetime, _: GatePolicy
) -> Outcome:
    """A reflection was accepted."""
    details = {
        "accepted": str(len(result.learning_ids)),
        "candidates": str(result.candidates_produced),
    }
    notes = [(EventType.REFLECTION_COMPLETE, details)]
    done = evolve(gate, reflection=result)
    return _resolve(done, GateStatus.REFLECTED, now, notes)


def skip_accepted(gate: Gate, decision: SkipDecision, now: datetime, _: GatePolicy) -> Outcome:
    """A reason for not reflecting was given."""
    done = evolve(gate, skip=decision)
    return _resolve(done, GateStatus.SKIPPED, now, [skip_note(decision)])


def _resolve(gate: Gate, kind: GateStatus, now: datetime, notes: Notes) -> Outcome:
    """End the pending reflection, or earn a credit where there is none."""
    rested = evolve(
        gate,
        breaker=CircuitBreaker(),
        session_mode=with_new_baseline(gate.session_mode),
    )
    if gate.status.reflection_pending:
        finished = finish(gate, CycleOutcome(kind.value), now)
        ended = evolve(rested, status=kind, credit=None)
        return Outcome(ended, Decision(finished=finished, baseline_moves=True), notes)
    # What answers a cycle that the breaker let go ends that cycle, late, and no other.
    is_first = gate.status in (GateStatus.IDLE, GateStatus.ACTIVE)
    # After a cycle's end only for the ticket that is at work: its close is still to come.
    if (is_first or gate.ticket is not None) and not gate.broken_cycles:
        notes.append((EventType.CREDIT_EARNED, {"kind": kind.value}))
        detected_at = gate.ticket.detected_at if gate.ticket is not None else None
        only_for = None if is_first else gate.ticket
        earned_at = max(now, detected_at or now)
        credit = GateCredit(kind=kind, earned_at=earned_at, ticket=only_for)
        rested = evolve(rested, credit=credit)
    rested = evolve(rested, broken_cycles=())
    return Outcome(rested, Decision(baseline_moves=True), notes)
