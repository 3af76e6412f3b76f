"""Charts of the page, drawn by pygal."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from xml.etree.ElementTree import Element, fromstring

import pygal  # type: ignore[import-untyped]
from pygal.style import Style  # type: ignore[import-untyped]

from grove_core.report.markup import element
from grove_core.report.words import percent
from grove_core.text import shorten

_WIDTH: Final = 440
_HEIGHT: Final = 240
_LABEL_SIZE: Final = 13
_BAR_HEIGHT: Final = 27
_AXIS_HEIGHT: Final = 48
_SPARK_WIDTH: Final = 120
_SPARK_HEIGHT: Final = 28
_MOST_WEEK_LABELS: Final = 6
_MOST_STEPS: Final = 8
_LONGEST_LABEL: Final = 22
_RATES: Final = (0, 0.25, 0.5, 0.75, 1)
_PREFIX: Final = "{http://www.w3.org/2000/svg}"
# The page's style sheet has the same sizes; pygal reckons with them.
_STYLE: Final = Style(
    font_family="sans-serif",
    label_font_size=_LABEL_SIZE,
    major_label_font_size=_LABEL_SIZE,
    legend_font_size=_LABEL_SIZE,
    value_font_size=_LABEL_SIZE,
)

Values = Sequence[float | None]


def rate_lines(weeks: Sequence[str], series: Mapping[str, Values], title: str) -> Element:
    """Draw rates over weeks."""
    chart = pygal.Line(
        **_common(),
        range=(0, 1),
        value_formatter=_percent,
        dots_size=4,
        allow_interruptions=True,
        show_legend=False,
    )
    chart.y_labels = _RATES
    return _over_weeks(chart, weeks, series, title)


def count_bars(weeks: Sequence[str], series: Mapping[str, Values], title: str) -> Element:
    """Draw counts over weeks."""
    chart = pygal.Bar(
        **_common(),
        value_formatter=_whole,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(series),
        max_scale=_MOST_STEPS,
    )
    return _over_weeks(chart, weeks, series, title)


def rate_bars(names: Sequence[str], rates: Values, title: str) -> Element:
    """Draw a rate for each of several things."""
    chart = _lying(len(names), range=(0, 1), value_formatter=_percent)
    chart.y_labels = _RATES
    return _of_things(chart, names, {"": rates}, title)


def stacked_bars(names: Sequence[str], series: Mapping[str, Values], title: str) -> Element:
    """Draw counts of several things, their parts one after the other."""
    chart = _lying(len(names), value_formatter=_whole, max_scale=_MOST_STEPS)
    return _of_things(chart, names, series, title)


def sparkline(rates: Values) -> Element:
    """Draw a line without axes."""
    chart = pygal.Line(js=(), style=_STYLE, range=(0, 1), dots_size=1.5)
    chart.add("", rates)
    text = chart.render_sparkline(
        width=_SPARK_WIDTH, height=_SPARK_HEIGHT, show_dots=True, is_unicode=True
    )
    drawing = _cleaned(text)
    drawing.set("class", "spark")
    drawing.set("aria-hidden", "true")
    return drawing


def _common() -> dict[str, Any]:
    return {
        "js": (),
        "style": _STYLE,
        "width": _WIDTH,
        "height": _HEIGHT,
        "margin": 6,
        "margin_right": 22,
        "truncate_label": -1,
        "truncate_legend": -1,
        "legend_box_size": 12,
        "show_minor_x_labels": False,
    }


def _lying(count: int, **settings: Any) -> Any:  # noqa: ANN401 - pygal has no types
    height = _AXIS_HEIGHT + _BAR_HEIGHT * max(count, 2)
    common = {**_common(), "height": height, "show_minor_x_labels": True}
    return pygal.HorizontalStackedBar(**common, legend_at_bottom=True, **settings)


def _over_weeks(
    chart: Any,  # noqa: ANN401 - pygal has no types
    weeks: Sequence[str],
    series: Mapping[str, Values],
    title: str,
) -> Element:
    chart.x_labels = weeks
    step = -(-len(weeks) // _MOST_WEEK_LABELS)
    chart.x_labels_major = weeks[::step]
    for name, values in series.items():
        chart.add(name, values)
    return _drawn(chart, title)


def _of_things(
    chart: Any,  # noqa: ANN401 - pygal has no types
    names: Sequence[str],
    series: Mapping[str, Values],
    title: str,
) -> Element:
    # pygal draws upwards.
    chart.x_labels = [shorten(name, _LONGEST_LABEL) for name in reversed(names)]
    for name, values in series.items():
        chart.add(name, values[::-1])
    chart.show_legend = len(series) > 1
    return _drawn(chart, title)


def _drawn(chart: Any, title: str) -> Element:  # noqa: ANN401 - pygal has no types
    drawing = _cleaned(chart.render(is_unicode=True))
    drawing.set("class", "chart")
    drawing.set("role", "img")
    drawing.set("aria-label", title)
    return drawing


def _cleaned(text: str) -> Element:
    """Keep of a drawing what the page needs."""
    drawing: Element = fromstring(text)  # noqa: S314 - pygal wrote it just now
    drawing.attrib.pop("id", None)
    for part in list(drawing.iter()):
        part.tag = part.tag.removeprefix(_PREFIX)
        part.attrib.pop("id", None)
        _add_title(part)
        for child in list(part):
            if _is_dropped(child):
                part.remove(child)
    return drawing


def _add_title(group: Element) -> None:
    """Turn what pygal's script would show into a title."""
    said = {child.get("class", ""): child.text or "" for child in group if "desc" in child.tag}
    if "value" in said:
        label = said.get("x_label", "")
        group.insert(0, element("title", f"{label}: {said['value']}" if label else said["value"]))


def _is_dropped(child: Element) -> bool:
    tag = child.tag.removeprefix(_PREFIX)
    return (
        tag in {"defs", "desc"}
        or "tooltip-overlay" in child.get("class", "")
        or (tag == "title" and child.tag != tag)
    )


def _percent(rate: float) -> str:
    return percent(rate)


def _whole(number: float) -> str:
    """Write a count; an axis has no label between two counts."""
    return f"{number:,.0f}" if number == int(number) else ""
