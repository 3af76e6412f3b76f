"""Learnings as a page of markdown for people."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from grove_core.model.learning import Category, Learning, LearningStatus

_TITLES: Final = {
    Category.PATTERN: "Patterns",
    Category.PITFALL: "Pitfalls",
    Category.CONVENTION: "Conventions",
    Category.DEPENDENCY: "Dependencies",
    Category.PROCESS: "Process",
    Category.DOMAIN: "Domain",
    Category.DEBUGGING: "Debugging",
}
_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#"})
# CommonMark: from a row of backquotes to the next row of the same length.
_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")


def write_markdown(learnings: Iterable[Learning], project: str) -> str:
    """Write learnings as a page, by category, in the order given."""
    by_category: dict[Category, list[Learning]] = {}
    for learning in learnings:
        by_category.setdefault(learning.category, []).append(learning)
    parts = [f"# Learnings of {_escaped(project)}"]
    for category, title in _TITLES.items():
        if category in by_category:
            parts.append(f"## {title}")
            parts += map(_entry, by_category[category])
    return "\n\n".join(parts) + "\n"


def _entry(learning: Learning) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in learning.detail.split("\n"))
    return f"### {_escaped(learning.summary)}\n\n{_facts(learning)}\n\n{quoted}"


def _facts(learning: Learning) -> str:
    facts = [
        f"{learning.timestamp:%Y-%m-%d}",
        f"scope {learning.scope.value}",
        f"confidence {learning.confidence.value}",
    ]
    if learning.status is not LearningStatus.ACTIVE:
        facts.insert(0, f"**{learning.status.value}**")
    if learning.ticket_id:
        facts.append(f"ticket {_escaped(learning.ticket_id)}")
    facts += _listed("tags", learning.tags) + _listed("files", learning.context_files)
    facts += _listed("supersedes", learning.supersedes)
    return " · ".join([*facts, f"`{learning.id}`"])


def _listed(name: str, items: Sequence[str]) -> list[str]:
    return [f"{name} {', '.join(_escaped(one) for one in items)}"] if items else []


def _escaped(text: str) -> str:
    """Keep a line of text from being read as markdown; code in it stays as it is meant."""
    written: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        written += [text[at : code.start()].translate(_SPECIAL), code[0]]
        at = code.end()
    return "".join([*written, text[at:].translate(_SPECIAL)])
