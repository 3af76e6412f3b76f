"""Git's conflict markers: a file that holds them is read as its two sides."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from grove_backend_markdown.markup import BLANKS

_OURS: Final = "<<<<<<<"
_BASE: Final = "|||||||"
_MIDDLE: Final = "======="
_THEIRS: Final = ">>>>>>>"
_MARKERS: Final = frozenset({_OURS, _BASE, _MIDDLE, _THEIRS})
_ENDS: Final = frozenset({_OURS, _THEIRS})
_CONFLICTS: Final = re.compile(r"(?:<\|?=>)+")


class Sides(NamedTuple):
    """A file's lines as both branches had them."""

    ours: Sequence[int]
    theirs: Sequence[int]
    markers: Sequence[int]
    """Where they stand; none when there is no conflict."""
    fit: bool
    """Whether the markers are those of whole conflicts, and no others."""


def split_sides(text: str, lines: Sequence[str]) -> Sides:
    """Take both sides of every conflict apart."""
    possible = any(end in text for end in _ENDS)
    if not possible or not any(line[:7] in _ENDS and _marker(line) for line in lines):
        return Sides(range(len(lines)), (), (), fit=True)
    ours: list[int] = []
    theirs: list[int] = []
    markers: list[int] = []
    inside = _THEIRS
    for position, line in enumerate(lines):
        marker = _marker(line)
        if marker is not None:
            markers.append(position)
            # A middle without a beginning is what is left of a conflict: both sides go on.
            inside = marker if marker in {_OURS, _THEIRS} or inside != _THEIRS else _THEIRS
            continue
        if inside in {_OURS, _THEIRS}:
            ours.append(position)
        if inside in {_MIDDLE, _THEIRS}:
            theirs.append(position)
    order = "".join(lines[position][0] for position in markers)
    return Sides(ours, theirs, markers, fit=_CONFLICTS.fullmatch(order) is not None)


def _marker(line: str) -> str | None:
    start = line[:7]
    if start not in _MARKERS:
        return None
    rest = line[7:]
    ends_there = not rest.strip(BLANKS) if start == _MIDDLE else rest[:1] in {"", " ", "\r"}
    return start if ends_there else None
