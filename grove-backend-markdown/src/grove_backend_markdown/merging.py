"""Putting two versions of a file of learnings together, entry by entry and by id."""

from grove_backend_markdown.document import Block, Document, Lines, put_together, take_apart
from grove_core import LearningStatus

_STRENGTH = (LearningStatus.ACTIVE, LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED)


def merge_sides(base: str, ours: str, theirs: str) -> tuple[str, list[str]]:
    """Put two branches' versions together.

    What one side has added is there, and so is prose. Of two statuses the stronger counts. An entry
    that both have changed otherwise stands there twice, and is named.
    """
    before, mine, other = (take_apart(text) for text in (base, ours, theirs))
    twice: list[str] = []
    blocks: list[Block] = []
    for key in _order(mine, other):
        one, two = mine.blocks.get(key), other.blocks.get(key)
        if one is None or two is None:
            blocks += [block for block in (one, two) if block and not _is_known(before, block)]
        elif joined := join_entries(one, two):
            blocks.append(one._replace(lines=joined, after=_both(one.after, two.after)))
        else:
            twice.append(key)
            blocks += [one._replace(after=()), two]
    line_end = "\r" if "\r\n" in ours else ""
    return put_together(_both(mine.head, other.head), blocks, line_end), twice


def join_entries(first: Block, second: Block) -> Lines | None:
    """Make one of two entries of one id that differ in nothing but their status."""
    if _but_status(first) != _but_status(second):
        return None
    return max(first, second, key=lambda one: _STRENGTH.index(one.learning.status)).lines


def _but_status(block: Block) -> Lines:
    return tuple(line for place, line in enumerate(block.lines) if place != block.status)


def _is_known(before: Document, block: Block) -> bool:
    """Return whether the other side has deleted an entry that this one has not touched."""
    known = before.blocks.get(block.learning.id)
    return known is not None and known.lines == block.lines


def _order(ours: Document, theirs: Document) -> list[str]:
    """Order entries as ours has them, and further ones before what they stand before in theirs."""
    order, place = list(ours.blocks), len(ours.blocks)
    for key in reversed(theirs.blocks):
        if key in ours.blocks:
            place = order.index(key)
        else:
            order.insert(place, key)
    return order


def _both(ours: Lines, theirs: Lines) -> Lines:
    return (*ours, *(line for line in theirs if line.strip() and line not in ours))
