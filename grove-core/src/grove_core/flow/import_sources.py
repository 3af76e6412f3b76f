"""The files that ``grove import`` reads: found, bounded and decoded, and never changed."""

import codecs
import os
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.conflict_markers import is_conflict_marker
from grove_core.errors import GroveError, StorageError
from grove_core.interchange.entries import LeftOut, Origin, left_out
from grove_core.model.value import Value
from grove_core.storage import files
from grove_core.text import clean_line

FILES_MAX: Final = 10_000
BYTES_MAX: Final = 64 * 1024 * 1024
_LONGEST_PATH: Final = 4_096
_MEGABYTE: Final = 1024 * 1024
_GROVE: Final = ".grove"
_EVENT_LOG_SUFFIX: Final = ".log"
_OLDER_FILES: Final = ("learnings.md", "personal-learnings.md", "stats.log")
_FOREIGN_FOLDERS: Final = frozenset({"node_modules", "__pycache__"})
_MARKDOWN: Final = ".md"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONFLICT_ENDS: Final = (b"<", b">")


class ImportFormat(Enum):
    """What can be imported."""

    OLDER_GROVE = "older-grove"
    SOLUTIONS = "solutions"
    NOTES = "notes"
    JSONL = "jsonl"


@frozen(kw_only=True, eq=False, repr=False)
class Source(Value):
    """A file to import."""

    path: Path
    origin: Origin
    text: str = ""
    problem: LeftOut | None = None
    is_log: bool = False


def find_sources(form: ImportFormat, path: Path, root: Path) -> Iterator[Source]:
    """Read the files of an import one by one."""
    if not path.is_dir():
        yield _read(form, path, root)
        return
    if form is ImportFormat.JSONL:
        lines = _a_file_of_lines(path)
        such_as = f" such as {lines}" if lines else ""
        raise GroveError(f"{path} is a folder; give a file of JSON Lines{such_as}")
    closed: list[OSError] = []
    is_older = form is ImportFormat.OLDER_GROVE
    found = _older_files(path) if is_older else _markdown_files(path, closed.append)
    if not found and not closed:
        wanted = ", ".join(_OLDER_FILES) if is_older else "*.md"
        raise GroveError(f"{path} holds nothing to import ({wanted}){_other_format(form, path)}")
    if len(found) > FILES_MAX:
        raise GroveError(f"{path} holds more than {FILES_MAX} files; import its folders one by one")
    for one in found:
        if one.is_symlink():
            reason = "a symbolic link, which is not followed; import what it leads to by itself"
            yield _unread(one, root, reason)
        else:
            yield _read(form, one, root)
    for error in closed:
        yield _unread(Path(error.filename), root, f"cannot be read: {error.strerror}")


def _other_format(form: ImportFormat, folder: Path) -> str:
    """Name the formats of which a folder holds files."""
    lines = _a_file_of_lines(folder)
    if lines:
        return f"; `grove import jsonl` reads one of its files, such as {lines}"
    if form is ImportFormat.OLDER_GROVE and _markdown_files(folder, lambda _: None):
        return "; `grove import solutions` and `grove import notes` read folders of *.md"
    if form is not ImportFormat.OLDER_GROVE and _older_files(folder):
        return "; `grove import older-grove` reads its .grove"
    return ""


def _a_file_of_lines(folder: Path) -> str:
    """Name a file of JSON Lines; its name may be a stranger's and hold anything."""
    return clean_line(str(min(folder.glob("*.jsonl"), default="")), _LONGEST_PATH)


def learnings_beside(logs: Sequence[Source], root: Path) -> Sequence[Source]:
    """Read the learnings that lie beside a log, which tell whose its events are."""
    found = [path for one in logs for path in _older_files(one.path.parent)]
    read = (
        _read(ImportFormat.OLDER_GROVE, path, root)
        for path in found
        if path.suffix != _EVENT_LOG_SUFFIX and not path.is_symlink()
    )
    return [one for one in read if one.problem is None]


def _older_files(folder: Path) -> Sequence[Path]:
    inner = folder / _GROVE
    if inner.is_symlink():
        return [inner]  # named as one that is not followed
    base = inner if inner.is_dir() else folder
    return [path for name in _OLDER_FILES if os.path.lexists(path := base / name)]


def _markdown_files(folder: Path, tell: Callable[[OSError], None]) -> Sequence[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=tell):
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
    # In a log, a crash may have left a block of zeros between its lines.
    fault = _fault_of(content, may_hold_zeros=is_log, may_hold_markers=by_line)
    if fault is not None:
        reason, line = fault
        return _unread(path, root, reason, line=line)
    text = content.decode("utf-8-sig")
    text = text if by_line else text.replace("\r\n", "\n")
    return Source(path=path, origin=_origin(path, root), text=text, is_log=is_log)


def _fault_of(
    content: bytes, *, may_hold_zeros: bool, may_hold_markers: bool
) -> tuple[str, int] | None:
    """Tell why a file cannot be read as text, and in which line."""
    if content.startswith(_UTF_16):
        return "it is UTF-16, not UTF-8; save it as UTF-8", 1
    marker = None if may_hold_markers else _conflict_in(content)
    if marker is not None:
        return "a conflict marker of git; resolve the merge and import the file again", marker
    at = -1 if may_hold_zeros else content.find(b"\0")
    reason = "it is no text; save it as UTF-8"
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at, reason = error.start, "it is not UTF-8; save it as UTF-8"
    return None if at < 0 else (reason, content.count(b"\n", 0, at) + 1)


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
