"""UserPromptSubmit: a new prompt drops what is left of the last one and may bring new matches."""

from attrs import evolve

from grove_core.flow.gatekeeper import Change, move
from grove_core.flow.lifecycle import new_session
from grove_core.flow.recall import VIA_PROMPT, recall, remember
from grove_core.flow.recall_notes import leave_note
from grove_core.hosts import claude_code
from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.model.memory import Query
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import CloseIntent
from grove_core.retrieval.named_files import files_named_in
from grove_core.tracing import event
from grove_core.workspace import Workspace


def handle(workspace: Workspace, call: HookInput) -> Answer:
    """Take notice of a prompt.

    Args:
        workspace: The project.
        call: The hook call.

    Returns:
        Learnings that match the prompt and were not shown yet, or silence.
    """
    if call.is_notification:
        return SILENCE
    session = _note_prompt(workspace, call)
    retrieval = workspace.config.retrieval
    left = retrieval.max_per_session - sum(one.via == VIA_PROMPT for one in session.injected)
    limit = min(retrieval.max_per_prompt, left)
    if not retrieval.on_prompt or not call.prompt.strip() or limit <= 0:
        return SILENCE
    shown = recall(
        workspace,
        session,
        Query(text=call.prompt, files=files_named_in(call.prompt)),
        limit=limit,
        max_chars=retrieval.max_chars,
        via=VIA_PROMPT,
    )
    leave_note(workspace, session)
    if shown is None:
        return SILENCE
    return claude_code.context_answer(call.event, remember(workspace, session, shown))


def _note_prompt(workspace: Workspace, call: HookInput) -> Session:
    def change(stored: Session) -> Change:
        kept = tuple(one for one in stored.intents if _goes_on(one))
        dropped = [one for one in stored.intents if not _goes_on(one)]
        trace = [event(EventType.PROMPT, workspace.now, prompt_id=call.prompt_id)]
        trace += [
            event(EventType.TICKET_CLOSE_DISCARDED, workspace.now, call=one.key, why="new prompt")
            for one in dropped
        ]
        prompt_id = call.prompt_id or stored.prompt_id
        return Change(session=evolve(stored, intents=kept, prompt_id=prompt_id), trace=trace)

    moved = move(
        workspace,
        call.session_id,
        change,
        absent=lambda: new_session(workspace, call),
        cause="prompt",
    )
    return _with_baseline(workspace, moved.session)


def _with_baseline(workspace: Workspace, session: Session) -> Session:
    """Take the baseline that git was too slow for at the start: no work has been done yet."""
    surroundings = session.surroundings
    if session.baseline is not None or surroundings is None or not surroundings.session_mode:
        return session
    from grove_core.flow.session_mode import begin_from_here

    return begin_from_here(workspace, session)


def _goes_on(intent: CloseIntent) -> bool:
    """Tell whether a call outlives the prompt: background commands and subagents do."""
    return intent.background_task_id is not None or intent.agent_id is not None
