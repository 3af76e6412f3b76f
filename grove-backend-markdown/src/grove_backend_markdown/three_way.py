"""Merging lines of two sides against their common ancestor, with both sides' additions kept.

Where both sides have changed the same lines, the result holds what either says, in an order that
does not depend on which side is which. There are no conflicts, and so no markers.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")

Lines = tuple[str, ...]


class _Stretch(NamedTuple):
    """Lines of the ancestor that both sides have kept, and where they stand on each side."""

    base: int
    ours: int
    theirs: int
    size: int


def pick(base: _T, ours: _T, theirs: _T) -> tuple[_T] | None:
    """Tell which of two values counts, if only one side has changed it or both have alike.

    Args:
        base: The common ancestor's value.
        ours: One side's.
        theirs: The other side's.

    Returns:
        The value in a tuple of its own; ``None`` when both sides have changed it differently.
    """
    if ours in (theirs, base):
        return (theirs,)
    return (ours,) if theirs == base else None


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Lines:
    """Merge lines.

    Args:
        base: The common ancestor's lines.
        ours: One side's.
        theirs: The other side's.

    Returns:
        The merged lines, the same whichever side is which.
    """
    merged: list[str] = []
    at = _Stretch(0, 0, 0, 0)
    for stretch in _kept_by_both(base, ours, theirs):
        merged += _changed(
            tuple(base[at.base : stretch.base]),
            tuple(ours[at.ours : stretch.ours]),
            tuple(theirs[at.theirs : stretch.theirs]),
        )
        merged += base[stretch.base : stretch.base + stretch.size]
        at = _Stretch(
            stretch.base + stretch.size,
            stretch.ours + stretch.size,
            stretch.theirs + stretch.size,
            0,
        )
    return tuple(merged)


def _kept_by_both(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> Iterator[_Stretch]:
    """Go through what both sides have kept, with an empty stretch at the end."""
    in_ours, in_theirs = _places(base, ours), _places(base, theirs)
    position = 0
    while position < len(base):
        size = 0
        while (
            position + size < len(base)
            and in_ours.get(position + size) == in_ours.get(position, -1) + size
            and in_theirs.get(position + size) == in_theirs.get(position, -1) + size
        ):
            size += 1
        if size:
            yield _Stretch(position, in_ours[position], in_theirs[position], size)
        position += max(size, 1)
    yield _Stretch(len(base), len(ours), len(theirs), 0)


def _places(base: Sequence[str], side: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, side, autojunk=False).get_matching_blocks()
    return {one.a + step: one.b + step for one in blocks for step in range(one.size)}


def _changed(base: Lines, ours: Lines, theirs: Lines) -> Lines:
    picked = pick(base, ours, theirs)
    return union(ours, theirs) if picked is None else picked[0]


def union(ours: Lines, theirs: Lines) -> Lines:
    """Put two versions behind each other; what they begin and end with alike stands once.

    Args:
        ours: One version.
        theirs: The other.

    Returns:
        Both, in an order that does not depend on which is which.
    """
    first, second = sorted((ours, theirs))
    return put_behind(first, second)


def put_behind(first: Lines, second: Lines) -> Lines:
    """Put one version behind the other; what they begin and end with alike stands once.

    Args:
        first: One version.
        second: The other.

    Returns:
        Both.
    """
    start = 0
    while start < len(first) and first[start : start + 1] == second[start : start + 1]:
        start += 1
    end = 0
    most = min(len(first), len(second)) - start
    while end < most and first[-1 - end] == second[-1 - end]:
        end += 1
    tail = first[len(first) - end :]
    return first[: len(first) - end] + second[start : len(second) - end] + tail
