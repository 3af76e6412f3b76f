"""Secrets behind an encoding: escapes of Markdown, URLs and HTML, wide letters, base64."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote

_ESCAPE: Final = re.compile(r"\\(?P<marked>[_*~.-])|(?P<percent>%[2-7][0-9A-Fa-f])|&#x?\w{1,4};")
_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:\n[A-Za-z0-9+/_-]{8,})*={0,2}"
)
_TO_STANDARD: Final = str.maketrans("-_", "+/", "\n=")
_CONTROLS: Final = frozenset("\t\n\r")


def without_escapes(text: str) -> tuple[str, list[int]] | None:
    r"""Read a text as its reader does: ``ghp\_``, ``ghp%5F``, ``ghp&#95;`` and wide letters."""
    if text.isascii() and not _ESCAPE.search(text):
        return None
    read: list[str] = []
    places: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        read.extend(map(_narrow, text[end : match.start()]))
        places.extend(range(end, match.start()))
        end = match.end()
        plain = match["marked"] or unquote(match["percent"] or "") or unescape(match[0])
        read.extend(plain)
        places.extend([match.start()] * len(plain))
    read.extend(map(_narrow, text[end:]))
    places.extend(range(end, len(text) + 1))
    whole = "".join(read)
    return None if whole == text else (whole, places)


def base64_texts(text: str) -> Iterator[tuple[str, int, int]]:
    """Find what is base64 of plain text."""
    for match in _RUN.finditer(text):
        letters = match[0].translate(_TO_STANDARD)
        # One letter too many, as in a run that was cut, is six bits and no byte.
        letters = letters[: len(letters) - (len(letters) % 4 == 1)]
        try:
            decoded = base64.b64decode(letters + "=" * (-len(letters) % 4)).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if all(character.isprintable() or character in _CONTROLS for character in decoded):
            yield decoded, *match.span()


def _narrow(character: str) -> str:
    """Return the usual form of a character, where it is one character as well."""
    if character.isascii():
        return character
    usual = unicodedata.normalize("NFKC", character)
    return usual if len(usual) == 1 else character
