"""The sessions of the project that a command works in."""

from typing import Final

from grove_core.model.session import Session
from grove_core.workspace import Workspace

_MOST_LISTED: Final = 1_000
"""Of all projects, the ones written last; more would make a command slow."""


def sessions_here(workspace: Workspace) -> list[Session]:
    """List the sessions of a project, the one that was written last first.

    Args:
        workspace: The project.

    Returns:
        The sessions, live or over.
    """
    root = str(workspace.root)
    return [one for one in workspace.sessions.list(_MOST_LISTED) if one.project_root == root]
