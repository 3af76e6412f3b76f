"""The top of the page: tiles with the most telling numbers, and the insights."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from grove_core.report.markup import element
from grove_core.report.numbers import Numbers
from grove_core.report.page_tables import section
from grove_core.report.signs import LEADS_TO
from grove_core.report.words import by_size, evidence_of, summary_of

_PRIORITIES: Final = {1: "look at this first", 2: "worth a look", 3: "good to know"}


def summary_of_page(numbers: Numbers) -> Iterator[Element]:
    """Make the tiles at the top and the insights."""
    tiles = [
        _tile("Learnings", [numbers.count("learnings", "total")], _statuses(numbers)),
        _share_tile(numbers, "Used when shown", "showings", "usage", "hits"),
        _share_tile(numbers, "Write gate", "candidates accepted", "write_gate", "pass_rate"),
        _share_tile(numbers, "Gate precision", "stops led to a learning", "gate", "precision"),
        _skips_tile(numbers),
    ]
    yield element(
        "section",
        element("h2", "At a glance", id="glance", class_="hidden"),
        element("div", *(one for one in tiles if one is not None), class_="tiles"),
        aria_labelledby="glance",
    )
    yield from _insights(numbers)


def _tile(label: str, value: Sequence[Element | str], below: Sequence[Element | str]) -> Element:
    return element(
        "div",
        element("p", label, class_="label"),
        element("p", *value, class_="value"),
        element("p", *below, class_="below"),
        class_="tile",
    )


def _share_tile(numbers: Numbers, label: str, noun: str, *path: str) -> Element | None:
    if not numbers.at(*path, "total"):
        return None
    between = element("span", numbers.interval(*path), class_="interval")
    below = [*numbers.share(*path), f" {noun}", element("br"), "95 % interval ", between]
    return _tile(label, [numbers.rate(*path, "rate")], below)


def _skips_tile(numbers: Numbers) -> Element | None:
    if not numbers.at("skips", "total"):
        return None
    below = _listed(numbers, "skips", "by_decider")
    return _tile("Skips", [numbers.count("skips", "total")], below)


def _statuses(numbers: Numbers) -> Sequence[Element | str]:
    shown = [name for name in numbers.at("learnings") if name not in {"total", "bytes"}]
    return _joined(
        [numbers.count("learnings", name), f" {name}"]
        for name in shown
        if numbers.at("learnings", name)
    )


def _listed(numbers: Numbers, *path: str) -> Sequence[Element | str]:
    """List counts by name, the highest first."""
    return _joined(
        [numbers.count(*path, name), f" {name.replace('_', ' ')}"]
        for name, _ in by_size(numbers.at(*path))
    )


def _joined(parts: Iterable[list[Element | str]]) -> Sequence[Element | str]:
    joined: list[Element | str] = []
    for part in parts:
        joined += [", ", *part] if joined else part
    return joined


def _insights(numbers: Numbers) -> Iterator[Element]:
    found = numbers.at("insights")
    if not found:
        return
    items = [
        element(
            "li",
            element("p", _PRIORITIES.get(one["priority"], _PRIORITIES[2]), class_="label"),
            element("p", element("strong", *_prose(one["message"]), dir="auto")),
            element("p", evidence_of(one["evidence"]), class_="evidence"),
            element("p", f"{LEADS_TO} ", *_prose(one["suggestion"])),
            class_=f"insight priority-{one['priority']}",
        )
        for one in found
    ]
    yield section("Insights", element("ul", *items, class_="insights"))


def _prose(text: str) -> Iterator[Element | str]:
    """Set what stands between backticks as code."""
    for number, part in enumerate(summary_of(text).split("`")):
        yield element("code", part) if number % 2 else part
