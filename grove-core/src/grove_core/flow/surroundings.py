"""Looking at what a session's project is like, for hooks that need not look again."""

import os
from pathlib import Path

from grove_core.flow.session_mode import applies
from grove_core.model.session import Session, Surroundings
from grove_core.paths import project_key
from grove_core.surroundings import with_marker
from grove_core.workspace import Workspace


def look_around(workspace: Workspace, session: Session) -> Surroundings:
    """Look at the project, its configuration and the plugins.

    Args:
        workspace: The project.
        session: The session.

    Returns:
        What was found.
    """
    active = workspace.tickets(Path(session.cwd), session.id).active()
    marker = active.detection.marker if active is not None and active.detection is not None else ""
    return Surroundings(
        stamp=with_marker(workspace.configuration_stamp, os.fspath(workspace.root), marker),
        marker=marker,
        initialised=workspace.project.initialised,
        session_mode=applies(workspace, session),
        observed=workspace.plugins.observe_the_gate(),
        project_key=project_key(workspace.root),
        spread=workspace.spread,
    )
