"""Stop: the gate."""

from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from grove_core.errors import CodecError
from grove_core.flow.closing import JudgedClose, judge, reopened, resolve
from grove_core.flow.gatekeeper import Change, Moved, move
from grove_core.flow.lifecycle import new_session
from grove_core.flow.messages import block_reason
from grove_core.flow.session_mode import (
    first_measurement,
    measure,
    take_baseline,
    with_environment,
    work_tree_of,
)
from grove_core.gate.stop_count import count_stop
from grove_core.gate.stopping import SUBAGENT
from grove_core.hooks.idle import marker_of
from grove_core.hosts import claude_code
from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.model.gate import (
    GateEvent,
    GateStatus,
    SessionChange,
    StopRequested,
    TicketCloseFailed,
    Verdict,
)
from grove_core.model.session import Baseline, Measurement, Session
from grove_core.model.ticket import CloseIntent, Confirmation, Ticket
from grove_core.model.value import Value

if TYPE_CHECKING:
    from grove_core.ticketing import TicketSystems
    from grove_core.workspace import Workspace

_BREAKER_WARNING = (
    "grove: the reflection that is owed was asked for {times} and not given; grove lets the"
    " agent go. The debt stays visible in `grove status`.\n"
)
_UNREADABLE_WARNING = (
    "grove: the state of this session could not be read ({reason}); a reflection may be owed."
    " See grove.log.\n"
)


@frozen(kw_only=True, eq=False, repr=False)
class _Evidence(Value):
    """What was found out before the gate is asked, outside the session's lock."""

    judged: tuple[JudgedClose, ...]
    open_again: tuple[Ticket, ...]
    settled: frozenset[str]
    failed: tuple[Ticket, ...]
    baseline: Baseline | None
    change: SessionChange | None
    measurement: Measurement | None
    seen: Session
    once_per_prompt: frozenset[str]


def handle(workspace: "Workspace", call: HookInput) -> Answer:
    """Let the agent stop, or hold it once more."""
    try:
        session = workspace.sessions.get(call.session_id)
    except CodecError as error:
        _start_over(workspace, call)
        return Answer(stderr=_UNREADABLE_WARNING.format(reason=error))
    evidence = _gather(workspace, call, session or new_session(workspace, call))
    moved = _move(workspace, call, evidence)
    if not moved.decisions:
        return SILENCE  # another set of hooks has answered for this stop
    decision = moved.decisions[-1]
    if decision.verdict is Verdict.BLOCK:
        most_blocks = workspace.policy.max_blocks
        return claude_code.block_answer(block_reason(moved.session, most_blocks, call.tools))
    if decision.verdict is Verdict.BREAK and decision.finished is not None:
        workspace.diagnostics.log(
            "warning", "the circuit breaker opened; a reflection is owed", session=call.session_id
        )
        blocks = decision.finished.blocks
        times = "once" if blocks == 1 else f"{blocks} times"
        return Answer(stderr=_BREAKER_WARNING.format(times=times))
    if not decision.baseline_moves:
        _leave_idle_marker(workspace, moved.session, evidence)
    return SILENCE


def _leave_idle_marker(workspace: "Workspace", session: Session, evidence: _Evidence) -> None:
    """Let the next stop go at once if nothing changes until then."""
    gate = session.gate
    if gate.status.owes_reflection or session.intents or session.unproven or gate.seen_shells:
        return
    work: tuple[str, tuple[str, ...], str] = ("", (), "")
    if session.session_mode and gate.status is not GateStatus.ACTIVE:
        measured = evidence.measurement
        place = work_tree_of(workspace, session)
        if measured is None or place is None or not (measured.small or measured.lines == 0):
            return
        work = (*place, measured.key)
    marker = marker_of(
        workspace.sessions.latest,
        (
            str(workspace.root),
            str(workspace.paths.home),
            session.ticket_marker,
        ),
        work,
    )
    workspace.prefilter.set_idle(session.id, marker)


def _start_over(workspace: "Workspace", call: HookInput) -> None:
    """Set unreadable state aside; the next start names the debt that it may have held."""
    move(
        workspace,
        call.session_id,
        lambda session: Change(session=session),
        absent=lambda: new_session(workspace, call),
        cause="recovered",
    )


def _gather(workspace: "Workspace", call: HookInput, session: Session) -> _Evidence:
    ended, silent = _waiting(call, session)
    judged: list[JudgedClose] = []
    open_again: list[Ticket] = []
    failed: list[Ticket] = []
    once_per_prompt: frozenset[str] = frozenset()
    if ended or silent or session.unproven:
        tickets = workspace.tickets(Path(call.cwd) if call.cwd else None, call.session_id)
        judged += judge(tickets, ended, None, unknown_counts=True)
        judged += judge(tickets, silent, None, unknown_counts=False)
        open_again += reopened(tickets, session, ended, succeeded=True)
        open_again += reopened(tickets, session, silent, succeeded=False)
        failed += _not_closed(tickets, session)
        once_per_prompt = tickets.once_per_prompt() if judged else frozenset()
    session = with_environment(workspace, session)
    baseline, change, measurement = session.baseline, None, None
    if not _will_owe(session, judged) and session.session_mode:
        if baseline is None:
            # grove was set up in mid-session: what counts is what comes from now on.
            baseline = take_baseline(workspace, session)
            measurement = first_measurement(workspace, baseline)
        else:
            change, measurement = measure(workspace, session)
            if change is not None and change.lines != 0 and not (measurement and measurement.small):
                # A ticket system may have come meanwhile, whose tickets count instead.
                session = with_environment(workspace, session, look=True)
                change = change if session.session_mode else None
    return _Evidence(
        judged=tuple(judged),
        open_again=tuple(open_again),
        settled=frozenset(intent.key for intent in (*ended, *silent)),
        failed=tuple(failed),
        baseline=baseline,
        change=change,
        measurement=measurement,
        seen=session,
        once_per_prompt=once_per_prompt,
    )


def _waiting(call: HookInput, session: Session) -> tuple[list[CloseIntent], list[CloseIntent]]:
    """Find what still waits: background work that has ended, and calls that never reported."""
    running = {task.id for task in call.background}
    subagents = any(task.kind == SUBAGENT for task in call.background)
    ended = [
        intent
        for intent in session.intents
        if intent.background_task_id is not None and intent.background_task_id not in running
    ]
    silent = [
        intent
        for intent in session.intents
        if intent.background_task_id is None
        # A subagent that is still at work may be between a call and its result.
        and not (subagents and intent.agent_id is not None)
    ]
    return ended, silent


def _will_owe(session: Session, judged: list[JudgedClose]) -> bool:
    return (
        session.gate.status.owes_reflection
        or session.gate.status is GateStatus.ACTIVE
        or any(one.counts for one in judged)
    )


def _not_closed(tickets: "TicketSystems", session: Session) -> list[Ticket]:
    """Look once more at closes that counted without proof; what was proven stays closed."""
    if not session.gate.status.owes_reflection:
        return []
    return [
        Ticket(ticket_id=close.ticket_id, source=close.system)
        for close in session.unproven
        if close.ticket_id is not None and tickets.confirm(close, None) is Confirmation.NO
    ]


def _still_open(session: Session, evidence: _Evidence) -> bool:
    """Return whether a debt is open or opens now; without one there is nothing left to doubt."""
    return session.gate.status.owes_reflection or any(one.counts for one in evidence.judged)


def _may_open(evidence: _Evidence) -> bool:
    """Return whether a change may open a debt: it is there, and the gate does not call it small."""
    if evidence.change is None or evidence.change.lines == 0:
        return False
    return evidence.measurement is None or not evidence.measurement.small


def _move(workspace: "Workspace", call: HookInput, evidence: _Evidence) -> Moved:
    stop = StopRequested(
        session_id=call.session_id,
        plan_mode=call.plan_mode,
        background=call.background,
        change=evidence.change,
        stop_hook_active=call.stop_hook_active,
    )

    def change(stored: Session) -> Change:
        resolved = resolve(
            stored,
            evidence.judged,
            evidence.open_again,
            settled=evidence.settled,
            once_per_prompt=evidence.once_per_prompt,
            prompt_id=call.prompt_id or stored.prompt_id,
            now=workspace.now,
        )
        stops, is_new = stored.stops, True
        if _still_open(stored, evidence) or _may_open(evidence):
            stops, is_new = count_stop(stops, call.set_of_hooks, call.prompt_id, workspace.now)
        events: list[GateEvent] = list(resolved.events)
        events += [TicketCloseFailed(ticket=ticket) for ticket in evidence.failed]
        events += [stop] if is_new else []
        session = evolve(
            resolved.session,
            baseline=stored.baseline or evidence.baseline,
            measurement=evidence.measurement or stored.measurement,
            session_mode=evidence.seen.session_mode,
            ticket_marker=evidence.seen.ticket_marker,
            observed=evidence.seen.observed,
            environment=evidence.seen.environment,
            stops=stops,
            unproven=resolved.session.unproven if _still_open(stored, evidence) else (),
        )
        return Change(
            session=session,
            events=events,
            trace=resolved.trace,
            if_different=not resolved.trace,
        )

    return move(
        workspace,
        call.session_id,
        change,
        absent=lambda: new_session(workspace, call),
        cause="stop",
    )
