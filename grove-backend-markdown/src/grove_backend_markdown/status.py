"""Changing the status of one entry and no other byte of the file."""

import re
from typing import Final

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.format import format_status
from grove_backend_markdown.reader import Entry, read_entries
from grove_core import BackendError, LearningNotFoundError, LearningStatus

_FIELD_NAME: Final = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\*\*[^*]*\*\*:?[ \t]*")
_OLD_WORD: Final = re.compile(r"(\*\*Status(?::\*\*|\*\*:)[ \t]*)[A-Za-z_-]*", re.IGNORECASE)


def change_status(text: str, learning_id: str, status: LearningStatus, note: str = "") -> str:
    """Return an entry another status."""
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
