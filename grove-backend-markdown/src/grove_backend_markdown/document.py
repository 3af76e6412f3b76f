"""A file of learnings taken apart into entries and what stands between them, and put together."""

from collections.abc import Iterable
from typing import NamedTuple

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.lines import is_blank
from grove_backend_markdown.reader import read_entries
from grove_core import Learning

Lines = tuple[str, ...]


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


def has_markers(text: str) -> bool:
    """Return whether git's conflict markers stand in a text."""
    return bool(split_sides(text, text.split("\n")).markers)


def take_apart(text: str) -> Document:
    """Take a file apart."""
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


def without_blank_ends(lines: Lines) -> Lines:
    """Leave out blank lines at the beginning and at the end."""
    start, end = 0, len(lines)
    while start < end and is_blank(lines[start]):
        start += 1
    while end > start and is_blank(lines[end - 1]):
        end -= 1
    return lines[start:end]
