"""Recognising what a file is that was given as something else, so that the error can name it."""

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from grove_core.interchange.markdown_text import read_front_matter
from grove_core.interchange.older_grove import holds_older_learnings

_CURRENT: Final = re.compile(r"^### \[cl_[A-Za-z0-9_-]+\]", re.MULTILINE)
_SOLVED: Final = frozenset({"problem_type", "symptoms", "root_cause", "resolution_type"})


class Content(Enum):
    """What a text is, as far as that is certain."""

    LINES = "JSON Lines: give it to `grove import jsonl`"
    DOCUMENT = (
        "one JSON document: write an object a line, with `jq -c '.[]'` say, for `grove import"
        " jsonl`"
    )
    EVENTS = "a log of events: `grove import older-grove` reads it where its name ends in .log"
    OLDER = "learnings of the older grove: give it to `grove import older-grove`"
    CURRENT = (
        "learnings of grove's own: `grove export` in its project writes what `grove import jsonl`"
        " reads"
    )
    SOLVED = "documents of a solved problem: give it to `grove import solutions`"
    OTHER = "text: `grove import notes` reads markdown such as CLAUDE.md"


# By name of a format: what it is certainly not.
_FOREIGN: Final[Mapping[str, frozenset[Content]]] = {
    "notes": frozenset(Content) - {Content.OTHER},
    "solutions": frozenset(Content) - {Content.OTHER, Content.SOLVED},
    # Entries of the current layout may stand among older ones; the reader names them.
    "older-grove": frozenset(Content) - {Content.OTHER, Content.OLDER, Content.CURRENT},
    "jsonl": frozenset(Content) - {Content.LINES},
}


def why_not_read_as(form: str, text: str) -> str:
    """Tell that a text is something else than it was given as."""
    if not text.strip():
        return ""
    content = _content_of(text)
    return f"it looks like {content.value}" if content in _FOREIGN[form] else ""


def _content_of(text: str) -> Content:
    start = text.lstrip()
    if start.startswith(("{", "[")):
        found = _json(start)
        if found is not None:
            return found
    if holds_older_learnings(text):
        return Content.OLDER
    if _CURRENT.search(text):
        return Content.CURRENT
    values = read_front_matter(text.split("\n")).values
    return Content.SOLVED if _SOLVED & values.keys() else Content.OTHER


def _json(start: str) -> Content | None:
    """Recognise JSON by its first line; else by all of it, where it is a list or broken up."""
    first = _parsed(start.partition("\n")[0])
    if isinstance(first, dict):
        return Content.EVENTS if {"event", "ts"} <= first.keys() else Content.LINES
    if isinstance(_parsed(start), list | dict):
        return Content.DOCUMENT
    # Markdown begins with a bracket as well; a brace with a name behind it is JSON that is broken.
    return Content.LINES if re.match(r'\{\s*"', start) else None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
