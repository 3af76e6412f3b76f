"""The page of ``grove page``: every learning to read, search and filter, and the numbers below."""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Final, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from grove_core.model.events import (
    Archived,
    Corrected,
    Imported,
    Rated,
    Referenced,
    Restored,
    StatsEvent,
)
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.statistics import Insight, Statistics
from grove_core.project import Project
from grove_core.report.sections import sections
from grove_core.report.text import period_of, summary_of
from grove_core.services.decay import examine, find_events
from grove_core.services.learnings import detail_of, facts_of

_GENERATOR: Final = b'<meta name="generator" content="grove'
_MOST_EVENTS: Final = 10
_HAPPENED: Final = (Archived, Restored, Imported, Corrected, Referenced, Rated)
_VERBS: Final = {"referenced": "used"}


class ReadableLearning(NamedTuple):
    """A learning as the page shows it: its texts, what is known of it, what became of it."""

    learning: Learning
    use: str = ""
    facts: Sequence[tuple[str, str]] = ()
    history: Sequence[str] = ()


def readable_learnings(project: Project) -> list[ReadableLearning]:
    """Collect every learning that can be listed, active ones first, then the newest."""
    usage = project.usage()
    events = defaultdict[str, list[StatsEvent]](list)
    for logged in find_events(project, _HAPPENED):
        events[getattr(logged.event, "learning_id", "")].append(logged.event)
    made = []
    for one in examine(project, project.library.iterate(), usage):
        stats = usage.get(one.learning.id)
        shown, used = (stats.surfaced, stats.referenced) if stats else (0, 0)
        use = f"used {used:,}{f' of {shown:,}' if shown else ''}" if shown or used else ""
        facts = [
            *(
                (name, said if isinstance(said, str) else said.text)
                for name, said in facts_of(one.found, stats)
            ),
            ("Decay", one.assessment.explanation),
        ]
        history = [
            f"{event.ts:%Y-%m-%d} {_VERBS.get(event.event, event.event)} {detail_of(event)}"
            for event in events[one.learning.id][-_MOST_EVENTS:]
        ]
        made.append(ReadableLearning(one.learning, use, facts, history))
    active = LearningStatus.ACTIVE
    made.sort(key=lambda one: (one.learning.status is active, one.learning.timestamp), reverse=True)
    return made


def html_page(
    statistics: Statistics,
    insights: Sequence[Insight],
    learnings: Sequence[ReadableLearning],
    title: str,
) -> str:
    """Write the page: one file that loads nothing, whose style and script alone are allowed."""
    style, script, template = (
        files(__package__).joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js", "page.html.jinja")
    )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"prose": _prose, "line": summary_of, "kind": _kind_of}
    of = [one.learning for one in learnings]
    return environment.from_string(template).render(
        title=title,
        period=period_of(statistics),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_hash(style),
        script_hash=_hash(script),
        learnings=learnings,
        categories=_counted(one.category.value for one in of),
        statuses=_counted(one.status.value for one in of),
        tags=_counted(tag for one in of for tag in one.tags),
        paths=_counted(path for one in of for path in one.context_files),
        ids={one.id for one in of},
        sections=sections(statistics, insights),
    )


def is_page(start: bytes) -> bool:
    """Return whether a file is a page that grove has written."""
    return start.startswith(b"<!doctype html>") and _GENERATOR in start


def _hash(text: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(f"'sha256-{digest}'")  # noqa: S704 - base64


def _counted(names: Iterable[str]) -> list[tuple[str, int]]:
    """Count names, the most frequent first."""
    return sorted(Counter(names).items(), key=lambda one: (-one[1], one[0]))


def _kind_of(title: str) -> str:
    """Say by a column's title how its cells are set."""
    return "number" if title.startswith(">") else "spark" if title.endswith("weeks") else "text"


def _prose(text: str) -> Markup:
    """Set what stands between backticks as code."""
    code = Markup("<code>{}</code>")
    parts = text.split("`")
    return Markup().join(code.format(one) if at % 2 else one for at, one in enumerate(parts))
