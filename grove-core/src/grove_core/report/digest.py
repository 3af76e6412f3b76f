"""``grove digest``: what was learned and used lately, or on a branch, as Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from grove_core import git
from grove_core.errors import GroveError
from grove_core.model.events import Referenced
from grove_core.model.learning import Scope
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
_TITLES: Final = {
    "new": "New",
    "used": "Used most",
    "corrected": "Corrected",
    "going_stale": "Going stale",
}


def digest_since(project: Project, since: datetime) -> dict[str, Any]:
    """Collect what has happened since a moment to learnings that are for others, too."""
    statistics = project.statistics(since)
    own = Scope.PERSONAL.value
    records = {one.learning_id: one for one in statistics.records if one.scope != own}
    new = [one for one in records.values() if one.created >= since]
    new.sort(key=lambda one: one.created, reverse=True)
    used = [
        _item(one.learning_id, one.summary, f"used {one.stats.referenced}×")
        for one in statistics.top
        if one.learning_id in records
    ]
    corrected = [
        _item(name, records[name].summary, f"by {successor}" if successor else "")
        for name, successor, *_ in project.numbers.corrections(since)
        if name in records
    ]
    stale = [
        _item(one.learning_id, one.summary, f"archived {in_days(one.days_left)}")
        for one in statistics.going_stale
        if one.learning_id in records
    ]
    return {
        "since": since,
        "base": None,
        "new": [_item(one.learning_id, one.summary, one.category) for one in new],
        "used": used,
        "corrected": corrected,
        "going_stale": stale,
        "refused": dict(statistics.write_gate.rejected_by_stage),
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
    new = dict.fromkeys(_ADDED_LEARNING.findall(text), ())
    return {
        "since": None,
        "base": clean_line(base, _LONGEST),
        "new": list(_known(project, new)),
        "used": list(_known(project, used)),
        "corrected": [],
        "going_stale": [],
        "refused": {},
    }


def _known(project: Project, named: Mapping[str, Iterable[str]]) -> Iterator[dict[str, str]]:
    """Describe the learnings that are stored, each with what helped or its category."""
    for learning_id, how in named.items():
        if found := project.library.get(learning_id):
            learning = found.hit.learning
            yield _item(
                learning_id,
                learning.summary,
                "; ".join(dict.fromkeys(how)) or learning.category.value,
            )


def _item(learning_id: str, summary: str, about: str) -> dict[str, str]:
    return {"id": learning_id, "summary": clean_line(summary, _LONGEST), "about": about}


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
