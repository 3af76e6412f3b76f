"""Cleaning and measuring text that came from outside."""

from typing import Final
from zlib import crc32

_KEPT_CONTROLS: Final = "\n\t"
# Cc controls, Cf formats (bidi marks, zero-width, tag characters), Co private use, Cs surrogates.
_REMOVED_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
# Joiners and selectors that scripts and emoji need to be read as written: at most one selector and
# one joiner, in this order, and only after a visible character that is not ASCII.
_JOINERS: Final = frozenset("\u200c\u200d")
_SELECTORS: Final = frozenset("\ufe0e\ufe0f\u180b\u180c\u180d\u180f")
# What else shows nothing, is of no category above, and could carry hidden text all the same:
# fillers, the grapheme joiner, further variation selectors, code points kept for more of the same.
_HIDDEN: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u2065\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xFFF0, 0xFFF9), *range(0xE0100, 0xE01F0))))
)
_HIDDEN_BLOCK: Final = range(0xE0000, 0xE1000)
_SUSPICIOUS: Final = _HIDDEN | _SELECTORS


def remove_invisible(text: str) -> str:
    r"""Remove control, bidirectional, zero-width and tag characters; line breaks become ``\n``."""
    plain = text.replace("\n", "").replace("\t", "")
    # Almost always there is nothing to remove, which is told without a loop in Python.
    if plain.isprintable() and (plain.isascii() or _SUSPICIOUS.isdisjoint(plain)):
        return text
    unified = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n")
    unified = unified.replace("\u2029", "\n").replace("\x85", "\n")
    kept: list[str] = []
    for character in unified:
        if character in _JOINERS or character in _SELECTORS:
            if kept and _may_follow(character, kept[-1]):
                kept.append(character)
        elif _is_visible(character):
            kept.append(character)
    return "".join(kept)


def _may_follow(modifier: str, before: str) -> bool:
    if before.isascii() or before in _JOINERS:
        return False
    return modifier in _JOINERS or before not in _SELECTORS


def _is_visible(character: str) -> bool:
    from unicodedata import category  # most texts are clean

    if character in _KEPT_CONTROLS:
        return True
    return (
        category(character) not in _REMOVED_CATEGORIES
        and character not in _HIDDEN
        and ord(character) not in _HIDDEN_BLOCK
    )


def escape_invisible(text: str) -> str:
    """Write what a reader cannot see, or would see elsewhere, as its code; line breaks as well."""
    return "".join(
        each
        if each.isprintable() and each not in _SUSPICIOUS
        else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def one_line(text: str) -> str:
    """Fold every run of white space into one blank."""
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Cut a text to a number of code points, with an ellipsis where something was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def clean_line(text: str, limit: int) -> str:
    """Make one visible line of limited length out of a text of any origin."""
    is_plain = text.isascii() and text.isprintable() and "  " not in text and text.strip() == text
    folded = text if is_plain else one_line(remove_invisible(text))
    return shorten(folded, limit)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Say a number of things, such as ``1 session`` or ``2 sessions``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def storable(text: str) -> str:
    """Replace half a surrogate pair, which JSON can hold and no file can."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def fingerprint(content: bytes) -> int:
    """Return 64 bits that stand for a content, the same in every process."""
    return (crc32(content) - 0x80000000) << 32 | crc32(content[::-1])


def key_of(name: str) -> int:
    """Return the fingerprint of a name, such as the id of a learning or of a session."""
    return fingerprint(name.encode("utf-8", "surrogatepass"))
