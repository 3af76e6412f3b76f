"""Finds quotes that are never closed, which the grammar underneath often repairs in silence."""

import re
from typing import Final

_PLAIN: Final = re.compile(rb"[^\\'\"`$(){}#]+")
_SINGLE: Final = re.compile(rb"'[^']*'")
_ANSI_C: Final = re.compile(rb"\$'(?:[^'\\]|\\.)*'", re.DOTALL)
_COMMENT: Final = re.compile(rb"#[^\n]*")
_COMMENT_IN_BACKQUOTES: Final = re.compile(rb"#[^\n`]*")
_QUOTED_BRACE: Final = b'"${'
"""A brace opened between double quotes: a single quote in it is no quote."""
_CLOSERS: Final = {
    _QUOTED_BRACE: b"}",
    b"(": b")",
    b"$(": b")",
    b"${": b"}",
    b"`": b"`",
    b'"': b'"',
}


def unterminated_quote(source: bytes) -> int | None:
    """Find the first quote, substitution or parenthesis that is never closed.

    Args:
        source: Shell text without here-documents.

    Returns:
        Where it opens, or ``None`` when all are closed.
    """
    opened: list[tuple[bytes, int]] = []
    position = 0
    while position < len(source):
        inside = opened[-1][0] if opened else b""
        end = _skip(source, position, inside)
        if end is None:
            return min([position, *(start for _, start in opened)])
        if end == position:
            end = _step(source, position, inside, opened)
        position = end
    return min((start for _, start in opened), default=None)


def _skip(source: bytes, position: int, inside: bytes) -> int | None:
    """Skip text in which nothing opens or closes; ``None`` when its own end is missing."""
    sign = source[position : position + 1]
    if sign == b"\\":
        return position + 2
    plain = _PLAIN.match(source, position)
    if plain is not None:
        return plain.end()
    if inside in {b'"', _QUOTED_BRACE}:
        return position
    if sign == b"#":
        before = source[position - 1 : position]
        pattern = _COMMENT_IN_BACKQUOTES if inside == b"`" else _COMMENT
        comment = pattern.match(source, position) if before in b" \t\n;&|()" else None
        return position + 1 if comment is None or inside == b"${" else comment.end()
    for opener, pattern in ((b"'", _SINGLE), (b"$'", _ANSI_C)):
        if source.startswith(opener, position):
            match = pattern.match(source, position)
            return None if match is None else match.end()
    return position


def _step(source: bytes, position: int, inside: bytes, opened: list[tuple[bytes, int]]) -> int:
    """Open or close something at a position, and go past it."""
    sign = source[position : position + 1]
    pair = source[position : position + 2]
    if inside and sign == _CLOSERS[inside]:
        opened.pop()
        return position + 1
    quoted = inside in {b'"', _QUOTED_BRACE}
    for opener in (pair, sign):
        if opener in _CLOSERS and not (quoted and opener == b"("):
            opened.append((_QUOTED_BRACE if quoted and opener == b"${" else opener, position))
            return position + len(opener)
    return position + 1
