"""Mending what merges have done to files of learnings, as far as the text allows."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from grove_backend_markdown.conflicts import conflict_versions, split_sides
from grove_backend_markdown.document import put_together, take_apart
from grove_backend_markdown.doubts import doubts_of_merge, part_headings
from grove_backend_markdown.merging import merge_texts
from grove_backend_markdown.merging_entry import join_entries
from grove_backend_markdown.places import area_of, file_of, folder_of
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.untangling import untangle
from grove_core import BackendContext, BackendError, Repair, StorageError, confined, read_text

_ENDING: Final = ".md"


def repairs(context: BackendContext) -> Sequence[Repair]:
    """Look for files that merges have spoilt."""
    try:
        found = [repair_of(path, read_text(path) or "") for path in _files(context)]
    except (StorageError, OSError) as error:
        raise BackendError(str(error)) from error
    return [one for one in found if one.mended or one.left]


def _files(context: BackendContext) -> Iterator[Path]:
    confined(file_of(context), area_of(context))
    yield file_of(context)
    folder = folder_of(context)
    if folder is not None and folder.is_dir():
        confined(folder, context.root)
        yield from sorted(path for path in folder.iterdir() if path.suffix == _ENDING)


def repair_of(path: Path, text: str) -> Repair:
    """Look what merges have done to a file."""
    mended: list[str] = []
    left: list[str] = []
    doubts: list[str] = []
    after = _without_markers(text, mended, left, doubts)
    if not left:
        after = untangle(after, mended, left)
        after = part_headings(after, doubts)
        after = _without_repetitions(after, mended, left)
    if after == text:
        mended = []
    left += doubts
    left += [f"line {one.line}: {one.message}" for one in read_entries(after).problems]
    return Repair(path=path, before=text, after=after, mended=tuple(mended), left=tuple(left))


def _without_markers(text: str, mended: list[str], left: list[str], doubts: list[str]) -> str:
    """Merge the two sides that conflict markers show."""
    markers = split_sides(text, text.split("\n")).markers
    if not markers:
        return text
    first = markers[0] + 1
    versions = conflict_versions(text)
    if versions is None:
        left.append(f"line {first}: conflict markers that do not fit together")
        return text
    try:
        base, ours, theirs = (untangle(version, [], []) for version in versions)
        merged = merge_texts(base, ours, theirs)
    except BackendError as error:
        left.append(f"line {first}: conflict markers: {error}")
        return text
    mended.append(f"line {first}: both sides of git's conflict are merged")
    doubts += doubts_of_merge(text, (ours, theirs), merged)
    return merged


def _without_repetitions(text: str, mended: list[str], left: list[str]) -> str:
    """Merge entries that stand there twice."""
    document = take_apart(text)
    blocks = {key: block._replace(after=()) for key, block in document.blocks.items()}
    again = False
    after = {}
    for key, block in document.blocks.items():
        rest = take_apart("".join(f"{line}\n" for line in block.after))
        after[key] = block.after
        known = [one for one in rest.blocks if one in blocks]
        if not known or len(known) < len(rest.blocks):
            continue
        again = True
        after[key] = (*rest.head, *(line for one in rest.blocks.values() for line in one.after))
        for one in known:
            lines = join_entries(blocks[one], rest.blocks[one])
            joined = take_apart("".join(f"{line}\n" for line in lines or ())).blocks.get(one)
            if joined is None:
                left.append(f"{one} stands there twice, in two layouts: keep one of them")
                return text
            blocks[one] = joined._replace(after=())
            mended.append(f"{one}: stood there twice, the two are merged")
    if not again:
        return text
    whole = [block._replace(after=after[key]) for key, block in blocks.items()]
    merged = put_together(document.head, whole, "")
    if {entry.learning.id for entry in read_entries(merged).entries} != blocks.keys():
        left.append("entries that stand there twice could not be told apart")
        return text
    return merged
