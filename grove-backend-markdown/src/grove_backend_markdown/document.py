"""A file of learnings taken apart into entries and what stands between, put together, merged."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from grove_backend_markdown.lines import is_blank
from grove_backend_markdown.reader import read_entries
from grove_core import Learning, LearningStatus

Lines = tuple[str, ...]

_STRENGTH: Final = (LearningStatus.ACTIVE, LearningStatus.ARCHIVED, LearningStatus.SUPERSEDED)


class Block(NamedTuple):
    """An entry and the prose behind it."""

    learning: Learning
    lines: Lines
    status: int | None
    is_old: bool
    after: Lines


class Document(NamedTuple):
    """A file."""

    head: Lines
    blocks: dict[str, Block]


def take_apart(text: str) -> Document:
    """Take a file apart; a byte order mark would hide an entry once it stands elsewhere."""
    text = text.removeprefix("\ufeff")
    lines = text.removesuffix("\n").split("\n") if text else []
    entries = read_entries(text).entries
    starts = [*(entry.first_line - 1 for entry in entries), len(lines)]
    blocks: dict[str, Block] = {}
    for entry, following in zip(entries, starts[1:], strict=True):
        start = entry.first_line - 1
        end = min(entry.last_line, following)
        status = None if entry.status_line is None else entry.status_line - 1 - start
        blocks[entry.learning.id] = Block(
            learning=entry.learning,
            lines=tuple(lines[start:end]),
            status=status,
            is_old=entry.is_old,
            after=tuple(lines[end:following]),
        )
    return Document(tuple(lines[: starts[0]]), blocks)


def put_together(head: Lines, blocks: Iterable[Block], line_end: str) -> str:
    r"""Write a file."""
    lines = list(head)
    for block in blocks:
        if lines and not is_blank(lines[-1]):
            lines.append(line_end)
        lines += [*block.lines, *block.after]
    while lines and is_blank(lines[-1]):
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def merge_sides(ours: str, theirs: str) -> tuple[str, list[str], list[str]]:
    """Put two branches' versions together.

    What one side alone has is there, and so is prose. Of two statuses the stronger counts, and
    what is dropped for it is named. An entry that both have changed otherwise stands there twice,
    and is named.
    """
    mine, other = take_apart(ours), take_apart(theirs)
    dropped: list[str] = []
    twice: list[str] = []
    blocks: list[Block] = []
    for key in _order(mine, other):
        one, two = mine.blocks.get(key), other.blocks.get(key)
        if one is None or two is None:
            blocks += filter(None, (one, two))
        elif joined := join_entries(one, two):
            blocks.append(one._replace(lines=joined, after=_both(one.after, two.after)))
            left = (two if joined == one.lines else one).lines
            dropped += [f"{key}: dropped is {line!r}" for line in left if line not in joined]
        else:
            twice.append(key)
            blocks += [one._replace(after=()), two._replace(after=_both(one.after, two.after))]
    line_end = "\r" if "\r\n" in ours else ""
    return put_together(_both(mine.head, other.head), blocks, line_end), dropped, twice


def join_entries(first: Block, second: Block) -> Lines | None:
    """Make one of two entries of one id that differ in nothing but their status."""
    if _but_status(first) != _but_status(second):
        return None
    return max(first, second, key=lambda one: _STRENGTH.index(one.learning.status)).lines


def _but_status(block: Block) -> Lines:
    return tuple(line for place, line in enumerate(block.lines) if place != block.status)


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
