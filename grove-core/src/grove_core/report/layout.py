"""Pieces of the dashboard: frame, sections, tables that fit a width, and symbols for terminals."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grove_core.model.usage import Share
from grove_core.report.text import Trend

GAP: Final = 2
_NARROW: Final = 76
_WIDE: Final = 100
_LONGEST_ID: Final = 20
WEEKS: Final = 12
"""How many weeks a sparkline shows."""
ARROWS: Final = {Trend.UP: "▲", Trend.DOWN: "▼", Trend.STEADY: "▬", Trend.UNKNOWN: ""}
BAR: Final = "■"
LEADS_TO: Final = "→"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_NOTHING: Final = "·"
# One sign for one sign, so that columns stay where they are.
_ASCII: Final = str.maketrans("▁▂▃▄▅▆▇█·▲▼▬■→–…─•", "12345678.^v=#>-~-*")


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


def in_ascii(text: str) -> str:
    """Write grove's own signs with ASCII, for an encoding that has no others."""
    return text.translate(_ASCII)


def spark_of_counts(counts: Sequence[int]) -> str:
    """Draw counts of weeks, the highest of them as high as can be."""
    last = counts[-WEEKS:]
    highest = max(last, default=0)
    signs = [_level(one / highest) if one else _NOTHING for one in last]
    return "".join(signs).rjust(WEEKS, _NOTHING)


def spark_of_rates(shares: Sequence[Share]) -> str:
    """Draw rates of weeks from 0 to 100 %, so that lines compare with each other."""
    signs = [_NOTHING if one.rate is None else _level(one.rate) for one in shares[-WEEKS:]]
    return "".join(signs).rjust(WEEKS, _NOTHING)


def bar_of(count: int, highest: int, width: int) -> str:
    """Draw a count as a bar."""
    return BAR * max(1, round(width * count / highest))


def _level(height: float) -> str:
    return _LEVELS[round(height * (len(_LEVELS) - 1))]
