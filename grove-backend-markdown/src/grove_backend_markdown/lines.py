"""What a single line can be, and the section of lines that an entry is read from."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from grove_backend_markdown.markup import BLANKS

_HEADING: Final = re.compile(r"#{1,6}[ \t]+\[([^\]]*)\](.*)")
_FIELD_START: Final = "- **"
_FIELD_END: Final = ":**"
_LOOSE_FIELD: Final = re.compile(r"[ \t]*(?:[-*+][ \t]+)?\*\*([^*:]+)(?::\*\*|\*\*:)(.*)")
_LOOSE_FIELD_REACH: Final = 8


class Field(NamedTuple):
    """A field of an entry as it stands there."""

    position: int
    value: str


class Section(NamedTuple):
    """The lines of one entry, taken apart."""

    learning_id: str
    summary: str
    fields: Mapping[str, Field]
    repeated: Sequence[tuple[str, int]]
    detail: str | None
    end: int
    is_old: bool = False


def is_blank(line: str) -> bool:
    """Return whether a line is empty to the eye."""
    return not line.strip(BLANKS)


def heading_of(line: str) -> tuple[str, str] | None:
    """Read a heading such as ``### [id] summary``."""
    match = _HEADING.match(line) if line.startswith("#") else None
    return (match[1].strip(BLANKS), match[2].strip(BLANKS)) if match else None


def field_of(line: str) -> tuple[str, str] | None:
    """Read a field such as ``- **Name:** value``; other bullets, or none, will do as well."""
    if line.startswith(_FIELD_START):
        name, found, value = line[len(_FIELD_START) :].partition(_FIELD_END)
        if found and "*" not in name:
            return name.strip(BLANKS).lower(), value.strip(BLANKS)
    if "**" not in line[:_LOOSE_FIELD_REACH]:
        return None
    match = _LOOSE_FIELD.match(line)
    return (match[1].strip(BLANKS).lower(), match[2].strip(BLANKS)) if match else None


def is_field(line: str, names: frozenset[str]) -> bool:
    """Return whether a line is a field with one of some names."""
    field = field_of(line)
    return field is not None and field[0] in names


def next_visible(lines: Sequence[str], position: int) -> int:
    """Find the first line at or after a position that is not blank; the number of lines if none."""
    while position < len(lines) and is_blank(lines[position]):
        position += 1
    return position


def read_quote(lines: Sequence[str], start: int, *, ends_in_cr: bool) -> tuple[str, int]:
    """Read quoted lines; blank ones between them belong to the quote."""
    quoted: list[str] = []
    end = place = start
    while place < len(lines):
        line = lines[place]
        if line.startswith(">"):
            quoted += [">"] * (place - end)
            quoted.append(line)
            end = place + 1
        elif not is_blank(line):
            break
        place += 1
    if ends_in_cr:
        quoted = [line.removesuffix("\r") for line in quoted]
    return "\n".join([line[2:] if line[1:2] == " " else line[1:] for line in quoted]), end
