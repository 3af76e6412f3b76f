"""A word to a person who waits for a backend."""

import sys

import rich_click as click

from grove_core.memory.library import SLOW_WRITE_SECONDS, MemoryLibrary


def name_slow_backend(library: MemoryLibrary) -> None:
    """Say that a write may take long, where it may and a person sees it.

    Args:
        library: The backends.
    """
    if library.is_slow and sys.stderr.isatty():
        click.echo(
            "grove: the backend asks another program or a server, up to"
            f" {SLOW_WRITE_SECONDS:.0f} seconds for each learning",
            err=True,
        )
