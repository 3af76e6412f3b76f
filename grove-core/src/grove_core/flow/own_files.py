"""Telling a person's work from what grove, ticket systems and backends write themselves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

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
    try:
        prefix = root.relative_to(top.resolve()).as_posix()
    except ValueError:
        return tuple(dict.fromkeys(paths))
    if prefix == ".":
        return tuple(dict.fromkeys(paths))
    inside = (path.removeprefix(f"{prefix}/") for path in paths if path.startswith(f"{prefix}/"))
    return tuple(dict.fromkeys(inside))
