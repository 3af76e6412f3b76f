"""From a learning to its entry."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, Final

from grove_backend_markdown.fields import BY_TITLE
from grove_backend_markdown.markup import escape, join_list
from grove_core import Area, Learning, LearningStatus, format_instant

_ABOUT: Final = {
    Area.PROJECT: "What grove has learned in this project, one entry each, the newest last.",
    Area.PERSONAL: "What grove has learned for you in all projects, one entry each, newest last.",
}
_BY_HAND: Final = """\
Edit it by hand as you like: grove adds entries at the end, changes the status line of an entry when
it is archived, superseded or restored, and leaves everything else as it is.
"""


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
