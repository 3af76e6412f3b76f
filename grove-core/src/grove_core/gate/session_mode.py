"""Session mode: whether a change arms the gate, and small changes."""

from datetime import datetime
from typing import Final

from attrs import evolve

from grove_core.gate.outcome import with_new_baseline
from grove_core.model.gate import (
    AutoSkipDecider,
    CircuitBreaker,
    Cycle,
    Decision,
    Gate,
    GatePolicy,
    GateStatus,
    SessionChange,
    SessionMode,
    Verdict,
)
from grove_core.model.reflection import SkipDecider, SkipDecision

_WITHOUT_DEBT: Final = (GateStatus.IDLE, GateStatus.REFLECTED, GateStatus.SKIPPED)


def stop_without_debt(
    gate: Gate, change: SessionChange | None, now: datetime, policy: GatePolicy
) -> tuple[Gate, Decision]:
    """Approve, or arm the gate in session mode."""
    approve = Decision(verdict=Verdict.APPROVE)
    if gate.status not in _WITHOUT_DEBT or change is None:
        return gate, evolve(approve, reason=gate.status.value)
    if change.lines == 0:
        return gate, evolve(approve, reason="no change")
    if passes_as_small(change.lines, policy):
        return gate, evolve(approve, reason="small change")
    if is_small(change.lines, policy):
        return skip_automatically(gate, change.lines, now, evolve(approve, reason="small change"))
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


def passes_as_small(lines: int | None, policy: GatePolicy) -> bool:
    """Return whether a change is let through as it is; others like it may add up to a large one."""
    return (
        bool(lines)
        and is_small(lines, policy)
        and policy.auto_skip_decider is AutoSkipDecider.AGENT
    )


def is_small(lines: int | None, policy: GatePolicy) -> bool:
    """Return whether a change is too small to ask about."""
    return (
        policy.auto_skip_enabled
        and policy.auto_skip_decider is not AutoSkipDecider.NEVER
        and lines is not None
        and lines <= policy.auto_skip_line_threshold
    )


def skip_automatically(
    gate: Gate, lines: int | None, now: datetime, decision: Decision
) -> tuple[Gate, Decision]:
    """Skip a small change on grove's own account."""
    skip = SkipDecision(
        reason=f"small change of {lines or 0} line{'' if lines == 1 else 's'}",
        decider=SkipDecider.AUTO,
        timestamp=now,
        lines_changed=lines,
    )
    skipped = evolve(gate, skip=skip, session_mode=with_new_baseline(gate.session_mode))
    return skipped, evolve(decision, auto_skip=skip, baseline_moves=True)


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
