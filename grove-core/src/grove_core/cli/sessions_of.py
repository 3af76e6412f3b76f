"""Finding the session that an agent's command belongs to."""

from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.cli.invocation import Invocation
from grove_core.errors import SessionNotFoundError
from grove_core.flow.lifecycle import is_over
from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
from grove_core.model.session import Session
from grove_core.workspace import Workspace

OWN_VARIABLE: Final = "GROVE_SESSION_ID"
_MOST_NAMED: Final = 5
_MOST_LISTED: Final = 50


def find_session(invocation: Invocation, session_id: str | None) -> tuple[Invocation, Session]:
    """Find the session, and look at its project rather than at the current directory.

    Args:
        invocation: How the command was called.
        session_id: What ``--session-id`` or the input says, if anything.

    Returns:
        The invocation in the session's project, and the session.

    Raises:
        SessionNotFoundError: There is no such session, or no telling which one is meant; the
            message names those that are known.
        CodecError: The session's state cannot be read.
    """
    workspace = invocation.workspace
    environment = workspace.environment
    wanted = session_id or environment.get(SESSION_ID_VARIABLE) or environment.get(OWN_VARIABLE)
    session = workspace.sessions.get(wanted) if wanted else _only_live_session(workspace)
    if session is None:
        raise SessionNotFoundError(f"there is no session {wanted}; {_known_sessions(workspace)}")
    if invocation.project_given or Path(session.project_root) == workspace.root:
        return invocation, session
    elsewhere = Workspace(Path(session.project_root), environment, workspace.now)
    return evolve(invocation, workspace=elsewhere), session


def _only_live_session(workspace: Workspace) -> Session:
    live = _live_sessions(workspace)
    if len(live) == 1:
        return live[0]
    many = "several sessions are live here" if live else "no session is live here"
    raise SessionNotFoundError(f"{many}; name one with --session-id ({_known_sessions(workspace)})")


def _live_sessions(workspace: Workspace) -> list[Session]:
    return [
        session
        for session in workspace.sessions.list(_MOST_LISTED)
        if session.project_root == str(workspace.root) and not is_over(session, workspace)
    ]


def newest_live_session(workspace: Workspace) -> Session | None:
    """Give the live session of a project that was written last.

    Args:
        workspace: The project.

    Returns:
        The session, or ``None``.
    """
    return next(iter(_live_sessions(workspace)), None)


def _known_sessions(workspace: Workspace) -> str:
    known = [
        session.id
        for session in workspace.sessions.list(_MOST_LISTED)
        if session.project_root == str(workspace.root)
    ]
    if not known:
        return "grove knows none of this project: its hooks have not run here, see `grove status`"
    return f"known here: {', '.join(known[:_MOST_NAMED])}"
