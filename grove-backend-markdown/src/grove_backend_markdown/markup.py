"""Escaping, so that any text fits into one line of an entry and reads as markdown."""

import re
from collections.abc import Iterable
from typing import Final

BLANKS: Final = " \t\r"

_LINE: Final = r"[\\|]|&(?=#)|[\x00-\x1f\x7f-\x9f\u2028\u2029]|\A | \Z"
_IN_LINE: Final = re.compile(_LINE)
_IN_ITEM: Final = re.compile(_LINE + "|,")
_ESCAPED: Final = re.compile(r"\\([\\|,#&])|&#([0-9]{1,7});")
_LIST_PARTS: Final = re.compile(r"(?:\\.|[^\\,]|\\\Z)+", re.DOTALL)
_ORIGIN_PARTS: Final = re.compile(r"(?:\\.|[^\\|]|\\\Z)+", re.DOTALL)
_LAST_CODE_POINT: Final = 0x10FFFF


def escape(text: str) -> str:
    """Make a text fit into one line."""
    return _IN_LINE.sub(_escaped, text)


def unescape(text: str) -> str:
    """Turn what ``escape`` made, or a person wrote, back into the text."""
    if "\\" not in text and "&#" not in text:
        return text
    return _ESCAPED.sub(_plain, text)


def join_list(items: Iterable[str]) -> str:
    """Write a list in one line."""
    return ", ".join(_IN_ITEM.sub(_escaped, item) for item in items)


def split_list(text: str) -> tuple[str, ...]:
    """Read a list of items with commas between them."""
    if not text:
        return ()
    parts = _LIST_PARTS.findall(text) if "\\" in text else text.split(",")
    items = [item for part in parts if (item := part.strip(BLANKS))]
    return tuple(map(unescape, items) if "&#" in text or "\\" in text else items)


def split_origin(text: str) -> list[str]:
    """Read parts with ``|`` between them."""
    return [part for found in _ORIGIN_PARTS.findall(text) if (part := found.strip(BLANKS))]


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    return f"\\{character}" if character in "\\|,&" else f"&#{ord(character)};"


def _plain(match: re.Match[str]) -> str:
    if match[1] is not None:
        return match[1]
    number = int(match[2])
    is_character = number <= _LAST_CODE_POINT and not 0xD800 <= number <= 0xDFFF  # noqa: PLR2004 - surrogates
    return chr(number) if is_character else match[0]
