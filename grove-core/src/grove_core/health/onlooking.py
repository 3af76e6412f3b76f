"""Looking at a project without leaving a trace."""

import os
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.storage.diagnostics import Diagnostics
from grove_core.storage.paths import Paths
from grove_core.workspace import Workspace

_NOWHERE: Final = Path(os.devnull)


@frozen
class Silence(Diagnostics):
    """Writes no line: what is found is told to whoever looks."""

    def log(self, level: str, message: str, **fields: object) -> None:
        """Write nothing."""


def look_only(workspace: Workspace) -> None:
    """Make a workspace write no log line and no cache from now on."""
    paths = workspace.paths
    workspace.diagnostics = Silence(paths)
    _ = workspace.loaded_config
    # No cache can be there, so plugins are looked for in the environment itself.
    workspace.paths = Paths(_NOWHERE)
    try:
        _ = workspace.plugins
    finally:
        workspace.paths = paths
