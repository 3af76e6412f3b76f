"""The page of ``grove page``: every learning to read, search and filter, and the numbers below."""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final, NamedTuple

from jinja2 import Environment, StrictUndefined
from jinja2.environment import TemplateStream
from markupsafe import Markup

from grove_core.memory.backends import FoundLearning
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
from grove_core.storage.cache import portions

_GENERATOR: Final = b'<meta name="generator" content="grove'
_MOST_EVENTS: Final = 10
_PIECES_AT_ONCE: Final = 1000
_HAPPENED: Final = (Archived, Restored, Imported, Corrected, Referenced, Rated)
_VERBS: Final = {"referenced": "used"}


class ReadableLearning(NamedTuple):
    """A learning as the page shows it: its texts, what is known of it, what became of it."""

    learning: Learning
    use: str = ""
    facts: Sequence[tuple[str, str]] = ()
    history: Sequence[str] = ()


def readable_learnings(project: Project) -> tuple[list[Learning], Iterator[ReadableLearning]]:
    """Collect every learning that can be listed, active ones first, then the newest."""
    active = LearningStatus.ACTIVE
    found = sorted(
        project.library.iterate(),
        key=lambda one: (one.hit.learning.status is active, one.hit.learning.timestamp),
        reverse=True,
    )
    return [one.hit.learning for one in found], _readable(project, found)


def _readable(project: Project, found: Sequence[FoundLearning]) -> Iterator[ReadableLearning]:
    events = defaultdict[str, list[StatsEvent]](list)
    for logged in find_events(project, _HAPPENED):
        events[getattr(logged.event, "learning_id", "")].append(logged.event)
    for some in portions(found):
        usage = project.usage([one.hit.learning.id for one in some])
        for one in examine(project, some, usage):
            stats = usage.get(one.learning.id)
            shown, used = (stats.surfaced, stats.referenced) if stats else (0, 0)
            use = f"used {used:,}{f' of {shown:,}' if shown else ''}" if shown or used else ""
            facts = [
                *(
                    (name, said if isinstance(said, str) else said.text)
                    for name, said in facts_of(one.found)
                ),
                ("Decay", one.assessment.explanation),
            ]
            history = [
                f"{event.ts:%Y-%m-%d} {_VERBS.get(event.event, event.event)} {detail_of(event)}"
                for event in events.get(one.learning.id, ())[-_MOST_EVENTS:]
            ]
            yield ReadableLearning(one.learning, use, facts, history)


def html_page(
    statistics: Statistics,
    insights: Sequence[Insight],
    learnings: Sequence[Learning],
    readable: Iterable[ReadableLearning],
    title: str,
) -> TemplateStream:
    """Write the page: one file that loads nothing, whose style and script alone are allowed.

    It comes in pieces: all of them together may take much memory.
    """
    style, script, template = (
        files(__package__).joinpath(name).read_text(encoding="utf-8")
        for name in ("page.css", "page.js", "page.html.jinja")
    )
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"prose": _prose, "line": summary_of, "kind": _kind_of}
    page = environment.from_string(template).stream(
        title=title,
        period=period_of(statistics),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        style_hash=_hash(style),
        script_hash=_hash(script),
        count=len(learnings),
        learnings=readable,
        categories=_counted(one.category.value for one in learnings),
        statuses=_counted(one.status.value for one in learnings),
        tags=_counted(tag for one in learnings for tag in one.tags),
        paths=_counted(path for one in learnings for path in one.context_files),
        ids={one.id for one in learnings},
        sections=sections(statistics, insights),
    )
    page.enable_buffering(_PIECES_AT_ONCE)
    return page


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
