"""The Markdown of Total Recall's files: blocks, headings, what must be escaped."""

import re
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


SUMMARY: Final = _escapes(
    _ON_ONE_LINE + r"|\A\[(?=(?i:superseded))|\^(?=tr[0-9a-f]{10}\Z)",
)
"""What is escaped behind the colon of an entry's head line."""
DETAIL: Final = _escapes(_ANYWHERE + r"|\A\[(?=(?i:supersedes))")
"""What is escaped in lines that are quoted; only a line feed ends one of them."""
CLAIM: Final = _escapes(_ON_ONE_LINE + r'|"(?=[ \t]*(?:[-–—]|\(grove:))')
"""What is escaped between the quotes of a mark, or behind them."""
VALUE: Final = _escapes(_ON_ONE_LINE + r"|\|")
ITEM: Final = _escapes(_ON_ONE_LINE + r"|[|,]")
TAG: Final = _escapes(_ON_ONE_LINE + r"|[|, ]")
_ESCAPED: Final = re.compile(rf"(?<!\\)\\*+{_REFERENCE}")

_LAST_CODE_POINT: Final = 0x10FFFF


def escape(text: str, special: re.Pattern[str]) -> str:
    """Write what would be read otherwise by its number."""
    return special.sub(_escaped, text)


def unescape(text: str) -> str:
    """Turn what ``escape`` made, or a person wrote, back into the text."""
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
    """Find the lines that stand in comments and code blocks; what is never closed hides none."""
    hidden = bytearray(len(lines))
    if not any(opening in text for opening in (_COMMENT, *_FENCES)):
        return Blocks(hidden, is_open=False)
    is_open, free = False, 0
    unclosed: dict[str, int] = {}
    for position, line in enumerate(lines):
        if _is_section(lines, position):
            is_open, unclosed = False, {}
        fence = _fence_of(line)
        if position < free or not (fence or line.lstrip(BLANKS).startswith(_COMMENT)):
            continue
        if fence is None:
            end = _comment_end(lines, position)
        elif fence.length >= unclosed.get(fence.mark, fence.length + 1):
            end = None  # a shorter one was looked for in vain: this keeps the time linear
        else:
            end = _fence_end(lines, position, fence)
        if end is not None:
            free = end + 1
            hidden[position:free] = b"\1" * (free - position)
            continue
        is_open = True
        if fence is not None:
            unclosed[fence.mark] = min(fence.length, unclosed.get(fence.mark, fence.length))
    return Blocks(hidden, is_open)


def _comment_end(lines: Sequence[str], start: int) -> int | None:
    """Find where a comment ends; one in which another begins was never closed."""
    if _COMMENT_END in lines[start].partition(_COMMENT)[2]:
        return start
    for position in range(start + 1, len(lines)):
        line = lines[position]
        if line.lstrip(BLANKS).startswith(_COMMENT) or _is_section(lines, position):
            break
        if _COMMENT_END in line:
            return position
    return None


def _fence_end(lines: Sequence[str], start: int, opening: _Fence) -> int | None:
    for position in range(start + 1, len(lines)):
        if _is_section(lines, position):
            break
        fence = _fence_of(lines[position])
        is_end = fence and fence.closes and fence.mark == opening.mark
        if is_end and fence and fence.length >= opening.length:
            return position
    return None


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
