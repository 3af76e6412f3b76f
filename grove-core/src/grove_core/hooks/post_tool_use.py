"""PostToolUse and PostToolUseFailure: announced closes are confirmed or dropped."""

from typing import TYPE_CHECKING

from attrs import evolve

from grove_core.hosts import claude_code
from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.model.session import Session
from grove_core.model.ticket import CloseIntent, ToolCall
from grove_core.services.closes import ask_about, resolve
from grove_core.services.sessions import SessionUpdate, new_session, update_session

if TYPE_CHECKING:
    from grove_core.project import Project
    from grove_core.ticketing import TicketSystems


def handle(project: "Project", call: HookInput) -> Answer:
    """Confirm what a call announced, and show what is known of a file that it has touched."""
    _resolve(project, call)
    if not call.touched_file:
        return SILENCE
    from grove_core.services.file_notes import note_of, watch_files

    if not project.prefilter.exists(call.session_id):
        watch_files(project, _with_fast_path(project, call))
    return claude_code.context_answer(call.event, note_of(project, call))


def _with_fast_path(project: "Project", call: HookInput) -> Session:
    """Write the file that tells hooks that they have nothing to do."""
    tickets = project.tickets(call.cwd, call.session_id)
    session, _ = update_session(
        project,
        new_session(project, call),
        SessionUpdate,
        cause="file_touched",
        literals=tickets.literals(),
    )
    return session


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
    ended, silent = (intents, []) if call.result.succeeded else ([], intents)
    closes = ask_about(tickets, session, ended, silent, call.result)

    def change(stored: Session) -> SessionUpdate:
        prompt_id = call.prompt_id or stored.prompt_id
        return resolve(stored, closes, prompt_id=prompt_id, now=project.now)

    update_session(project, new_session(project, call), change, cause="ticket_closed")


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

    update_session(project, new_session(project, call), change, cause="background")
