"""Stop: the gate."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from attrs import evolve

from grove_core.errors import CodecError
from grove_core.gate.stopping import SUBAGENT, count_stop, passes_as_small
from grove_core.hooks.stops import marker_of
from grove_core.model.gate import (
    Decision,
    GateEvent,
    GateStatus,
    Measurement,
    StopRequested,
    TicketCloseFailed,
    Verdict,
)
from grove_core.model.hook import NO_REPLY, HookEvent, HookInput, HookReply
from grove_core.model.session import Baseline, Session
from grove_core.model.ticket import Confirmation, Ticket
from grove_core.services.closes import Closes, ask_about, resolve
from grove_core.services.session_mode import (
    measure,
    take_baseline,
    with_environment,
)
from grove_core.services.sessions import SessionUpdate, new_session, update_session

if TYPE_CHECKING:
    from grove_core.project import Project
    from grove_core.ticketing import TicketSystems

_BREAKER_WARNING: Final = (
    "grove: the pending reflection was asked for {times} and not given; grove lets the"
    " agent go. It stays visible in `grove status`."
)
_UNREADABLE_WARNING: Final = (
    "grove: the state of this session could not be read ({reason}); a reflection may be pending."
    " See grove.log."
)


class _Work(NamedTuple):
    """What the session has changed, and what it knows of its project."""

    session: Session
    baseline: Baseline | None = None
    change: Measurement | None = None
    is_small: bool = True
    """Whether the gate lets the change pass as it is, if there is one."""


def handle(project: "Project", call: HookInput) -> HookReply:
    """Let the agent stop, or hold it once more; a subagent is no concern but of plugins' gates."""
    if call.event is HookEvent.SUBAGENT_STOP:
        return _ask_plugins(project, call)
    return _handle_stop(project, call)


def _handle_stop(project: "Project", call: HookInput) -> HookReply:
    try:
        session = project.sessions.get(call.session_id)
    except CodecError as error:
        # Unreadable state is set aside; the next start names the reflection that may be pending.
        update_session(project, new_session(project, call), SessionUpdate)
        return HookReply(warning=_UNREADABLE_WARNING.format(reason=error))
    session = session or new_session(project, call)
    if session.gates and (held := _ask_plugins(project, call)).block:
        return held
    closes, failed = _ask_about_closes(project, call, session)
    work = _measure_work(project, session, closes)
    session, decision = _ask_gate(project, call, closes, failed, work)
    if decision is None:
        return NO_REPLY  # another set of hooks has answered for this stop
    if decision.verdict is Verdict.BLOCK:
        from grove_core.services.messages import block_reason

        most_blocks = project.policy.max_blocks
        return HookReply(block=block_reason(session, most_blocks, call.tools))
    if decision.verdict is Verdict.BREAK and decision.finished is not None:
        project.diagnostics.log(
            "warning",
            "the circuit breaker opened; a reflection is pending",
            session=call.session_id,
        )
        blocks = decision.finished.blocks
        times = "once" if blocks == 1 else f"{blocks} times"
        return HookReply(warning=_BREAKER_WARNING.format(times=times))
    if not decision.baseline_moves:
        _leave_idle_marker(project, session, work)
    return NO_REPLY


def _ask_plugins(project: "Project", call: HookInput) -> HookReply:
    """Ask plugins' gates first: lessons are taken from work that stands."""
    from grove_core.services.gates import ask

    return HookReply(block=ask(project, call).block)


def _ask_about_closes(
    project: "Project", call: HookInput, session: Session
) -> tuple[Closes, Sequence[Ticket]]:
    """Ask about what still waits, and which of the closes that counted did not happen."""
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
    if not (ended or silent or session.unproven):
        return Closes(), ()
    tickets = project.tickets(call.cwd, call.session_id)
    return ask_about(tickets, session, ended, silent), _not_closed(tickets, session)


def _not_closed(tickets: "TicketSystems", session: Session) -> tuple[Ticket, ...]:
    """Ask once more about closes that counted without proof; what was proven stays closed."""
    if not session.gate.status.reflection_pending:
        return ()
    return tuple(
        Ticket(ticket_id=close.ticket_id, source=close.system)
        for close in session.unproven
        if close.ticket_id is not None and tickets.confirm(close, None) is Confirmation.NO
    )


def _measure_work(project: "Project", session: Session, closes: Closes) -> _Work:
    session = with_environment(project, session)
    status = session.gate.status
    will_be_pending = status.reflection_pending or status is GateStatus.ACTIVE or closes.any_counts
    if will_be_pending or not session.session_mode:
        return _Work(session, session.baseline)
    if session.baseline is None:
        # grove was set up in mid-session: what counts is what comes from now on.
        return _Work(session, take_baseline(project, session))
    change = measure(project, session)
    small = change is None or change.lines == 0 or passes_as_small(change.lines, project.policy)
    work = _Work(session, session.baseline, change, small)
    if not small:
        # A ticket system may have come meanwhile, whose tickets count instead.
        session = with_environment(project, session, look=True)
        work = work._replace(session=session, change=change if session.session_mode else None)
    return work


def _ask_gate(
    project: "Project",
    call: HookInput,
    closes: Closes,
    failed: Sequence[Ticket],
    work: _Work,
) -> tuple[Session, Decision | None]:
    stop = StopRequested(
        session_id=call.session_id,
        plan_mode=call.plan_mode,
        background=call.background,
        change=work.change,
        stop_hook_active=call.stop_hook_active,
    )

    def change(stored: Session) -> SessionUpdate:
        prompt_id = call.prompt_id or stored.prompt_id
        resolved = resolve(stored, closes, prompt_id=prompt_id, now=project.now)
        # Without a reflection that is or comes to be pending there is nothing left to doubt.
        is_pending = stored.gate.status.reflection_pending or closes.any_counts
        stops, is_new = stored.stops, True
        if is_pending or not work.is_small:
            stops, is_new = count_stop(stops, call.set_of_hooks, call.prompt_id, project.now)
        events: list[GateEvent] = list(resolved.events)
        events += [TicketCloseFailed(ticket=ticket) for ticket in failed]
        events += [stop] if is_new else []
        seen = work.session
        session = evolve(
            resolved.session,
            baseline=stored.baseline or work.baseline,
            measurement=work.change or stored.measurement,
            session_mode=seen.session_mode,
            ticket_marker=seen.ticket_marker,
            environment=seen.environment,
            stops=stops,
            unproven=resolved.session.unproven if is_pending else (),
        )
        return SessionUpdate(session, events, resolved.trace, if_different=not resolved.trace)

    session, decisions = update_session(
        project, new_session(project, call), change, is_tentative=call.is_tentative
    )
    return session, decisions[-1] if decisions else None


def _leave_idle_marker(project: "Project", session: Session, seen: _Work) -> None:
    """Let the next stop go at once if nothing changes until then."""
    gate = session.gate
    is_open = gate.status.reflection_pending or session.intents or session.gates
    if is_open or session.unproven or gate.seen_shells:
        return
    work_key, excluded = "", session.baseline.excluded if session.baseline is not None else ()
    if session.session_mode and gate.status is not GateStatus.ACTIVE:
        if seen.change is None or not seen.change.key or not seen.is_small:
            return
        work_key = seen.change.key
    places = (str(project.root), str(project.paths.home), session.ticket_marker)
    marker = marker_of(project.sessions.latest, places, work_key, excluded)
    project.prefilter.set_idle(session.id, marker)
