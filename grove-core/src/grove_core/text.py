"""Cleaning text that came from outside, and quoting it so that it stays data."""

import unicodedata
from typing import Final

_KEPT_CONTROLS: Final = "\n\t"
# Cc controls, Cf formats (bidi marks, zero-width, tag characters), Co private use, Cs surrogates.
_REMOVED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
# Joiners that scripts and emoji need to be read as written.
_KEPT_FORMATS: Final = frozenset({"\u200c", "\u200d"})


def remove_invisible(text: str) -> str:
    r"""Remove control, bidirectional, zero-width and tag characters; line breaks become ``\n``.

    Args:
        text: Text of any origin.

    Returns:
        The text without characters that a reader cannot see.
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    unified = unified.replace("\u2029", "\n").replace("\x85", "\n")
    if unified.isascii() and unified.isprintable():
        return unified
    return "".join(
        character
        for position, character in enumerate(unified)
        if character in _KEPT_CONTROLS
        or _joins(unified, position)
        or unicodedata.category(character) not in _REMOVED_CATEGORIES
    )


def _joins(text: str, position: int) -> bool:
    """A joiner counts as visible only between two visible characters that are not ASCII."""
    if text[position] not in _KEPT_FORMATS or not 0 < position < len(text) - 1:
        return False
    return not (text[position - 1].isascii() or text[position + 1].isascii())


def one_line(text: str) -> str:
    """Fold every run of white space into one blank.

    Args:
        text: Text of any number of lines.

    Returns:
        One line without blanks at its ends.
    """
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Cut a text to a number of code points, with an ellipsis where something was cut.

    Args:
        text: The text.
        limit: The most code points to keep, at least one.

    Returns:
        At most ``limit`` code points.
    """
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
