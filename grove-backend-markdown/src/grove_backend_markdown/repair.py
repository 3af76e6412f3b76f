"""Finding what merges have done to files, and telling how to fix it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.document import (
    Lines,
    join_entries,
    merge_sides,
    put_together,
    take_apart,
)
from grove_backend_markdown.places import area_of, file_of, folder_of
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.store import read_whole
from grove_core import BackendContext, BackendError, Repair, StorageError, confined


def repairs(context: BackendContext) -> Sequence[Repair]:
    """Look for files that merges have spoilt."""
    try:
        found = [repair_of(path, read_whole(path)) for path in _files(context)]
    except (StorageError, OSError) as error:
        raise BackendError(str(error)) from error
    return [one for one in found if one.repaired or one.left]


def _files(context: BackendContext) -> Iterator[Path]:
    confined(file_of(context), area_of(context))
    yield file_of(context)
    folder = folder_of(context)
    if folder is not None:
        confined(folder, context.root)
        yield from sorted(folder.glob("*.md"))


def repair_of(path: Path, text: str) -> Repair:
    """Look what merges have done to a file."""
    repaired: list[str] = []
    left: list[str] = []
    after = _without_markers(text, repaired, left)
    if not left:
        after = _without_repetitions(after, repaired)
    if after == text:
        repaired = []
    left += [f"line {one.line}: {one.message}" for one in read_entries(after).problems]
    return Repair(path=path, before=text, after=after, repaired=tuple(repaired), left=tuple(left))


def _without_markers(text: str, repaired: list[str], left: list[str]) -> str:
    """Write both sides that conflict markers show."""
    lines = text.split("\n")
    sides = split_sides(text, lines)
    if not sides.markers:
        return text
    first = sides.markers[0] + 1
    if not sides.fit:
        left.append(f"line {first}: conflict markers that do not fit together")
        return text
    ours, theirs = ("\n".join(lines[at] for at in one) for one in (sides.ours, sides.theirs))
    merged, dropped, twice = merge_sides(ours, theirs)
    repaired += [f"line {first}: both sides of git's conflict are written", *dropped]
    left += [f"{key}: both branches have changed it, keep one of the two entries" for key in twice]
    return merged


def _without_repetitions(text: str, repaired: list[str]) -> str:
    """Make one of entries that stand there twice and differ in their status at most."""
    document = take_apart(text)
    blocks = dict(document.blocks)
    for key, block in document.blocks.items():
        rest = take_apart("".join(f"{line}\n" for line in block.after))
        after: Lines = rest.head
        for again, other in rest.blocks.items():
            joined = join_entries(blocks[again], other) if again in blocks else None
            if joined is None:
                after = (*after, *other.lines, *other.after)
                continue
            blocks[again] = blocks[again]._replace(lines=joined)
            after = (*after, *other.after)
            repaired.append(f"{again}: stood there twice")
        blocks[key] = blocks[key]._replace(after=after)
    return put_together(document.head, blocks.values(), "") if repaired else text
