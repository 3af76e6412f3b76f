"""From a learning to its entry."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from grove_backend_markdown.markup import escape, join_list
from grove_core import Area, Criterion, Learning, LearningStatus, format_instant

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
    fields = [f"- **{name}:** {value}" for name, value in _fields(learning)]
    quoted = [f"> {line}" if line else ">" for line in learning.detail.split("\n")]
    return "\n".join([f"### [{learning.id}] {summary}", *fields, "", *quoted, ""])


def format_status(status: LearningStatus, note: str = "") -> str:
    """Write the value of a status field."""
    words = escape(" ".join(note.split()))
    if not words or status is LearningStatus.ACTIVE:
        return status.value
    return f"{status.value} ({words})"


def _fields(learning: Learning) -> Iterator[tuple[str, str]]:
    yield "Category", _word(learning.category)
    yield "Scope", _word(learning.scope)
    yield "Confidence", _word(learning.confidence)
    yield "Status", format_status(learning.status)
    if learning.criteria_met:
        yield "Criteria", join_list(c.value for c in Criterion if c in learning.criteria_met)
    if learning.tags:
        yield "Tags", join_list(learning.tags)
    if learning.context_files:
        yield "Files", join_list(learning.context_files)
    if learning.supersedes:
        yield "Supersedes", join_list(learning.supersedes)
    yield "Origin", _origin(learning)
    yield "Created", format_instant(learning.timestamp)


def _word(member: Enum) -> str:
    return str(member.value)


def _origin(learning: Learning) -> str:
    session = f"session {escape(learning.session_id)}"
    if learning.ticket_id is None:
        return session
    return f"ticket {escape(learning.ticket_id)} | {session}"
