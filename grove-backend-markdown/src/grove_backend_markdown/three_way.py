"""Merging lines of two sides against their common ancestor, with both sides' additions kept."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple, TypeVar

_T = TypeVar("_T")
# Beyond these a change counts as a whole.
_MOST_LINES: Final = 4000
_MOST_PAIRS: Final = 400_000

Lines = tuple[str, ...]


class _Stretch(NamedTuple):
    """Lines of the ancestor that both sides have kept, and where they stand on each side."""

    base: int
    ours: int
    theirs: int
    size: int


def pick(base: _T, ours: _T, theirs: _T) -> tuple[_T] | None:
    """Return which of two values counts, if only one side has changed it or both have alike."""
    if ours in (theirs, base):
        return (theirs,)
    return (ours,) if theirs == base else None


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Lines:
    """Merge lines."""
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
    """Tell where the ancestor's lines stand on a side, as far as that can be told in time."""
    most = min(len(base), len(side))
    start = 0
    while start < most and base[start] == side[start]:
        start += 1
    end = 0
    while end < most - start and base[-1 - end] == side[-1 - end]:
        end += 1
    places = {step: step for step in range(start)}
    places |= {len(base) - step: len(side) - step for step in range(1, end + 1)}
    old, new = base[start : len(base) - end], side[start : len(side) - end]
    if _is_comparable(old, new):
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        for one in blocks:
            places |= {start + one.a + step: start + one.b + step for step in range(one.size)}
    return places


def _is_comparable(base: Sequence[str], side: Sequence[str]) -> bool:
    """Return whether comparing line by line ends soon: repeated lines are what takes it long."""
    if len(base) + len(side) > _MOST_LINES:
        return False
    counts = Counter(base)
    return sum(counts[line] for line in side) <= _MOST_PAIRS


def _changed(base: Lines, ours: Lines, theirs: Lines) -> Lines:
    picked = pick(base, ours, theirs)
    return union(ours, theirs) if picked is None else picked[0]


def union(ours: Lines, theirs: Lines) -> Lines:
    """Put two versions behind each other; what they begin and end with alike stands once."""
    first, second = sorted((ours, theirs))
    return put_behind(first, second)


def put_behind(first: Lines, second: Lines) -> Lines:
    """Put one version behind the other; what they begin and end with alike stands once."""
    start = 0
    while start < len(first) and first[start : start + 1] == second[start : start + 1]:
        start += 1
    end = 0
    most = min(len(first), len(second)) - start
    while end < most and first[-1 - end] == second[-1 - end]:
        end += 1
    tail = first[len(first) - end :]
    return first[: len(first) - end] + second[start : len(second) - end] + tail
