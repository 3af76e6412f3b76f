"""The gate: a pure function from a state and an event to the next state and a decision.

Nothing else in grove sets a gate's status. The rows of the table in the documentation
(``docs/explanation/gate.md``) are the functions below, in the same order.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from attrs import evolve, field, frozen

from grove_core.model.gate import (
    AutoSkipDecider,
    BrokenCycle,
    CircuitBreaker,
    Credit,
    Cycle,
    CycleOutcome,
    Decision,
    FinishedCycle,
    Forced,
    Gate,
    GateCredit,
    GateEvent,
    GatePolicy,
    GateStatus,
    ReflectionAccepted,
    SessionChange,
    SessionEnded,
    SessionMode,
    SkipAccepted,
    StopRequested,
    TicketClosed,
    TicketCloseFailed,
    TicketDetected,
    Verdict,
)
from grove_core.model.reflection import SkipDecider, SkipDecision
from grove_core.model.session import EventType, TraceEvent
from grove_core.model.ticket import Ticket

# The client overrides the ninth block in a row and then ends a headless run with an empty result.
MOST_BLOCKS: Final = 6
CYCLE_FACTOR: Final = 2

_SETTLED: Final = (GateStatus.IDLE, GateStatus.REFLECTED, GateStatus.SKIPPED)
_SUBAGENT: Final = "subagent"


@frozen
class _Outcome:
    """What a handler found: the next state, the decision, and what to say in the trace."""

    gate: Gate
    decision: Decision = Decision()
    notes: list[tuple[EventType, dict[str, str]]] = field(factory=list)


def step(
    gate: Gate, event: GateEvent, now: datetime, policy: GatePolicy
) -> tuple[Gate, Decision, tuple[TraceEvent, ...]]:
    """Move the gate by one event.

    Args:
        gate: The state before.
        event: What happened.
        now: When, UTC. A clock that went backwards is taken as standing still.
        policy: The numbers to work with.

    Returns:
        The state after, what follows from it, and trace events that tell the story.
    """
    outcome = _HANDLERS[type(event)](gate, event, now, policy)
    notes = list(outcome.notes)
    if outcome.gate.status is not gate.status:
        change = {"from": gate.status.value, "to": outcome.gate.status.value}
        notes.append((EventType.GATE_STATUS_CHANGED, change))
    trace = tuple(
        TraceEvent(event_type=kind, timestamp=now, details=details) for kind, details in notes
    )
    return outcome.gate, outcome.decision, trace


def is_same_ticket(one: Ticket, other: Ticket) -> bool:
    """Tell whether two descriptions mean the same ticket.

    Args:
        one: A ticket.
        other: Another description.

    Returns:
        Whether system and id agree.
    """
    return one.source == other.source and one.ticket_id == other.ticket_id


def _ticket_detected(
    gate: Gate, event: TicketDetected, now: datetime, policy: GatePolicy
) -> _Outcome:
    del policy
    ticket = _with_known_details(event.ticket, gate.ticket)
    notes = [(EventType.TICKET_DETECTED, _describe(ticket))]
    if gate.status.owes_reflection:
        return _Outcome(gate, notes=notes)
    ticket = evolve(ticket, detected_at=ticket.detected_at or now)
    status = GateStatus.ACTIVE if gate.status is GateStatus.IDLE else gate.status
    return _Outcome(evolve(gate, status=status, ticket=ticket), notes=notes)


def _ticket_closed(gate: Gate, event: TicketClosed, now: datetime, policy: GatePolicy) -> _Outcome:
    del policy
    ticket = _with_known_details(event.ticket, gate.ticket)
    notes = [(EventType.TICKET_CLOSED, _describe(ticket))]
    in_progress = gate.ticket
    if in_progress is not None and is_same_ticket(in_progress, ticket):
        in_progress = None
    if gate.status.owes_reflection and gate.cycle is not None:
        joined = _join(gate.cycle, ticket, gate.status)
        return _Outcome(evolve(gate, ticket=in_progress, cycle=joined), notes=notes)
    cycle = Cycle(tickets=(ticket,), opened_at=now, before=gate.status, before_ticket=gate.ticket)
    opened = evolve(
        gate,
        status=GateStatus.PENDING,
        ticket=in_progress,
        cycle=cycle,
        breaker=CircuitBreaker(),
    )
    if gate.credit is None or not _counts_for(gate.credit, ticket):
        return _Outcome(opened, notes=notes)
    return _spend(gate.credit, opened, now, notes)


def _join(cycle: Cycle, ticket: Ticket, status: GateStatus) -> Cycle:
    """Add a ticket to a debt that is open already."""
    if any(is_same_ticket(ticket, other) for other in cycle.tickets):
        return cycle
    # Session mode opened a cycle without tickets: should this close fail, its debt is still owed.
    before = cycle.before if cycle.tickets else status
    return evolve(cycle, tickets=(*cycle.tickets, ticket), before=before)


def _counts_for(credit: GateCredit, ticket: Ticket) -> bool:
    return ticket.detected_at is None or credit.earned_at >= ticket.detected_at


def _spend(
    credit: GateCredit, opened: Gate, now: datetime, notes: list[tuple[EventType, dict[str, str]]]
) -> _Outcome:
    if credit.kind is Credit.REFLECTED:
        status, outcome = GateStatus.REFLECTED, CycleOutcome.REFLECTED
    else:
        status, outcome = GateStatus.SKIPPED, CycleOutcome.SKIPPED
    finished = _finish(opened, outcome, now)
    paid = evolve(opened, status=status, credit=None)
    return _Outcome(paid, Decision(finished=finished), notes)


def _ticket_close_failed(
    gate: Gate, event: TicketCloseFailed, now: datetime, policy: GatePolicy
) -> _Outcome:
    del policy
    notes = [(EventType.TICKET_CLOSE_FAILED, _describe(event.ticket))]
    cycle = gate.cycle
    if not gate.status.owes_reflection or cycle is None:
        return _Outcome(gate, notes=notes)
    left = tuple(ticket for ticket in cycle.tickets if not is_same_ticket(ticket, event.ticket))
    if left == cycle.tickets:
        return _Outcome(gate, notes=notes)
    in_progress = gate.ticket
    if cycle.before_ticket is not None and is_same_ticket(cycle.before_ticket, event.ticket):
        in_progress = cycle.before_ticket
    if left or cycle.before.owes_reflection:
        still_owed = evolve(gate, ticket=in_progress, cycle=evolve(cycle, tickets=left))
        return _Outcome(still_owed, notes=notes)
    before = evolve(
        gate, status=cycle.before, ticket=in_progress, cycle=None, breaker=CircuitBreaker()
    )
    finished = _finish(gate, CycleOutcome.NO_CHANGE, now)
    return _Outcome(before, Decision(finished=finished), notes)


def _stop(gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy) -> _Outcome:
    # Only a subagent is sure to end and to bring another stop; what else runs defers once.
    shells = tuple(task.id for task in event.background if task.kind != _SUBAGENT)
    seen = evolve(gate, seen_shells=shells)
    if not gate.status.owes_reflection:
        seen, decision = _stop_without_debt(seen, event.change, now, policy)
        if not seen.status.owes_reflection:
            return _Outcome(seen, decision, _stop_notes(event, decision))
    new_shell = any(shell not in gate.seen_shells for shell in shells)
    subagent = any(task.kind == _SUBAGENT for task in event.background)
    if event.plan_mode or new_shell or subagent:
        reason = "plan mode" if event.plan_mode else "background work"
        decision = Decision(verdict=Verdict.DEFER, reason=reason)
        return _Outcome(seen, decision, _stop_notes(event, decision))
    return _stop_with_debt(seen, event, now, policy)


def _stop_without_debt(
    gate: Gate, change: SessionChange | None, now: datetime, policy: GatePolicy
) -> tuple[Gate, Decision]:
    """Approve, or arm the gate in session mode."""
    approve = Decision(verdict=Verdict.APPROVE)
    if gate.status not in _SETTLED or change is None:
        return gate, evolve(approve, reason=gate.status.value)
    if change.lines == 0:
        return gate, evolve(approve, reason="no change")
    if _is_small(change.lines, policy):
        if policy.auto_skip_decider is AutoSkipDecider.AGENT:
            return gate, evolve(approve, reason="small change")
        return _skip_automatically(gate, change.lines, now, evolve(approve, reason="small change"))
    if not _cycle_allowed(gate.session_mode, change.lines, now, policy):
        return gate, evolve(approve, reason="asked already")
    memory = SessionMode(
        cycles=gate.session_mode.cycles + 1,
        last_cycle_at=now,
        lines_at_last_cycle=change.lines or 0,
    )
    armed = evolve(
        gate,
        status=GateStatus.PENDING,
        cycle=Cycle(tickets=(), opened_at=now, before=gate.status, before_ticket=gate.ticket),
        breaker=CircuitBreaker(),
        session_mode=memory,
    )
    return armed, approve


def _is_small(lines: int | None, policy: GatePolicy) -> bool:
    return (
        policy.auto_skip_enabled
        and policy.auto_skip_decider is not AutoSkipDecider.NEVER
        and lines is not None
        and lines <= policy.auto_skip_line_threshold
    )


def _skip_automatically(
    gate: Gate, lines: int | None, now: datetime, decision: Decision
) -> tuple[Gate, Decision]:
    skip = SkipDecision(
        reason=f"small change of {lines} line{'' if lines == 1 else 's'}",
        decider=SkipDecider.AUTO,
        timestamp=now,
        lines_changed=lines,
    )
    skipped = evolve(gate, skip=skip, session_mode=_with_new_baseline(gate.session_mode))
    return skipped, evolve(decision, auto_skip=skip, baseline_moves=True)


def _with_new_baseline(memory: SessionMode) -> SessionMode:
    return evolve(memory, lines_at_last_cycle=0)


def _cycle_allowed(
    memory: SessionMode, lines: int | None, now: datetime, policy: GatePolicy
) -> bool:
    if memory.last_cycle_at is None:
        return True
    if lines is None:
        return False
    further = lines - memory.lines_at_last_cycle
    waited = (now - memory.last_cycle_at).total_seconds()
    return further >= policy.session_rearm_lines and waited >= policy.session_rearm_seconds


def _stop_with_debt(
    gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy
) -> _Outcome:
    """Open the breaker, or block."""
    breaker = gate.breaker
    most = max(1, min(policy.max_blocks, MOST_BLOCKS))
    cooled = breaker.last_block_at is not None and (
        (now - breaker.last_block_at).total_seconds() >= policy.cooldown_seconds
    )
    count = 0 if cooled else breaker.block_count
    if count >= most or breaker.cycle_blocks >= CYCLE_FACTOR * most:
        return _break(gate, event, now)
    blocked = evolve(
        gate,
        status=GateStatus.BLOCKED,
        breaker=CircuitBreaker(
            block_count=count + 1,
            cycle_blocks=breaker.cycle_blocks + 1,
            last_block_at=max(now, breaker.last_block_at or now),
            last_blocked_session_id=event.session_id,
        ),
    )
    decision = Decision(verdict=Verdict.BLOCK, reason=f"block {count + 1} of {most}")
    notes = _stop_notes(event, decision)
    notes.append((EventType.GATE_BLOCKED, {"block": str(count + 1), "of": str(most)}))
    return _Outcome(blocked, decision, notes)


def _break(gate: Gate, event: StopRequested, now: datetime) -> _Outcome:
    blocks = gate.breaker.cycle_blocks
    broken = BrokenCycle(
        tickets=gate.cycle.tickets if gate.cycle else (), broken_at=now, blocks=blocks
    )
    opened = evolve(
        gate,
        status=GateStatus.IDLE,
        cycle=None,
        breaker=evolve(gate.breaker, block_count=0, cycle_blocks=0, tripped=True),
        credit=None,
        broken_cycles=(*gate.broken_cycles, broken),
    )
    finished = _finish(gate, CycleOutcome.BREAKER, now)
    decision = Decision(verdict=Verdict.BREAK, reason="breaker", finished=finished)
    notes = _stop_notes(event, decision)
    notes.append((EventType.CIRCUIT_BREAKER_TRIPPED, {"blocks": str(blocks)}))
    return _Outcome(opened, decision, notes)


def _stop_notes(event: StopRequested, decision: Decision) -> list[tuple[EventType, dict[str, str]]]:
    details = {
        "verdict": decision.verdict.value,
        "reason": decision.reason,
        "stop_hook_active": str(event.stop_hook_active).lower(),
    }
    if event.change is not None:
        lines = event.change.lines
        details["lines"] = "unknown" if lines is None else str(lines)
    notes = [(EventType.STOP_HOOK_CALLED, details)]
    if decision.verdict is Verdict.DEFER:
        notes.append((EventType.GATE_DEFERRED, {"reason": decision.reason}))
    if decision.auto_skip is not None:
        notes.append(_skip_note(decision.auto_skip))
    return notes


def _skip_note(decision: SkipDecision) -> tuple[EventType, dict[str, str]]:
    return EventType.SKIP, {"reason": decision.reason, "decider": decision.decider.value}


def _reflection_accepted(
    gate: Gate, event: ReflectionAccepted, now: datetime, policy: GatePolicy
) -> _Outcome:
    del policy
    result = event.result
    details = {
        "accepted": str(result.candidates_accepted),
        "candidates": str(result.candidates_produced),
    }
    notes = [(EventType.REFLECTION_COMPLETE, details)]
    done = evolve(gate, reflection=result)
    return _settle(done, Credit.REFLECTED, now, notes)


def _skip_accepted(gate: Gate, event: SkipAccepted, now: datetime, policy: GatePolicy) -> _Outcome:
    del policy
    done = evolve(gate, skip=event.decision)
    return _settle(done, Credit.SKIPPED, now, [_skip_note(event.decision)])


def _settle(
    gate: Gate, kind: Credit, now: datetime, notes: list[tuple[EventType, dict[str, str]]]
) -> _Outcome:
    """End the debt, or earn a credit where there is none."""
    rested = evolve(
        gate,
        breaker=CircuitBreaker(),
        session_mode=_with_new_baseline(gate.session_mode),
        broken_cycles=(),
    )
    if gate.status.owes_reflection:
        reflected = kind is Credit.REFLECTED
        status = GateStatus.REFLECTED if reflected else GateStatus.SKIPPED
        outcome = CycleOutcome.REFLECTED if reflected else CycleOutcome.SKIPPED
        finished = _finish(gate, outcome, now)
        decision = Decision(finished=finished, baseline_moves=True)
        return _Outcome(evolve(rested, status=status, credit=None), decision, notes)
    if gate.status in (GateStatus.IDLE, GateStatus.ACTIVE):
        notes.append((EventType.CREDIT_EARNED, {"kind": kind.value}))
        detected_at = gate.ticket.detected_at if gate.ticket is not None else None
        credit = GateCredit(kind=kind, earned_at=max(now, detected_at or now))
        rested = evolve(rested, credit=credit)
    return _Outcome(rested, Decision(baseline_moves=True), notes)


def _session_ended(gate: Gate, event: SessionEnded, now: datetime, policy: GatePolicy) -> _Outcome:
    if gate.status is GateStatus.ACTIVE:
        return _Outcome(evolve(gate, status=GateStatus.IDLE))
    if gate.status.owes_reflection:
        return _end_unpaid(gate, now)
    lines = event.change.lines if event.change is not None else None
    if lines and policy.auto_skip_decider is AutoSkipDecider.AGENT and _is_small(lines, policy):
        skipped, decision = _skip_automatically(gate, lines, now, Decision())
        notes = [_skip_note(decision.auto_skip)] if decision.auto_skip is not None else []
        return _Outcome(skipped, decision, notes)
    return _Outcome(gate)


def _end_unpaid(gate: Gate, now: datetime) -> _Outcome:
    if gate.cycle is None or gate.cycle.unpaid_reported or gate.status is GateStatus.PENDING:
        return _Outcome(gate)
    finished = _finish(gate, CycleOutcome.BLOCKED, now)
    told = evolve(gate, cycle=evolve(gate.cycle, unpaid_reported=True))
    return _Outcome(told, Decision(finished=finished))


def _forced(gate: Gate, event: Forced, now: datetime, policy: GatePolicy) -> _Outcome:
    del policy
    cycle = gate.cycle
    if not event.status.owes_reflection:
        cycle = None
    elif not gate.status.owes_reflection or cycle is None:
        tickets = (gate.ticket,) if gate.ticket is not None else ()
        cycle = Cycle(tickets=tickets, opened_at=now, before=GateStatus.IDLE)
    forced = evolve(gate, status=event.status, cycle=cycle, breaker=CircuitBreaker())
    return _Outcome(forced, notes=[(EventType.FORCED, {"status": event.status.value})])


def _finish(gate: Gate, outcome: CycleOutcome, now: datetime) -> FinishedCycle:
    opened_at = gate.cycle.opened_at if gate.cycle is not None else now
    return FinishedCycle(
        outcome=outcome,
        tickets=gate.cycle.tickets if gate.cycle is not None else (),
        blocks=gate.breaker.cycle_blocks,
        seconds=max(0.0, (now - opened_at).total_seconds()),
    )


def _with_known_details(ticket: Ticket, known: Ticket | None) -> Ticket:
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


def _describe(ticket: Ticket) -> dict[str, str]:
    details = {"system": ticket.source, "ticket": ticket.ticket_id or "unknown"}
    return {**details, "title": ticket.title} if ticket.title else details


_HANDLERS: Final[dict[type, Callable[[Gate, Any, datetime, GatePolicy], _Outcome]]] = {
    TicketDetected: _ticket_detected,
    TicketClosed: _ticket_closed,
    TicketCloseFailed: _ticket_close_failed,
    StopRequested: _stop,
    ReflectionAccepted: _reflection_accepted,
    SkipAccepted: _skip_accepted,
    SessionEnded: _session_ended,
    Forced: _forced,
}
