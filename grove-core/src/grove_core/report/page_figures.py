"""Charts of the page with their captions, each with its numbers as a table."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from xml.etree.ElementTree import Element

from grove_core.report import charts
from grove_core.report.markup import element
from grove_core.report.numbers import Numbers
from grove_core.report.page_tables import Cell, table_of
from grove_core.report.words import by_size

MOST_WEEKS: Final = 26
"""The charts show half a year; the tables below them everything."""
_FEWEST_BARS: Final = 2
_OF_WEEKS: Final = {"reflections": "Reflections", "accepted": "Accepted", "skips": "Skips"}


def figures_of(numbers: Numbers) -> list[Element]:
    """Make the charts."""
    found = [
        figure
        for make in (_hits_by_week, _work_by_week, _hits_by_category, _by_status, _funnel, _cycles)
        for figure in make(numbers)
    ]
    if not found:
        return []
    return [
        element(
            "section",
            element("h2", "Charts", id="charts"),
            element("div", *found, class_="figures"),
            aria_labelledby="charts",
        )
    ]


def _hits_by_week(numbers: Numbers) -> Iterator[Element]:
    weeks = numbers.at("weeks")
    if not any(one["hits"]["total"] for one in weeks):
        return
    rows = [
        [
            element("span", weeks[index]["start"]),
            numbers.share("weeks", index, "hits"),
            _rate(numbers, "weeks", index, "hits"),
        ]
        for index in numbers.indexes("weeks")
    ]
    yield _figure(
        "Used when shown, week by week",
        "The share of shown learnings that were used.",
        charts.rate_lines(
            *_recent(weeks, {"Used": lambda one: one["hits"]["rate"]}),
            "Line chart: used of shown learnings by week; the numbers follow as a table",
        ),
        table_of("Used of shown, by week", ["Week of", "Used of shown", "Rate"], rows),
    )


def _work_by_week(numbers: Numbers) -> Iterator[Element]:
    weeks = numbers.at("weeks")
    if not any(one[name] for one in weeks for name in _OF_WEEKS):
        return
    rows: list[Sequence[Cell]] = [
        [
            element("span", weeks[index]["start"]),
            *([numbers.count("weeks", index, name)] for name in _OF_WEEKS),
        ]
        for index in numbers.indexes("weeks")
    ]
    yield _figure(
        "Work, week by week",
        "Reflections, the candidates accepted from them, and skips.",
        charts.count_bars(
            *_recent(weeks, {label: _getter(name) for name, label in _OF_WEEKS.items()}),
            "Bar chart: reflections, accepted candidates and skips by week; the numbers follow as a"
            " table",
        ),
        table_of("Work by week", ["Week of", *_OF_WEEKS.values()], rows),
    )


def _getter(name: str) -> Callable[[Any], float]:
    return lambda one: float(one[name])


def _recent(
    weeks: Sequence[Any], series: dict[str, Callable[[Any], float | None]]
) -> tuple[Sequence[str], dict[str, charts.Values]]:
    shown = weeks[-MOST_WEEKS:]
    values: dict[str, charts.Values] = {
        name: [value(one) for one in shown] for name, value in series.items()
    }
    return [one["start"][5:] for one in shown], values


def _hits_by_category(numbers: Numbers) -> Iterator[Element]:
    shown = [one for one in numbers.at("categories") if one["hits"]["total"]]
    if len(shown) < _FEWEST_BARS:
        return
    shown.sort(key=lambda one: -one["hits"]["rate"])
    yield _figure(
        "Used when shown, by category",
        "In brackets: how often learnings of the category were shown.",
        charts.rate_bars(
            [f"{one['name']} ({one['hits']['total']})" for one in shown],
            [one["hits"]["rate"] for one in shown],
            "Bar chart: used of shown learnings by category; the table of categories has the"
            " numbers",
        ),
    )


def _by_status(numbers: Numbers) -> Iterator[Element]:
    categories = [one for one in numbers.at("categories") if one["learnings"]]
    if not categories:
        return
    categories.sort(key=lambda one: -one["learnings"])
    learnings = numbers.at("learnings")
    names = [name for name in learnings if name not in {"total", "bytes"} and learnings[name]]
    rows: list[Sequence[Cell]] = [
        [element("span", name), [numbers.count("learnings", name)]] for name in names
    ]
    yield _figure(
        "What is stored",
        "Learnings by category; those no longer active are archived or superseded.",
        charts.stacked_bars(
            [one["name"] for one in categories],
            {
                "active": [one["active"] for one in categories],
                "no longer active": [one["learnings"] - one["active"] for one in categories],
            },
            "Bar chart: learnings by category and whether they are active; the numbers follow as a"
            " table",
        ),
        table_of("Learnings by status", ["Status", "Learnings"], rows),
        kind="stored",
    )


def _funnel(numbers: Numbers) -> Iterator[Element]:
    stages = by_size(numbers.at("write_gate", "rejected_by_stage"))
    accepted = numbers.at("write_gate", "accepted")
    if not stages and not accepted:
        return
    rows: list[Sequence[Cell]] = [
        [element("span", "accepted"), [numbers.count("write_gate", "accepted")]]
    ]
    for name, _ in stages:
        refused = [numbers.count("write_gate", "rejected_by_stage", name)]
        rows.append([element("span", f"refused by {name}"), refused])
    counts = [count for _, count in stages]
    yield _figure(
        "Write gate",
        "What became of the candidates.",
        charts.stacked_bars(
            ["accepted", *(name for name, _ in stages)],
            {"accepted": [accepted, *(0 for _ in counts)], "refused": [0, *counts]},
            "Bar chart: accepted candidates, and refused ones by stage; the numbers follow as a"
            " table",
        ),
        table_of("What became of the candidates", ["Outcome", "Candidates"], rows),
        kind="funnel",
    )


def _cycles(numbers: Numbers) -> Iterator[Element]:
    outcomes = by_size(numbers.at("gate", "by_outcome"))
    if not outcomes:
        return
    names = [name.replace("_", " ") for name, _ in outcomes]
    rows: list[Sequence[Cell]] = [
        [element("span", name.replace("_", " ")), [numbers.count("gate", "by_outcome", name)]]
        for name, _ in outcomes
    ]
    yield _figure(
        "Gate",
        "How the gate's cycles ended.",
        charts.stacked_bars(
            names,
            {"cycles": [count for _, count in outcomes]},
            "Bar chart: gate cycles by outcome; the numbers follow as a table",
        ),
        table_of("Gate cycles by outcome", ["Outcome", "Cycles"], rows),
    )


def _rate(numbers: Numbers, *path: str | int) -> Cell:
    if numbers.at(*path, "rate") is None:
        return [""]
    return [numbers.rate(*path, "rate")]


def _figure(
    title: str,
    caption: str,
    drawing: Element,
    table: Element | None = None,
    *,
    kind: str = "plain",
) -> Element:
    parts = [element("h3", title), element("figcaption", caption), drawing]
    if table is not None:
        parts.append(element("details", element("summary", "Numbers"), table))
    return element("figure", *parts, class_=kind)
