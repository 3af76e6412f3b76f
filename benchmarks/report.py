"""The results as rows, as markdown, and between the markers of a page."""

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from attrs import frozen
from large import LargeRow
from many_calls import Leftovers
from measuring import Ratio, compare, cpu, wall
from rounds import Measured, Rounds

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "dev" / "latency.md"
# By which share a budget may be passed before it counts as missed.
TOLERANCE: Final = 0.1


@frozen(kw_only=True)
class Row:
    """A line of the table.

    Attributes:
        title: What was measured.
        wall: By the clock, as a multiple of starting Python.
        cpu: The same by the time of the processors.
        budget: The most it may cost, if there is a budget.
        by_clock: Whether the clock is held against the budget, else the processors' time.
        git_calls: How many calls of git are not counted.
        git: What these cost, likewise.
    """

    title: str
    wall: Ratio
    cpu: Ratio
    budget: float | None
    by_clock: bool
    git_calls: int
    git: float

    @property
    def is_missed(self) -> bool:
        """Whether it costs more than its budget and the tolerance allow."""
        cost = self.wall.value if self.by_clock else self.cpu.value
        return self.budget is not None and cost > self.budget * (1 + TOLERANCE)


def row_of(measured: Measured, rounds: Rounds) -> Row:
    """Compare a step with starting Python.

    Args:
        measured: The step.
        rounds: The rounds that it was measured in.

    Returns:
        Its row.
    """
    return Row(
        title=measured.step.title,
        wall=compare(measured.costs, rounds.python, wall),
        cpu=compare(measured.costs, rounds.python, cpu),
        budget=measured.step.budget,
        by_clock=rounds.by_clock,
        git_calls=measured.git_calls,
        git=compare(measured.git, rounds.python, wall).value,
    )


def facts(rounds: Rounds) -> str:
    """Say what was measured with, as far as it matters on other machines.

    Args:
        rounds: What was measured.

    Returns:
        A line.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    judge = "the clock" if rounds.by_clock else "the processors' time"
    return (
        f"{python}, {cores} cores, medians of {len(rounds.python)} rounds, {today}. By the clock"
        f" starting Python took {rounds.busyness:.2f} times its processor time (1 on a machine that"
        f" has nothing else to do), so {judge} is held against the budgets."
    )


def table_of(rows: Sequence[Row], leftovers: Leftovers, about: str) -> str:
    """Write the table.

    Args:
        rows: Its lines.
        leftovers: What many calls have left behind.
        about: What it was measured with.

    Returns:
        Markdown.
    """
    lines = [
        "| what | × `python -c pass` by the clock | by the processors' time | budget |",
        "|---|---|---|---|",
        *map(_line, rows),
    ]
    with_git = [row for row in rows if row.git_calls]
    git = "; ".join(f"{_counted(row)} {row.git:.2f}" for row in with_git)
    return "\n".join(
        [
            about,
            "",
            *lines,
            "",
            f"Not counted, by themselves: {git}.",
            "",
            sentence_about(leftovers),
        ]
    )


def _line(row: Row) -> str:
    budget = "" if row.budget is None else f"{row.budget:g}{' **missed**' if row.is_missed else ''}"
    return f"| {row.title} | {_with_interval(row.wall)} | {_with_interval(row.cpu)} | {budget} |"


def _with_interval(ratio: Ratio) -> str:
    return f"{ratio.value:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


def _counted(row: Row) -> str:
    what = row.title.replace(", git not counted", "")
    return f"{row.git_calls} {'call' if row.git_calls == 1 else 'calls'} of git in {what}:"


def sentence_about(leftovers: Leftovers) -> str:
    """Say what many calls have left behind.

    Args:
        leftovers: What that was.

    Returns:
        A sentence.
    """
    return (
        f"{leftovers.calls:,} further hook calls of one session: {leftovers.processes} processes"
        f" and {leftovers.files} files left behind, {leftovers.failures} failures; grove's files"
        f" have grown by {leftovers.bytes_added:,} bytes in all; the peak memory of the last calls"
        f" is {leftovers.memory:.2f} times that of the first."
    )


def table_of_large(rows: Sequence[LargeRow], about: str) -> str:
    """Write the table of the large project.

    Args:
        rows: Its lines.
        about: What it was measured with.

    Returns:
        Markdown.
    """
    lines = [
        "| what | × its own cost with 1,000 learnings | budget | in time |",
        "|---|---|---|---|",
    ]
    for row in rows:
        budget = f"{row.budget:g}{' **missed**' if row.is_missed(TOLERANCE) else ''}"
        answers = "yes" if row.answers else "no: it gives up and shows nothing"
        lines.append(f"| {row.title} | {_with_interval(row.ratio)} | {budget} | {answers} |")
    return "\n".join([about, "", *lines])


def write_between_markers(name: str, text: str, target: Path = PAGE) -> None:
    """Replace a part of a page.

    Args:
        name: Which part.
        text: What it is to be.
        target: The page; the one about latency by default.
    """
    begin, end = f"<!-- measured: {name}: begin -->", f"<!-- measured: {name}: end -->"
    page = target.read_text(encoding="utf-8")
    head, _, rest = page.partition(begin)
    _, found, tail = rest.partition(end)
    if not found:
        sys.exit(f"{target.name} has no part {name!r}")
    target.write_text(f"{head}{begin}\n\n{text}\n\n{end}{tail}", encoding="utf-8")
