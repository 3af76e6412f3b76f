"""The beginning and the end of sessions: new state, dismissals, debts of sessions that died."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core.errors import StorageError
from grove_core.hosts import claude_code
from grove_core.hosts.contract import HookInput
from grove_core.identifiers import is_session_id
from grove_core.model.session import EventType, InjectionOutcome, Session
from grove_core.model.ticket import Ticket
from grove_core.storage import files
from grove_core.tracing import event, extend

if TYPE_CHECKING:
    from grove_core.workspace import Workspace

IDLE_LIMIT: Final = timedelta(hours=24)
_UNREADABLE: Final = (
    "grove: the state of session {session_id} cannot be read; a ticket closed there may still owe"
    " its reflection."
)


def new_session(workspace: "Workspace", call: HookInput) -> Session:
    """Make the state of a session that grove has not seen yet."""
    return Session(
        id=call.session_id,
        host=claude_code.NAME,
        cwd=call.cwd or str(workspace.start),
        project_root=str(workspace.root),
        created_at=workspace.now,
        updated_at=workspace.now,
        transcript_path=call.transcript_path,
        process_id=call.process_id,
        prompt_id=call.prompt_id,
    )


class OpenSessions:
    """Which sessions of a project may still have something to say: one empty file each."""

    def __init__(self, workspace: "Workspace") -> None:
        """Name the directory."""
        self._directory = workspace.project_cache / "open-sessions"

    def add(self, session_id: str) -> None:
        """Note a session."""
        with suppress(OSError, StorageError):
            files.make_directory(self._directory)
            (self._directory / session_id).touch()

    def remove(self, session_id: str) -> None:
        """Forget a session."""
        with suppress(OSError):
            (self._directory / session_id).unlink(missing_ok=True)

    def all(self) -> Sequence[str]:
        """List the sessions, by id; files of other names are none of ours."""
        try:
            return sorted(filter(is_session_id, os.listdir(self._directory)))  # noqa: PTH208 - names are all we need
        except OSError:
            return ()


def dismiss(workspace: "Workspace", session: Session) -> Session:
    """Mark what was shown and not used as dismissed; doing it twice changes nothing."""
    left = [one for one in session.injected if one.outcome is InjectionOutcome.PENDING]
    if not left:
        return session
    injected = tuple(
        evolve(one, outcome=InjectionOutcome.DISMISSED)
        if one.outcome is InjectionOutcome.PENDING
        else one
        for one in session.injected
    )
    ids = " ".join(one.learning_id for one in left)
    note = event(EventType.LEARNING_DISMISSED, workspace.now, learnings=ids)
    return evolve(session, injected=injected, trace=extend(session.trace, [note]))


def log_dismissals(workspace: "Workspace", before: Session, after: Session) -> None:
    """Write into the logs what a step has dismissed."""
    from grove_core.model.events import Dismissed

    was = {one.learning_id: one.outcome for one in before.injected}
    for personal in (False, True):
        events = [
            Dismissed(ts=workspace.now, learning_id=one.learning_id, session_id=after.id)
            for one in after.injected
            if one.personal is personal
            and one.outcome is InjectionOutcome.DISMISSED
            and was.get(one.learning_id) is InjectionOutcome.PENDING
        ]
        workspace.log_events(events, personal=personal)


def settle_dead_sessions(workspace: "Workspace", current: str) -> list[str]:
    """Dismiss for sessions that died without saying so, and name the debts of past sessions."""
    notices: list[str] = []
    open_sessions = OpenSessions(workspace)
    for session_id in open_sessions.all():
        if session_id == current:
            continue
        session = workspace.session(session_id)
        if session is None:
            if workspace.sessions.path(session_id).exists():
                notices.append(_UNREADABLE.format(session_id=session_id))
            open_sessions.remove(session_id)
            continue
        if not is_over(session, workspace):
            continue
        after = _dismiss_stored(workspace, session)
        notice = debt_notice(after)
        if notice:
            notices.append(notice)
        open_sessions.remove(session_id)
    return notices


def debt_notice(session: Session) -> str:
    """Return what a past session owes."""
    if session.recovered_from is not None:
        return (
            f"grove: the state of session {session.id} could not be read and was set aside as"
            f" {session.recovered_from}; a ticket closed there may still owe its reflection."
        )
    tickets: list[Ticket] = []
    owes = session.gate.status.owes_reflection
    if owes and session.gate.cycle is not None:
        tickets += session.gate.cycle.tickets
    for broken in session.gate.broken_cycles:
        tickets += broken.tickets
    if not owes and not session.gate.broken_cycles:
        return ""
    from grove_core.flow.messages import name_of

    what = ", ".join(name_of(ticket) for ticket in tickets) or "its changes"
    return (
        f"grove: session {session.id} ended without the reflection it owed ({what}); if you know"
        f" what it taught: grove reflect --session-id {session.id}"
    )


def is_over(session: Session, workspace: "Workspace") -> bool:
    """Return whether a session has ended, with or without saying so."""
    if session.ended_at is not None or workspace.now - session.updated_at > IDLE_LIMIT:
        return True
    return session.process_id is not None and not files.is_running(session.process_id)


def _dismiss_stored(workspace: "Workspace", session: Session) -> Session:
    before: list[Session] = []

    def change(stored: Session | None) -> Session:
        latest = stored or session
        before[:] = [latest]
        return dismiss(workspace, latest)

    after = workspace.sessions.update(session.id, change)
    log_dismissals(workspace, before[0], after)
    return after
