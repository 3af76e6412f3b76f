"""Escaping, so that any text fits where an entry puts it and is read back as it was."""

import re
from typing import Final

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
