"""The end of a pending reflection: reflections, skips, and the end of a session."""

from datetime import datetime

from attrs import evolve

from grove_core.gate.outcome import Notes, Outcome, finish, skip_note, with_new_baseline
from grove_core.gate.stopping import is_small, skip_automatically
from grove_core.model.gate import (
    AutoSkipDecider,
    CircuitBreaker,
    Credit,
    CycleOutcome,
    Decision,
    Gate,
    GateCredit,
    GatePolicy,
    GateStatus,
    ReflectionAccepted,
    SessionEnded,
    SkipAccepted,
)
from grove_core.model.session import EventType


def reflection_accepted(
    gate: Gate, event: ReflectionAccepted, now: datetime, _: GatePolicy
) -> Outcome:
    """A reflection was accepted."""
    result = event.result
    details = {
        "accepted": str(len(result.learning_ids)),
        "candidates": str(result.candidates_produced),
    }
    notes = [(EventType.REFLECTION_COMPLETE, details)]
    done = evolve(gate, reflection=result)
    return _resolve(done, Credit.REFLECTED, now, notes)


def skip_accepted(gate: Gate, event: SkipAccepted, now: datetime, _: GatePolicy) -> Outcome:
    """A reason for not reflecting was given."""
    done = evolve(gate, skip=event.decision)
    return _resolve(done, Credit.SKIPPED, now, [skip_note(event.decision)])


def _resolve(gate: Gate, kind: Credit, now: datetime, notes: Notes) -> Outcome:
    """End the pending reflection, or earn a credit where there is none."""
    rested = evolve(
        gate,
        breaker=CircuitBreaker(),
        session_mode=with_new_baseline(gate.session_mode),
        broken_cycles=(),
    )
    if gate.status.owes_reflection:
        reflected = kind is Credit.REFLECTED
        status = GateStatus.REFLECTED if reflected else GateStatus.SKIPPED
        outcome = CycleOutcome.REFLECTED if reflected else CycleOutcome.SKIPPED
        finished = finish(gate, outcome, now)
        decision = Decision(finished=finished, baseline_moves=True)
        return Outcome(evolve(rested, status=status, credit=None), decision, notes)
    # What answers a cycle that the breaker let go ends that cycle, late, and no other.
    if gate.status in (GateStatus.IDLE, GateStatus.ACTIVE) and not gate.broken_cycles:
        notes.append((EventType.CREDIT_EARNED, {"kind": kind.value}))
        detected_at = gate.ticket.detected_at if gate.ticket is not None else None
        credit = GateCredit(kind=kind, earned_at=max(now, detected_at or now))
        rested = evolve(rested, credit=credit)
    return Outcome(rested, Decision(baseline_moves=True), notes)


def session_ended(gate: Gate, event: SessionEnded, now: datetime, policy: GatePolicy) -> Outcome:
    """The session ends; what is pending stays, and small changes are logged as skipped."""
    if gate.status is GateStatus.ACTIVE:
        return Outcome(evolve(gate, status=GateStatus.IDLE))
    if gate.status.owes_reflection:
        return _end_pending(gate, now)
    lines = event.change.lines if event.change is not None else None
    if lines and policy.auto_skip_decider is AutoSkipDecider.AGENT and is_small(lines, policy):
        skipped, decision = skip_automatically(gate, lines, now, Decision())
        notes = [skip_note(decision.auto_skip)] if decision.auto_skip is not None else []
        return Outcome(skipped, decision, notes)
    return Outcome(gate)


def _end_pending(gate: Gate, now: datetime) -> Outcome:
    if gate.cycle is None or gate.cycle.unpaid_reported or gate.status is GateStatus.PENDING:
        return Outcome(gate)
    finished = finish(gate, CycleOutcome.BLOCKED, now)
    told = evolve(gate, cycle=evolve(gate.cycle, unpaid_reported=True))
    return Outcome(told, Decision(finished=finished))
