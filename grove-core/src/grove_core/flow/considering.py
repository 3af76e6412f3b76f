"""The file of what was considered in a session, apart from its state, which stays small."""

import os
from contextlib import suppress

from grove_core.errors import StorageError
from grove_core.retrieval.considered import (
    MOST_CHARACTERS,
    Occasion,
    has_room,
    occasion_of,
    with_room_made,
)
from grove_core.storage import files

_FOLDER = "considered"
_SUFFIX = ".jsonl"
_FILE_MODE = 0o600
_LOCK_SECONDS = 0.1


def considered_path(cache: "str | os.PathLike[str]", session_id: str) -> str:
    """Name the file of what was considered in a session."""
    name = f"{session_id}{_SUFFIX}"
    return os.path.join(cache, _FOLDER, name)  # noqa: PTH118 - short ways do without pathlib


def keep_line(cache: "str | os.PathLike[str]", session_id: str, line: str) -> None:
    """Add an occasion; a file that is full loses some old ones, and a fault is none."""
    path = considered_path(cache, session_id)
    with suppress(StorageError, OSError):
        files.make_directory(os.path.dirname(path))  # noqa: PTH120 - as above
        if not _append(path, line):
            files.edit_text(path, lambda text: with_room_made(text, line))


def _append(path: str, line: str) -> bool:
    """Append without waiting for the disk, which takes longer than all the rest: it is derived."""
    with files.locked(path, mode=_FILE_MODE, timeout=_LOCK_SECONDS) as descriptor:
        text = os.pread(descriptor, MOST_CHARACTERS + 1, 0).decode("ascii", "replace")
        if not has_room(text, line):
            return False
        # What was cut off by a crash must not spoil this line as well.
        healed = line if text.endswith("\n") or not text else f"\n{line}"
        os.write(descriptor, healed.encode("ascii"))
    return True


def occasions_of(cache: "str | os.PathLike[str]", session_id: str) -> list[Occasion]:
    """Read what was considered in a session."""
    try:
        text = files.read_text(considered_path(cache, session_id)) or ""
    except StorageError:
        return []
    # Where the client holds two sets of hooks, both may have found nothing.
    lines = dict.fromkeys(text.splitlines())
    return [one for one in map(occasion_of, lines) if one is not None]
