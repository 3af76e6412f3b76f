"""Telling a person's work from what grove, ticket systems and backends write themselves."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from grove_core.gitstatus import seen_from_root
from grove_core.workspace import Workspace

GROVE_DIRECTORY: Final = ".grove"


def own_paths(workspace: Workspace) -> tuple[str, ...]:
    """Collect the paths where changes are not work.

    Args:
        workspace: The project.

    Returns:
        Paths relative to the project root: grove's own, ticket systems' and backends'.
    """
    tickets = workspace.tickets().own_paths()
    backends = workspace.library.own_paths()
    return tuple(dict.fromkeys((GROVE_DIRECTORY, *tickets, *backends)))


def relative(root: Path, top: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Turn paths relative to the work tree's top into paths relative to the project.

    Args:
        root: The project's root.
        top: The work tree's top.
        paths: Paths relative to the top.

    Returns:
        Those inside the project, each once.
    """
    return seen_from_root(os.fspath(root), os.fspath(top), paths)
