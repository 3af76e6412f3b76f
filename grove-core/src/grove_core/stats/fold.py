"""Folding event logs into the cache: each from where it was left, anew when in doubt."""

import gc
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final
from zlib import crc32

from grove_core.stats.lines import UNKNOWN, UNREADABLE, EventLine, read_lines
from grove_core.storage.cache import is_busy, transaction
from grove_core.text import fingerprint, key_of, storable

MICROSECONDS_A_DAY: Final = 86_400_000_000
MOST_LISTED: Final = 100
"""How many unreadable lines of a log are kept by number."""

_PORTION: Final = 128 * 1024  # what is read and parsed at once: it should fit a processor's cache
_TAIL: Final = 4096
_FLUSHED_AT: Final = 200_000  # events; more at once are quicker to write and take more memory

_SURFACED, _REFERENCED, _DISMISSED = range(3)
# Events of which a repeat changes nothing.
_USES: Final = {"surfaced": _SURFACED, "referenced": _REFERENCED, "dismissed": _DISMISSED}
# Events about one learning each; the others are about reflections.
_OF_LEARNINGS: Final = frozenset((*_USES, "corrected", "rated", "archived", "restored"))
_CORRECTED, _USEFUL, _USELESS = range(3)
_WRITE_GATE: Final = "write_gate"

_FOLDED: Final = (
    *("log", "unreadable", "seen", "usage", "use", "used_for", "counter", "ticket"),
    *("rejected", "correction", "day", "edge", "miss"),
)
# Learnings of which something was added in this transaction, and the rows that an addition changes.
_TEMPORARY: Final = """
CREATE TEMP TABLE IF NOT EXISTS fresh (learning INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS touched (
    learning INTEGER, session INTEGER, PRIMARY KEY (learning, session)
) WITHOUT ROWID;
CREATE TEMP TABLE IF NOT EXISTS touched_edge (
    learning INTEGER, ticket TEXT, PRIMARY KEY (learning, ticket)
) WITHOUT ROWID
"""
# What some rows of `use` add to the groups and days of `day`.
_DAYS: Final = f"""
INSERT INTO day
SELECT coalesce(category, ''), coalesce(scope, ''), moment / {MICROSECONDS_A_DAY},
       :sign * sum(surfaced), :sign * sum(referenced)
FROM (
    SELECT learning, surfaced AS moment, 1 AS surfaced, 0 AS referenced FROM {{0}}
    WHERE surfaced IS NOT NULL
    UNION ALL
    SELECT learning, referenced, 0, 1 FROM {{0}} WHERE referenced IS NOT NULL
) LEFT JOIN catalogue USING (learning)
GROUP BY 1, 2, 3
ON CONFLICT (day, category, scope) DO UPDATE SET
    surfaced = surfaced + excluded.surfaced, referenced = referenced + excluded.referenced
"""
_ALL: Final = "use"
_TOUCHED: Final = "touched CROSS JOIN use USING (learning, session)"
# On which days other tickets than a learning's own first used it.
_EDGES: Final = f"""
INSERT INTO edge
SELECT moment / {MICROSECONDS_A_DAY}, :sign * count(*)
FROM (SELECT learning, ticket AS user, moment FROM {{0}}) JOIN catalogue USING (learning)
WHERE catalogue.ticket != '' AND catalogue.ticket != user
GROUP BY 1
ON CONFLICT (day) DO UPDATE SET number = number + excluded.number
"""
_ALL_EDGES: Final = "used_for"
_TOUCHED_EDGES: Final = "touched_edge CROSS JOIN used_for USING (learning, ticket)"
_LEARNINGS: Final = "INSERT INTO usage (learning, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
_ADD_USES: Final = """
INSERT INTO use VALUES (?, ?, ?, ?, ?)
ON CONFLICT (learning, session) DO UPDATE SET
    surfaced = coalesce(min(surfaced, excluded.surfaced), surfaced, excluded.surfaced),
    referenced = coalesce(min(referenced, excluded.referenced), referenced, excluded.referenced),
    dismissed = coalesce(min(dismissed, excluded.dismissed), dismissed, excluded.dismissed)
"""
_TOTALS: Final = """
UPDATE usage SET
    (surfaced, referenced, dismissed) = (
        SELECT count(surfaced), count(referenced),
            count(CASE WHEN referenced IS NULL THEN dismissed END)
        FROM use WHERE use.learning = usage.learning
    ),
    tickets = (SELECT count(*) FROM used_for WHERE used_for.learning = usage.learning)
WHERE learning IN (SELECT learning FROM fresh)
"""
# Whether the ticket that a learning came from is among those it was used for.
_AT_HOME: Final = """
UPDATE catalogue SET used_at_home = EXISTS (
    SELECT 1 FROM used_for
    WHERE used_for.learning = catalogue.learning AND used_for.ticket = catalogue.ticket
)
WHERE learning IN (SELECT learning FROM fresh)
"""
_LATEST: Final = "UPDATE usage SET {0} = max(coalesce({0}, ?1), ?1) WHERE learning = ?2"
_MARKS: Final = """
UPDATE usage SET corrected = corrected + ?, useful = useful + ?, useless = useless + ?
WHERE learning = ?
"""
_USED_FOR: Final = """
INSERT INTO used_for VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    moment = min(moment, excluded.moment)
"""
_COUNTERS: Final = """
INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number
"""
_TICKETS: Final = """
INSERT INTO ticket VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    skipped = coalesce(min(skipped, excluded.skipped), skipped, excluded.skipped),
    accepted = coalesce(max(accepted, excluded.accepted), accepted, excluded.accepted)
"""
_REJECTED: Final = "INSERT INTO rejected (moment, session, summary, tags) VALUES (?, ?, ?, ?)"


def fold(
    connection: sqlite3.Connection,
    paths: Sequence[str],
    *,
    personal: str = "",
    since: int | None = None,
    until: float | None = None,
) -> bool:
    """Add what the logs hold by now; return whether that is all of it."""
    if _is_current(connection, paths):
        return True
    for statement in _TEMPORARY.split(";"):
        connection.execute(statement)
    try:
        with _no_collection(), transaction(connection):
            known = _known_logs(connection)
            if not known.keys() <= set(paths) or not all(map(_begins_as_known, known.values())):
                for table in _FOLDED:
                    connection.execute(f"DELETE FROM {table}")
                known = {}
            folder = _Folder(connection, personal, since, until)
            for path in paths:
                folder.fold(known.get(path) or _Log(path))
            folder.finish()
    except sqlite3.OperationalError as error:
        if is_busy(error):
            return False
        raise
    return not folder.late


def join_anew(connection: sqlite3.Connection) -> None:
    """Recompute what depends on both logs and learnings after learnings have changed."""
    for statement in _TEMPORARY.split(";"):
        connection.execute(statement)
    for table in ("day", "edge", "miss", "fresh"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO fresh SELECT learning FROM usage")
    connection.execute(_AT_HOME)
    connection.execute(_DAYS.format(_ALL), {"sign": 1})
    connection.execute(_EDGES.format(_ALL_EDGES), {"sign": 1})
    connection.execute("DELETE FROM fresh")


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no cycles: a million events make none, and it takes a fifth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Log:
    """What is known of a log file."""

    COLUMNS: Final = ("offset", "lines", "checksum", "tail", "torn", "unknown", "unreadable")

    def __init__(self, path: str) -> None:
        self.path = path
        self.state = ("", "", 0)
        self.offset = self.lines = self.checksum = self.tail = self.torn = 0
        self.unknown = self.unreadable = 0


def _state_of(path: str) -> tuple[str, str, int] | None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    # As texts, for some of these numbers are larger than SQLite takes. The time of modification is
    # given back to a file that was changed more often than one would think; the other is not.
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{status.st_dev} {status.st_ino}", times, status.st_size


def _is_current(connection: sqlite3.Connection, paths: Sequence[str]) -> bool:
    """Return whether nothing has changed since everything was read."""
    rows = connection.execute("SELECT path, file, changed, size, offset + torn = size FROM log")
    known = {path: (tuple(state), whole) for path, *state, whole in rows}
    return known == {path: (state, True) for path in paths if (state := _state_of(path))}


def _known_logs(connection: sqlite3.Connection) -> dict[str, _Log]:
    known = {}
    for path, file, changed, size, *rest in connection.execute("SELECT * FROM log"):
        log = known[path] = _Log(path)
        log.state = file, changed, size
        for name, value in zip(_Log.COLUMNS, rest, strict=True):
            setattr(log, name, value)
    return known


def _begins_as_known(log: _Log) -> bool:
    """Return whether a log still begins with what was added from it."""
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


def _checksum_of_tail(file: BinaryIO, end: int) -> int:
    length = min(_TAIL, end)
    file.seek(end - length)
    return crc32(file.read(length))


def _checksum(file: BinaryIO, length: int) -> int:
    checksum = 0
    while length and (portion := file.read(min(length, _PORTION))):
        checksum = crc32(portion, checksum)
        length -= len(portion)
    return checksum


def _ends_a_line(file: BinaryIO, offset: int) -> bool:
    file.seek(offset - 1)
    return file.read(1) == b"\n"


def _whole_lines(file: BinaryIO, offset: int, size: int) -> bytes:
    """Read some lines, and at the end of the file also one that has no line end yet."""
    length = _PORTION
    while True:
        file.seek(offset)
        portion = file.read(min(length, size - offset))
        newline = portion.rfind(b"\n")
        if newline >= 0:
            return portion[: newline + 1]
        if offset + len(portion) >= size or len(portion) < length:
            return portion
        length *= 2


def _is_torn(portion: bytes) -> bool:
    return not portion.endswith(b"\n") and next(read_lines([portion])) is UNREADABLE


class _Folder:
    """Adds logs, portion by portion."""

    def __init__(
        self, connection: sqlite3.Connection, personal: str, since: int | None, until: float | None
    ) -> None:
        self._connection = connection
        self._personal = personal
        self._since = since
        self._until = until
        self._seen: set[int] = set()
        self._batch = _Batch()
        self.late = self._has_added = False
        # In a cache that is still empty, nothing can have been seen before.
        filled = connection.execute("SELECT EXISTS (SELECT 1 FROM log)").fetchone()
        self._was_filled = bool(filled[0])

    def fold(self, log: _Log) -> None:
        """Add what a log holds beyond what is known of it."""
        state = _state_of(log.path)
        if state is None or (state == log.state and log.offset + log.torn == state[2]):
            return
        with open(log.path, "rb") as file:
            if log.offset and not _ends_a_line(file, log.offset) and file.read(1):
                # A line end has come to the last line, which had none.
                log.checksum = crc32(b"\n", log.checksum)
                log.offset += 1
            size, log.torn = state[2], 0
            while log.offset < size and not self._is_late():
                portion = _whole_lines(file, log.offset, size)
                if not portion or _is_torn(portion):
                    log.torn = size - log.offset
                    break
                self._add(log, portion)
            log.tail = _checksum_of_tail(file, log.offset)
        log.state = state
        row = (log.path, *state, *(getattr(log, name) for name in _Log.COLUMNS))
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT OR REPLACE INTO log VALUES ({marks})", row)

    def finish(self) -> None:
        """Write what is left, and set right what follows from it."""
        self._flush()
        self._connection.execute(_TOTALS)
        self._connection.execute(_AT_HOME)
        if not self._was_filled:
            self._connection.execute(_DAYS.format(_ALL), {"sign": 1})
            self._connection.execute(_EDGES.format(_ALL_EDGES), {"sign": 1})
        self._connection.execute("DELETE FROM fresh")

    def _flush(self) -> None:
        self._batch.write(self._connection, anew=not self._was_filled)
        self._batch = _Batch()

    def _is_late(self) -> bool:
        until = self._until
        self.late = self._has_added and until is not None and time.thread_time() > until
        return self.late

    def _add(self, log: _Log, portion: bytes) -> None:
        batch, since, is_personal = self._batch, self._since, log.path == self._personal
        lines = portion.removesuffix(b"\n").split(b"\n")
        for number, event in enumerate(read_lines(lines), start=log.lines + 1):
            if type(event) is EventLine:
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
        log.offset += len(portion)
        log.lines += len(lines)
        log.checksum = crc32(portion, log.checksum)
        if batch.events >= _FLUSHED_AT:
            self._flush()

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


class _Batch:
    """What some lines add up to, before it goes to the cache."""

    def __init__(self) -> None:
        self.events = 0
        self.lines: list[int] = []
        self.names: dict[int, str] = {}
        self.uses: dict[tuple[int, int], list[int | None]] = {}
        self.latest: dict[tuple[int, str], int] = {}
        self.marks: dict[int, list[int]] = {}
        self.used_for: dict[tuple[int, str], int] = {}
        self.counters: Counter[tuple[str, int]] = Counter()
        self.tickets: list[tuple[str, int | None, int | None]] = []
        self.rejected: list[tuple[int, str, str, str]] = []
        self.corrections: list[tuple[int, int, str]] = []
        self._keys: dict[str, int] = {}
        self._learnings: dict[str, int] = {}

    def add(self, line: EventLine) -> None:
        """Add an event that counts once."""
        _ADDERS[line.event](self, line)

    def add_use(self, line: EventLine) -> None:
        """Add that a learning was shown, used or dismissed; added again, it changes nothing."""
        _, event, moment, fields = line
        use = _USES[event]
        # Looked up here, for they are most of what a log holds.
        name, session = fields["learning_id"], fields["session_id"]
        learning = self._learnings.get(name) or self._learning(name)
        pair = (learning, self._keys.get(session) or self._key(session))
        first = self.uses.get(pair)
        if first is None:
            first = self.uses[pair] = [None, None, None]
        known = first[use]
        if known is None or moment < known:
            first[use] = moment
        if use == _DISMISSED:
            return
        latest = self.latest.get((learning, event))
        if latest is None or moment > latest:
            self.latest[learning, event] = moment
        if use == _REFERENCED and (ticket := fields.get("ticket_id")):
            used_for = (learning, storable(ticket))
            self.used_for[used_for] = min(moment, self.used_for.get(used_for, moment))

    def _add_correction(self, line: EventLine) -> None:
        learning = self._mark(line, _CORRECTED)
        successor = storable(line.fields.get("superseded_by") or "")
        self.corrections.append((learning, line.moment, successor))

    def _add_rating(self, line: EventLine) -> None:
        self._mark(line, _USEFUL if line.fields["useful"] else _USELESS)

    def _add_restoring(self, line: EventLine) -> None:
        restored = self._learning(line.fields["learning_id"]), line.event
        self.latest[restored] = max(line.moment, self.latest.get(restored, line.moment))

    def _add_archiving(self, line: EventLine) -> None:
        self._learning(line.fields["learning_id"])

    def _add_reflection(self, line: EventLine) -> None:
        fields = line.fields
        # What a log says is believed no further than it makes sense.
        candidates = max(0, fields["candidates"])
        accepted = min(max(0, fields["accepted"]), candidates)
        self._count("submissions", line)
        self._count("candidates", line, candidates)
        self._count("accepted", line, accepted)
        if accepted > 0:
            self._count("completed", line)
            if fields.get("backend"):
                self._count(f"backend:{storable(fields['backend'])}", line)
            if ticket := fields.get("ticket_id"):
                self.tickets.append((storable(ticket), None, line.moment))

    def _add_rejection(self, line: EventLine) -> None:
        fields = line.fields
        stage = fields.get("stage") or "schema"
        self._count(f"rejected:{storable(stage)}", line)
        # Of others' refusals the texts are not published.
        if stage == _WRITE_GATE and fields["summary"]:
            texts = (fields["session_id"], fields["summary"], " ".join(fields.get("tags", ())))
            session, summary, tags = map(storable, texts)
            self.rejected.append((line.moment, session, summary, tags))

    def _add_skip(self, line: EventLine) -> None:
        self._count(f"skip:{storable(line.fields['decider'])}", line)
        if ticket := line.fields.get("ticket_id"):
            self.tickets.append((storable(ticket), line.moment, None))

    def _add_gate_cycle(self, line: EventLine) -> None:
        outcome = line.fields["outcome"]
        self._count(f"gate:{storable(outcome)}", line)
        if line.fields.get("blocks", 0) > 0:
            self._count("blocked", line)
            if outcome == "reflected":
                self._count("blocked_and_reflected", line)

    def _count(self, name: str, line: EventLine, number: int = 1) -> None:
        self.counters[name, line.moment // MICROSECONDS_A_DAY] += number

    def _mark(self, line: EventLine, which: int) -> int:
        learning = self._learning(line.fields["learning_id"])
        self.marks.setdefault(learning, [0, 0, 0])[which] += 1
        return learning

    def _learning(self, name: str) -> int:
        learning = self._learnings[name] = self._key(name)
        self.names[learning] = storable(name)
        return learning

    def _key(self, name: str) -> int:
        key = self._keys[name] = key_of(name)
        return key

    def write(self, connection: sqlite3.Connection, *, anew: bool) -> None:
        """Add the sums to the tables; where there was nothing, what depends on them waits."""
        many = connection.executemany
        many(_LEARNINGS, self.names.items())
        many("INSERT OR IGNORE INTO fresh VALUES (?)", ((one,) for one in self.names))
        many("INSERT INTO seen VALUES (?)", ((line,) for line in sorted(self.lines)))
        uses = sorted((*pair, *moments) for pair, moments in self.uses.items())
        edges = ((*pair, moment) for pair, moment in self.used_for.items())
        if anew:
            many(_ADD_USES, uses)
            many(_USED_FOR, edges)
        else:
            many("INSERT INTO touched VALUES (?, ?)", sorted(self.uses))
            many("INSERT INTO touched_edge VALUES (?, ?)", self.used_for)
            connection.execute(_DAYS.format(_TOUCHED), {"sign": -1})
            connection.execute(_EDGES.format(_TOUCHED_EDGES), {"sign": -1})
            many(_ADD_USES, uses)
            many(_USED_FOR, edges)
            connection.execute(_DAYS.format(_TOUCHED), {"sign": 1})
            connection.execute(_EDGES.format(_TOUCHED_EDGES), {"sign": 1})
            connection.execute("DELETE FROM touched")
            connection.execute("DELETE FROM touched_edge")
        for event in ("surfaced", "referenced", "restored"):
            latest = (
                (moment, one) for (one, which), moment in self.latest.items() if which == event
            )
            many(_LATEST.format(f"last_{event}"), latest)
        many(_MARKS, ((*marks, learning) for learning, marks in self.marks.items()))
        many(_COUNTERS, ((*key, number) for key, number in self.counters.items()))
        connection.execute(_COUNTERS, ("events", 0, self.events))
        many(_TICKETS, self.tickets)
        many(_REJECTED, self.rejected)
        many("INSERT INTO correction VALUES (?, ?, ?)", self.corrections)


_ADDERS: Final[dict[str, Callable[[_Batch, EventLine], None]]] = {
    "corrected": _Batch._add_correction,  # noqa: SLF001 - the class's own table
    "rated": _Batch._add_rating,  # noqa: SLF001
    "restored": _Batch._add_restoring,  # noqa: SLF001
    "archived": _Batch._add_archiving,  # noqa: SLF001
    "reflection": _Batch._add_reflection,  # noqa: SLF001
    "rejected": _Batch._add_rejection,  # noqa: SLF001
    "skip": _Batch._add_skip,  # noqa: SLF001
    "gate": _Batch._add_gate_cycle,  # noqa: SLF001
}
