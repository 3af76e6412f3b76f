"""``grove digest``: what was learned and used lately, or on a branch, as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from grove_core import git
from grove_core.errors import GroveError
from grove_core.model.events import Referenced
from grove_core.model.learning import Learning, Scope
from grove_core.project import Project
from grove_core.quotation import quote_line, shown_name
from grove_core.report.text import in_days
from grove_core.stats.lines import EventLine, read_lines
from grove_core.text import clean_line

_MOST_LISTED: Final = 10
_LONGEST: Final = 300
_GIT_SECONDS: Final = 30.0
_ADDED_LEARNING: Final = re.compile(r"^\+#{1,6} \[([\w-]+)\]", re.MULTILINE)
_ADDED_LINE: Final = re.compile(r"^\+(\{.*\})\r?$", re.MULTILINE)
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~])")
_BY_NOTHING: Final = "nothing has taken its place"
_TITLES: Final = {
    "new": "New",
    "used": "Used most",
    "corrected": "Corrected",
    "going_stale": "Going stale",
}


def digest_since(project: Project, since: datetime) -> dict[str, Any]:
    """Collect what has happened since a moment to learnings that are for others, too."""
    statistics = project.statistics(since)
    every = (one.hit.learning for one in project.library.iterate())
    known = {one.id: one for one in every if one.scope is not Scope.PERSONAL}
    new = [one for one in known.values() if one.timestamp >= since]
    new.sort(key=lambda one: one.timestamp, reverse=True)
    corrections = project.numbers.corrections(since)
    return {
        "since": since,
        "base": None,
        "new": _items(known, ((one.id, one.category.value) for one in new)),
        "used": _items(
            known, ((one.learning_id, f"used {one.referenced}×") for one in statistics.top)
        ),
        "corrected": _items(
            known,
            ((name, f"by {other}" if other else _BY_NOTHING) for name, other, *_ in corrections),
        ),
        "going_stale": _items(
            known,
            (
                (one.learning_id, f"archived {in_days(one.days_left)}")
                for one in statistics.going_stale
            ),
        ),
        "refused": statistics.write_gate.rejected_by_stage,
    }


def digest_of_branch(project: Project, base: str) -> dict[str, Any]:
    """Collect what a branch adds to the project, and which learnings were used for it."""
    top = git.find_top(project.root)
    words = ("diff", "--no-ext-diff", "--no-color", "--text", f"{base}...HEAD", "--", ".grove")
    text = git.run_git(project.root, _GIT_SECONDS, *words) if top and base[:1] != "-" else None
    if text is None:
        raise GroveError(f"git cannot compare HEAD with {clean_line(base, _LONGEST)} here")
    used: dict[str, list[str]] = {}
    for one in read_lines([line.encode() for line in _ADDED_LINE.findall(text)]):
        if isinstance(one, EventLine) and one.event == Referenced.event:
            how = used.setdefault(one.fields["learning_id"], [])
            how += filter(None, [one.fields.get("how")])
    new = dict.fromkeys(_ADDED_LEARNING.findall(text))
    found = map(project.library.get, {*new, *used})
    known = {one.hit.learning.id: one.hit.learning for one in found if one is not None}
    return {
        "since": None,
        "base": clean_line(base, _LONGEST),
        "new": _items(known, ((name, "") for name in new)),
        "used": _items(known, ((name, "; ".join(dict.fromkeys(used[name]))) for name in used)),
        "corrected": [],
        "going_stale": [],
        "refused": {},
    }


def _items(
    known: Mapping[str, Learning], listed: Iterable[tuple[str, str]]
) -> list[dict[str, str]]:
    """Describe the learnings that are known, each with what is said of it, or its category."""
    return [
        {
            "id": name,
            "summary": clean_line(known[name].summary, _LONGEST),
            "about": about or known[name].category.value,
        }
        for name, about in listed
        if name in known
    ]


def digest_markdown(document: Mapping[str, Any], title: str) -> list[str]:
    """Write a digest as Markdown, in which learnings' texts are no markup and call nobody."""
    since, base = document["since"], document["base"]
    period = f"since {since:%Y-%m-%d}" if since else f"on this branch (against `{base}`)"
    lines = [f"## {_plain(title)}: learnings {period}"]
    for key, heading in _TITLES.items():
        if items := document[key]:
            lines += ["", f"### {heading}", "", *_listed(items)]
    if refused := document["refused"]:
        said = ", ".join(f"{count} {_plain(stage)}" for stage, count in sorted(refused.items()))
        lines += ["", "### Refused", "", f"{sum(refused.values())} candidates: {said}"]
    lines = lines if len(lines) > 1 else [*lines, "", "Nothing to tell."]
    # Hosts of git repositories write to whom an @ names, escaped or not.
    return [line.replace("@", "@ ") for line in lines]


def _listed(items: Iterable[Mapping[str, str]]) -> Iterator[str]:
    listed = list(items)
    for one in listed[:_MOST_LISTED]:
        said = " – ".join(filter(None, (one["summary"], one["about"])))
        yield f"- `{shown_name(one['id'])}`"
        yield f"  {quote_line(_plain(said), 2 * _LONGEST)}"
    if len(listed) > _MOST_LISTED:
        yield f"- … and {len(listed) - _MOST_LISTED} more"


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", clean_line(text, _LONGEST))
