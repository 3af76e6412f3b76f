"""Moving learnings between one file for all and one file each."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from grove_backend_markdown.conflicts import split_sides
from grove_backend_markdown.document import (
    Block,
    Document,
    Lines,
    join_entries,
    put_together,
    take_apart,
)
from grove_backend_markdown.format import file_header
from grove_backend_markdown.places import file_of, folder_of, is_spread
from grove_backend_markdown.store import read_whole
from grove_core import (
    Area,
    BackendContext,
    BackendError,
    StorageError,
    append_text,
    confined,
    edit_text,
    read_text,
)


def relocate(context: BackendContext, *, dry_run: bool) -> Sequence[str]:
    """Bring all learnings of a project into the layout of the context."""
    folder = folder_of(context)
    if folder is None:
        return ()
    file = file_of(context)
    try:
        confined(folder, context.root)
        confined(file, context.root)
        if is_spread(context):
            return _spread(file, folder, context.root, dry_run=dry_run)
        return _gather(file, folder, context.root, dry_run=dry_run)
    except (StorageError, OSError) as error:
        raise BackendError(str(error)) from error


def _spread(file: Path, folder: Path, root: Path, *, dry_run: bool) -> Sequence[str]:
    blocks = _read(file).blocks
    for key, block in {} if dry_run else {**blocks}.items():
        _join(folder / f"{key}.md", "", [block], root)
    if blocks and not dry_run:
        edit_text(file, partial(_without, gone=blocks), inside=root)
    return [f"{key}: {file.name} -> {folder.name}/{key}.md" for key in blocks]


def _gather(file: Path, folder: Path, root: Path, *, dry_run: bool) -> Sequence[str]:
    documents = {path: _read(path) for path in sorted(folder.glob("*.md"))}
    found = [block for document in documents.values() for block in document.blocks.values()]
    found.sort(key=lambda block: (block.learning.timestamp, block.learning.id))
    if found and not dry_run:
        _join(file, file_header(Area.PROJECT), found, root)
        for path, document in documents.items():
            edit_text(path, partial(_without, gone=document.blocks), inside=root)
            _remove_empty(path)
    return [
        f"{key}: {folder.name}/{path.name} -> {file.name}"
        for path, document in documents.items()
        for key in document.blocks
    ]


def _read(path: Path) -> Document:
    """Take a file apart that is not spoilt."""
    text = read_whole(path)
    document, sides = take_apart(text), split_sides(text, text.split("\n"))
    if sides.markers or take_apart(_without(text, document.blocks)).blocks:
        raise BackendError(
            f"{path} holds conflict markers, or entries twice: grove maintain repair; nothing was"
            " moved out of it"
        )
    return document


def _without(text: str, gone: dict[str, Block]) -> str:
    """Take entries out, unless they have changed meanwhile; everything else stays as it is."""
    document = take_apart(text)
    lines = list(document.head)
    for key, block in document.blocks.items():
        is_gone = key in gone and gone[key].lines == block.lines
        after = block.after
        if is_gone and lines and not lines[-1].strip():
            # One of the blank lines around the entry goes with it.
            after = after[1:] if after and not after[0].strip() else after
        lines += after if is_gone else (*block.lines, *after)
    while lines and not lines[-1].strip():
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def _join(path: Path, header: str, blocks: Sequence[Block], root: Path) -> None:
    """Write entries into a file; those that are there already are merged with it."""
    new = [block._replace(after=()) for block in blocks]

    def addition(text: str) -> str:
        known = take_apart(text).blocks
        missing = [one for one in new if _joined(known, one) is None]
        if not missing:
            return ""
        start = text or header
        body = put_together((), missing, "")
        joint = "\n" if start and not start.endswith("\n\n") else ""
        return f"{'' if text else header}{joint}{body}"

    def merged(text: str) -> str:
        document = take_apart(text)
        blocks = dict(document.blocks)
        for one in new:
            if joined := _joined(blocks, one):
                known = blocks[one.learning.id]
                blocks[one.learning.id] = known._replace(lines=joined)
        if blocks == document.blocks:
            return text
        return put_together(document.head, blocks.values(), "")

    append_text(path, addition, inside=root)
    edit_text(path, merged, inside=root)


def _joined(known: dict[str, Block], block: Block) -> Lines | None:
    """Return what an entry says that is there already in what differs by its status at most."""
    there = known.get(block.learning.id)
    return None if there is None else join_entries(there, block)


def _remove_empty(path: Path) -> None:
    """Remove a file that holds nothing any more, and the folder with the last one."""
    if not (read_text(path) or "").strip():
        path.unlink(missing_ok=True)
        with suppress(OSError):  # there are more of them
            path.parent.rmdir()
