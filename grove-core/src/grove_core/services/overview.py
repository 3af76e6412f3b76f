"""A project's sessions: which live, what is pending, and which one is asked for."""

from collections.abc import Iterator
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.errors import CodecError, SessionNotFoundError
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.project import Project
from grove_core.services.messages import name_of, past_reflection
from grove_core.services.sessions import is_over

_NONE_KNOWN: Final = "grove knows none of this project: see grove status"
_MOST_NAMED: Final = 5
_MOST_LISTED: Final = 1_000
"""Of all projects, the ones written last; more would make a command slow."""


class Liveness(Enum):
    """Whether a session goes on."""

    LIVE = "live"
    ENDED = "ended"
    DIED = "died"
    """It never said that it ended: its client is gone, or it has been idle for a day."""


class PendingKind(Enum):
    """Why a reflection is pending."""

    OPEN = "open"
    """The gate holds the agent until it reflects."""
    BREAKER = "breaker"
    """The circuit breaker has let the agent go without it."""
    UNREADABLE = "unreadable"
    """Earlier state of the session could not be read and may have held one."""


@frozen
class PendingReflection:
    """A reflection that a session has not given yet."""

    kind: PendingKind
    tickets: tuple[Ticket, ...] = ()
    since: datetime | None = None
    blocks: int = 0
    path: str | None = None

    def __str__(self) -> str:
        if self.kind is PendingKind.UNREADABLE:
            return f"may have a reflection pending: its earlier state lies unread in {self.path}"
        what = ", ".join(name_of(one) for one in self.tickets) or "its changes"
        if self.kind is PendingKind.BREAKER:
            return f"was let go without its reflection ({what})"
        return f"has a reflection pending ({what})"


def liveness_of(session: Session, project: Project) -> Liveness:
    """Return whether a session goes on."""
    if session.ended_at is not None:
        return Liveness.ENDED
    return Liveness.DIED if is_over(session, project) else Liveness.LIVE


def pending_reflections(session: Session) -> tuple[PendingReflection, ...]:
    """List the reflections that a session has not given."""
    gate, pending = session.gate, []
    if gate.status.reflection_pending:
        tickets = gate.closed
        since, blocks = gate.cycle.opened_at if gate.cycle else None, gate.breaker.cycle_blocks
        pending.append(PendingReflection(PendingKind.OPEN, tickets, since, blocks))
    pending += [
        PendingReflection(PendingKind.BREAKER, one.tickets, one.broken_at, one.blocks)
        for one in gate.broken_cycles
    ]
    if session.recovered_from is not None:
        pending.append(PendingReflection(PendingKind.UNREADABLE, path=session.recovered_from))
    return tuple(pending)


def sessions_here(project: Project) -> list[Session]:
    """List the sessions of a project, live or over, the one that was written last first."""
    root = str(project.root)
    return [one for one in project.sessions.list(_MOST_LISTED) if one.project_root == root]


def live_sessions(project: Project) -> list[Session]:
    """List those that go on."""
    return [one for one in sessions_here(project) if not is_over(one, project)]


def named_session(project: Project, session_id: str | None) -> str | None:
    """Return which session is asked for, by its id or by a variable."""
    return session_id or project.client_session or None


def find_session(
    project: Project, session_id: str | None, *, newest: bool = False
) -> tuple[Project, Session]:
    """Find the session, and look at its project rather than at the current directory.

    The beginning of an id does. Of several live ones, those who only look take the newest, and the
    others the newest that has a reflection pending.
    """
    if wanted := named_session(project, session_id):
        try:
            session = project.sessions.get(wanted)
        except CodecError as error:
            raise CodecError(f"{project.sessions.path(wanted)} cannot be read: {error}") from error
        if session is None:
            fitting = [one for one in sessions_here(project) if one.id.startswith(wanted)]
            if len(fitting) != 1:
                several = "several sessions begin with" if fitting else "there is no session"
                raise SessionNotFoundError(f"{several} {wanted}; {_known_here(project)}")
            (session,) = fitting
    else:
        live = live_sessions(project)
        found = (live or sessions_here(project))[:1] if newest else live
        if len(found) != 1:
            # In a sandbox a client may be out of sight; its session then looks as if it had died.
            going_on = (one for one in sessions_here(project) if one.ended_at is None)
            found = [one for one in going_on if one.gate.status.reflection_pending][:1]
        if not found:
            many = "several sessions are live here" if live else "no session is live here"
            raise SessionNotFoundError(
                f"{many}; name one with --session-id ({_known_here(project)})"
            )
        (session,) = found
    if Path(session.project_root) == project.root:
        return project, session
    return project.elsewhere(Path(session.project_root)), session


def _known_here(project: Project) -> str:
    here = sessions_here(project)[:_MOST_NAMED]
    named = (f"{one.id}{' (ended)' if is_over(one, project) else ''}" for one in here)
    return f"known here: {', '.join(named)}" if here else _NONE_KNOWN


def pending_texts(session: Session, project: Project) -> Iterator[str]:
    """Say what is pending of a past session, and what a live one was let go without."""
    if session.recovered_from is not None or is_over(session, project):
        if text := past_reflection(session):
            yield text
        return
    for one in pending_reflections(session):
        if one.kind is PendingKind.BREAKER:
            how = f"if you know what it taught: grove reflect --session-id {session.id}"
            yield f"grove: session {session.id} {one}; {how}"
    if session.gates:
        from grove_core.services.gates import pending_of

        for line in pending_of(project, session):
            yield f"grove: session {session.id}: {line}"
