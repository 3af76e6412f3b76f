"""What backslashes mean between the several quotes of a shell."""

import re
from typing import Final

_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|[uU]([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_LETTERS: Final = dict(zip("ntrabeEfv", "\n\t\r\a\b\x1b\x1b\f\v", strict=True))
_SURROGATES: Final = range(0xD800, 0xE000)
_MAX_CODE: Final = 0x10FFFF


def ansi_c(text: str, unknown: str) -> str:
    r"""Decode what stands between ``$'`` and ``'``."""

    def character(match: re.Match[str]) -> str:
        byte, code, octal, control, letter = match.groups()
        if letter is not None:
            plain = letter in "\\'\"?"
            return _LETTERS.get(letter, letter if plain else "\\" + letter)
        if control is not None:
            return unknown
        number = int(octal, 8) if octal else int(byte or code, 16)
        is_character = 0 < number <= _MAX_CODE and number not in _SURROGATES
        is_ascii = number < 0x80  # noqa: PLR2004 - the end of ASCII
        return chr(number) if is_character and (code or is_ascii) else unknown

    return _ESCAPE.sub(character, text)


def printed_escapes(text: str) -> str:
    """Decode the backslashes of ``printf`` and of ``echo -e`` that agents use."""
    return re.sub(r"\\([nt\\])", lambda match: {"n": "\n", "t": "\t"}.get(match[1], "\\"), text)
