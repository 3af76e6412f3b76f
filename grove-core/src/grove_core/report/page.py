"""The page of ``grove stats --html``: one file, no network, no script."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from grove_core.model.statistics import CrossPollination, LogFault
from grove_core.model.usage import Share
from grove_core.report import charts
from grove_core.report.text import (
    ARROWS,
    Trend,
    by_size,
    evidence_of,
    fault_of,
    in_days,
    interval_of,
    percent,
    summary_of,
    travels_of,
    trend_of,
)
from grove_core.storage.codec import to_jsonable

_GENERATOR: Final = "grove stats"
_MOST_WEEKS: Final = 26
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
        interval=_interval,
        sparkline=lambda weeks: charts.sparkline([Share(**one).rate for one in weeks]),
        charts=_charts(plain),
        width=charts.WIDTH,
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


def _interval(share: Mapping[str, Any]) -> str:
    return "" if share["rate"] is None else interval_of(share["low"], share["high"])


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


def _charts(document: Mapping[str, Any]) -> Mapping[str, charts.Chart | None]:
    """Draw what there is something of."""
    weeks: Sequence[Any] = document["weeks"][-_MOST_WEEKS:]
    starts = [one["start"][5:] for one in weeks]
    used = [one["hits"]["rate"] for one in weeks]
    work = {label: [one[name] for one in weeks] for name, label in _WORK.items()}
    shown = [one for one in document["categories"] if one["hits"]["total"]]
    shown.sort(key=lambda one: -one["hits"]["rate"])
    stored = [one for one in document["categories"] if one["learnings"]]
    stored.sort(key=lambda one: -one["learnings"])
    refused = by_size(document["write_gate"]["rejected_by_stage"])
    accepted = document["write_gate"]["accepted"]
    outcomes = by_size(document["gate"]["by_outcome"])
    found = {
        "use": charts.rate_line("Line chart: used of shown learnings by week", starts, used),
        "work": charts.week_bars(
            "Bar chart: reflections, accepted candidates and skips by week", starts, work
        ),
        "categories": charts.lying_bars(
            "Bar chart: used of shown learnings by category",
            [f"{one['name']} ({one['hits']['total']})" for one in shown],
            {"Used": [one["hits"]["rate"] for one in shown]},
            rates=True,
        )
        if len(shown) > 1
        else None,
        "stored": charts.lying_bars(
            "Bar chart: learnings by category",
            [one["name"] for one in stored],
            {
                "active": [one["active"] for one in stored],
                "no longer active": [one["learnings"] - one["active"] for one in stored],
            },
        ),
        "write_gate": charts.lying_bars(
            "Bar chart: accepted candidates, and refused ones by stage",
            ["accepted", *(name for name, _ in refused)],
            {
                "accepted": [accepted, *(0 for _ in refused)],
                "refused": [0, *(count for _, count in refused)],
            },
        ),
        "gate": charts.lying_bars(
            "Bar chart: gate cycles by outcome",
            [name.replace("_", " ") for name, _ in outcomes],
            {"cycles": [count for _, count in outcomes]},
        ),
    }
    return {name: chart if chart and chart.marks else None for name, chart in found.items()}
