"""Stops: deferred, blocked, let go by the breaker, or approved; small changes; a session's end."""

from datetime import datetime, timedelta
from typing import Final

from attrs import evolve

from grove_core.gate.cycles import Notes, Outcome, finish, skip_note, with_new_baseline
from grove_core.model.gate import (
    CYCLE_FACTOR,
    AutoSkipDecider,
    BrokenCycle,
    CircuitBreaker,
    Cycle,
    CycleOutcome,
    Decision,
    Gate,
    GatePolicy,
    GateStatus,
    Measurement,
    SessionEnded,
    SessionMode,
    SkipDecider,
    SkipDecision,
    StopRequested,
    Verdict,
)
from grove_core.model.session import EventType, StopCount

MOST_BLOCKS: Final = 6
# A new shell at each stop must not put the reflection off for ever.
MOST_SHELL_DEFERRALS: Final = 3
# An agent that never reflects must not make its session's state grow for ever.
MOST_BROKEN_CYCLES: Final = 10

SUBAGENT: Final = "subagent"
# As long as a client waits for its hooks at a stop: later than that, it is another stop.
SAME_STOP: Final = timedelta(seconds=10)
_NOTHING_PENDING: Final = (GateStatus.IDLE, GateStatus.REFLECTED, GateStatus.SKIPPED)


def stop(gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy) -> Outcome:
    """The agent wants to stop: approve, defer, break or block."""
    # Only a subagent is sure to end and to bring another stop; what else runs defers once.
    shells = tuple(task.id for task in event.background if task.kind != SUBAGENT)
    seen = evolve(gate, seen_shells=shells)
    if not gate.status.reflection_pending:
        seen, decision = stop_with_nothing_pending(seen, event.change, now, policy)
        if not seen.status.reflection_pending:
            return Outcome(seen, decision, _stop_notes(event, decision))
    subagent = any(task.kind == SUBAGENT for task in event.background)
    if event.plan_mode or subagent:
        return _defer(seen, event, "plan mode" if event.plan_mode else "background work")
    new_shell, cycle = any(shell not in gate.seen_shells for shell in shells), seen.cycle
    if new_shell and cycle is not None and cycle.shell_deferrals < MOST_SHELL_DEFERRALS:
        counted = evolve(cycle, shell_deferrals=cycle.shell_deferrals + 1)
        return _defer(evolve(seen, cycle=counted), event, "background work")
    return _stop_with_pending(seen, event, now, policy)


def _defer(gate: Gate, event: StopRequested, reason: str) -> Outcome:
    decision = Decision(verdict=Verdict.DEFER, reason=reason)
    return Outcome(gate, decision, _stop_notes(event, decision))


def _stop_with_pending(
    gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy
) -> Outcome:
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
    return Outcome(blocked, decision, notes)


def _break(gate: Gate, event: StopRequested, now: datetime) -> Outcome:
    blocks = gate.breaker.cycle_blocks
    broken = BrokenCycle(tickets=gate.closed, broken_at=now, blocks=blocks)
    opened = evolve(
        gate,
        status=GateStatus.IDLE,
        cycle=None,
        breaker=evolve(gate.breaker, block_count=0, cycle_blocks=0),
        credit=None,
        broken_cycles=(*gate.broken_cycles, broken)[-MOST_BROKEN_CYCLES:],
    )
    finished = finish(gate, CycleOutcome.BREAKER, now)
    decision = Decision(verdict=Verdict.BREAK, reason="breaker", finished=finished)
    notes = _stop_notes(event, decision)
    notes.append((EventType.CIRCUIT_BREAKER_TRIPPED, {"blocks": str(blocks)}))
    return Outcome(opened, decision, notes)


def _stop_notes(event: StopRequested, decision: Decision) -> Notes:
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
        notes.append(skip_note(decision.auto_skip))
    return notes


def stop_with_nothing_pending(
    gate: Gate, change: Measurement | None, now: datetime, policy: GatePolicy
) -> tuple[Gate, Decision]:
    """Approve, or arm the gate in session mode."""
    approve = Decision(verdict=Verdict.APPROVE)
    if gate.status not in _NOTHING_PENDING or change is None:
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


def session_ended(gate: Gate, event: SessionEnded, now: datetime, policy: GatePolicy) -> Outcome:
    """The session ends; what is pending stays, and small changes are logged as skipped."""
    if gate.status is GateStatus.ACTIVE:
        return Outcome(evolve(gate, status=GateStatus.IDLE))
    if gate.status.reflection_pending:
        return _end_pending(gate, now)
    lines = event.change.lines if event.change is not None else None
    if passes_as_small(lines, policy):
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


def count_stop(
    count: StopCount, set_of_hooks: str, prompt_id: str | None, now: datetime
) -> tuple[StopCount, bool]:
    """Count a report of a stop; several sets of hooks may report the same one."""
    is_echo = (
        count.at is not None
        and abs(now - count.at) < SAME_STOP  # who began later may have been counted first
        and prompt_id == count.prompt_id
        and set_of_hooks not in count.reported_by
    )
    if is_echo:
        return evolve(count, reported_by=(*count.reported_by, set_of_hooks)), False
    return StopCount(prompt_id=prompt_id, at=now, reported_by=(set_of_hooks,)), True
