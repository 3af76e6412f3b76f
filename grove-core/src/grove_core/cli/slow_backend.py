"""A word to a person who waits for a backend."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import rich_click as click

from grove_core.memory.library import SLOW_WRITE_SECONDS, MemoryLibrary


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
    """Return which servers are asked, as long as that takes and where a person sees it."""
    asked = sys.stderr.isatty()
    sources = [one.source for one in library.freshness() if one.source] if asked else []
    if not sources:
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"grove: asking {' and '.join(sources)}")):
        yield
