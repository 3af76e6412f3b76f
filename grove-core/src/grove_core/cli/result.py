"""Printing what a command found or did."""

import json
import os
import sys
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.codec import plain
from grove_core.services.result import Result

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Result", "plain_console", "print_result"]

_PIPED_WIDTH: Final = 200


def print_result(result: Result, *, as_json: bool, quiet: bool) -> None:
    """Print warnings on stderr, and the result in the form that was asked for."""
    for warning in result.warnings:
        click.echo(f"grove: {warning}", err=True)
    if result.document is None:
        pass
    elif as_json:
        text = json.dumps(result.document, default=plain, indent=2)
        sys.stdout.write(f"{text}\n")
    elif quiet:
        sys.stdout.write("".join(f"{line}\n" for line in result.ids))
    else:
        from rich.text import Text

        console = plain_console()
        with console.capture() as printed:
            for line in result.lines:
                console.print(Text.assemble(*(line if isinstance(line, list) else [line])))
            result.human(console)
        _show(printed.get(), console)
    sys.stdout.flush()


def _show(text: str, console: "Console") -> None:
    """Print a text; one that is longer than the terminal in a pager, as git does."""
    too_long = console.is_terminal and text.count("\n") >= console.height
    if too_long and sys.stdin.isatty() and os.environ.get("PAGER") not in ("", "cat"):
        click.echo_via_pager(text, color=True)
    else:
        sys.stdout.write(text)


def plain_console() -> "Console":
    """Open a console that prints text as it is."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)
