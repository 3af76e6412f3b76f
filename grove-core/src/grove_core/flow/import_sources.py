"""The files that ``grove import`` reads: found, bounded and decoded, and never changed."""

import os
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import files
from grove_core.conflict_markers import is_conflict_marker
from grove_core.errors import GroveError, StorageError
from grove_core.interchange.entries import LeftOut, Origin, left_out
from grove_core.model.value import Value

FILES_MAX: Final = 10_000
BYTES_MAX: Final = 64 * 1024 * 1024
_MEGABYTE: Final = 1024 * 1024
_GROVE: Final = ".grove"
_EVENT_LOG_SUFFIX: Final = ".log"
_OLDER_FILES: Final = ("learnings.md", "personal-learnings.md", "stats.log")
_FOREIGN_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})
_MARKDOWN: Final = ".md"
_CONFLICT_ENDS: Final = (b"<", b">")


class ImportFormat(Enum):
    """What can be imported."""

    OLDER_GROVE = "older-grove"
    SOLUTIONS = "solutions"
    NOTES = "notes"
    JSONL = "jsonl"


@frozen(kw_only=True, eq=False, repr=False)
class Source(Value):
    """A file to import.

    Attributes:
        path: The file.
        origin: Where it is, for the reader of its format.
        text: What it holds; empty when it cannot be read.
        problem: Why it was left out, if it was.
        is_log: Whether it is a log of events.
    """

    path: Path
    origin: Origin
    text: str = ""
    problem: LeftOut | None = None
    is_log: bool = False


def find_sources(form: ImportFormat, path: Path, root: Path) -> Iterator[Source]:
    """Read the files of an import one by one.

    Args:
        form: What they are.
        path: A file, or a folder of such files; it may be a symbolic link, those in it may not.
        root: The project's root.

    Yields:
        The files in the order of their names, also those that cannot be read.

    Raises:
        GroveError: There is nothing of this format, or far too much.
    """
    if not path.is_dir():
        yield _read(form, path, root)
        return
    if form is ImportFormat.JSONL:
        raise GroveError(f"{path} is a folder; give a file of JSON Lines")
    found = _older_files(path) if form is ImportFormat.OLDER_GROVE else _markdown_files(path)
    if not found:
        wanted = ", ".join(_OLDER_FILES) if form is ImportFormat.OLDER_GROVE else "*.md"
        raise GroveError(f"{path} holds nothing to import ({wanted})")
    if len(found) > FILES_MAX:
        raise GroveError(f"{path} holds more than {FILES_MAX} files; import its folders one by one")
    for one in found:
        if one.is_symlink():
            reason = "a symbolic link, which is not followed; import what it leads to by itself"
            yield _unread(one, root, reason)
        else:
            yield _read(form, one, root)


def _older_files(folder: Path) -> Sequence[Path]:
    inner = folder / _GROVE
    base = inner if inner.is_dir() else folder
    return [path for name in _OLDER_FILES if os.path.lexists(path := base / name)]


def _markdown_files(folder: Path) -> Sequence[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in _FOREIGN_FOLDERS
        )
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]  # noqa: PTH114, PTH118 - text, as in the walk
        found += [
            Path(place, name)
            for name in sorted(names) + links
            if name in links or (name.lower().endswith(_MARKDOWN) and not name.startswith("."))
        ]
        if len(found) > FILES_MAX:
            break
    return found


def _read(form: ImportFormat, path: Path, root: Path) -> Source:
    try:
        size = path.stat().st_size
        if size > BYTES_MAX:
            reason = f"it has {size // _MEGABYTE} MB, and {BYTES_MAX // _MEGABYTE} are the limit"
            return _unread(path, root, f"{reason}; divide it")
        content = files.read_bytes(path)
    except (OSError, StorageError) as error:
        return _unread(path, root, str(error))
    if content is None:
        return _unread(path, root, "it is gone")
    is_log = form is ImportFormat.OLDER_GROVE and path.suffix == _EVENT_LOG_SUFFIX
    by_line = is_log or form is ImportFormat.JSONL
    marker = None if by_line else _conflict_in(content)
    if marker is not None:
        reason = "a conflict marker of git; resolve the merge and import the file again"
        return _unread(path, root, reason, line=marker)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return _unread(path, root, "it is not UTF-8; save it as UTF-8", line=line)
    return Source(path=path, origin=_origin(path, root), text=text, is_log=is_log)


def _conflict_in(content: bytes) -> int | None:
    """Find the first marker; a row of seven equals signs alone may be an underline."""
    markers = [
        (number, line[:1])
        for number, line in enumerate(content.split(b"\n"), start=1)
        if line[:1] in _CONFLICT_ENDS and is_conflict_marker(line)
    ]
    has_both = all(any(sign == end for _, sign in markers) for end in _CONFLICT_ENDS)
    return markers[0][0] if has_both else None


def _unread(path: Path, root: Path, reason: str, *, line: int = 1) -> Source:
    problem = left_out(line, path.name, reason, is_fault=True)
    return Source(path=path, origin=_origin(path, root), problem=problem)


def _origin(path: Path, root: Path) -> Origin:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links
    inside = absolute.is_relative_to(root)
    return Origin(
        name=path.name,
        folder=absolute.parent.name,
        path=absolute.relative_to(root).as_posix() if inside else "",
    )
