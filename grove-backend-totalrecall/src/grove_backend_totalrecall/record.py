"""grove's own record beside the project: what the logs cannot carry, and statuses."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_backend_totalrecall.stamps import Stamp, stamp_of
from grove_core import (
    LearningStatus,
    StorageError,
    append_text,
    format_instant,
    parse_instant,
    read_text,
)

FILE_NAME: Final = "total-recall.jsonl"
_STATUSES: Final = {status.value: status for status in LearningStatus}
_DIRECTORY: Final = ".grove"
_NEXT: Final = timedelta(microseconds=1)


class StatusChange(NamedTuple):
    """A status that grove has given a learning."""

    at: datetime
    status: LearningStatus
    marks: int


class Recorded(NamedTuple):
    """What the record says of one learning."""

    rest: Mapping[str, Any] | None
    changes: tuple[StatusChange, ...]


NOTHING: Final = Recorded(None, ())


class Record:
    """The record of one project, read when it has changed and not before."""

    def __init__(self, root: Path) -> None:
        """Read nothing yet."""
        self.directory = root / _DIRECTORY
        self.path = self.directory / FILE_NAME
        self._stamp: Stamp | None = None
        self._known: Mapping[str, Recorded] = {}

    def entries(self) -> Mapping[str, Recorded]:
        """Read what is recorded, by id; the same object as long as nothing has changed."""
        stamp = stamp_of(self.path)
        if stamp == self._stamp:
            return self._known
        before, self._stamp = self._stamp, stamp
        if stamp is None:
            self._known = {}
        elif before is not None and stamp.inode == before.inode and stamp.size > before.size:
            # It has only grown: many statuses in a row would read all of it again and again.
            self._known = read_lines(_text_from(self.path, before.size), self._known)
        else:
            self._known = read_lines(read_text(self.path) or "", {})
        return self._known

    def of(self, learning_id: str) -> Recorded:
        """Return what is recorded of a learning."""
        return self.entries().get(learning_id, NOTHING)

    def add_rest(self, learning_id: str, rest: Mapping[str, Any], at: datetime) -> None:
        """Record what an entry does not give back."""
        self._append({"id": learning_id, "at": format_instant(at), "rest": dict(rest)})

    def add_status(self, learning_id: str, change: StatusChange, note: str = "") -> None:
        """Record a status; it counts as the latest, also where a clock was ahead before."""
        earlier = (one.at + _NEXT for one in self.of(learning_id).changes)
        line: dict[str, Any] = {
            "id": learning_id,
            "at": format_instant(max([change.at, *earlier])),
            "status": change.status.value,
            "marks": change.marks,
        }
        self._append(line | ({"note": note} if note else {}))

    def _append(self, line: Mapping[str, Any]) -> None:
        # ASCII: half a character in a file's name survives as an escape.
        append_text(self.path, f"{json.dumps(line)}\n", inside=self.directory.parent)


def read_lines(text: str, known: Mapping[str, Recorded]) -> Mapping[str, Recorded]:
    """Read lines of the record."""
    found = dict(known)
    for line in text.split("\n"):
        entry = _object_in(line)
        if entry is None:
            continue
        one = found.get(entry["id"], NOTHING)
        rest, status = entry.get("rest"), _STATUSES.get(str(entry.get("status")))
        if isinstance(rest, dict):
            found[entry["id"]] = one._replace(rest={**(one.rest or {}), **rest})
        elif status is not None and (at := _instant(entry.get("at"))) is not None:
            changes = (*one.changes, StatusChange(at, status, _count(entry.get("marks"))))
            found[entry["id"]] = one._replace(changes=changes)
    return found


def _object_in(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("id"), str) else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _instant(text: object) -> datetime | None:
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _text_from(path: Path, start: int) -> str:
    try:
        with path.open("rb") as file:
            file.seek(start)
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
