"""Brace expansion: ``{a,b}`` and ``{1..3}``."""

import re
from itertools import pairwise
from typing import Final

from grove_tickets.shell.syntax import Part, Text
from grove_tickets.shell.words import UNKNOWN

_MAX_WORDS: Final = 100
_MAX_ATOMS: Final = 100
_SIGN: Final = re.compile(r"([{},])")
_RANGE: Final = re.compile(
    r"(?:(-?[0-9]{1,6})\.\.(-?[0-9]{1,6})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?[0-9]{1,4}))?"
)
_OPEN: Final = Text("{")
_CLOSE: Final = Text("}")
_COMMA: Final = Text(",")


class _TooManyError(Exception):
    """There are more words than anybody types."""


def expand_braces(parts: tuple[Part, ...]) -> list[list[Part]]:
    """Expand the braces of a word."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in parts):
        return [list(parts)]
    try:
        atoms = _atoms(parts)
        return _expanded(atoms, _pairs(atoms), 0, len(atoms))
    except _TooManyError:
        return [[Text(UNKNOWN)]]


def _atoms(parts: tuple[Part, ...]) -> list[Part]:
    """Return every sign of brace expansion a part of its own."""
    atoms: list[Part] = []
    for part in parts:
        if isinstance(part, Text) and not part.quoted:
            if sum(map(part.text.count, "{,}")) > _MAX_ATOMS:
                raise _TooManyError
            atoms += [Text(text) for text in _SIGN.split(part.text) if text]
        else:
            atoms.append(part)
    return atoms


def _pairs(atoms: list[Part]) -> dict[int, list[int]]:
    """Find the pairs of braces: by where each opens, where it opens, has commas and closes."""
    if len(atoms) > _MAX_ATOMS:
        raise _TooManyError
    pairs: dict[int, list[int]] = {}
    opened: list[list[int]] = []
    for position, atom in enumerate(atoms):
        if atom == _OPEN:
            opened.append([position])
        elif atom == _COMMA and opened:
            opened[-1].append(position)
        elif atom == _CLOSE and opened:
            marks = opened.pop()
            pairs[marks[0]] = [*marks, position]
    return pairs


def _expanded(
    atoms: list[Part], pairs: dict[int, list[int]], start: int, end: int
) -> list[list[Part]]:
    words: list[list[Part]] = [[]]
    position = start
    while position < end:
        marks = pairs.get(position)
        choices = None if marks is None else _choices(atoms, pairs, marks)
        if marks is None or choices is None:
            choices, position = [[atoms[position]]], position + 1
        else:
            position = marks[-1] + 1
        if len(words) * len(choices) > _MAX_WORDS:
            raise _TooManyError
        words = [[*word, *choice] for word in words for choice in choices]
    return words


def _choices(
    atoms: list[Part], pairs: dict[int, list[int]], marks: list[int]
) -> list[list[Part]] | None:
    """Return what a pair of braces stands for; ``None`` when it is text."""
    first, last = marks[0], marks[-1]
    if len(marks) > 2:  # noqa: PLR2004 - it has a comma
        return [
            choice
            for before, after in pairwise(marks)
            for choice in _expanded(atoms, pairs, before + 1, after)
        ]
    inner = atoms[first + 1] if last == first + 2 else None
    match = _RANGE.fullmatch(inner.text) if isinstance(inner, Text) and not inner.quoted else None
    return None if match is None else [[Text(text)] for text in _range(match)]


def _range(match: re.Match[str]) -> list[str]:
    low, high, first, last, step = match.groups()
    start, end = (int(low), int(high)) if low else (ord(first), ord(last))
    stride = abs(int(step or 1)) or 1
    numbers = range(start, end + 1, stride) if start <= end else range(start, end - 1, -stride)
    if len(numbers) > _MAX_WORDS:
        raise _TooManyError
    if not low:
        return [chr(number) for number in numbers]
    padded = any(len(text.lstrip("-")) > 1 and text.lstrip("-")[0] == "0" for text in (low, high))
    width = max(len(low), len(high)) if padded else 0
    return [f"{number:0{width}}" for number in numbers]
