"""From a learning to its entry."""

from typing import Final

from grove_backend_markdown.fields import fields_of
from grove_backend_markdown.markup import escape
from grove_core import Area, Learning

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
    fields = [f"- **{name}:** {value}" for name, value in fields_of(learning)]
    quoted = [f"> {line}" if line else ">" for line in learning.detail.split("\n")]
    return "\n".join([f"### [{learning.id}] {summary}", *fields, "", *quoted, ""])
