"""The costs at every size, drawn: a picture of the warm state, and one of the cold."""

from pathlib import Path
from typing import Final
from xml.etree.ElementTree import fromstring, indent, register_namespace, tostring

import pygal  # type: ignore[import-untyped]
from pygal.style import Style  # type: ignore[import-untyped]
from scale_measuring import Measurements
from scale_report import Grid

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_GREY: Final = "#808488"
_FAINT: Final = "rgba(128, 132, 136, 0.4)"
_SIZE: Final = 15
# Each can be told from the others, on white as on black, with any colour vision.
_COLOURS: Final = (
    "#3d85d8", "#e07b00", "#1fa37a", "#d0568f", "#8f7ae6", "#a08a00", "#e0503c", "#2a9fb8",
)  # fmt: skip
_STYLE: Final = Style(
    background="transparent",
    plot_background="transparent",
    foreground=_GREY,
    foreground_strong=_GREY,
    foreground_subtle=_GREY,
    guide_stroke_color=_FAINT,
    major_guide_stroke_color=_FAINT,
    colors=_COLOURS,
    stroke_width="2.5",
    font_family="sans-serif",
    label_font_size=_SIZE,
    major_label_font_size=_SIZE,
    legend_font_size=_SIZE,
    title_font_size=_SIZE + 2,
    opacity="1",
)
_TICKS: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


def draw(measurements: Measurements, folder: Path) -> None:
    """Draw both pictures, with the same scale.

    Args:
        measurements: What was measured.
        folder: Where to write ``scale-warm.svg`` and ``scale-cold.svg``.
    """
    grids = {state: Grid(measurements, state) for state in ("warm", "cold")}
    highest = max(
        grid.judged(title, size).value for grid in grids.values() for title, size in grid.cells
    )
    ticks = [tick for tick in _TICKS if tick <= highest * _TICKS[1]]
    for state, grid in grids.items():
        text = _drawing(grid, state, ticks)
        (folder / f"scale-{state}.svg").write_text(text, encoding="utf-8")


def _drawing(grid: Grid, state: str, ticks: list[int]) -> str:
    chart = pygal.Line(
        style=_STYLE,
        js=(),
        width=620,
        height=560,
        logarithmic=True,
        range=(0.9, ticks[-1]),
        title=f"{state}: times the cost of starting Python, by learnings",
        dots_size=4,
        legend_at_bottom=True,
        legend_at_bottom_columns=2,
        truncate_legend=-1,
        legend_box_size=14,
    )
    chart.x_labels = [f"{size:,}" for size in grid.sizes]
    chart.y_labels = [{"value": tick, "label": f"{tick:,}"} for tick in ticks]
    for kind in grid.kinds:
        values = [grid.judged(kind.title, size).value for size in grid.sizes]
        name, _, _ = kind.title.replace("`", "").partition(",")
        chart.add(name, values)
    return _cleaned(chart.render(is_unicode=True))


def _cleaned(text: str) -> str:
    """Take out what changes from run to run though nothing else does, and what no picture needs."""
    register_namespace("", _NAMESPACE)
    drawing = fromstring(text)
    name = drawing.attrib["id"]
    indent(drawing, space="")
    return tostring(drawing, encoding="unicode").replace(name, "scale") + "\n"
