"""Adding event logs to the cache: each from where it was left, and from the start when in doubt."""

import gc
import os
import sqlite3
import time
from zlib import crc32

from grove_core.derived_database import is_busy
from grove_core.stats.batch import OF_LEARNINGS, USES, Batch
from grove_core.stats.fingerprints import fingerprint
from grove_core.stats.log_lines import UNKNOWN, UNREADABLE, EventLine, read_lines
from grove_core.stats_cache import database

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

    State = tuple[str, str, int]

MOST_LISTED = 100
"""How many unreadable lines of a log are kept by number."""

_PORTION = 128 * 1024  # what is read and parsed at once: it should fit a processor's cache
_TAIL = 4096
_FLUSHED_AT = 200_000  # events; more at once are quicker to write and take more memory
_COLUMNS = ("offset", "lines", "checksum", "tail", "torn", "unknown", "unreadable")


class Log:
    """What is known of a log file."""

    __slots__ = ("path", "state", *_COLUMNS)

    def __init__(self, path: str) -> None:
        """Know nothing of it yet."""
        self.path = path
        self.state: State = ("", "", 0)
        self.offset = self.lines = self.checksum = self.tail = self.torn = 0
        self.unknown = self.unreadable = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is left to be read."""
        return self.offset + self.torn == self.state[2]


def refresh(
    connection: sqlite3.Connection,
    paths: "Sequence[str]",
    *,
    personal: str | None = None,
    since: int | None = None,
    until: float | None = None,
) -> bool:
    """Add what the logs hold by now."""
    if _is_current(connection, paths):
        return True
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    collects = gc.isenabled()
    gc.disable()  # a million events make no cycles, and looking for some takes a fifth of the time
    try:
        known = _known_logs(connection)
        if not _is_continued(known, paths):
            _empty(connection)
            known = {}
        folder = _Folder(connection, personal, since, until)
        for path in paths:
            folder.fold(known.get(path) or Log(path))
        folder.flush()
        database.settle(connection, anew=not folder.was_filled)
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    finally:
        if collects:
            gc.enable()
    return not folder.late


def _state_of(path: str) -> "State | None":
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    # As texts, for some of these numbers are larger than SQLite takes. The time of modification is
    # given back to a file that was changed more often than one would think; the other is not.
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{status.st_dev} {status.st_ino}", times, status.st_size


def _is_current(connection: sqlite3.Connection, paths: "Sequence[str]") -> bool:
    """Return whether nothing has changed since everything was read."""
    rows = connection.execute("SELECT path, file, changed, size, offset + torn = size FROM log")
    known = {path: (state, whole) for path, *state, whole in rows}
    found = {path: state for path in paths if (state := _state_of(path)) is not None}
    return known.keys() == found.keys() and all(
        whole and tuple(state) == found[path] for path, (state, whole) in known.items()
    )


def _known_logs(connection: sqlite3.Connection) -> dict[str, Log]:
    known = {}
    for path, file, changed, size, *rest in connection.execute("SELECT * FROM log"):
        log = known[path] = Log(path)
        log.state = file, changed, size
        for name, value in zip(_COLUMNS, rest, strict=True):
            setattr(log, name, value)
    return known


def _is_continued(known: dict[str, Log], paths: "Sequence[str]") -> bool:
    """Return whether all logs still begin with what was added from them."""
    return known.keys() <= set(paths) and all(_begins_as_known(log) for log in known.values())


def _begins_as_known(log: Log) -> bool:
    state = _state_of(log.path)
    if state is None or state[2] < log.offset:
        return False
    if state == log.state or not log.offset:
        return True
    with open(log.path, "rb") as file:
        if not _ends_a_line(file, log.offset) and file.read(1) not in (b"\n", b""):
            return False
        if state[0] == log.state[0] and state[2] > log.state[2]:
            # The same file, and longer: nobody but grove writes it as a rule, and grove appends.
            return _checksum_of_tail(file, log.offset) == log.tail
        file.seek(0)
        return _checksum(file, log.offset) == log.checksum


def _checksum_of_tail(file: "BinaryIO", end: int) -> int:
    length = min(_TAIL, end)
    file.seek(end - length)
    return crc32(file.read(length))


def _checksum(file: "BinaryIO", length: int) -> int:
    checksum = 0
    while length:
        portion = file.read(min(length, _PORTION))
        if not portion:
            break
        checksum = crc32(portion, checksum)
        length -= len(portion)
    return checksum


def _empty(connection: sqlite3.Connection) -> None:
    for table in (
        *("log", "unreadable", "seen", "learning", "use", "used_for", "counter", "ticket"),
        *("rejected", "correction", "day", "edge", "miss"),
    ):
        connection.execute(f"DELETE FROM {table}")


class _Folder:
    """Adds logs, portion by portion."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        personal: str | None,
        since: int | None,
        until: float | None,
    ) -> None:
        self._connection = connection
        self._personal = personal
        self._since = since
        self._until = until
        self._seen: set[int] = set()
        self._batch, self._added = Batch(), list[int]()
        self.late = self._has_added = False
        # In a cache that is still empty, nothing can have been seen before.
        filled = connection.execute("SELECT EXISTS (SELECT 1 FROM log)").fetchone()
        self.was_filled = bool(filled[0])

    def fold(self, log: Log) -> None:
        """Add what a log holds beyond what is known of it."""
        state = _state_of(log.path)
        if state is None or (state == log.state and log.is_whole):
            return
        with open(log.path, "rb") as file:
            _skip_line_end(log, file)
            size, log.torn = state[2], 0
            while log.offset < size and not self._is_late():
                portion = _whole_lines(file, log.offset, size)
                if not portion or (not portion.endswith(b"\n") and _is_unreadable(portion)):
                    log.torn = size - log.offset
                    break
                self._add(log, portion)
            log.tail = _checksum_of_tail(file, log.offset)
        log.state = state
        self._save(log)

    def flush(self) -> None:
        """Write what was added so far."""
        database.add(self._connection, self._batch, self._added, anew=not self.was_filled)
        self._batch, self._added = Batch(), []

    def _is_late(self) -> bool:
        """Return whether the time is over."""
        until = self._until
        self.late = self._has_added and until is not None and time.thread_time() > until
        return self.late

    def _add(self, log: Log, portion: bytes) -> None:
        batch, added = self._batch, self._added
        seen, filled, since = self._seen, self.was_filled, self._since
        is_personal = log.path == self._personal
        lines = portion.removesuffix(b"\n").split(b"\n")
        for number, event in enumerate(read_lines(lines), start=log.lines + 1):
            if type(event) is EventLine:
                if since is not None and event.moment < since:
                    continue
                batch.events += 1
                if event.event in USES:
                    batch.add_use(event)  # once more, it changes nothing
                    continue
                line = fingerprint(event.line.strip())
                if line in seen or (filled and database.is_seen(self._connection, line)):
                    continue
                seen.add(line)
                added.append(line)
                if not is_personal or event.event in OF_LEARNINGS:
                    batch.add(event)
            elif event is UNKNOWN:
                log.unknown += 1
            elif event is UNREADABLE:
                self._note_unreadable(log, number)
        self._has_added = True
        log.offset += len(portion)
        log.lines += len(lines)
        log.checksum = crc32(portion, log.checksum)
        if batch.events >= _FLUSHED_AT:
            self.flush()

    def _note_unreadable(self, log: Log, number: int) -> None:
        log.unreadable += 1
        if log.unreadable <= MOST_LISTED:
            row = "INSERT INTO unreadable VALUES (?, ?)"
            self._connection.execute(row, (log.path, number))

    def _save(self, log: Log) -> None:
        row = (log.path, *log.state, *(getattr(log, name) for name in _COLUMNS))
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR REPLACE INTO log VALUES ({marks})", row)


def _skip_line_end(log: Log, file: "BinaryIO") -> None:
    """Go past the line end that has come to a last line that had none."""
    if log.offset and not _ends_a_line(file, log.offset) and file.read(1):
        log.checksum = crc32(b"\n", log.checksum)
        log.offset += 1


def _ends_a_line(file: "BinaryIO", offset: int) -> bool:
    file.seek(offset - 1)
    return file.read(1) == b"\n"


def _whole_lines(file: "BinaryIO", offset: int, size: int) -> bytes:
    """Read some lines, and at the end of the file also one that has no line end yet."""
    file.seek(offset)
    length = _PORTION
    while True:
        portion = file.read(min(length, size - offset))
        newline = portion.rfind(b"\n")
        if newline >= 0:
            return portion[: newline + 1]
        if offset + len(portion) >= size or len(portion) < length:
            return portion
        file.seek(offset)
        length *= 2


def _is_unreadable(line: bytes) -> bool:
    return next(read_lines([line])) is UNREADABLE
