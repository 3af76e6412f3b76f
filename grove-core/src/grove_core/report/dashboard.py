"""The dashboard of ``grove stats``: sections from top to bottom."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from grove_core.model.statistics import Insight, Statistics
from grove_core.quotation import defuse, quote, shown_name
from grove_core.report.sections import Section, sections
from grove_core.report.text import day_of, period_of

_PIPED_WIDTH: Final = 80
_WIDEST: Final = 120
_WITHOUT_SINCE: Final = "Without --since, grove stats counts everything."
_NO_NUMBERS: Final = """\
No numbers yet: they come with the first learning that is written or shown.
When a ticket closes, grove asks what it taught; grove status shows the gate."""


def print_dashboard(
    statistics: Statistics, insights: Sequence[Insight], title: str, console: Console
) -> None:
    """Print the numbers for a person."""
    if statistics.learnings or statistics.log.events:
        head = Text.assemble((title, "bold"), (f"  {period_of(statistics)}", "dim"))
    elif statistics.since is not None:
        since = day_of(statistics.since)
        head = Text(f"Nothing has happened since {since}.\n{_WITHOUT_SINCE}")
    else:
        head = Text(_NO_NUMBERS)
    print_sections(sections(statistics, insights), console, head)


def print_sections(
    listed: Sequence[Section], console: Console, head: RenderableType | None = None
) -> None:
    """Print sections one after the other."""
    width = min(console.width, _WIDEST) if console.is_terminal else _PIPED_WIDTH
    with console.capture() as capture:
        for part in _all_parts(listed, head, is_terminal=console.is_terminal):
            console.print(part, soft_wrap=False, width=width)
    lines = capture.get().splitlines()
    text = "\n".join(line if console.is_terminal else line.rstrip() for line in lines)
    console.file.write(f"{text}\n")


def _all_parts(
    listed: Sequence[Section], head: RenderableType | None, *, is_terminal: bool
) -> Iterator[RenderableType]:
    if head is not None:
        yield head
    for section in listed:
        if section.title or section.notes:
            yield ""
        if section.title:
            rule = Rule(Text(section.title, style="bold green"), align="left", style="dim")
            yield rule if is_terminal else section.title
        yield from _parts(section, is_terminal=is_terminal)


def _parts(section: Section, *, is_terminal: bool) -> Iterator[RenderableType]:
    yield from map(Text, section.notes)
    if section.rows:
        yield _table(section)
    for one in section.items:
        # Of a learning it is what others wrote.
        is_own = is_terminal or not one.learning_id
        lines = [one.text] if is_own else wrap(defuse(one.text), _PIPED_WIDTH - len("> "))
        yield from (Text(line if is_own else quote(line)) for line in lines)
        # Ids are never cut.
        name = (f"{shown_name(one.learning_id)}  " if one.learning_id else "", "cyan")
        yield Padding(Text.assemble(name, one.about), (0, 0, 0, 2), expand=False)
    if section.more:
        yield Text(section.more, style="dim")


def _table(section: Section) -> Table:
    """Make a table without lines, of which each row is a line."""
    columns = [
        Column(
            title.removeprefix(">"),
            justify="right" if title.startswith(">") else "left",
            no_wrap=True,
            ratio=1 if number == 1 and not section.title else None,
        )
        for number, title in enumerate(section.columns)
    ]
    table = Table(
        *columns,
        box=None,
        show_header=any(section.columns),
        header_style="dim",
        padding=(0, 2, 0, 0),
        pad_edge=False,
        expand=not section.title,
    )
    for row in section.rows:
        # What others have written may look like markup.
        table.add_row(*map(Text, row))
    return table
