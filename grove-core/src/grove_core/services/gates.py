"""Gates of plugins: asked before grove's own, each by itself, with what it keeps in the session."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from grove_core.model.gate import CYCLE_FACTOR
from grove_core.model.hook import CONTEXT_LIMIT, NO_REPLY, HookEvent, HookInput, HookReply
from grove_core.model.session import EventType, Session
from grove_core.plugins.gates import GateAnswer, GateCall, PluginGate
from grove_core.plugins.manager import OpenGate
from grove_core.services.sessions import SessionUpdate, new_session, trace_event, update_session

if TYPE_CHECKING:
    from grove_core.project import Project

_SECONDS: Final = 0.5
_METHODS: Final = {
    HookEvent.USER_PROMPT_SUBMIT: "on_prompt",
    HookEvent.PRE_TOOL_USE: "before_tool",
    HookEvent.STOP: "on_stop",
    HookEvent.SUBAGENT_STOP: "on_subagent_stop",
}
_FAILED: Final = object()
_HELD: Final = "held the agent"
_LETS_GO: Final = "gate {name} held the agent again and again, and grove lets it go"
_OWN_WORDS: Final = "grove: "
_STOPS: Final = (HookEvent.STOP, HookEvent.SUBAGENT_STOP)


def ask(project: "Project", call: HookInput, closes: Iterable[Any] = ()) -> HookReply:
    """Tell the gates what happens, in their order, until one holds the agent."""
    gates = project.gates(call.session_id)
    session = project.session(call.session_id) or new_session(project, call)
    gates = [one for one in gates if session.gates.get(one.name) or _may_begin(one.gate, call)]
    if not gates:
        return NO_REPLY
    told = _told(project, call, session, gates, tuple(closes))
    given: dict[str, GateAnswer] = {}

    def change(stored: Session) -> SessionUpdate:
        stops, is_new = stored.stops, True
        if call.event is HookEvent.STOP:
            from grove_core.gate.stopping import count_stop

            stops, is_new = count_stop(stops, call.set_of_hooks, call.prompt_id, project.now)
        if not is_new:  # another set of hooks has asked
            return SessionUpdate(stored, if_different=True)
        given.update(_answers(project, gates, told, stored))
        if call.is_tentative and any(one.block for one in given.values()):
            return SessionUpdate(stored, if_different=True)
        update = with_answers(stored, given, project.now, told[0].value)
        return update._replace(session=evolve(update.session, stops=stops))

    update_session(project, session, change)
    log_answers(project, session, given)
    answers = given.values()
    # Only the last one that was asked may have held the agent.
    block = "".join(one.block for one in answers)
    # By its first word a reason is known where a client reports it as a prompt.
    block = _OWN_WORDS + block if block and not block.startswith(_OWN_WORDS) else block
    if block and session.gate.status.reflection_pending:
        from grove_core.services.messages import closed_work

        block += f"\nAfter that grove asks what there is to learn: {closed_work(session.gate)}."
    return HookReply(
        block=block[:CONTEXT_LIMIT],
        deny="".join(one.deny for one in answers)[:CONTEXT_LIMIT],
        context="\n\n".join(one.context for one in answers if one.context)[:CONTEXT_LIMIT],
    )


def _may_begin(gate: PluginGate, call: HookInput) -> bool:
    """Return whether a gate that keeps nothing for the session has to be asked."""
    if call.event is HookEvent.USER_PROMPT_SUBMIT:
        prompt = call.prompt.lower()
        return any(text in prompt for text in gate.prompts)
    return call.event not in _STOPS


def _answers(
    project: "Project",
    gates: Iterable[OpenGate],
    told: tuple[HookEvent, GateCall],
    stored: Session,
) -> dict[str, GateAnswer]:
    """Ask one after the other; one that was not asked counts nothing."""
    answers: dict[str, GateAnswer] = {}
    for one in gates:
        answer = _answer(project, one, told, stored.gates.get(one.name, {}))
        if answer is not None:
            if answer.block and _holds_for_ever(one, stored):
                answer = evolve(answer, block="", warning=_LETS_GO.format(name=one.name))
            answers[one.name] = answer
            if answer.block or answer.deny:
                break
    return answers


def _holds_for_ever(one: OpenGate, stored: Session) -> bool:
    """Return whether a gate has held the agent all along; most clients would obey without end."""
    held = 0
    for event in reversed(stored.trace.events):
        if event.event_type in (EventType.PROMPT, EventType.STOP_HOOK_CALLED):
            break
        held += event.details.get("gate") == one.name and event.details.get("what") == _HELD
    return held >= CYCLE_FACTOR * one.gate.most_blocks


def _answer(
    project: "Project", one: OpenGate, told: tuple[HookEvent, GateCall], state: Mapping[str, Any]
) -> GateAnswer | None:
    event, call = told
    method = _METHODS[event]
    ask = partial(getattr(one.gate, method), call, state, project.now)
    answer: object = project.plugins.call(
        one.source, method, ask, seconds=_SECONDS, default=_FAILED
    )
    if isinstance(answer, GateAnswer):
        return answer
    if answer is not _FAILED:
        project.plugins.complain(one.source, f"{method} of {one.name}", "returned no GateAnswer")
    return None


def _told(
    project: "Project",
    call: HookInput,
    session: Session,
    gates: Sequence[OpenGate],
    closes: tuple[Any, ...],
) -> tuple[HookEvent, GateCall]:
    """Put together what the gates are told."""
    commands: tuple[tuple[str | None, ...], ...] = ()
    if call.tool is not None:
        found = project.tickets(call.cwd, call.session_id).commands(call.tool)
        commands = tuple(tuple(words) for words in found)
    watches = call.event is not HookEvent.PRE_TOOL_USE and any(
        one.gate.watches_work for one in gates
    )
    work = ""
    if watches:
        from grove_core.services.session_mode import work_key

        work = work_key(project)
    closed, current = session.gate.closed, session.gate.ticket
    return call.event, GateCall(
        session_id=call.session_id,
        prompt_id=call.prompt_id or session.prompt_id,
        prompt=call.prompt,
        tool=call.tool,
        commands=commands,
        closes=closes,
        agent_id=call.agent_id,
        agent_type=call.agent_type,
        plan_mode=call.plan_mode,
        background=call.background,
        work=work,
        tickets=closed or ((current,) if current is not None else ()),
    )


def with_answers(
    stored: Session, given: Mapping[str, GateAnswer], now: datetime, hook: str | None = None
) -> SessionUpdate:
    """Keep in a session what gates have answered, by their names."""
    states = {**stored.gates, **{name: one.state for name, one in given.items()}}
    kept = {name: state for name, state in states.items() if state}
    trace = [
        trace_event(EventType.PLUGIN_GATE, now, gate=name, hook=hook, what=what)
        for name, one in given.items()
        for what in (*one.trace, *_held(one))
    ]
    return SessionUpdate(evolve(stored, gates=kept), (), trace, if_different=not trace)


def _held(answer: GateAnswer) -> Iterator[str]:
    if answer.block:
        yield _HELD
    if answer.deny:
        yield "denied the call"


def log_answers(project: "Project", session: Session, given: Mapping[str, GateAnswer]) -> None:
    """Log what the user should know, and what cycles of gates came to."""
    from grove_core.model.events import GateCycle

    for answer in given.values():
        if answer.warning:
            project.diagnostics.log("warning", answer.warning, session=session.id)
    project.log_events(
        GateCycle(ts=project.now, session_id=session.id, outcome=one.outcome, gate=name)
        for name, one in given.items()
        if one.outcome
    )


def pending_of(project: "Project", session: Session) -> list[str]:
    """Say what a session still has to do for gates of plugins."""
    if not session.gates:
        return []
    lines = []
    for one in project.gates(session.id):
        if state := session.gates.get(one.name):
            say = partial(one.gate.pending, state)
            line = project.plugins.call(one.source, "pending", say, seconds=_SECONDS, default="")
            lines += [line] if isinstance(line, str) and line else []
    return lines
