"""What was measured at every size: as tables, and held against the budgets."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from measuring import Ratio
from report import TOLERANCE, facts
from rounds import Rounds
from scale_measuring import Cell, Measurements, Rebuilt
from scale_steps import KINDS, TIMES_THE_USUAL, USUAL, Kind

_PYTHON: Final = "× `python -c pass`"


class Grid:
    """The cells of one state, by what was measured and at which size."""

    def __init__(self, measurements: Measurements, state: str) -> None:
        """Sort the cells.

        Args:
            measurements: What was measured.
            state: "warm", "appended" or "cold".
        """
        self.by_clock = measurements.rounds.by_clock
        self.cells = {
            (one.title, one.learnings): one for one in measurements.cells if one.state == state
        }
        self.sizes = sorted({size for _, size in self.cells})
        found = {title for title, _ in self.cells}
        self.kinds = [kind for kind in KINDS if kind.title in found]

    def judged(self, title: str, size: int) -> Ratio:
        """Take the cost that counts: by the clock on an idle machine, else of the processors.

        Args:
            title: What was measured.
            size: How many learnings there were.

        Returns:
            The cost.
        """
        cell = self.cells[title, size]
        return cell.wall if self.by_clock else cell.cpu

    def is_missed(self, kind: Kind, size: int) -> bool:
        """Tell whether something costs more than its budget and the tolerance allow.

        Args:
            kind: What was measured.
            size: How many learnings there were.

        Returns:
            Whether it does, or does not do its work.
        """
        if not self.cells[kind.title, size].speaks:
            return True
        most = kind.step.budget
        if kind.grows and size > USUAL:
            most = TIMES_THE_USUAL * self.judged(kind.title, USUAL).value
        return most is not None and self.judged(kind.title, size).value > most * (1 + TOLERANCE)


def missed(measurements: Measurements) -> list[str]:
    """Name what is over its budget.

    Args:
        measurements: What was measured.

    Returns:
        What was missed at which size.
    """
    warm = Grid(measurements, "warm")
    return [
        f"{kind.title} with {size:,} learnings"
        for kind in warm.kinds
        for size in warm.sizes
        if warm.is_missed(kind, size)
    ]


def parts_of(measurements: Measurements) -> Mapping[str, str]:
    """Write the parts of the page.

    Args:
        measurements: What was measured.

    Returns:
        Markdown by the name of the part.
    """
    return {
        "warm": f"{_about(measurements.rounds)}\n\n{_warm_table(measurements)}",
        "cold": _plain_table(Grid(measurements, "cold")),
        "appended": _plain_table(Grid(measurements, "appended")),
        "rebuilt": _rebuilt_table(measurements.rebuilt),
        "memory": _memory_table(Grid(measurements, "warm"), Grid(measurements, "cold")),
    }


def _about(rounds: Rounds) -> str:
    other = "processors' time" if rounds.by_clock else "clock"
    return f"{facts(rounds)} The {other} is told in brackets."


def _warm_table(measurements: Measurements) -> str:
    grid = Grid(measurements, "warm")

    def cell(kind: Kind, size: int) -> str:
        one = grid.cells[kind.title, size]
        mark = " **missed**" if grid.is_missed(kind, size) else ""
        return f"{_both(grid, one)}{mark}"

    lines = _lines(grid, cell)
    budgets = ["budget", "---", *map(_budget, grid.kinds)]
    return "\n".join(f"{line} {budget} |" for line, budget in zip(lines, budgets, strict=True))


def _budget(kind: Kind) -> str:
    if kind.step.budget is None:
        return ""
    beyond = f"; beyond 1,000, {TIMES_THE_USUAL:g} × its own at 1,000" if kind.grows else ""
    return f"{kind.step.budget:g}{beyond}"


def _plain_table(grid: Grid) -> str:
    return "\n".join(
        _lines(grid, lambda kind, size: _both(grid, grid.cells[kind.title, size])),
    )


def _both(grid: Grid, cell: Cell) -> str:
    first, second = (cell.wall, cell.cpu) if grid.by_clock else (cell.cpu, cell.wall)
    silent = "" if cell.speaks else ", *gives up*"
    return f"{_number(first.value)} ({_number(second.value)}){silent}"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"  # noqa: PLR2004 - three digits


def _memory_table(warm: Grid, cold: Grid) -> str:
    def cell(kind: Kind, size: int) -> str:
        both = (warm.cells[kind.title, size].memory, cold.cells[kind.title, size].memory)
        return " / ".join("" if one is None else f"{one:.0f}" for one in both)

    return "\n".join(_lines(warm, cell, "MiB, warm / cold"))


def _lines(grid: Grid, cell: Callable[[Kind, int], str], what: str = _PYTHON) -> list[str]:
    sizes = " | ".join(f"{size:,}" for size in grid.sizes)
    return [
        f"| {what}, by learnings | {sizes} |",
        "|---" * (len(grid.sizes) + 1) + "|",
        *(
            f"| {kind.title} | {' | '.join(cell(kind, size) for size in grid.sizes)} |"
            for kind in grid.kinds
        ),
    ]


def _rebuilt_table(rebuilt: Sequence[Rebuilt]) -> str:
    return "\n".join(
        [
            "| learnings | by the clock | processors' time | peak memory | size of the index |",
            "|---|---|---|---|---|",
            *(
                f"| {one.learnings:,} | {one.seconds:.1f} s | {one.cpu_seconds:.1f} s |"
                f" {one.memory:.0f} MiB | {one.size:.1f} MiB |"
                for one in rebuilt
            ),
        ]
    )
