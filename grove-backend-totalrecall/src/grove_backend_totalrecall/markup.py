"""The Markdown of Total Recall's files: blocks, headings, what must be escaped."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

BLANKS: Final = " \t"
"""What separates words within a line; other white space is part of the text."""

_REFERENCE: Final = r"&#[0-9]{1,7};"
# Control characters and line separators; the ends of comments, which would hide what stands around.
_ANYWHERE: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]|<(?=!--)|(?<=--)>|(?<=--!)>"
_ON_ONE_LINE: Final = _ANYWHERE + r"|[\t\n]|\A | \Z"


def _escapes(special: str) -> re.Pattern[str]:
    # Backslashes before a reference of ours would make it a text, so they are references as well.
    return re.compile(rf"(?<!\\)(\\*+)(?:({_REFERENCE})|({special}))")


_IN_SUMMARY: Final = _escapes(
    _ON_ONE_LINE + r"|\A\[(?=(?i:superseded))|\^(?=tr[0-9a-f]{10}\Z)",
)
_IN_DETAIL: Final = _escapes(_ANYWHERE + r"|\A\[(?=(?i:supersedes))")
_IN_CLAIM: Final = _escapes(_ON_ONE_LINE + r'|"(?=[ \t]*(?:[-–—]|\(grove:))')
_IN_VALUE: Final = _escapes(_ON_ONE_LINE + r"|\|")
_IN_ITEM: Final = _escapes(_ON_ONE_LINE + r"|[|,]")
_IN_TAG: Final = _escapes(_ON_ONE_LINE + r"|[|, ]")
_ESCAPED: Final = re.compile(rf"(?<!\\)\\*+{_REFERENCE}")

_LAST_CODE_POINT: Final = 0x10FFFF


def escape_summary(text: str) -> str:
    """Make a text fit behind the colon of an entry's head line, up to the line's end."""
    return _IN_SUMMARY.sub(_escaped, text)


def escape_detail(text: str) -> str:
    r"""Make a text fit to be quoted line by line; only ``\n`` ends a line of it afterwards."""
    return _IN_DETAIL.sub(_escaped, text)


def escape_claim(text: str) -> str:
    """Make a text fit between the quotes of a mark, or behind them."""
    return _IN_CLAIM.sub(_escaped, text)


def escape_value(text: str) -> str:
    """Make a text fit to be the value of one segment of a metadata line."""
    return _IN_VALUE.sub(_escaped, text)


def escape_item(text: str) -> str:
    """Make a text fit into a list with commas in a metadata line."""
    return _IN_ITEM.sub(_escaped, text)


def escape_tag(text: str) -> str:
    """Make a text fit to be one of several tags with blanks between them."""
    return _IN_TAG.sub(_escaped, text)


def unescape(text: str) -> str:
    """Turn what any of the functions above made, or a person wrote, back into the text."""
    return _ESCAPED.sub(_plain, text) if "&#" in text else text


def _escaped(match: re.Match[str]) -> str:
    backslashes, reference, special = match.groups()
    if reference:
        return f"\\{match[0]}"
    return "&#92;" * len(backslashes) + f"&#{ord(special)};"


def _plain(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("\\"):
        return found[1:]
    number = int(found[2:-1])
    is_character = number <= _LAST_CODE_POINT and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - surrogates
    return chr(number) if is_character else found


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
