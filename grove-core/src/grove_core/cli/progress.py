"""Showing how far a long piece of work is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Begin = Callable[[str, int], Callable[[], None]]
"""Names a piece of work and its size; what it gives is called after each part."""


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
