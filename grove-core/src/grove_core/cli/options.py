"""Options that commands share; nothing here needs a project yet."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import rich_click as click

from grove_core.cli.suggestions import session_ids

PLUGINS_KEY: Final = "grove_core.plugins"
PROJECT_KEY: Final = "grove_core.project"


def project_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--project`` to a command or a group."""
    return click.option(
        "-C",
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Work in this directory's project.",
    )(function)


def note_project(ctx: click.Context, project: Path | None) -> None:
    """Remember what ``--project`` says; of several the one next to the command's name holds."""
    if project is not None:
        ctx.meta[PROJECT_KEY] = project


def session_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--session-id`` to a command."""
    return click.option(
        "--session-id",
        metavar="ID",
        shell_complete=session_ids,
        help="The client's session; by default the one that runs this command.",
    )(function)


def dry_run_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--dry-run`` to a command."""
    return click.option(
        "--dry-run", is_flag=True, help="Say what would be done, and change nothing."
    )(function)
