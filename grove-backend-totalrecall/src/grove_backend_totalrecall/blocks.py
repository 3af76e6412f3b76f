"""A log as lines, and which of them stand in a comment or a code block."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from grove_backend_totalrecall.markup import BLANKS

SECTION: Final = "## Learnings"
"""The heading above grove's entries."""

_COMMENT: Final = "<!--"
_COMMENT_END: Final = "-->"
_FENCES: Final = ("```", "~~~")
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]++(.*))?")
_NEVER: Final = -1


class Heading(NamedTuple):
    """A heading."""

    level: int
    text: str


class Blocks(NamedTuple):
    """What comments and code blocks do to a text."""

    hidden: bytearray
    is_open: bool


class _Fence(NamedTuple):
    mark: str
    length: int
    closes: bool


class _Closing(NamedTuple):
    length: int
    position: int


def split_lines(text: str) -> list[str]:
    r"""Take a text apart."""
    lines = text.removeprefix("\ufeff").split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines


def is_blank(line: str) -> bool:
    """Return whether a line is empty to the eye."""
    return not line.strip(BLANKS)


def heading_of(line: str) -> Heading | None:
    """Read a heading such as ``## Notes``."""
    match = _HEADING.fullmatch(line) if line.startswith("#") else None
    if match is None:
        return None
    return Heading(len(match[1]), (match[2] or "").rstrip(BLANKS + "#").rstrip(BLANKS))


def find_blocks(text: str, lines: Sequence[str]) -> Blocks:
    """Find the lines that stand in comments and code blocks, in linear time."""
    hidden = bytearray(len(lines))
    if not any(opening in text for opening in (_COMMENT, *_FENCES)):
        return Blocks(hidden, is_open=False)
    ends, last_section = _ends(lines)
    is_open = False
    free = 0  # index of the first line behind the blocks found so far
    for position in reversed(ends):
        end = ends[position]
        if position < free:
            continue
        if end == _NEVER:
            is_open = is_open or position > last_section
        else:
            free = end + 1
            hidden[position:free] = b"\1" * (free - position)
    return Blocks(hidden, is_open)


def _ends(lines: Sequence[str]) -> tuple[dict[int, int], int]:
    """Find, from the last line to the first, where each comment and fence would end."""
    ends: dict[int, int] = {}
    last_section = _NEVER
    comment_end = _NEVER
    fences: dict[str, list[_Closing]] = {fence: [] for fence in _FENCES}
    for position in range(len(lines) - 1, -1, -1):
        line = lines[position]
        if _is_section(lines, position):
            last_section = max(last_section, position)
            comment_end = _NEVER
            fences = {fence: [] for fence in _FENCES}
        elif "-->" not in line and not line.lstrip(BLANKS).startswith((_COMMENT, *_FENCES)):
            continue
        elif line.lstrip(BLANKS).startswith(_COMMENT):
            # Comments do not nest: one in which another begins was never closed.
            is_one_line = _COMMENT_END in line[line.index(_COMMENT) + len(_COMMENT) :]
            ends[position] = position if is_one_line else comment_end
            comment_end = _NEVER
        else:
            if _COMMENT_END in line:
                comment_end = position
            fence = _fence_of(line)
            if fence is not None:
                ends[position] = _fence_end(fence, position, fences[fence.mark])
    return ends, last_section


def _is_section(lines: Sequence[str], position: int) -> bool:
    line = lines[position]
    is_heading = line.startswith(SECTION) and line.rstrip(BLANKS) == SECTION
    return is_heading and position > 0 and is_blank(lines[position - 1])


def _fence_of(line: str) -> _Fence | None:
    text = line.strip(BLANKS)
    if not text.startswith(_FENCES):
        return None
    info = text.lstrip(text[0])
    if text[0] == "`" and "`" in info:
        return None  # code within a line
    return _Fence(text[:3], len(text) - len(info), closes=not info)


def _fence_end(fence: _Fence, position: int, closings: list[_Closing]) -> int:
    """Look up where a fence would end, and note that it may itself be the end of one."""
    place = bisect_right(closings, -fence.length, key=lambda closing: -closing.length)
    end = closings[place - 1].position if place else _NEVER
    if fence.closes:
        while closings and closings[-1].length <= fence.length:
            closings.pop()
        closings.append(_Closing(fence.length, position))
    return end
