"""Cleaning text that came from outside, and quoting it so that it stays data."""

import unicodedata
from typing import Final

_KEPT_CONTROLS: Final = "\n\t"
# Cc controls, Cf formats (bidi marks, zero-width, tag characters), Co private use, Cs surrogates.
_REMOVED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
# Letters and marks that show nothing and could carry hidden text all the same.
_BLANK_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_SUPPLEMENTARY_SELECTORS: Final = range(0xE0100, 0xE01F0)
# Joiners and selectors that scripts and emoji need to be read as written: one at a time, and only
# after a visible character that is not ASCII.
_MODIFIERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
_SELECTORS: Final = range(0xFE00, 0xFE0E)


def remove_invisible(text: str) -> str:
    r"""Remove control, bidirectional, zero-width and tag characters; line breaks become ``\n``.

    Args:
        text: Text of any origin.

    Returns:
        The text without characters that a reader cannot see. Cleaning it again changes nothing.
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    unified = unified.replace("\u2029", "\n").replace("\x85", "\n")
    if unified.isascii() and unified.isprintable():
        return unified
    kept: list[str] = []
    for character in unified:
        if character in _MODIFIERS:
            if kept and not kept[-1].isascii() and kept[-1] not in _MODIFIERS:
                kept.append(character)
        elif _is_visible(character):
            kept.append(character)
    return "".join(kept)


def _is_visible(character: str) -> bool:
    if character in _KEPT_CONTROLS:
        return True
    return (
        unicodedata.category(character) not in _REMOVED_CATEGORIES
        and character not in _BLANK_FILLERS
        and ord(character) not in _SELECTORS
        and ord(character) not in _SUPPLEMENTARY_SELECTORS
    )


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
