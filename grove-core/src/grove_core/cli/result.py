"""Printing what a command found or did."""

import json
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.quotation import defuse
from grove_core.services.result import Result
from grove_core.text import one_line, remove_invisible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.segment import Segment

__all__ = ["Result", "plain_console", "print_result"]

_PIPED_WIDTH: Final = 200


def print_result(result: Result, *, as_json: bool, quiet: bool) -> None:
    """Print warnings on stderr, and the result in the form that was asked for."""
    for warning in result.warnings:
        click.echo(f"grove: {defuse(one_line(warning))}", err=True)
    if result.document is None:
        pass
    elif as_json:
        from grove_core.storage.codec import to_jsonable

        text = json.dumps(to_jsonable(result.document), ensure_ascii=True, indent=2)
        # The same to a program; an agent that reads it sees no tag.
        sys.stdout.write(text.replace("<", "\\u003c") + "\n")
    elif quiet:
        sys.stdout.write("".join(f"{line}\n" for line in result.ids))
    else:
        from rich.text import Text

        console = plain_console()
        # A terminal may want a pager; into a pipe each line goes at once, for there may be many.
        printed = console.capture() if console.is_terminal else None
        with printed or nullcontext():
            for line in result.lines if sys.stdout.isatty() else result.texts:
                console.print(Text.assemble(*(line if isinstance(line, list) else [line])))
            if result.human is not None:
                result.human(console)
        if printed is not None:
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

    class CleanConsole(Console):
        """A console that lets no control and no direction of others' text through."""

        def render(self, *arguments: Any, **options: Any) -> "Iterator[Segment]":  # noqa: ANN401 - as there
            for one in super().render(*arguments, **options):
                yield one if one.control else one._replace(text=remove_invisible(one.text))

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return CleanConsole(highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)
