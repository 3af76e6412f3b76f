"""The page of ``grove stats --html``: one file, no network, no script."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from textwrap import shorten
from typing import Any, Final, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from grove_core.model.statistics import CrossPollination, LogFault
from grove_core.model.usage import Share
from grove_core.report.text import (
    ARROWS,
    Trend,
    by_size,
    evidence_of,
    fault_of,
    in_days,
    interval_of,
    percent,
    spark_of_rates,
    summary_of,
    travels_of,
    trend_of,
)
from grove_core.storage.codec import to_jsonable

_GENERATOR: Final = "grove stats"
_MOST_WEEKS: Final = 26
WIDTH: Final = 640
_NAMES: Final = 170
_ROW: Final = 26
_LONGEST_NAME: Final = 22
_WORK: Final = {"reflections": "Reflections", "accepted": "Accepted", "skips": "Skips"}


def html_page(document: Mapping[str, Any], title: str) -> str:
    """Render the document of ``grove stats --json`` as a page."""
    plain: dict[str, Any] = json.loads(json.dumps(to_jsonable(document)))
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "by_size": by_size,
        "day": lambda instant: instant[:10] if instant else "–",
        "evidence": evidence_of,
        "fault": lambda fault: fault_of(LogFault(**fault)),
        "prose": _prose,
        "summary": summary_of,
        "travels": lambda edge: travels_of(CrossPollination(**edge)),
        "trend": _trend,
    }
    template = files(__package__).joinpath("page.html.jinja").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        document=plain,
        title=title,
        generator=_GENERATOR,
        style=Markup(style),  # noqa: S704 - our own file
        style_hash=Markup(f"'sha256-{digest}'"),  # noqa: S704 - base64
        number=_number_of(plain),
        interval=lambda one: interval_of(one["low"], one["high"]) if one["total"] else "",
        spark=lambda weeks: spark_of_rates([Share(**one) for one in weeks]),
        charts=_charts(plain),
        width=WIDTH,
    )


def is_page(start: bytes) -> bool:
    """Return whether a file is a page that grove has written."""
    return start.startswith(b"<!doctype html>") and f'content="{_GENERATOR}"'.encode() in start


def _number_of(document: Mapping[str, Any]) -> Callable[..., Markup]:
    """Return what renders a number of the document, with a JSON pointer to where it stands."""

    def number(*parts: str | int | tuple[str | int, ...]) -> Markup:
        path = [step for part in parts for step in (part if isinstance(part, tuple) else [part])]
        value: Any = document
        for step in path:
            value = value[step]
        say = {"rate": percent, "days_left": in_days}.get(str(path[-1]), "{:,}".format)
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
        pointer = "".join(f"/{step}" for step in steps)
        template = Markup('<data value="{}" data-pointer="{}">{}</data>')
        return template.format(value, pointer, say(value))

    return number


def _prose(text: str) -> Markup:
    """Set what stands between backticks as code."""
    parts = summary_of(text).split("`")
    code = Markup("<code>{}</code>")
    return Markup().join(code.format(one) if at % 2 else one for at, one in enumerate(parts))


def _trend(group: Mapping[str, Any]) -> tuple[str, str]:
    """Return a trend's class and text."""
    recent, before = (
        Share(group[period]["count"], group[period]["total"])
        for period in ("last_30_days", "30_days_before")
    )
    trend = trend_of(recent, before)
    text = "too few to tell" if trend is Trend.UNKNOWN else f"{ARROWS[trend]} {trend.value}"
    return trend.name.lower(), text


class Bar(NamedTuple):
    """A part of a row, in units of a view box."""

    x: float
    y: float
    width: float
    colour: int
    title: str


class Chart(NamedTuple):
    """Rows of bars, the parts of each one after the other."""

    title: str
    height: float
    names: Sequence[tuple[float, str]]
    bars: Sequence[Bar]
    legend: Sequence[str]


def _chart(
    title: str,
    rows: Iterable[tuple[str, Sequence[float | None]]],
    *legend: str,
    say: Callable[[float], str] = "{:,}".format,
    most: float = 0,
) -> Chart | None:
    """Draw numbers as bars that fill the width with the most of them; of nothing there is none."""
    listed = [(name, [part or 0 for part in parts]) for name, parts in rows]
    longest = most or max((sum(parts) for _, parts in listed), default=0)
    names, bars = [], []
    for row, (name, parts) in enumerate(listed):
        y, x = float(row * _ROW), float(_NAMES)
        names.append((y, shorten(name, _LONGEST_NAME, placeholder="…") or name[:_LONGEST_NAME]))
        for colour, part in enumerate(parts):
            if part:
                width = (WIDTH - _NAMES) * part / longest
                bars.append(Bar(x, y, width, colour, f"{name}: {say(part)}"))
                x += width
    return Chart(title, _ROW * len(listed), names, bars, legend) if bars else None


def _charts(document: Mapping[str, Any]) -> Mapping[str, Chart | None]:
    """Draw what there is something of."""
    weeks = [(one["start"][5:], one) for one in document["weeks"][-_MOST_WEEKS:]]
    refused = by_size(document["write_gate"]["rejected_by_stage"])
    return {
        "use": _chart(
            "Bar chart: used of shown learnings by week",
            [(start, [one["hits"]["rate"]]) for start, one in weeks],
            say=percent,
            most=1,
        ),
        "work": _chart(
            "Bar chart: reflections, accepted candidates and skips by week",
            [(start, [one[name] for name in _WORK]) for start, one in weeks],
            *_WORK.values(),
        ),
        "write_gate": _chart(
            "Bar chart: accepted candidates, and refused ones by stage",
            [
                ("accepted", [document["write_gate"]["accepted"]]),
                *((name, [0, count]) for name, count in refused),
            ],
            *("accepted", "refused"),
        ),
        "gate": _chart(
            "Bar chart: gate cycles by outcome",
            [
                (name.replace("_", " "), [count])
                for name, count in by_size(document["gate"]["by_outcome"])
            ],
        ),
    }
