"""Moving a project's events between one log and many, line by line and byte for byte.

What is moved is written to its new place before it is taken from the old one; readers take a line
that stands in both places once.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from grove_core import files
from grove_core.errors import StorageError
from grove_core.model.memory import StorageLayout
from grove_core.paths import ProjectPaths

_DIGEST_CHARACTERS: Final = 16
_FILE_MODE: Final = 0o644


def relocate_events(
    project: ProjectPaths, layout: StorageLayout, *, dry_run: bool
) -> Sequence[tuple[Path, int]]:
    """Bring all events into a layout.

    Args:
        project: The project's files.
        layout: The layout.
        dry_run: Whether only to tell.

    Returns:
        The files that events are taken from, each with the number of its lines.

    Raises:
        StorageError: A file cannot be read or written, or leads out of the project.
    """
    sources = [path for path in project.event_files() if _is_misplaced(path, project, layout)]
    contents = {path: _lines(path) for path in sources}
    moved = [(path, len(lines)) for path, lines in contents.items() if lines]
    if dry_run or not moved:
        return moved
    for path in (*sources, project.events_file, project.events_folder):
        files.confined(path, project.root)
    if layout is StorageLayout.SPREAD:
        _spread(project)
    else:
        _gather(project, contents)
    return moved


def _is_misplaced(path: Path, project: ProjectPaths, layout: StorageLayout) -> bool:
    return (path == project.events_file) is (layout is StorageLayout.SPREAD)


def _lines(path: Path) -> list[bytes]:
    content = files.read_bytes(path) or b""
    return [line for line in content.split(b"\n") if line]


def _spread(project: ProjectPaths) -> None:
    """Move the log into a file whose name says what it holds, so that doing it twice is once.

    An empty log stays: git could not merge its removal with what other branches append.
    """
    log = project.events_file
    files.make_directory(project.events_folder)
    with files.locked(log) as descriptor:
        content = files.read_bytes(log) or b""
        name = hashlib.sha256(content).hexdigest()[:_DIGEST_CHARACTERS]
        if content and not content.endswith(b"\n"):
            content += b"\n"
        target = project.events_folder / f"{name}.jsonl"
        files.replace(target, content, mode=_FILE_MODE)
        try:
            os.ftruncate(descriptor, 0)
        except OSError as error:
            raise StorageError(f"cannot empty {log}: {error.strerror or error}") from error


def _gather(project: ProjectPaths, contents: dict[Path, list[bytes]]) -> None:
    """Append what the log lacks, in the order of time, then remove the files."""
    lines = _in_order(list(contents.values()))

    def missing(text: str) -> str:
        known = Counter(text.encode("utf-8", "surrogateescape").split(b"\n"))
        new = b"".join(line + b"\n" for line in lines if not _take(known, line))
        return new.decode("utf-8", "surrogateescape")

    files.append_text(project.events_file, missing, inside=project.root)
    for path, moved in contents.items():
        _remove(path, moved)
    with suppress(OSError):  # somebody has appended meanwhile, or something else lies there
        project.events_folder.rmdir()


def _take(known: Counter[bytes], line: bytes) -> bool:
    known[line] -= 1
    return known[line] >= 0


def _in_order(logs: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Order all lines by time; what stands in several files stands there as often as in one."""
    most: Counter[bytes] = Counter()
    placed: list[tuple[str, bytes]] = []
    for lines in logs:
        here: Counter[bytes] = Counter()
        moment = ""
        for line in lines:
            moment = _moment(line) or moment  # what has no time stays behind the line before it
            here[line] += 1
            if here[line] > most[line]:
                most[line] += 1
                placed.append((moment, line))
    placed.sort(key=lambda one: one[0])
    return [line for _, line in placed]


def _moment(line: bytes) -> str:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    moment = document.get("ts") if isinstance(document, dict) else None
    return moment if isinstance(moment, str) else ""


def _remove(path: Path, moved: list[bytes]) -> None:
    """Remove a file, unless somebody has appended to it meanwhile."""
    with files.locked(path):
        if _lines(path) != moved:
            raise StorageError(f"{path} has grown meanwhile and was kept; try again")
        path.unlink()
