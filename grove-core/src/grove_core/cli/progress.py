"""Telling a person who waits how far the work is, and for whom."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rich_click as click

from grove_core.memory.library import SLOW_WRITE_SECONDS, MemoryLibrary

Begin = Callable[[str, int], Callable[[], None]]
"""Names a piece of work and its size; what it returns is called after each part."""


@contextmanager
def progress() -> Iterator[Begin]:
    """Show on a terminal how far the work is; standard output is for the results."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bars:

        def begin(title: str, total: int) -> Callable[[], None]:
            task = bars.add_task(title, total=total)
            return lambda: bars.advance(task)

        yield begin


def name_slow_backend(library: MemoryLibrary) -> None:
    """Say that a write may take long, where it may and a person sees it."""
    if library.is_slow and sys.stderr.isatty():
        click.echo(
            "grove: the backend asks another program or a server, up to"
            f" {SLOW_WRITE_SECONDS:.0f} seconds for each learning",
            err=True,
        )


@contextmanager
def naming_servers(library: MemoryLibrary) -> Iterator[None]:
    """Show on a terminal which servers are being asked."""
    asked = sys.stderr.isatty()
    sources = [one.source for one in library.freshness() if one.source] if asked else []
    if not sources:
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"grove: asking {' and '.join(sources)}")):
        yield
