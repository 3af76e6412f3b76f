"""What grove writes into a daily log: entries, marks, and what stands between them."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from grove_backend_totalrecall.markup import (
    CLAIM,
    DETAIL,
    ITEM,
    SECTION,
    SUMMARY,
    TAG,
    VALUE,
    escape,
    find_blocks,
    heading_of,
    is_blank,
    split_lines,
)
from grove_core import Learning, Scope, is_learning_id

_SECTIONS: Final = ("Decisions", "Corrections", "Commitments", "Open Loops", "Notes")


def daily_template(day: date) -> str:
    """Write how Total Recall begins the log of a day."""
    return "\n\n".join([f"# {day.isoformat()}", *(f"## {name}" for name in _SECTIONS)]) + "\n"


def format_entry(learning: Learning, time: str) -> str:
    """Write a learning as an entry of a daily log."""
    lines = [f"[{time}] {one_line_note(learning)}"]
    replaced = [f"grove:{one}" for one in learning.supersedes if is_learning_id(one)]
    if replaced:
        lines.append(f"> [supersedes {', '.join(replaced)}]")
    detail = escape(learning.detail, DETAIL)
    lines += [f"> {line}" if line else ">" for line in detail.split("\n")]
    return "\n".join([*lines, "", " | ".join(_segments(learning)), ""])


def one_line_note(learning: Learning) -> str:
    """Write what finds a learning again, as the text of a note."""
    category = learning.category.value.capitalize()
    summary = escape(learning.summary, SUMMARY)
    return f"**{category}** (grove:{learning.id}): {summary}".rstrip(" ")


def format_mark(word: str, time: str, summary: str, learning_id: str, why: str) -> str:
    """Write the line that tells people and Total Recall what became of an older entry."""
    line = f'[{time}] [{word}] "{escape(summary, CLAIM)}" (grove:{learning_id})'
    return f"{line} {escape(why, CLAIM)}\n" if why else f"{line}\n"


def joint(text: str) -> str:
    """Return what must stand between a log and a new entry."""
    lines = split_lines(text)
    if not lines[-1]:
        lines.pop()
    blank_line = "" if not lines or is_blank(lines[-1]) else "\n"
    return blank_line if _ends_in_section(text, lines) else f"{blank_line}{SECTION}\n\n"


def _ends_in_section(text: str, lines: list[str]) -> bool:
    blocks = find_blocks(text, lines)
    if blocks.is_open:
        # A later line may close it; only a new heading keeps the entry out of it.
        return False
    for line, is_hidden in zip(reversed(lines), reversed(blocks.hidden), strict=True):
        if line.startswith("#") and not is_hidden and heading_of(line):
            return line.rstrip(" \t") == SECTION
    return False


def _segments(learning: Learning) -> Iterator[str]:
    tags = " ".join(f"#{escape(tag, TAG)}" for tag in learning.tags if tag)
    if tags:
        yield f"Tags: {tags}"
    yield f"Confidence: {learning.confidence.value.capitalize()}"
    if learning.ticket_id:
        yield f"Ticket: {escape(learning.ticket_id, VALUE)}"
    files = ", ".join(escape(file, ITEM) for file in learning.context_files if file)
    if files:
        yield f"Files: {files}"
    if learning.scope is not Scope.PROJECT:
        yield f"Scope: {learning.scope.value.capitalize()}"
