"""Bar and line charts as plain shapes; the page's template draws them as SVG."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from textwrap import shorten
from typing import Final

from attrs import field, frozen

from grove_core.report.text import percent

WIDTH: Final = 640
_HEIGHT: Final = 240
_TOP: Final = 10
_LEFT: Final = 44
_RIGHT: Final = 26
_BELOW: Final = 28
_NAMES: Final = 170
_LONGEST_NAME: Final = 22
_ROW: Final = 34
_MOST_LABELS: Final = 6
_STEPS: Final = 4

Values = Sequence[float | None]


@frozen
class Mark:
    """A bar, or where ``height`` is 0 a dot, and what it stands for; lengths in view box units."""

    x: float
    y: float
    width: float
    height: float
    colour: int
    title: str


@frozen
class Label:
    """A text beside an axis; ``anchor`` is that of SVG."""

    x: float
    y: float
    anchor: str
    text: str


@frozen
class Chart:
    """The shapes of a chart, in units of a view box that is ``WIDTH`` wide."""

    title: str
    height: float
    grid: Sequence[tuple[float, float, float, float]]
    labels: Sequence[Label]
    marks: Sequence[Mark]
    lines: Sequence[str] = ()
    legend: Sequence[str] = field(default=())


def rate_line(title: str, weeks: Sequence[str], rates: Values) -> Chart:
    """Draw rates (0 to 1) over weeks; weeks without one interrupt the line."""
    grid, labels = _upright_axes(weeks, 1, percent)
    places = [
        (_column(index, len(weeks)), _level(rate or 0, 1)) for index, rate in enumerate(rates)
    ]
    dots = [
        Mark(x, y, 0, 0, 0, f"{week}: {percent(rate)}")
        for (x, y), week, rate in zip(places, weeks, rates, strict=True)
        if rate is not None
    ]
    return Chart(title, _HEIGHT, grid, labels, dots, _segments(places, rates))


def week_bars(title: str, weeks: Sequence[str], series: Mapping[str, Sequence[int]]) -> Chart:
    """Draw counts of several things over weeks, side by side."""
    highest = _ceiling(max((one for counts in series.values() for one in counts), default=0))
    grid, labels = _upright_axes(weeks, highest, _whole)
    room = (WIDTH - _LEFT - _RIGHT) / max(len(weeks), 1)
    width = 0.8 * room / max(len(series), 1)
    bars = []
    for colour, counts in enumerate(series.values()):
        for index, count in enumerate(counts):
            if count:
                x = _LEFT + index * room + 0.1 * room + colour * width
                y = _level(count, highest)
                bottom = _HEIGHT - _BELOW - y
                bars.append(Mark(x, y, width, bottom, colour, f"{weeks[index]}: {count:,}"))
    return Chart(title, _HEIGHT, grid, labels, bars, legend=list(series))


def lying_bars(
    title: str, names: Sequence[str], series: Mapping[str, Sequence[float]], *, rates: bool = False
) -> Chart:
    """Draw a bar for each name, the parts of several series one after the other."""
    totals = [sum(parts) for parts in zip(*series.values(), strict=True)]
    highest = 1 if rates else _ceiling(max(totals, default=0))
    room = WIDTH - _NAMES - _RIGHT
    height = _TOP + _ROW * len(names) + _BELOW
    say = percent if rates else _whole
    marks, labels = [], []
    for row, name in enumerate(names):
        y, x = _TOP + row * _ROW, float(_NAMES)
        short = shorten(name, _LONGEST_NAME, placeholder="…") or name[:_LONGEST_NAME]
        labels.append(Label(_NAMES - 8, y + _ROW / 2 + 4, "end", short))
        for colour, values in enumerate(series.values()):
            if values[row]:
                width = room * values[row] / highest
                bar = Mark(x, y + 5, width, _ROW - 10, colour, f"{name}: {say(values[row])}")
                marks.append(bar)
                x += width
    steps = [highest * step / _STEPS for step in range(_STEPS + 1)]
    at = [_NAMES + room * step / highest for step in steps]
    labels += [
        Label(x, height - 8, "middle", text)
        for x, step in zip(at, steps, strict=True)
        if (text := say(step))
    ]
    grid = [(x, _TOP, x, height - _BELOW) for x in at]
    return Chart(title, height, grid, labels, marks, legend=list(series) if len(series) > 1 else ())


def sparkline(rates: Values) -> Sequence[str]:
    """Draw rates as lines without axes, 120 wide and 28 high."""
    step = 112 / max(len(rates) - 1, 1)
    places = [(4 + index * step, 24 - 20 * (rate or 0)) for index, rate in enumerate(rates)]
    return _segments(places, rates)


def _upright_axes(
    weeks: Sequence[str], highest: float, say: Callable[[float], str]
) -> tuple[list[tuple[float, float, float, float]], list[Label]]:
    heights = [highest * step / _STEPS for step in range(_STEPS + 1)]
    left, right = float(_LEFT), float(WIDTH - _RIGHT)
    grid = [(left, _level(one, highest), right, _level(one, highest)) for one in heights]
    labels = [Label(_LEFT - 6, _level(one, highest) + 4, "end", say(one)) for one in heights]
    every = max(1, ceil(len(weeks) / _MOST_LABELS))
    labels += [
        Label(_column(index, len(weeks)), _HEIGHT - 8, "middle", weeks[index])
        for index in range(0, len(weeks), every)
    ]
    return grid, labels


def _segments(places: Sequence[tuple[float, float]], rates: Values) -> list[str]:
    segments: list[list[str]] = [[]]
    for (x, y), rate in zip(places, rates, strict=True):
        if rate is None:
            segments.append([])
        else:
            segments[-1].append(f"{x:.1f},{y:.1f}")
    # A line of one point would not be seen.
    return [" ".join([*one, one[0]] if len(one) == 1 else one) for one in segments if one]


def _column(index: int, count: int) -> float:
    return _LEFT + (index + 0.5) * (WIDTH - _LEFT - _RIGHT) / max(count, 1)


def _level(value: float, highest: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BELOW) * (1 - value / highest)


def _ceiling(highest: float) -> int:
    """Round up, so that the steps of the axis are whole numbers."""
    size: int = 10 ** max(len(str(ceil(highest))) - 2, 0) * _STEPS
    return max(_STEPS, ceil(highest / size) * size)


def _whole(number: float) -> str:
    return f"{number:,.0f}"
