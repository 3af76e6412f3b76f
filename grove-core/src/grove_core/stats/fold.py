"""Folding event logs into the cache: each from where it was left, all again when in doubt."""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, Final, NamedTuple
from zlib import crc32

from attrs import astuple, define

from grove_core.stats.lines import LONGEST_LINE, UNKNOWN, UNREADABLE, EventLine, read_lines
from grove_core.storage.cache import is_busy, transaction
from grove_core.text import fingerprint, key_of, storable

MICROSECONDS_A_DAY: Final = 86_400_000_000
MOST_LISTED: Final = 100
"""How many unreadable lines of a log are kept by number."""
DERIVED: Final = "derived"
MISSES: Final = "misses"
"""Under these names the cache notes what follows from events and learnings, and is up to date."""
CHANGED_FROM: Final = "changed_from"
"""Under this name it notes the earliest day of events that have come since."""

_PORTION: Final = 128 * 1024  # what is read and parsed at once: it should fit a processor's cache
_TAIL: Final = 4096
_FLUSHED_AT: Final = 20_000  # events; more at once are quicker to write and take more memory

# Events of which a repeat changes nothing.
_USES: Final = ("surfaced", "referenced", "dismissed")
# Events about one learning each; the others are about reflections.
_OF_LEARNINGS: Final = frozenset((*_USES, "corrected", "rated", "archived", "restored", "imported"))
_LATEST: Final = ("surfaced", "referenced", "restored")
_OWN_USES: Final = ("surfaced", "referenced")
_MARKS: Final = ("corrected", "useful", "useless")
_WRITE_GATE: Final = "write_gate"
_NEVER: Final = 2**63  # later than any moment

_FOLDED: Final = (
    *("log", "unreadable", "seen", "usage", "use", "used_for", "counter", "ticket"),
    *("rejected", "correction", "own_usage"),
)


def _either(which: str, *columns: str) -> str:
    """Write the part of an upsert that keeps the first (``min``) or the last (``max``) moments."""
    return ", ".join(
        f"{one} = coalesce({which}({one}, excluded.{one}), {one}, excluded.{one})"
        for one in columns
    )


_ADD_LEARNINGS: Final = f"""
INSERT INTO {{}} (
    learning, name, last_surfaced, last_referenced, last_restored, corrected, useful, useless
) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET {_either("max", *(f"last_{one}" for one in _LATEST))},
    corrected = corrected + excluded.corrected, useful = useful + excluded.useful,
    useless = useless + excluded.useless
"""
_ADD_USES: Final = f"""
INSERT INTO use VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    {_either("min", *_USES, *(f"own_{one}" for one in _OWN_USES))}
"""
_ADD_USED_FOR: Final = f"""
INSERT INTO used_for VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET {_either("min", "moment")}
"""
_ADD_COUNTERS: Final = """
INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number
"""
_ADD_TICKETS: Final = f"""
INSERT INTO ticket VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET {_either("min", "skipped")}, {_either("max", "accepted")}
"""
_ADD_REJECTED: Final = "INSERT INTO rejected (moment, session, summary, tags) VALUES (?, ?, ?, ?)"
_NOTE_CHANGE: Final = f"""
INSERT INTO meta VALUES (?, ? / {MICROSECONDS_A_DAY})
ON CONFLICT DO UPDATE SET fingerprint = min(CAST(fingerprint AS INTEGER), excluded.fingerprint)
"""
_TOTALS: Final = """
UPDATE usage SET
    (surfaced, referenced, dismissed) = (
        SELECT count(surfaced), count(referenced),
            count(CASE WHEN referenced IS NULL THEN dismissed END)
        FROM use WHERE use.learning = usage.learning
    ),
    tickets = (SELECT count(*) FROM used_for WHERE used_for.learning = usage.learning)
WHERE learning = ?
"""

_OWN_TOTALS: Final = """
UPDATE own_usage SET (surfaced, referenced) = (
    SELECT count(own_surfaced), count(own_referenced)
    FROM use WHERE use.learning = own_usage.learning
)
WHERE learning = ?
"""


class _State(NamedTuple):
    """What a file looks like from outside."""

    file: str
    changed: str
    size: int


@define(eq=False, repr=False)
class _Log:
    """What is known of a log file, as its table holds it."""

    path: str
    file: str = ""
    changed: str = ""
    size: int = 0
    offset: int = 0
    lines: int = 0
    tail: int = 0
    torn: int = 0
    unknown: int = 0
    unreadable: int = 0

    def is_read(self, state: _State) -> bool:
        """Return whether nothing has changed since everything was read."""
        return self._is_as_in(state) and self.offset + self.torn == self.size

    def continues(self, state: _State) -> bool:
        """Return whether a file still begins with what was added from it, as far as one can see.

        It does where it is the same file and longer: grove appends, and hardly anybody else writes.
        """
        if self._is_as_in(state) or not self.offset:
            return True
        if self.file != state.file or self.size >= state.size:
            return False
        with open(self.path, "rb") as file:
            tail = _tail_of(file, self.offset)
        return crc32(tail) == self.tail and tail.endswith(b"\n")

    def _is_as_in(self, state: _State) -> bool:
        return (self.file, self.changed, self.size) == state


def fold(
    connection: sqlite3.Connection,
    paths: Sequence[str],
    *,
    personal: str = "",
    foreign: Collection[str] = (),
    since: int | None = None,
    until: float | None = None,
) -> bool:
    """Add what the logs hold by now, some of them by others; return whether that is all of it."""
    states = {path: state for path in paths if (state := _state_of(path))}
    known = _known_logs(connection)
    if known.keys() == states.keys() and all(
        known[path].is_read(state) for path, state in states.items()
    ):
        return True
    try:
        with transaction(connection):
            known = _known_logs(connection)
            if not known.keys() <= states.keys() or not all(
                log.continues(states[path]) for path, log in known.items()
            ):
                for table in _FOLDED:
                    connection.execute(f"DELETE FROM {table}")
                forget = "DELETE FROM meta WHERE name IN (?, ?, ?)"
                connection.execute(forget, (DERIVED, MISSES, CHANGED_FROM))
                known = {}
            folder = _Folder(connection, personal, foreign, since, until)
            for path, state in states.items():
                folder.fold(known.get(path) or _Log(path), state)
            folder.finish()
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    return not folder.late


def _state_of(path: str) -> _State | None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    # As texts, for some of these numbers are larger than SQLite takes. The time of modification is
    # given back to a file that was changed more often than one would think; the other is not.
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return _State(f"{status.st_dev} {status.st_ino}", times, status.st_size)


def _known_logs(connection: sqlite3.Connection) -> dict[str, _Log]:
    return {row[0]: _Log(*row) for row in connection.execute("SELECT * FROM log")}


def _read_portion(file: BinaryIO) -> list[bytes]:
    """Read some lines; one that is longer than any event comes in pieces, which are none."""
    lines, size = [], 0
    while size < _PORTION and (line := file.readline(LONGEST_LINE)):
        lines.append(line)
        size += len(line)
    return lines


def _tail_of(file: BinaryIO, end: int) -> bytes:
    file.seek(max(0, end - _TAIL))
    return file.read(min(_TAIL, end))


class _Folder:
    """Adds logs, portion by portion."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        personal: str,
        foreign: Collection[str],
        since: int | None,
        until: float | None,
    ) -> None:
        self._connection = connection
        self._personal = personal
        self._foreign = foreign
        self._since = since
        self._until = until
        self._seen: set[int] = set()
        self._learnings: set[int] = set()
        self._batch = _Batch(is_own=True)
        self._earliest = _NEVER
        self.late = self._has_added = False
        # In a cache that is still empty, nothing can have been seen before.
        filled = connection.execute("SELECT EXISTS (SELECT 1 FROM log)").fetchone()
        self._was_filled = bool(filled[0])

    def fold(self, log: _Log, state: _State) -> None:
        """Add what a log holds beyond what is known of it."""
        if log.is_read(state):
            return
        if self._batch.is_own is (log.path in self._foreign):
            self._flush(is_own=not self._batch.is_own)
        log.torn = 0
        with open(log.path, "rb") as file:
            file.seek(log.offset)
            while not (log.torn or self._is_late()) and (lines := _read_portion(file)):
                is_whole = lines[-1].endswith(b"\n") or len(lines[-1]) == LONGEST_LINE
                if not is_whole and next(read_lines(lines[-1:])) is UNREADABLE:
                    log.torn = len(lines.pop())
                self._add(log, lines)
            log.tail = crc32(_tail_of(file, log.offset))
        log.file, log.changed, log.size = state
        row = astuple(log)
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR REPLACE INTO log VALUES ({marks})", row)

    def finish(self) -> None:
        """Write what is left, sum up what was used, and note from which day on that is."""
        self._flush(is_own=True)
        for totals in (_TOTALS, _OWN_TOTALS):
            self._connection.executemany(totals, ((one,) for one in self._learnings))
        if self._earliest < _NEVER:
            self._connection.execute(_NOTE_CHANGE, (CHANGED_FROM, self._earliest))

    def _flush(self, *, is_own: bool) -> None:
        self._learnings |= self._batch.write(self._connection)
        self._earliest = min(self._earliest, self._batch.earliest)
        self._batch = _Batch(is_own=is_own)

    def _is_late(self) -> bool:
        until = self._until
        self.late = self._has_added and until is not None and time.thread_time() > until
        return self.late

    def _add(self, log: _Log, lines: Sequence[bytes]) -> None:
        batch, since, is_personal = self._batch, self._since, log.path == self._personal
        for number, event in enumerate(read_lines(lines), start=log.lines + 1):
            if isinstance(event, EventLine):
                if since is not None and event.moment < since:
                    continue
                batch.events += 1
                if event.event in _USES:
                    batch.add_use(event)  # once more, it changes nothing
                elif self._is_new(event) and (not is_personal or event.event in _OF_LEARNINGS):
                    batch.add(event)
            elif event is UNKNOWN:
                log.unknown += 1
            elif event is UNREADABLE:
                log.unreadable += 1
                if log.unreadable <= MOST_LISTED:
                    row = "INSERT INTO unreadable VALUES (?, ?)"
                    self._connection.execute(row, (log.path, number))
        self._has_added = True
        log.offset += sum(map(len, lines))
        log.lines += len(lines)
        if batch.events >= _FLUSHED_AT:
            self._flush(is_own=batch.is_own)

    def _is_new(self, event: EventLine) -> bool:
        """Return whether a line comes for the first time: merges of logs repeat some."""
        line = fingerprint(event.line.strip())
        if line in self._seen:
            return False
        if self._was_filled:
            find = "SELECT 1 FROM seen WHERE line = ?"
            if self._connection.execute(find, (line,)).fetchone() is not None:
                return False
        self._seen.add(line)
        self._batch.lines.append(line)
        return True


class _Learning:
    """What some lines say of one learning."""

    def __init__(self, name: str) -> None:
        self.key = key_of(name)
        self.name = storable(name)
        self.latest: dict[str, int] = {}
        self.marks: Counter[str] = Counter()

    def note(self, event: str, moment: int) -> None:
        """Keep when something happened last."""
        if moment > self.latest.get(event, -_NEVER):
            self.latest[event] = moment

    def row(self) -> Sequence[Any]:
        """Return the values of ``_ADD_LEARNINGS``."""
        latest = (self.latest.get(event) for event in _LATEST)
        return (self.key, self.name, *latest, *(self.marks[one] for one in _MARKS))


class _Batch:
    """What some lines add up to, before it goes to the cache."""

    def __init__(self, *, is_own: bool) -> None:
        self.is_own = is_own
        self.events = 0
        self.earliest = _NEVER
        self.lines: list[int] = []
        self._learnings: dict[str, _Learning] = {}
        self._uses: dict[tuple[int, int], dict[str, int]] = {}
        self._used_for: dict[tuple[int, str], int] = {}
        self._counters: Counter[tuple[str, int]] = Counter()
        self._tickets: list[tuple[str, int | None, int | None]] = []
        self._rejected: list[tuple[int | str, ...]] = []
        self._corrections: list[tuple[int, int, str, bool]] = []

    def add_use(self, line: EventLine) -> None:
        """Add that a learning was shown, used or dismissed; added again, it changes nothing."""
        _, event, moment, fields = line
        learning = self._learning(fields["learning_id"])
        self.earliest = min(self.earliest, moment)
        first = self._uses.setdefault((learning.key, _key_of(fields["session_id"])), {})
        if moment < first.get(event, _NEVER):
            first[event] = moment
        learning.note(event, moment)
        if event == "referenced" and (ticket := fields.get("ticket_id")):
            used_for = learning.key, storable(ticket)
            self._used_for[used_for] = min(moment, self._used_for.get(used_for, moment))

    def add(self, line: EventLine) -> None:
        """Add an event that counts once."""
        _, event, moment, fields = line
        for name, number in _counters_of(event, fields):
            self._counters[storable(name), moment // MICROSECONDS_A_DAY] += number
        learning = self._learning(fields["learning_id"]) if event in _OF_LEARNINGS else None
        ticket = storable(fields.get("ticket_id") or "")
        match event, learning:
            case "corrected", _Learning():
                learning.marks["corrected"] += 1
                successor = storable(fields.get("superseded_by") or "")
                self._corrections.append((learning.key, moment, successor, self.is_own))
            case "rated", _Learning():
                learning.marks["useful" if fields["useful"] else "useless"] += 1
            case "restored" | "imported", _Learning():
                learning.note("restored", moment)
            case "reflection", _ if ticket and _accepted_of(fields) > 0:
                self._tickets.append((ticket, None, moment))
            case "skip", _ if ticket:
                self._tickets.append((ticket, moment, None))
            # Of others' refusals the texts are not published.
            case "rejected", _ if fields.get("stage") == _WRITE_GATE and fields["summary"]:
                texts = fields["session_id"], fields["summary"], " ".join(fields.get("tags", ()))
                self._rejected.append((moment, *map(storable, texts)))

    def _learning(self, name: str) -> _Learning:
        found = self._learnings.get(name)
        if found is None:
            found = self._learnings[name] = _Learning(name)
        return found

    def write(self, connection: sqlite3.Connection) -> set[int]:
        """Add the sums to the tables; return the learnings that they are about."""
        many = connection.executemany
        for table in ("usage", "own_usage") if self.is_own else ("usage",):
            many(_ADD_LEARNINGS.format(table), (one.row() for one in self._learnings.values()))
        many("INSERT INTO seen VALUES (?)", ((line,) for line in sorted(self.lines)))
        own = _OWN_USES if self.is_own else (None,) * len(_OWN_USES)
        rows = sorted(self._uses.items())
        many(_ADD_USES, ((*pair, *map(first.get, (*_USES, *own))) for pair, first in rows))
        many(_ADD_USED_FOR, ((*pair, moment) for pair, moment in self._used_for.items()))
        many(_ADD_COUNTERS, ((*key, number) for key, number in self._counters.items()))
        connection.execute(_ADD_COUNTERS, ("events", 0, self.events))
        many(_ADD_TICKETS, self._tickets)
        many(_ADD_REJECTED, self._rejected)
        many("INSERT INTO correction VALUES (?, ?, ?, ?)", self._corrections)
        return {one.key for one in self._learnings.values()}


# The same sessions come again and again.
_key_of: Final = lru_cache(maxsize=65_536)(key_of)


def _accepted_of(fields: Mapping[str, Any]) -> int:
    """Return how many candidates were accepted; a log is believed no further than makes sense."""
    accepted: int = min(max(0, fields["accepted"]), max(0, fields["candidates"]))
    return accepted


def _counters_of(event: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Name the counters that an event raises, and by how much."""
    match event:
        case "reflection":
            accepted = _accepted_of(fields)
            yield "submissions", 1
            yield "candidates", max(0, fields["candidates"])
            yield "accepted", accepted
            if accepted:
                yield "completed", 1
                if backend := fields.get("backend"):
                    yield f"backend:{backend}", 1
        case "rejected":
            yield f"rejected:{fields.get('stage') or 'schema'}", 1
        case "skip":
            yield f"skip:{fields['decider']}", 1
        case "gate" if fields.get("gate"):
            yield f"plugin_gate:{fields['gate']}:{fields['outcome']}", 1
        case "gate":
            outcome = fields["outcome"]
            yield f"gate:{outcome}", 1
            if fields.get("blocks", 0) > 0:
                yield "blocked", 1
                if outcome == "reflected":
                    yield "blocked_and_reflected", 1
