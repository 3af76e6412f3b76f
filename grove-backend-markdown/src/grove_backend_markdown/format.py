"""From a learning to its entry, and another status for one that is written."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.fields import BY_TITLE
from grove_backend_markdown.markup import escape, join_list
from grove_backend_markdown.reader import Entry, read_entries
from grove_core import (
    Area,
    BackendError,
    Learning,
    LearningNotFoundError,
    LearningStatus,
    format_instant,
)

_ABOUT: Final = {
    Area.PROJECT: "What grove has learned in this project, one entry each, the newest last.",
    Area.PERSONAL: "What grove has learned for you in all projects, one entry each, newest last.",
}
_BY_HAND: Final = """\
Edit it by hand as you like: grove adds entries at the end, changes the status line of an entry when
it is archived, superseded or restored, and leaves everything else as it is.
"""
_FIELD_NAME: Final = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\*\*[^*]*\*\*:?[ \t]*")
_OLD_WORD: Final = re.compile(r"(\*\*Status(?::\*\*|\*\*:)[ \t]*)[A-Za-z_-]*", re.IGNORECASE)


def file_header(area: Area) -> str:
    """Write how a new file begins."""
    return f"# Learnings\n\n{_ABOUT[area]}\n{_BY_HAND}"


def format_entry(learning: Learning) -> str:
    """Write a learning as markdown."""
    summary = escape(learning.summary)
    if summary.startswith("#"):
        summary = f"\\{summary}"
    fields = [f"- **{name}:** {value}" for name, value in _fields_of(learning)]
    quoted = [f"> {line}" if line else ">" for line in learning.detail.split("\n")]
    return "\n".join([f"### [{learning.id}] {summary}", *fields, "", *quoted, ""])


def _fields_of(learning: Learning) -> Iterator[tuple[str, str]]:
    """Write the fields of an entry; those that hold nothing are left out."""
    values = {title: getattr(learning, field.name) for title, field in BY_TITLE.items()}
    words = {title: value for title, value in values.items() if isinstance(value, Enum)}
    yield from ((title, word.value) for title, word in words.items())
    yield "Status", format_status(learning.status)
    yield from (
        (title, _text_of(value)) for title, value in values.items() if value and title not in words
    )
    session = f"session {escape(learning.session_id)}"
    ticket = learning.ticket_id
    yield "Origin", session if ticket is None else f"ticket {escape(ticket)} | {session}"
    yield "Created", format_instant(learning.timestamp)


def format_status(status: LearningStatus, note: str = "") -> str:
    """Write the value of a status field."""
    words = escape(" ".join(note.split()))
    if not words or status is LearningStatus.ACTIVE:
        return status.value
    return f"{status.value} ({words})"


def _text_of(value: Any) -> str:  # noqa: ANN401 - of any field
    if isinstance(value, frozenset):
        return join_list(one.value for one in type(next(iter(value))) if one in value)
    return join_list(value) if isinstance(value, tuple) else escape(value)


def change_status(text: str, learning_id: str, status: LearningStatus, note: str = "") -> str:
    """Change the status of one entry and no other byte of a file."""
    entry = read_entries(text).find(learning_id)
    if entry is None:
        raise LearningNotFoundError(f"there is no learning {learning_id} in the file")
    lines = text.split("\n")
    if split_sides(text, lines).markers:
        raise BackendError("git's conflict markers are in the file: grove maintain repair")
    value = status.value.capitalize() if entry.is_old else format_status(status, note)
    if entry.status_line is None:
        lines.insert(entry.first_line, _new_line(entry, lines[entry.first_line - 1], value))
    else:
        position = entry.status_line - 1
        lines[position] = _changed(entry, lines[position], value)
    return "\n".join(lines)


def _new_line(entry: Entry, heading: str, value: str) -> str:
    bullet = "" if entry.is_old else "- "
    return f"{bullet}**Status:** {value}{_line_end(heading)}"


def _changed(entry: Entry, line: str, value: str) -> str:
    if entry.is_old:
        return _OLD_WORD.sub(lambda match: _spaced(match[1]) + value, line, count=1)
    name = _FIELD_NAME.match(line)
    assert name is not None, "the reader found a status field in this line"
    return f"{_spaced(name[0])}{value}{_line_end(line)}"


def _spaced(name: str) -> str:
    return name if name[-1] in " \t" else f"{name} "


def _line_end(line: str) -> str:
    return "\r" if line.endswith("\r") else ""
