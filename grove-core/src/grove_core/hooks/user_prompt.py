"""UserPromptSubmit: a new prompt drops what is left of the last one and may bring new matches."""

from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core.hosts import claude_code
from grove_core.hosts.contract import SILENCE, Answer, HookInput
from grove_core.injection import VIA_PROMPT
from grove_core.model.memory import Query
from grove_core.model.session import EventType, Session, TraceEvent
from grove_core.model.ticket import CloseIntent
from grove_core.retrieval.terms import asked_in, files_named_in
from grove_core.services.recall import recall, remember
from grove_core.services.sessions import SessionUpdate, new_session, trace_event, update_session

if TYPE_CHECKING:
    from grove_core.project import Project

_CUT_OFF: Final = (
    "grove: the last stop was let go unchecked, since the check took too long; a reflection may be"
    " owed: see `grove status`"
)


class _AnsweredError(Exception):
    """Another set of hooks was faster: the client may hold two, and a prompt is answered once."""


def handle(project: "Project", call: HookInput) -> Answer:
    """Take notice of a prompt."""
    if call.is_notification:
        return SILENCE
    cut_off = project.prefilter.take_cut_off(call.session_id)
    shown = _matches(project, call)
    text = "\n\n".join(part for part in (_CUT_OFF if cut_off else "", shown) if part)
    return claude_code.context_answer(call.event, text)


def _matches(project: "Project", call: HookInput) -> str:
    """Show learnings that match the prompt."""
    try:
        session = _note_prompt(project, call)
    except _AnsweredError:
        return ""
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
    return "" if shown is None else remember(project, session, shown)


def _note_prompt(project: "Project", call: HookInput) -> Session:
    noted = trace_event(EventType.PROMPT, project.now, prompt_id=call.prompt_id)

    def change(stored: Session) -> SessionUpdate:
        if call.prompt_id and any(_is_the_same(one, noted) for one in stored.trace.events):
            raise _AnsweredError
        kept = tuple(one for one in stored.intents if _goes_on(one))
        dropped = [one for one in stored.intents if not _goes_on(one)]
        trace = [noted]
        trace += [
            trace_event(
                EventType.TICKET_CLOSE_DISCARDED, project.now, call=one.key, why="new prompt"
            )
            for one in dropped
        ]
        prompt_id = call.prompt_id or stored.prompt_id
        return SessionUpdate(session=evolve(stored, intents=kept, prompt_id=prompt_id), trace=trace)

    session, _ = update_session(project, new_session(project, call), change, cause="prompt")
    return _with_baseline(project, session)


def _is_the_same(known: TraceEvent, noted: TraceEvent) -> bool:
    return known.event_type is noted.event_type and known.details == noted.details


def _with_baseline(project: "Project", session: Session) -> Session:
    """Take the baseline that git was too slow for at the start: no work has been done yet."""
    if session.baseline is not None or not session.session_mode:
        return session
    from grove_core.services.session_mode import renew_baseline

    return renew_baseline(project, session)


def _goes_on(intent: CloseIntent) -> bool:
    """Return whether a call outlives the prompt: background commands and subagents do."""
    return intent.background_task_id is not None or intent.agent_id is not None
