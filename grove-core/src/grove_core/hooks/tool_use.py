"""Tool calls: a close is noted before the call, which always proceeds, and confirmed after it."""

from typing import TYPE_CHECKING

from attrs import evolve

from grove_core.model.hook import NO_REPLY, HookEvent, HookInput, HookReply
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import CloseIntent, Confirmation, ToolCall
from grove_core.services.closes import ask_about, resolve, watched_words, worth_noting
from grove_core.services.sessions import SessionUpdate, new_session, trace_event, update_session

if TYPE_CHECKING:
    from grove_core.project import Project
    from grove_core.ticketing import TicketSystems


def handle(project: "Project", call: HookInput) -> HookReply:
    """Note or confirm closes, and show what is known of a file that a call has touched."""
    if call.result is None:
        return _announce(project, call)
    _resolve(project, call)
    if not call.touched_file:
        return NO_REPLY
    from grove_core.services.file_notes import note_of

    return HookReply(context=note_of(project, call))


def _announce(project: "Project", call: HookInput) -> HookReply:
    """Note which tickets a call would close, unless a plugin's gate denies it."""
    if call.tool is None:
        return NO_REPLY
    tool, tickets = call.tool, project.tickets(call.cwd, call.session_id)
    closes = tickets.announced(tool)
    if call.event is HookEvent.PRE_TOOL_USE and project.plugins.gates():
        from grove_core.services.gates import ask

        if denial := ask(project, call, closes).deny:
            return HookReply(deny=denial)
    # The file is missing when grove was installed in mid-session, or its cache was deleted.
    has_file = project.prefilter.exists(call.session_id)
    if has_file:
        session = project.session(call.session_id) if closes else None
        if not closes or (session is not None and not worth_noting(closes, session)):
            return NO_REPLY

    lists = tickets.once_per_prompt()  # of these the state of the list is told, not a ticket's
    closed = tuple(
        one
        for one in closes
        if not (call.is_over or one.reopens or one.system in lists)
        and tickets.confirm(one, None, cwd=call.cwd) is Confirmation.YES
    )

    def change(stored: Session) -> SessionUpdate:
        noted = worth_noting(closes, stored)
        if not noted:
            return SessionUpdate(session=stored)
        key = tool.use_id or f"{tool.name}:{'/'.join(sorted(str(one.ticket_id) for one in noted))}"
        intent = CloseIntent(
            key=key,
            # What is written or run may be megabytes, and no one needs it again.
            call=evolve(tool, input={}),
            closes=tuple(noted),
            recorded_at=project.now,
            prompt_id=call.prompt_id or stored.prompt_id,
            agent_id=call.agent_id,
            already_closed=closed,
        )
        return _note(stored, intent)

    update_session(
        project,
        new_session(project, call),
        change,
        literals=None if has_file else watched_words(project, tickets, call.host),
    )
    return NO_REPLY


def _note(session: Session, intent: CloseIntent) -> SessionUpdate:
    """Add an intent, once per call; what an open intent announces already is not added again."""
    if any(one.key == intent.key for one in session.intents):
        return SessionUpdate(session=session)
    trace = [
        trace_event(
            EventType.TICKET_CLOSE_DETECTED,
            intent.recorded_at,
            effect="reopens" if one.reopens else None,
            system=one.system,
            ticket=one.ticket_id or "unknown",
            call=intent.key,
        )
        for one in intent.closes
    ]
    return SessionUpdate(session=evolve(session, intents=(*session.intents, intent)), trace=trace)


def _resolve(project: "Project", call: HookInput) -> None:
    """Confirm what a call announced, closes and reopenings."""
    session = project.session(call.session_id)
    if session is None or not session.intents or call.tool is None or call.result is None:
        return
    tickets = project.tickets(call.cwd, call.session_id)
    intents = _announced_by(session, call.tool, tickets)
    if not intents:
        return
    if call.result.background_task_id is not None:
        _wait_for(project, call, [intent.key for intent in intents])
        return
    # Where the client does not say how a call went, the ticket system alone is asked.
    ended, silent = (intents, []) if call.result.succeeded else ([], intents)
    said = None if call.result.succeeded is None else call.result
    closes = ask_about(tickets, session, ended, silent, said)

    def change(stored: Session) -> SessionUpdate:
        prompt_id = call.prompt_id or stored.prompt_id
        return resolve(stored, closes, prompt_id=prompt_id, now=project.now)

    update_session(project, new_session(project, call), change)


def _announced_by(session: Session, tool: ToolCall, tickets: "TicketSystems") -> list[CloseIntent]:
    """Find the intents of a call: by its id, and those of a task event, which carries none."""
    own = [intent for intent in session.intents if intent.key == tool.use_id]
    nameless = [intent for intent in session.intents if intent.call.use_id is None]
    if nameless:
        announced = {(one.system, one.ticket_id) for one in tickets.announced(tool)}
        own += [
            intent
            for intent in nameless
            if any((close.system, close.ticket_id) in announced for close in intent.closes)
        ]
    return own


def _wait_for(project: "Project", call: HookInput, keys: list[str]) -> None:
    """Keep intents open until their background task is gone."""
    task_id = call.result.background_task_id if call.result is not None else None

    def change(stored: Session) -> SessionUpdate:
        intents = tuple(
            evolve(intent, background_task_id=task_id) if intent.key in keys else intent
            for intent in stored.intents
        )
        return SessionUpdate(session=evolve(stored, intents=intents))

    update_session(project, new_session(project, call), change)
