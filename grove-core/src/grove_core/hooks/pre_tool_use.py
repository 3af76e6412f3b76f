"""PreToolUse and TaskCompleted: a call that would close tickets is noted; it always proceeds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import CloseIntent, TicketClose, ToolCall
from grove_core.services.closes import worth_noting
from grove_core.services.sessions import SessionUpdate, new_session, trace_event, update_session

if TYPE_CHECKING:
    from grove_core.project import Project


def handle(project: "Project", call: HookInput) -> Answer:
    """Note which tickets a call would close."""
    if call.tool is None:
        return SILENCE
    tool, tickets = call.tool, project.tickets(call.cwd, call.session_id)
    closes = tickets.announced(tool)
    # The file is missing when grove was installed in mid-session, or its cache was deleted.
    has_file = project.prefilter.exists(call.session_id)
    if has_file:
        session = project.session(call.session_id) if closes else None
        if not closes or (session is not None and not worth_noting(closes, session)):
            return SILENCE

    def change(stored: Session) -> SessionUpdate:
        noted = worth_noting(closes, stored)
        return _note(project, stored, tool, noted, call) if noted else SessionUpdate(session=stored)

    update_session(
        project,
        new_session(project, call),
        change,
        cause="close_announced",
        literals=None if has_file else tickets.literals(),
    )
    return SILENCE


def _note(
    project: "Project",
    session: Session,
    tool: ToolCall,
    closes: Sequence[TicketClose],
    call: HookInput,
) -> SessionUpdate:
    """Add an intent, once per call; what an open intent announces already is not added again."""
    key = tool.use_id or f"{tool.name}:{'/'.join(sorted(str(one.ticket_id) for one in closes))}"
    if any(intent.key == key for intent in session.intents):
        return SessionUpdate(session=session)
    intent = CloseIntent(
        key=key,
        # What is written or run may be megabytes, and nobody needs it again.
        call=evolve(tool, input={}),
        closes=tuple(closes),
        recorded_at=project.now,
        prompt_id=call.prompt_id or session.prompt_id,
        agent_id=call.agent_id,
    )
    trace = [
        trace_event(
            EventType.TICKET_CLOSE_DETECTED,
            project.now,
            effect="reopens" if one.reopens else None,
            system=one.system,
            ticket=one.ticket_id or "unknown",
            call=key,
        )
        for one in closes
    ]
    return SessionUpdate(session=evolve(session, intents=(*session.intents, intent)), trace=trace)
