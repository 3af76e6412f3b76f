"""SessionStart: state, discovery, baseline, what earlier sessions have learned."""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import evolve

from grove_core import git
from grove_core.injection import NOTHING, VIA_START, Injection
from grove_core.model.gate import GateEvent, TicketDetected
from grove_core.model.hook import CONTEXT_LIMIT, NO_REPLY, HookInput, HookReply, StartSource
from grove_core.model.session import EventType, Session
from grove_core.services.closes import watched_words
from grove_core.services.corrections import announce_corrections
from grove_core.services.decay import decay_daily
from grove_core.services.file_notes import watch_files
from grove_core.services.messages import pending_reflection
from grove_core.services.recall import query_for_work, recall, remember, repeat
from grove_core.services.session_mode import take_baseline, with_environment
from grove_core.services.sessions import (
    OpenSessions,
    SessionUpdate,
    close_dead_sessions,
    finish_ends,
    new_session,
    skips_in_a_row,
    trace_event,
    update_session,
)
from grove_core.services.sync import synchronise_in_background
from grove_core.text import counted

if TYPE_CHECKING:
    from grove_core.project import Project

T = TypeVar("T")

_MOST_NOTICES: Final = 5
# Of the hook's time; the query has two more calls of git to make.
_SHARE_FOR_GIT: Final = 0.08


def handle(project: "Project", call: HookInput) -> HookReply:
    """Begin a session, or take one up again."""
    for problem in project.loaded_config.problems:
        project.diagnostics.log("warning", f"configuration: {problem}", session=call.session_id)
    if foreign := project.foreign_notice:
        project.diagnostics.log("warning", foreign, session=call.session_id)
    finish_ends(project)
    session = _open(project, call)
    OpenSessions(project).add(session.id)
    _export_id(call.environment_file, session.id)
    host = project.plugins.host(call.host)
    if host is not None and not host.value.abilities.context_with_start:
        return NO_REPLY  # the first prompt brings it
    return introduce(project, session, call.source)


def introduce(project: "Project", session: Session, source: StartSource) -> HookReply:
    """Say what a session should know from its start."""
    notices = _notices(project, session)
    corrections = _safely(
        project, session, "corrections", lambda: announce_corrections(project, session, source)
    )
    notices = "\n\n".join(part for part in (notices, corrections) if part)
    left = CONTEXT_LIMIT - len(notices)
    shown = _show(project, session, source, left)
    # After what is shown, which is no longer stale.
    _safely(project, session, "decay", lambda: decay_daily(project))
    _safely(project, session, "sync", lambda: synchronise_in_background(project))
    watch_files(project, session)
    text = "\n\n".join(part for part in (notices, shown.text.strip()) if part)
    many = counted(len(shown.shown), "learning")
    message = f"grove: {many} shown to the agent; grove why tells why" if shown.shown else ""
    return HookReply(context=text, message=message)


def _notices(project: "Project", session: Session) -> str:
    """Name pending reflections: this session's own, then those of past ones, by count."""
    notices: list[str] = []
    if own := pending_reflection(session):
        notices.append(own)
    if skipped := skips_in_a_row(project):
        notices.append(skipped)
    if session.gates:
        from grove_core.services.gates import pending_of

        notices += [f"grove: {one}" for one in pending_of(project, session)]
    past = close_dead_sessions(project, session.id)
    notices += past[:_MOST_NOTICES]
    if len(past) > _MOST_NOTICES:
        more = len(past) - _MOST_NOTICES
        notices.append(
            f"grove: {more} more past sessions have a reflection pending; see grove status"
        )
    return "\n\n".join(notices)


def _safely(project: "Project", session: Session, what: str, work: Callable[[], T]) -> T | None:
    """Do something without which the session starts all the same."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - whatever it is, the session starts
        project.diagnostics.crash(error, session.id, f"{what} at session start")
        return None


def _export_id(path: str | None, session_id: str) -> None:
    """Let later shell calls know the session; its id is checked, so it needs no quotes."""
    if path:
        with suppress(OSError, ValueError):
            # A pipe that no one reads is not waited for.
            descriptor = os.open(
                path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600
            )
            with os.fdopen(descriptor, "a", encoding="ascii") as file:
                file.write(f"export GROVE_SESSION_ID={session_id}\n")


def _open(project: "Project", call: HookInput) -> Session:
    """Make or take up the session's state, with its ticket and its baseline."""
    fresh = new_session(project, call)
    known = project.session(call.session_id)
    # A session that goes on is looked at from where it began, wherever the agent is now.
    goes_on = known is not None and (call.source.continues or _is_same_start(known, fresh))
    session = known if known is not None and goes_on else fresh
    tickets = project.tickets(session.cwd, call.session_id)
    active = tickets.active()
    ticket = tickets.current_ticket()
    backends = project.library.states
    primary = next((state.spec.name for state in backends if state.is_primary), None)
    session = with_environment(project, session, look=True)
    baseline = None
    if (known is None or known.baseline is None) and session.session_mode:
        seconds = _SHARE_FOR_GIT * project.config.hooks.deadline_ms / 1000
        taken = take_baseline(project, session, seconds)
        # Where git is too slow, the first prompt, which has more time, takes it.
        is_late = taken.head is None and git.find_top(project.root) is not None
        baseline = None if is_late else taken

    def change(stored: Session) -> SessionUpdate:
        goes_on = call.source.continues or _is_same_start(stored, fresh)
        resumed = evolve(
            stored if goes_on else fresh,
            ended_at=None,
            process_id=call.process_id or stored.process_id,
            transcript_path=call.transcript_path or stored.transcript_path,
            ticket_system=active.probe.name if active is not None else None,
            session_mode=session.session_mode,
            ticket_marker=session.ticket_marker,
            environment=session.environment,
        )
        if resumed.baseline is None and baseline is not None:
            resumed = evolve(resumed, baseline=baseline, measurement=None)
        # A to-do at work does not keep session mode from asking.
        events: list[GateEvent] = []
        if ticket is not None and not session.session_mode:
            events.append(TicketDetected(ticket=ticket))
        start = trace_event(
            EventType.SESSION_START,
            project.now,
            source=call.source.value,
            ticket_system=resumed.ticket_system,
            project=str(project.root),
        )
        found = trace_event(EventType.BACKEND_DETECTED, project.now, backend=primary)
        return SessionUpdate(session=resumed, events=events, trace=[start, found])

    words = watched_words(project, tickets, call.host)
    session, _ = update_session(project, fresh, change, literals=words)
    return session


def _is_same_start(stored: Session, fresh: Session) -> bool:
    """Return whether another hook of this very start was faster: the client may hold two sets."""
    return stored.ended_at is None and stored.project_root == fresh.project_root


def _show(project: "Project", session: Session, source: StartSource, left: int) -> Injection:
    """Show what fits the work; after a compaction, what was shown before."""
    max_chars = min(project.config.retrieval.max_chars, left)
    if source is StartSource.COMPACT:
        return repeat(project, session, max_chars)
    if not source.continues and any(one.via == VIA_START for one in session.injected):
        return NOTHING  # what another hook of this very start has chosen stands
    query = query_for_work(project, session.gate.ticket)
    limit = project.config.retrieval.max_injections
    # A session that goes on is shown only what is new: what it was shown keeps its place, and where
    # nothing is known about the work only what was written since can be.
    given = [one.injected_at for one in session.injected if one.via == VIA_START]
    since = max(given, default=None) if query.is_empty else None
    shown = recall(
        project,
        session,
        query,
        limit=limit if query.is_empty else max(0, limit - len(given)),
        max_chars=max_chars,
        via=VIA_START,
        written_after=since,
    )
    return NOTHING if shown is None else remember(project, session, shown)
