"""Stops: deferred, blocked, or let go by the breaker."""

from datetime import datetime
from typing import Final

from attrs import evolve

from grove_core.gate.outcome import Notes, Outcome, finish, skip_note
from grove_core.gate.session_mode import stop_without_debt
from grove_core.model.gate import (
    BrokenCycle,
    CircuitBreaker,
    CycleOutcome,
    Decision,
    Gate,
    GatePolicy,
    GateStatus,
    StopRequested,
    Verdict,
)
from grove_core.model.session import EventType

# The client overrides the ninth block in a row and then ends a headless run with an empty result.
MOST_BLOCKS: Final = 6
CYCLE_FACTOR: Final = 2
# An agent that never reflects must not make its session's state grow for ever.
MOST_BROKEN_CYCLES: Final = 10

SUBAGENT: Final = "subagent"


def stop(gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy) -> Outcome:
    """The agent wants to stop: approve, defer, break or block."""
    # Only a subagent is sure to end and to bring another stop; what else runs defers once.
    shells = tuple(task.id for task in event.background if task.kind != SUBAGENT)
    seen = evolve(gate, seen_shells=shells)
    if not gate.status.owes_reflection:
        seen, decision = stop_without_debt(seen, event.change, now, policy)
        if not seen.status.owes_reflection:
            return Outcome(seen, decision, _stop_notes(event, decision))
    new_shell = any(shell not in gate.seen_shells for shell in shells)
    subagent = any(task.kind == SUBAGENT for task in event.background)
    if event.plan_mode or new_shell or subagent:
        reason = "plan mode" if event.plan_mode else "background work"
        decision = Decision(verdict=Verdict.DEFER, reason=reason)
        return Outcome(seen, decision, _stop_notes(event, decision))
    return _stop_with_debt(seen, event, now, policy)


def _stop_with_debt(gate: Gate, event: StopRequested, now: datetime, policy: GatePolicy) -> Outcome:
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
    broken = BrokenCycle(
        tickets=gate.cycle.tickets if gate.cycle else (), broken_at=now, blocks=blocks
    )
    opened = evolve(
        gate,
        status=GateStatus.IDLE,
        cycle=None,
        breaker=evolve(gate.breaker, block_count=0, cycle_blocks=0, tripped=True),
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
