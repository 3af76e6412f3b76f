"""What git's merge driver does with learnings: an entry-wise three-way merge by id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge as merge_sorted
from typing import Final

from grove_backend_markdown.document import (
    Document,
    has_markers,
    put_together,
    take_apart,
    without_blank_ends,
)
from grove_backend_markdown.merging_entry import merge_entry
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.three_way import Lines, merge_lines, pick
from grove_core import BackendError

_HEAD: Final = ""


def merge_texts(base: str, ours: str, theirs: str) -> str:
    """Merge two versions of a file of learnings."""
    picked = pick(base, ours, theirs)
    if picked is not None:
        return picked[0]
    if any(has_markers(text) for text in (base, ours, theirs)):
        raise BackendError("a side holds conflict markers: grove maintain repair")
    ends = _line_end(base, ours, theirs)
    if ends is not None:
        base, ours, theirs = (text.replace("\r\n", "\n") for text in (base, ours, theirs))
    added = "\r" if {_style(ours), _style(theirs)} == {"\r\n"} else ""
    merged = _merge(base, ours, theirs, added)
    return merged.replace("\n", "\r\n") if ends == "\r\n" else merged


def _line_end(base: str, ours: str, theirs: str) -> str | None:
    """Return how lines are to end where the sides differ in that; ``None`` where they do not."""
    styles = [_style(text) for text in (base, ours, theirs) if text]
    if "mixed" in styles or len(set(styles)) <= 1:
        return None
    picked = pick(*styles) if base and ours and theirs else None
    return picked[0] if picked else "\n"


def _style(text: str) -> str:
    crlf, lines = text.count("\r\n"), text.count("\n")
    if crlf and crlf == lines:
        return "\r\n"
    return "mixed" if crlf else "\n"


def _merge(base: str, ours: str, theirs: str, line_end: str) -> str:
    documents = take_apart(base), take_apart(ours), take_apart(theirs)
    entries = _entries(*documents)
    order = _order(*documents, entries)
    after = _prose(*documents, entries)
    blocks = []
    for key in order:
        side = documents[1].blocks.get(key) or documents[2].blocks[key]
        blocks.append(side._replace(lines=entries[key], after=after[key]))
    merged = put_together(after[_HEAD], blocks, line_end)
    _verify(merged, entries)
    return merged


def _entries(base: Document, ours: Document, theirs: Document) -> dict[str, Lines]:
    """Decide which entries there are, and what each says."""
    entries: dict[str, Lines] = {}
    for key in dict.fromkeys([*ours.blocks, *theirs.blocks]):
        before, mine, other = (side.blocks.get(key) for side in (base, ours, theirs))
        if mine is not None and other is not None:
            lines = merge_entry(before, mine, other)
            if lines is None:
                raise BackendError(f"both sides have changed {key} in ways that cannot be joined")
            entries[key] = lines
            continue
        present = mine or other
        if present is not None and (before is None or before.lines != present.lines):
            entries[key] = present.lines
    return entries


def _order(
    base: Document, ours: Document, theirs: Document, entries: Mapping[str, Lines]
) -> list[str]:
    """Order the entries: as both sides have them, and additions at one place by time."""
    our_ids = [key for key in ours.blocks if key in entries]
    their_ids = [key for key in theirs.blocks if key in entries]
    shared = set(our_ids) & set(their_ids)
    skeleton = _skeleton(
        [key for key in base.blocks if key in shared],
        [key for key in our_ids if key in shared],
        [key for key in their_ids if key in shared],
    )
    our_gaps, their_gaps = _gaps(our_ids, shared), _gaps(their_ids, shared)

    def age(key: str) -> tuple[float, str]:
        block = ours.blocks.get(key) or theirs.blocks[key]
        return block.learning.timestamp.timestamp(), key

    order = []
    for anchor in (_HEAD, *skeleton):
        order += [anchor] if anchor else []
        order += merge_sorted(our_gaps.get(anchor, ()), their_gaps.get(anchor, ()), key=age)
    return order


def _skeleton(base: Sequence[str], ours: list[str], theirs: list[str]) -> list[str]:
    """Choose the order of what both sides have: that of the side which has changed it."""
    known = set(base)
    we_moved = [key for key in ours if key in known] != base
    they_moved = [key for key in theirs if key in known] != base
    if we_moved != they_moved:
        return ours if we_moved else theirs
    return min(ours, theirs)


def _gaps(ids: Iterable[str], shared: set[str]) -> dict[str, list[str]]:
    gaps: dict[str, list[str]] = {}
    anchor = _HEAD
    for key in ids:
        if key in shared:
            anchor = key
        else:
            gaps.setdefault(anchor, []).append(key)
    return gaps


def _prose(
    base: Document, ours: Document, theirs: Document, entries: Mapping[str, Lines]
) -> dict[str, Lines]:
    """Merge what stands between entries, by the entry that it follows."""
    after = {_HEAD: _merge_prose(base.head, ours.head, theirs.head)}
    for key in entries:
        before, mine, other = (side.blocks.get(key) for side in (base, ours, theirs))
        if mine is not None and other is not None:
            after[key] = _merge_prose(before.after if before else (), mine.after, other.after)
        else:
            present = mine or other
            after[key] = present.after if present else ()
    saved = [*_orphaned(base, ours, after), *_orphaned(base, theirs, after)]
    for anchor, words in sorted(saved):
        after[anchor] = (*after[anchor], "", *words, "")
    return after


def _merge_prose(base: Lines, ours: Lines, theirs: Lines) -> Lines:
    words = [without_blank_ends(lines) for lines in (base, ours, theirs)]
    if words[1] == words[2]:
        return max(ours, theirs, key=lambda lines: (len(lines), lines))
    if words[1] == words[0]:
        return theirs
    if words[2] == words[0]:
        return ours
    merged = merge_lines(*words)
    return ("", *merged, "") if merged else ("",)


def _orphaned(
    base: Document, side: Document, after: Mapping[str, Lines]
) -> Iterator[tuple[str, Lines]]:
    """Find new prose behind an entry that is gone; it goes behind the entry before."""
    anchor = _HEAD
    for key, block in side.blocks.items():
        if key in after:
            anchor = key
            continue
        words = without_blank_ends(block.after)
        known = base.blocks.get(key)
        if words and (known is None or without_blank_ends(known.after) != words):
            yield anchor, words


def _verify(merged: str, entries: Mapping[str, Lines]) -> None:
    """Make sure that every entry reads in its place as it does by itself."""
    found = {entry.learning.id: entry.learning for entry in read_entries(merged).entries}
    for key, lines in entries.items():
        alone = read_entries("\n".join([*lines, ""])).find(key)
        if alone is None or found.pop(key, None) != alone.learning:
            raise BackendError(f"{key} would not be read as before")
    if found:
        raise BackendError(f"{next(iter(found))} would appear from nowhere")
