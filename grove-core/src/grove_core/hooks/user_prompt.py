"""UserPromptSubmit: a new prompt drops what is left of the last one and may bring new matches."""

from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import evolve

from grove_core.injection import VIA_PROMPT
from grove_core.model.hook import NO_REPLY, HookInput, HookReply, StartSource
from grove_core.model.memory import Query
from grove_core.model.session import EventType, Session
from grove_core.model.ticket import CloseIntent
from grove_core.retrieval.terms import asked_in, files_named_in
from grove_core.services.recall import recall, remember
from grove_core.services.sessions import SessionUpdate, new_session, trace_event, update_session

if TYPE_CHECKING:
    from grove_core.project import Project


class _AnsweredError(Exception):
    """Another set of hooks was faster: the client may hold two, and a prompt is answered once."""


def handle(project: "Project", call: HookInput) -> HookReply:
    """Take notice of a prompt."""
    if call.is_notification:
        return NO_REPLY
    texts = []
    with suppress(_AnsweredError):
        session, started = _note_prompt(project, call)
        if started is not None:
            from grove_core.hooks.session import introduce

            texts.append(introduce(project, session, started).context)
        if project.plugins.gates():
            from grove_core.services.gates import ask

            texts.append(ask(project, call).context)
        texts.append(_matches(project, call, session))
    return HookReply(context="\n\n".join(filter(None, texts)))


def _matches(project: "Project", call: HookInput, session: Session) -> str:
    """Show learnings that match the prompt."""
    retrieval = project.config.retrieval
    given = sum(one.via == VIA_PROMPT for one in session.injected)
    limit = min(retrieval.max_per_prompt, retrieval.max_per_session - given)
    if not (retrieval.on_prompt and call.prompt.strip()):
        limit = 0
    if limit <= 0:
        return ""
    asked = asked_in(call.prompt)
    shown = recall(
        project,
        session,
        Query(text=asked, files=files_named_in(asked)),
        limit=limit,
        max_chars=retrieval.max_chars,
        via=VIA_PROMPT,
    )
    return "" if shown is None else remember(project, session, shown).text


def _note_prompt(project: "Project", call: HookInput) -> tuple[Session, StartSource | None]:
    """Note a prompt; with the start that it is the first one after, if that could say nothing."""
    before = project.session(call.session_id)
    noted = trace_event(EventType.PROMPT, project.now, prompt_id=call.prompt_id)

    def change(stored: Session) -> SessionUpdate:
        known = [one.details for one in stored.trace.events if one.event_type is EventType.PROMPT]
        if call.prompt_id and noted.details in known:
            raise _AnsweredError
        kept = tuple(one for one in stored.intents if _goes_on(one))
        dropped = [one.key for one in stored.intents if not _goes_on(one)]
        kind, why = EventType.TICKET_CLOSE_DISCARDED, "new prompt"
        trace = [trace_event(kind, project.now, call=one, why=why) for one in dropped]
        prompt_id = call.prompt_id or stored.prompt_id
        # A client may say of each turn that it is the session's end.
        changed = evolve(stored, intents=kept, prompt_id=prompt_id, ended_at=None)
        return SessionUpdate(changed, trace=[noted, *trace])

    session, _ = update_session(project, new_session(project, call), change)
    started = _silent_start(project, call, before)
    if session.baseline is not None or not (session.session_mode or not session.environment):
        return session, started
    # No start has seen it, or git was too slow then; no work has been done yet.
    from grove_core.services.session_mode import renew_baseline, with_environment

    session = with_environment(project, session)
    if session.session_mode:
        session = renew_baseline(project, session)
    return session, started


def _silent_start(
    project: "Project", call: HookInput, before: Session | None
) -> StartSource | None:
    """Return why the session started if that could say nothing, and no prompt has come since."""
    host = project.plugins.host(call.host)
    if before is None or host is None or host.value.abilities.context_with_start:
        return None
    told = (EventType.SESSION_START, EventType.PROMPT)
    latest = next((one for one in reversed(before.trace.events) if one.event_type in told), None)
    if latest is None or latest.event_type is EventType.PROMPT:
        return None
    return StartSource(latest.details.get("source"))


def _goes_on(intent: CloseIntent) -> bool:
    """Return whether a call outlives the prompt: background commands and subagents do."""
    return intent.background_task_id is not None or intent.agent_id is not None
