"""Showing changes to files, and asking before they are made."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.errors import GroveError
from grove_core.flow.file_changes import FileChange

if TYPE_CHECKING:
    from rich.console import Console

_DONE: Final = {"create": "created", "change": "changed", "remove": "removed"}
DECLINED: Final = "nothing was changed"
_LINE_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


def is_answered() -> bool:
    """Return whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(changes: Sequence[FileChange], root: Path) -> None:
    """Show changes on standard error, and ask for them."""
    for change in changes:
        click.echo(change.diff(root), nl=False, err=True)
    if not click.confirm("Make these changes?", default=True, err=True):
        raise GroveError(DECLINED)


@contextmanager
def unless_given_up() -> Iterator[None]:
    """Take Ctrl-C, or an end of input, at a question for a no."""
    try:
        yield
    except click.Abort:
        click.echo("", err=True)  # the question's line has no end yet
        raise GroveError(DECLINED) from None


def documents_of(changes: Sequence[FileChange], root: Path) -> list[dict[str, Any]]:
    """Describe changes for ``--json``."""
    return [{"path": one.path, "action": one.action, "diff": one.diff(root)} for one in changes]


def print_changes(
    console: "Console",
    changes: Sequence[FileChange],
    root: Path,
    *,
    dry_run: bool,
    with_diffs: bool,
) -> None:
    """Return what was done, or would be."""
    for change in changes:
        lines = change.diff(root).splitlines() if with_diffs else ()
        for line in lines:
            console.print(line, style=_LINE_STYLES.get(line[:1]))
    for change in changes:
        word = f"would be {_DONE[change.action]}:" if dry_run else _DONE[change.action]
        console.print(f"{word} {change.name(root)}")
