"""What the page says in words and tables."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from grove_core.model.statistics import CrossPollination, LogFault, Share
from grove_core.report import charts
from grove_core.report.markup import element
from grove_core.report.numbers import Numbers
from grove_core.report.page_tables import Cell, section, table_of
from grove_core.report.signs import ARROWS
from grove_core.report.words import (
    Trend,
    fault_of,
    summary_of,
    travels_of,
    trend_of,
)


def sections_of(numbers: Numbers) -> Iterator[Element]:
    """Make the sections below the charts."""
    yield from _categories(numbers)
    yield from _most_valuable(numbers)
    yield from _cross_pollination(numbers)
    yield from _going_stale(numbers)
    yield from _misses(numbers)
    yield from _log(numbers)


def _categories(numbers: Numbers) -> Iterator[Element]:
    for key, title in (("categories", "By category"), ("scopes", "By scope")):
        indexes = sorted(
            numbers.indexes(key), key=lambda index: -numbers.at(key, index, "hits", "total")
        )
        if indexes:
            titles = [
                title.removeprefix("By ").capitalize(),
                "Active",
                "Of all",
                "Used of shown",
                "Rate",
                "95 % interval",
                "12 weeks",
                "Last 30 days",
                "30 days before",
                "Trend",
            ]
            rows = [_group(numbers, key, index) for index in indexes]
            yield section(title, table_of(f"Learnings, {title.lower()}", titles, rows))


def _group(numbers: Numbers, key: str, index: int) -> list[Cell]:
    weeks = [Share(**one).rate for one in numbers.at(key, index, "weeks")]
    return [
        element("span", numbers.at(key, index, "name")),
        [numbers.count(key, index, "active")],
        [numbers.count(key, index, "learnings")],
        numbers.share(key, index, "hits"),
        _rate(numbers, key, index, "hits"),
        [numbers.interval(key, index, "hits")],
        [charts.sparkline(weeks)] if any(one is not None for one in weeks) else [""],
        numbers.share(key, index, "last_30_days"),
        numbers.share(key, index, "30_days_before"),
        [_trend(numbers, key, index)],
    ]


def _trend(numbers: Numbers, key: str, index: int) -> Element:
    recent, before = (
        Share(period["count"], period["total"])
        for period in (
            numbers.at(key, index, "last_30_days"),
            numbers.at(key, index, "30_days_before"),
        )
    )
    trend = trend_of(recent, before)
    words = "too few to tell" if trend is Trend.UNKNOWN else f"{ARROWS[trend]} {trend.value}"
    return element("span", words, class_=f"trend {trend.name.lower()}")


def _rate(numbers: Numbers, *path: str | int) -> Cell:
    return [""] if numbers.at(*path, "rate") is None else [numbers.rate(*path, "rate")]


def _learning(summary: str, learning_id: str) -> Element:
    return element(
        "span",
        element("span", summary_of(summary), class_="summary", dir="auto"),
        element("code", learning_id),
        class_="learning",
    )


def _most_valuable(numbers: Numbers) -> Iterator[Element]:
    indexes = numbers.indexes("most_valuable")
    if not indexes:
        return
    rows: list[list[Cell]] = []
    for index in indexes:
        one = numbers.at("most_valuable", index)
        rows.append(
            [
                _learning(one["summary"], one["learning_id"]),
                element("span", one["category"]),
                [numbers.count("most_valuable", index, "referenced")],
                numbers.share("most_valuable", index, "hits"),
                _rate(numbers, "most_valuable", index, "hits"),
                [numbers.count("most_valuable", index, "tickets")],
                [_day(one["last_referenced"])],
            ]
        )
    titles = ["Learning", "Category", "Used", "Used of shown", "Rate", "Tickets", "Last used"]
    yield section("Most valuable", table_of("Learnings that helped most often", titles, rows))


def _cross_pollination(numbers: Numbers) -> Iterator[Element]:
    indexes = numbers.indexes("cross_pollination", "learnings")
    if not indexes:
        return
    rows: list[list[Cell]] = []
    for index in indexes:
        one = numbers.at("cross_pollination", "learnings", index)
        edge = CrossPollination(**one)
        rows.append(
            [
                _learning(edge.summary, edge.learning_id),
                element("span", travels_of(edge)),
                [numbers.count("cross_pollination", "learnings", index, "tickets")],
            ]
        )
    said = [
        "Learnings were used ",
        *numbers.things("time", "cross_pollination", "count"),
        " for another ticket than the one they came from.",
    ]
    table = table_of("Learnings used for other tickets", ["Learning", "Way", "Tickets"], rows)
    yield section("Cross-pollination", element("p", *said), table)


def _going_stale(numbers: Numbers) -> Iterator[Element]:
    indexes = numbers.indexes("going_stale", "learnings")
    if not indexes:
        return
    rows: list[list[Cell]] = []
    for index in indexes:
        one = numbers.at("going_stale", "learnings", index)
        rows.append(
            [
                _learning(one["summary"], one["learning_id"]),
                [_day(one["last_verified"])],
                [numbers.days("going_stale", "learnings", index, "days_left")],
            ]
        )
    table = table_of("Learnings that will be archived", ["Learning", "Last seen", "Archived"], rows)
    said = element(
        "p", numbers.count("going_stale", "count"), " in all; grove list --stale names them."
    )
    yield section("Going stale", said, table)


def _misses(numbers: Numbers) -> Iterator[Element]:
    refused = numbers.at("write_gate", "retrospective_misses", "candidates")
    if refused:
        rows: list[list[Cell]] = [
            [
                _learning(one["summary"], one["learning_id"]),
                [_day(one["rejected_at"])],
                [_day(one["accepted_at"])],
            ]
            for one in refused
        ]
        said = element(
            "p",
            *numbers.things("candidate", "write_gate", "retrospective_misses", "count"),
            " refused by the write gate and yet written later by another session.",
        )
        table = table_of("Refused and written later", ["Candidate", "Refused", "Written"], rows)
        yield section("Retrospective misses", said, table)
    skipped = numbers.at("skips", "misses", "tickets")
    if skipped:
        rows = [
            [
                element("span", summary_of(one["ticket_id"]), dir="auto"),
                [_day(one["skipped_at"])],
                [_day(one["accepted_at"])],
            ]
            for one in skipped
        ]
        said = element(
            "p",
            *numbers.share("skips", "misses"),
            " skipped tickets taught something later.",
        )
        table = table_of("Skipped tickets with learnings", ["Ticket", "Skipped", "Accepted"], rows)
        yield section("Skip misses", said, table)


def _log(numbers: Numbers) -> Iterator[Element]:
    log = numbers.at("log")
    if not log["files"] and not log["faults"]:
        return
    said = [
        "Counted from ",
        *numbers.things("event", "log", "events"),
        " in ",
        *numbers.things("file", "log", "files"),
        ".",
    ]
    parts = [element("p", *said)]
    if log["faults"]:
        faults = (LogFault(**one) for one in log["faults"])
        items = (element("li", fault_of(one), class_="fault") for one in faults)
        parts.append(element("ul", *items))
        parts.append(element("p", "Everything else counts. grove doctor names each line."))
    if not log["complete"]:
        parts.append(element("p", "The log was not read to its end in time.", class_="fault"))
    yield section("Event log", *parts)


def _day(instant: str | None) -> str:
    return instant[:10] if instant else "–"
