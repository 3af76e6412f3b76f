"""The words that a shell makes of text: quotes, braces, fields, and what stays unknown."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from attrs import frozen

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN: Final = "\ufffc"
_UNKNOWNS: Final = re.compile(f"{UNKNOWN}+")
_MAX_WORDS: Final = 100
_MAX_ATOMS: Final = 100
_RANGE: Final = re.compile(
    r"(?:(-?[0-9]{1,6})\.\.(-?[0-9]{1,6})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?[0-9]{1,4}))?"
)
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|[uU]([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_LETTERS: Final = dict(zip("ntrabeEfv", "\n\t\r\a\b\x1b\x1b\f\v", strict=True))
_SURROGATES: Final = range(0xD800, 0xE000)
_MAX_CODE: Final = 0x10FFFF


@frozen
class Piece:
    """A part of a word: text, or a node that is expanded when its command runs."""

    text: str = ""
    quoted: bool = False
    node: "Node | None" = None


def is_known(word: str) -> bool:
    """Return whether the text alone says what a word is."""
    return UNKNOWN not in word


def merged(text: str) -> str:
    """Let one sign stand for unknown text that follows unknown text."""
    return _UNKNOWNS.sub(UNKNOWN, text) if UNKNOWN * 2 in text else text


def mark_patterns(text: str) -> str:
    """Mark what the shell would compare with the names of files."""
    marked = text.replace("*", UNKNOWN).replace("?", UNKNOWN)
    end = max(marked.rfind("]"), 0)
    return marked[:end].replace("[", UNKNOWN) + marked[end:]


class Fields:
    """The words that a word of the text becomes, while it is expanded."""

    def __init__(self) -> None:
        self._finished: list[str] = []
        self._current: list[str] | None = None

    def add(self, text: str) -> None:
        """Add text that is not split; even an empty one makes a word."""
        self._current = [*(self._current or ()), text]

    def split(self, text: str) -> None:
        """Add text that is split at blanks and may be a pattern of file names."""
        for piece in re.split(r"([ \t\n]+)", text):
            if piece.strip(" \t\n"):
                self.add(mark_patterns(piece))
            elif piece:
                self.end()

    def end(self) -> None:
        """End the word that is being made, if there is one."""
        if self._current is not None:
            self._finished.append(merged("".join(self._current)))
            self._current = None

    def take(self) -> list[str]:
        """Return the finished words."""
        self.end()
        return self._finished


def unescaped(text: str) -> list[Piece]:
    """Read the backslashes of text that stands outside quotes."""
    pieces = []
    for position, piece in enumerate(re.split(r"\\(.)", text, flags=re.DOTALL)):
        if piece:
            pieces.append(Piece(piece, quoted=position % 2 == 1))
    return pieces


def unescaped_in_quotes(text: str) -> str:
    """Read the backslashes of text between double quotes."""
    return re.sub(r'\\([$`"\\\n])', lambda match: match[1].strip("\n"), text)


def ansi_c(text: str) -> str:
    r"""Decode what stands between ``$'`` and ``'``."""

    def character(match: re.Match[str]) -> str:
        byte, code, octal, control, letter = match.groups()
        if letter is not None:
            return _LETTERS.get(letter, letter if letter in "\\'\"?" else "\\" + letter)
        if control is not None:
            return UNKNOWN
        number = int(octal, 8) if octal else int(byte or code, 16)
        is_character = 0 < number <= _MAX_CODE and number not in _SURROGATES
        is_ascii = number < 0x80  # noqa: PLR2004 - the end of ASCII
        return chr(number) if is_character and (code or is_ascii) else UNKNOWN

    return _ESCAPE.sub(character, text)


class _TooManyError(Exception):
    """There are more words than anybody types."""


def expand_braces(pieces: list[Piece]) -> list[list[Piece]]:
    """Expand ``{a,b}`` and ``{1..3}`` in a word."""
    if not any("{" in piece.text and not piece.quoted for piece in pieces):
        return [pieces]
    atoms: list[Piece] = []
    for piece in pieces:
        is_plain = piece.node is None and not piece.quoted
        atoms += map(Piece, re.findall(r"[{},]|[^{},]+", piece.text)) if is_plain else [piece]
    if len(atoms) > _MAX_ATOMS:
        return [[Piece(UNKNOWN)]]
    try:
        return _expanded(atoms, _pairs(atoms), 0, len(atoms))
    except _TooManyError:
        return [[Piece(UNKNOWN)]]


def _pairs(atoms: list[Piece]) -> dict[int, list[int]]:
    """Find the pairs of braces: by where each opens, where it opens, has commas and closes."""
    pairs: dict[int, list[int]] = {}
    opened: list[list[int]] = []
    for position, atom in enumerate(atoms):
        if atom == Piece("{"):
            opened.append([position])
        elif atom == Piece(",") and opened:
            opened[-1].append(position)
        elif atom == Piece("}") and opened:
            marks = opened.pop()
            pairs[marks[0]] = [*marks, position]
    return pairs


def _expanded(
    atoms: list[Piece], pairs: dict[int, list[int]], start: int, end: int
) -> list[list[Piece]]:
    words: list[list[Piece]] = [[]]
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
    atoms: list[Piece], pairs: dict[int, list[int]], marks: list[int]
) -> list[list[Piece]] | None:
    """Return what a pair of braces stands for; ``None`` when it is text."""
    first, last = marks[0], marks[-1]
    if len(marks) > 2:  # noqa: PLR2004 - it has a comma
        return [
            choice
            for before, after in pairwise(marks)
            for choice in _expanded(atoms, pairs, before + 1, after)
        ]
    inner = atoms[first + 1] if last == first + 2 else Piece(quoted=True)
    match = None if inner.quoted else _RANGE.fullmatch(inner.text)
    return None if match is None else [[Piece(text)] for text in _range(match)]


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
