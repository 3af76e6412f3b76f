"""What the reports of ``grove eval`` are made of: shares, lines and tables."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from grove_core.model.statistics import Share

if TYPE_CHECKING:
    from rich.console import Console

DIGITS: Final = 6
QUERIES: Final = ("query", "queries")


def in_words(share: Share, *, interval: bool = True) -> str:
    """Return how many of how many."""
    if share.rate is None or share.interval is None:
        return "–"
    low, high = share.interval
    ends = f" [{100 * low:.1f}, {100 * high:.1f}]" if interval else ""
    return f"{share.count:,} of {share.total:,}, {100 * share.rate:.1f} %{ends}"


def share_document(share: Share, *, counts: str = "injected") -> dict[str, Any]:
    """Say it for ``--json``."""
    ends = share.interval
    return {
        "queries": share.total,
        counts: share.count,
        "share": None if share.rate is None else round(share.rate, DIGITS),
        "ci": None if ends is None else [round(end, DIGITS) for end in ends],
    }


def marked(name: str, failed: Share) -> str:
    """Name an engine, and say so where it has failed."""
    return f"{name}: failed {failed.count:,} of {failed.total:,}" if failed.count else name


def print_lines(console: "Console", lines: Iterable[str]) -> None:
    """Print lines."""
    for line in lines:
        console.print(line)


def print_table(console: "Console", titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns that are as wide as they need to be, below an empty line."""
    from rich.text import Text

    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=False)]
    console.print()
    console.print(Text(_row(titles, widths), style="dim"))
    for row in rows:
        console.print(Text(_row(row, widths)))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False))
    return "  ".join(padded).rstrip()
