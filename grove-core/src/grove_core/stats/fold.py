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
_OF_TICKETS: Final = ("skip", "reflection")
_KEPT: Final = _OF_LEARNINGS.union(_OF_TICKETS)
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


def _moments(which: str, *kinds: str, own: str = "") -> str:
    """Select the first or the last moment of each kind of event, all or this machine's own."""
    return ", ".join(f"{which}(CASE WHEN kind = '{one}'{own} THEN moment END)" for one in kinds)


# What some lines say, until it is added to the sums.
_HEARD: Final = """
CREATE TEMP TABLE IF NOT EXISTS heard (
    moment INTEGER, own INTEGER, kind TEXT, learning INTEGER, name TEXT, session INTEGER,
    ticket TEXT
)
"""
_ADD_LEARNINGS: Final = f"""
INSERT INTO {{0}} (
    learning, name, last_surfaced, last_referenced, last_restored, useful, useless
)
SELECT learning, name, {_moments("max", "surfaced", "referenced", "restored")},
    sum(kind = 'useful'), sum(kind = 'useless')
FROM heard WHERE kind NOT IN {_OF_TICKETS} {{1}} GROUP BY learning
ON CONFLICT DO UPDATE SET {_either("max", "last_surfaced", "last_referenced", "last_restored")},
    useful = useful + excluded.useful, useless = useless + excluded.useless
"""
_ADD: Final = (
    _ADD_LEARNINGS.format("usage", ""),
    _ADD_LEARNINGS.format("own_usage", "AND own"),
    f"""
INSERT INTO use
SELECT learning, session, {_moments("min", *_USES)},
    {_moments("min", "surfaced", "referenced", own=" AND own")}
FROM heard WHERE kind IN {_USES} GROUP BY learning, session
ON CONFLICT DO UPDATE SET {_either("min", *_USES, "own_surfaced", "own_referenced")}
""",
    f"""
INSERT INTO used_for
SELECT learning, ticket, min(moment) FROM heard WHERE kind = 'referenced' AND ticket != ''
GROUP BY learning, ticket
ON CONFLICT DO UPDATE SET {_either("min", "moment")}
""",
    f"""
INSERT INTO ticket
SELECT ticket, {_moments("min", "skip")}, {_moments("max", "reflection")}
FROM heard WHERE kind IN {_OF_TICKETS} AND ticket != '' GROUP BY ticket
ON CONFLICT DO UPDATE SET {_either("min", "skipped")}, {_either("max", "accepted")}
""",
    f"""
INSERT INTO correction
SELECT learning, session, ticket, own, min(moment) FROM heard WHERE kind = 'corrected'
GROUP BY learning, session, ticket, own
ON CONFLICT DO UPDATE SET {_either("min", "moment")}
""",
    "DELETE FROM heard",
)
_ADD_COUNTERS: Final = """
INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number
"""
_ADD_REJECTED: Final = "INSERT INTO rejected (moment, session, summary, tags) VALUES (?, ?, ?, ?)"
_NOTE_CHANGE: Final = f"""
INSERT INTO meta VALUES (?, ? / {MICROSECONDS_A_DAY})
ON CONFLICT DO UPDATE SET fingerprint = min(CAST(fingerprint AS INTEGER), excluded.fingerprint)
"""
_TOTALS: Final = (
    """
UPDATE usage SET
    (surfaced, referenced, dismissed) = (
        SELECT count(surfaced), count(referenced),
            count(CASE WHEN referenced IS NULL THEN dismissed END)
        FROM use WHERE use.learning = usage.learning
    ),
    corrected = (SELECT count(*) FROM correction WHERE correction.learning = usage.learning),
    tickets = (SELECT count(*) FROM used_for WHERE used_for.learning = usage.learning)
WHERE learning = ?
""",
    """
UPDATE own_usage SET
    (surfaced, referenced) = (
        SELECT count(own_surfaced), count(own_referenced)
        FROM use WHERE use.learning = own_usage.learning
    ),
    corrected = (SELECT total(own) FROM correction WHERE correction.learning = own_usage.learning)
WHERE learning = ?
""",
)


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
        self._earliest = _NEVER
        # What was heard since it was last added.
        self._events = 0
        self._heard: list[tuple[object, ...]] = []
        self._lines: list[int] = []
        self._counters: Counter[tuple[str, int]] = Counter()
        self.late = self._has_added = False
        # In a cache that is still empty, nothing can have been seen before.
        filled = connection.execute("SELECT EXISTS (SELECT 1 FROM log)").fetchone()
        self._was_filled = bool(filled[0])
        connection.execute(_HEARD)

    def fold(self, log: _Log, state: _State) -> None:
        """Add what a log holds beyond what is known of it."""
        if log.is_read(state):
            return
        log.torn = 0
        with open(log.path, "rb") as file:
            file.seek(log.offset)
            while not (log.torn or self._is_late()) and (lines := _read_portion(file)):
                is_whole = lines[-1].endswith(b"\n") or len(lines[-1]) == LONGEST_LINE
                if not is_whole and next(read_lines(lines[-1:])) is UNREADABLE:
                    log.torn = len(lines.pop())
                self._read(log, lines)
            log.tail = crc32(_tail_of(file, log.offset))
        log.file, log.changed, log.size = state
        row = astuple(log)
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR REPLACE INTO log VALUES ({marks})", row)

    def finish(self) -> None:
        """Add what is left, sum up what was used, and note from which day on that is."""
        self._add()
        for totals in _TOTALS:
            self._connection.executemany(totals, ((one,) for one in self._learnings))
        if self._earliest < _NEVER:
            self._connection.execute(_NOTE_CHANGE, (CHANGED_FROM, self._earliest))

    def _is_late(self) -> bool:
        until = self._until
        self.late = self._has_added and until is not None and time.thread_time() > until
        return self.late

    def _read(self, log: _Log, lines: Sequence[bytes]) -> None:
        is_own, is_personal = log.path not in self._foreign, log.path == self._personal
        for number, event in enumerate(read_lines(lines), start=log.lines + 1):
            if isinstance(event, EventLine):
                if self._since is not None and event.moment < self._since:
                    continue
                self._events += 1
                is_new = event.event in _USES or self._is_new(event)
                if is_new and (not is_personal or event.event in _OF_LEARNINGS):
                    self._hear(event, is_own=is_own)
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
        if self._events >= _FLUSHED_AT:
            self._add()

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
        self._lines.append(line)
        return True

    def _hear(self, line: EventLine, *, is_own: bool) -> None:
        _, event, moment, fields = line
        for name, number in _counters_of(event, fields):
            self._counters[storable(name), moment // MICROSECONDS_A_DAY] += number
        if event in _USES:
            self._earliest = min(self._earliest, moment)
        # Of others' refusals the texts are not published.
        if event == "rejected" and fields.get("stage") == _WRITE_GATE and fields["summary"]:
            texts = fields["session_id"], fields["summary"], " ".join(fields.get("tags", ()))
            self._connection.execute(_ADD_REJECTED, (moment, *map(storable, texts)))
        if event in _KEPT:
            kind, name, session, ticket = _heard_in(event, fields)
            learning, ticket = _key_of(name), storable(ticket)
            self._learnings.add(learning)
            row = moment, is_own, kind, learning, storable(name), _key_of(session), ticket
            self._heard.append(row)

    def _add(self) -> None:
        """Add what was heard to the sums."""
        many = self._connection.executemany
        many("INSERT INTO heard VALUES (?, ?, ?, ?, ?, ?, ?)", self._heard)
        many("INSERT INTO seen VALUES (?)", ((line,) for line in sorted(self._lines)))
        many(_ADD_COUNTERS, ((*key, number) for key, number in self._counters.items()))
        self._connection.execute(_ADD_COUNTERS, ("events", 0, self._events))
        for statement in _ADD:
            self._connection.execute(statement)
        self._events, self._heard, self._lines, self._counters = 0, [], [], Counter()


# The same sessions come again and again.
_key_of: Final = lru_cache(maxsize=65_536)(key_of)


def _heard_in(event: str, fields: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the kind of an event, and which learning, session and ticket it is about.

    Of a correction the last is the learning that takes the place of the other.
    """
    session, ticket = "", fields.get("ticket_id") or ""
    match event:
        case "surfaced" | "referenced" | "dismissed":
            session = fields["session_id"]
        case "corrected":
            session, ticket = fields["session_id"], fields.get("superseded_by") or ""
        case "rated":
            event = "useful" if fields["useful"] else "useless"
        case "imported":
            event = "restored"
        case "reflection" if not _accepted_of(fields):
            ticket = ""
    return event, fields.get("learning_id", ""), session, ticket


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
            if (blocks := fields.get("blocks", 0)) > 0:
                yield "blocked", 1
                yield "blocks", blocks
                if outcome == "reflected":
                    yield "blocked_and_reflected", 1
