"""SessionStart: state, discovery, baseline, and what earlier sessions have learned."""

from contextlib import suppress
from pathlib import Path

from attrs import evolve

from grove_core.flow.gatekeeper import Change, move
from grove_core.flow.lifecycle import (
    OpenSessions,
    debt_notice,
    new_session,
    settle_dead_sessions,
)
from grove_core.flow.messages import pending_notice
from grove_core.flow.recall import VIA_START, query_for_work, recall, remember, repeat
from grove_core.flow.session_mode import applies, take_baseline
from grove_core.hosts import claude_code
from grove_core.hosts.contract import Answer, HookInput, StartSource
from grove_core.model.gate import GateEvent, TicketDetected
from grove_core.model.session import EventType, Session
from grove_core.tracing import event
from grove_core.workspace import Workspace


def handle(workspace: Workspace, call: HookInput) -> Answer:
    """Begin a session, or take one up again.

    Args:
        workspace: The project.
        call: The hook call.

    Returns:
        What the agent should know, or silence.
    """
    _report_config_problems(workspace, call)
    session = _open(workspace, call)
    _compile_prefilter(workspace, session)
    OpenSessions(workspace).add(session.id)
    _export_session_id(call)
    parts: list[str] = []
    if session.gate.status.owes_reflection:
        parts.append(pending_notice(session))
    if session.recovered_from is not None:
        parts.append(debt_notice(session))
    parts += settle_dead_sessions(workspace, session.id)
    if call.source is StartSource.COMPACT:
        parts.append(repeat(workspace, session).text)
    parts.append(_show_new(workspace, session))
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    return claude_code.context_answer(call.event, text)


def _report_config_problems(workspace: Workspace, call: HookInput) -> None:
    for problem in workspace.loaded_config.problems:
        workspace.diagnostics.log("warning", f"configuration: {problem}", session=call.session_id)


def _open(workspace: Workspace, call: HookInput) -> Session:
    """Make or take up the session's state, with its ticket and its baseline."""
    fresh = new_session(workspace, call)
    tickets = workspace.tickets(session_id=call.session_id)
    active = tickets.active()
    ticket = tickets.current_ticket()
    backends = workspace.library.states
    primary = next((state.spec.name for state in backends if state.is_primary), None)
    needs_baseline = applies(workspace, fresh)
    baseline = take_baseline(workspace, fresh) if needs_baseline else None

    def change(stored: Session) -> Change:
        resumed = evolve(
            stored,
            ended_at=None,
            process_id=call.process_id or stored.process_id,
            transcript_path=call.transcript_path or stored.transcript_path,
            ticket_system=active.probe.name if active is not None else None,
            baseline=stored.baseline or baseline,
        )
        events: list[GateEvent] = [TicketDetected(ticket=ticket)] if ticket is not None else []
        start = event(
            EventType.SESSION_START,
            workspace.now,
            source=call.source.value,
            ticket_system=resumed.ticket_system,
            project=str(workspace.root),
        )
        found = event(EventType.BACKEND_DETECTED, workspace.now, backend=primary)
        return Change(session=resumed, events=events, trace=[start, found])

    moved = move(workspace, call.session_id, change, absent=lambda: fresh, cause="session_start")
    return moved.session


def _compile_prefilter(workspace: Workspace, session: Session) -> None:
    words = workspace.tickets(session_id=session.id).literals()
    workspace.prefilter.write(session.id, words, close_waits=bool(session.intents))


def _export_session_id(call: HookInput) -> None:
    """Let later shell calls know the session; the id is checked, so it needs no quotes."""
    if call.environment_file is None:
        return
    line = f"export GROVE_SESSION_ID={call.session_id}\n"
    with suppress(OSError), Path(call.environment_file).open("a", encoding="utf-8") as file:
        file.write(line)


def _show_new(workspace: Workspace, session: Session) -> str:
    query = query_for_work(workspace, session.gate.ticket)
    limit = workspace.config.retrieval.max_injections
    shown = recall(workspace, session, query, limit=limit, via=VIA_START)
    if shown is None:
        return ""
    return remember(workspace, session, shown)
