"""Options that commands share; nothing here needs a project yet."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import rich_click as click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def project_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--project`` to a command or a group."""
    return click.option(
        "-C",
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Work in this directory's project.",
    )(function)


def session_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--session-id`` to a command."""
    return click.option(
        "--session-id",
        metavar="ID",
        help="The client's session; by default the one that runs this command.",
    )(function)


def dry_run_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--dry-run`` to a command."""
    return click.option(
        "--dry-run", is_flag=True, help="Say what would be done, and change nothing."
    )(function)


def choice_option(
    option: str,
    name: str,
    values: Iterable[str],
    line: str,
    *,
    multiple: bool = False,
    default: str | None = None,
) -> Decorator:
    """Add an option with certain values; in a help they stand where lines may be broken."""
    known = list(values)
    return click.option(
        option,
        name,
        type=click.Choice(known, case_sensitive=False),
        metavar=option.lstrip("-").upper(),
        multiple=multiple,
        default=default,
        show_default=True,
        help=f"{line}: {', '.join(known)}{'; may be repeated' if multiple else ''}.",
    )


def limit_option(line: str = "At most this many.", default: int | None = None) -> Decorator:
    """Add ``--limit`` to a command that lists."""
    at_least_one = click.IntRange(min=1)
    return click.option(
        "--limit", type=at_least_one, metavar="N", default=default, show_default=True, help=line
    )
