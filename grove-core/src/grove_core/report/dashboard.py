"""The dashboard of ``grove stats``: sections from top to bottom, each left out when it is empty."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from grove_core.model.statistics import Insight, Statistics
from grove_core.report import sections
from grove_core.report.layout import Frame
from grove_core.report.signs import in_ascii
from grove_core.report.words import day_of, period_of

_PIPED_WIDTH: Final = 80
_WIDEST: Final = 120


def print_dashboard(
    statistics: Statistics, insights: Sequence[Insight], title: str, console: Console
) -> None:
    """Print the numbers for a person."""
    width = min(console.width, _WIDEST) if console.is_terminal else _PIPED_WIDTH
    frame = Frame(width=width, is_terminal=console.is_terminal)
    with console.capture() as capture:
        _print_all(statistics, insights, title, frame, console)
    lines = capture.get().splitlines()
    text = "\n".join(line if frame.is_terminal else line.rstrip() for line in lines)
    if not console.encoding.lower().startswith("utf"):
        text = in_ascii(text)
    console.file.write(f"{text}\n")


def is_empty(statistics: Statistics) -> bool:
    """Return whether there is nothing to show."""
    return not statistics.learnings and not statistics.log.events


def _print_all(
    statistics: Statistics,
    insights: Sequence[Insight],
    title: str,
    frame: Frame,
    console: Console,
) -> None:
    if is_empty(statistics):
        for line in _nothing_yet(statistics):
            console.print(line, soft_wrap=False, width=frame.width)
    else:
        heading = Text.assemble((title, "bold"), (f"  {period_of(statistics)}", "dim"))
        console.print(heading, soft_wrap=False, width=frame.width)
    for section in sections.all_of(statistics, insights, frame):
        if section.title:
            console.print()
            _print_title(section.title, frame, console)
        for part in section.parts:
            console.print(part, soft_wrap=False, width=frame.width)


def _print_title(title: str, frame: Frame, console: Console) -> None:
    if frame.is_terminal:
        rule = Rule(Text(title, style="bold green"), align="left", style="dim")
        console.print(rule, soft_wrap=False, width=frame.width)
    else:
        console.print(title)


def _nothing_yet(statistics: Statistics) -> Sequence[str]:
    if statistics.since is not None:
        return (
            f"Nothing has happened since {day_of(statistics.since)}.",
            "Without --since, grove stats counts everything.",
        )
    return (
        "No numbers yet: they come with the first learning that is written or shown.",
        "When a ticket closes, grove asks what it taught; grove status shows the gate.",
    )
