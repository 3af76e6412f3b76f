"""Pieces of the dashboard: a frame, sections, tables without lines that fit a width."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP: Final = 2
_NARROW: Final = 76
_WIDE: Final = 100
_LONGEST_ID: Final = 20


class Frame(NamedTuple):
    """What the dashboard is printed into."""

    width: int
    is_terminal: bool

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for sparklines."""
        return self.width < _NARROW

    @property
    def is_wide(self) -> bool:
        """Whether there is room for columns that are merely good to know."""
        return self.width >= _WIDE


class Section(NamedTuple):
    """A part of the dashboard."""

    title: str
    parts: Sequence[RenderableType]


def grid(*, header: bool = False) -> Table:
    """Make a table without lines."""
    return Table(
        box=None,
        show_header=header,
        header_style="dim",
        padding=(0, GAP, 0, 0),
        pad_edge=False,
        expand=True,
    )


def add_column(table: Table, title: str = "", *, right: bool = False, fills: bool = False) -> None:
    """Add a column of single lines."""
    table.add_column(
        title,
        justify="right" if right else "left",
        no_wrap=True,
        overflow="ellipsis",
        ratio=1 if fills else None,
    )


def add_id_column(table: Table, title: str = "") -> None:
    """Add a column of ids, which are never cut: people copy them."""
    table.add_column(title, overflow="fold", max_width=_LONGEST_ID, style="cyan")


def paragraph(text: str | Text, *, indent: int = 0, style: str = "") -> RenderableType:
    """Make a paragraph that wraps."""
    words = Text(text, style=style) if isinstance(text, str) else text
    return Padding(words, (0, 0, 0, indent), expand=False)


def more_of(total: int, shown: int, where: str) -> Sequence[RenderableType]:
    """Return how many more there are, and where."""
    left = total - shown
    return [Text(f"… and {left:,} more: {where}", style="dim")] if left > 0 else []
