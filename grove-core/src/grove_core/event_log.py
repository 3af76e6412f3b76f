"""The event log: JSON Lines, append-only, the source of every number."""

import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from grove_core.codec import event_to_line
from grove_core.errors import StorageError
from grove_core.model.events import StatsEvent
from grove_core.stats.lines import EventLine, read_lines
from grove_core.storage import files
from grove_core.storage.paths import ProjectPaths

_SUFFIX: Final = ".jsonl"
_OLDER_LOG: Final = "stats.log"
_RANDOM_BYTES: Final = 5
# What others need not read: candidates that were refused, and why the agent kept nothing.
_PRIVATE: Final = {"rejected": ("summary", "tags", "reason"), "skip": ("reason",)}


def event_files(project: ProjectPaths) -> tuple[Path, ...]:
    """Name the files with a project's events."""
    log = project.events_file
    _, own = _publication(project)
    shared = (path for path in shared_event_files(project) if path.name not in own)
    return (*((log,) if log.exists() else ()), *shared)


def shared_event_files(project: ProjectPaths) -> tuple[Path, ...]:
    """Name the files in the work tree with events: an older grove's log, then those published."""
    older = project.grove_directory / _OLDER_LOG
    try:
        with os.scandir(project.published_events) as entries:
            files_there = [one.name for one in entries if one.is_file()]
            names = sorted(
                name for name in files_there if name.endswith(_SUFFIX) and name[0] != "."
            )
    except OSError:
        names = []
    there = (older,) if older.exists() else ()
    return (*there, *(project.published_events / name for name in names))


def append(path: Path, events: Iterable[StatsEvent], version: str) -> None:
    """Append events to a log as this version of grove, all or none."""
    lines = "".join(event_to_line(event, version) for event in events)
    if lines:
        files.append_text(path, lines)


def publish(project: ProjectPaths, now: datetime) -> None:
    """Write the events since the last publication into a new file of the work tree."""
    log = project.events_file
    if not log.exists():
        return
    with files.locked(log) as descriptor:
        offset, _ = _publication(project)
        content = os.pread(descriptor, os.fstat(descriptor).st_size - offset, offset)
        end = content.rfind(b"\n") + 1
        text = "".join(_published_lines(content[:end], offset))
        if text:
            name = f"{now:%Y%m%d}-{os.urandom(_RANDOM_BYTES).hex()}{_SUFFIX}"
            # First that the file is this machine's own: else its events would count twice here.
            _note(project, file=name)
            files.append_text(project.published_events / name, text, inside=project.root)
        if end:
            _note(project, offset=offset + end)


def _published_lines(content: bytes, offset: int) -> Iterator[str]:
    """Return lines as others may read them; what is no event of this version stays here."""
    lines = content.split(b"\n")
    for line, found in zip(lines, read_lines(lines), strict=True):
        if isinstance(found, EventLine):
            text = line.decode().strip()
            yield (_without_texts(text, offset) if found.event in _PRIVATE else text) + "\n"
        offset += len(line) + 1


def _without_texts(line: str, offset: int) -> str:
    document: dict[str, Any] = json.loads(line)
    private = _PRIVATE[document["event"]]
    kept = {name: type(value)() if name in private else value for name, value in document.items()}
    # Without their texts two events may look the same, and equal lines count once.
    return json.dumps({**kept, "offset": offset}, separators=(",", ":"))


def _publication(project: ProjectPaths) -> tuple[int, Collection[str]]:
    """Read up to where the log was published, and in which files; nothing counts without it."""
    names, offset = set(), 0
    try:
        for line in (files.read_text(project.publication_file) or "").splitlines():
            with suppress(ValueError):  # torn by a crash
                document = json.loads(line)
                if not isinstance(document, dict):
                    continue
                names |= {document["file"]} if "file" in document else set()
                offset = document.get("offset", offset)
        is_there = offset <= project.events_file.stat().st_size
    except (StorageError, OSError):
        is_there = False
    return (offset, names) if is_there else (0, ())


def _note(project: ProjectPaths, **fields: str | int) -> None:
    files.append_text(project.publication_file, json.dumps(fields) + "\n")
