"""Putting learnings into the index: of one source at a time, a portion at a time."""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from grove_core.retrieval.terms import Entry, IndexedText, text_of
from grove_core.storage.cache import places, portions, transaction
from grove_core.text import fingerprint, key_of, storable

NOTING: Final = frozenset(("pitfall", "convention"))
"""The categories of what is worth a word when a file that a learning names is touched."""

CONTENT: Final = "entries"
SOURCES: Final = "sources"
_ACTIVE: Final = "active"
# Between two looks at the clock, and at most lost when the process is killed.
_AT_ONCE: Final = 100
_MICROSECONDS: Final = 1_000_000
_BITS_OF_ID: Final = 20

COLUMNS: Final = ", ".join(Entry._fields)
TEXTS: Final = ", ".join(IndexedText._fields)
_INSERT: Final = (
    f"INSERT INTO entry (number, source, digest, {COLUMNS}, {TEXTS}) VALUES ({', '.join('?' * 18)})"
)
_INSERT_TERMS: Final = f"INSERT INTO term (rowid, {TEXTS}) VALUES (?, ?, ?, ?, ?, ?)"
_DELETE_TERMS: Final = (
    f"INSERT INTO term (term, rowid, {TEXTS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
)
_ADD_COUNTS: Final = """
INSERT INTO frequency VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    documents = documents + excluded.documents, own = own + excluded.own
"""
_ADD_TOTALS: Final = """
UPDATE total SET documents = documents + ?, summary = summary + ?, tags = tags + ?,
    detail = detail + ?, paths = paths + ?, keys = keys + ?
WHERE own = ?
"""


class Progress(NamedTuple):
    """How far the index has come with a source."""

    mark: str = ""
    updates: int = 0


class Update:
    """Puts the learnings of one source in, a portion at a time."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        source: str,
        since: Progress,
        wanted: Mapping[str, tuple[Entry, int]],
        *,
        whole: bool,
    ) -> None:
        self._connection = connection
        self._name = source
        self._since = since
        self._wanted = wanted
        self._whole = whole

    def run(self, mark: str, until: float | None) -> bool:
        """Change what differs, as far as the time allows; return whether that is all of it."""
        missing, surplus = self._differences()
        # The newest first: should the time be over, they are what a session wants most.
        missing.sort(key=lambda one: -self._wanted[one][0].created)
        while missing or surplus:
            if until is not None and time.thread_time() > until:
                return False
            if not self._change(missing[:_AT_ONCE], surplus[:_AT_ONCE]):
                return False
            del missing[:_AT_ONCE], surplus[:_AT_ONCE]
        return self._finish(mark)

    def _differences(self) -> tuple[list[str], list[str]]:
        known = dict(self._known())
        missing = [one for one, (_, digest) in self._wanted.items() if known.get(one) != digest]
        surplus = [one for one in known if one not in self._wanted] if self._whole else []
        return missing, surplus

    def _known(self) -> Iterator[tuple[str, int]]:
        select = "SELECT id, digest FROM entry JOIN source USING (source) WHERE name = ?"
        if self._whole:
            yield from self._connection.execute(select, (self._name,))
            return
        for some in portions(list(self._wanted)):
            chosen = f"{select} AND id IN ({places(some)})"
            yield from self._connection.execute(chosen, (self._name, *some))

    def _change(self, missing: Sequence[str], surplus: Sequence[str]) -> bool:
        """Put in some and take out some, unless another process has put in all meanwhile."""
        with transaction(self._connection):
            if not self._is_up_to_date():
                return False
            source, sums = self._number(), _Sums()
            self._remove(source, [*missing, *surplus], sums)
            self._add(source, [self._wanted[one] for one in missing], sums)
            sums.write(self._connection)
            self._connection.execute("DELETE FROM meta WHERE name = ?", (SOURCES,))
            renew = "INSERT OR REPLACE INTO meta VALUES (?, hex(randomblob(8)))"
            self._connection.execute(renew, (CONTENT,))
        return True

    def _remove(self, source: int, ids: Sequence[str], sums: "_Sums") -> None:
        # In the order of numbers, as the full text likes it; and so below.
        find = f"SELECT personal, number, {TEXTS} FROM entry WHERE source = ?"
        find += f" AND id IN ({places(ids)}) ORDER BY number"
        for personal, number, *texts in self._connection.execute(find, (source, *ids)).fetchall():
            self._connection.execute(_DELETE_TERMS, (number, *texts))
            for table in ("entry", "named_file"):
                self._connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))
            sums.add(texts, -1, is_own=number > 0 and not personal)

    def _add(self, source: int, given: Iterable[tuple[Entry, int]], sums: "_Sums") -> None:
        for number, entry, digest in sorted(self._numbered(given)):
            texts = text_of(entry)
            row = (number, source, digest, *entry, *texts)
            self._connection.execute(_INSERT, row)
            self._connection.execute(_INSERT_TERMS, (number, *texts))
            if number > 0 and entry.category in NOTING:
                named = ((storable(path), number) for path in entry.fields()["context_files"])
                put = "INSERT OR IGNORE INTO named_file VALUES (?, ?)"
                self._connection.executemany(put, named)
            sums.add(texts, 1, is_own=number > 0 and not entry.personal)

    def _numbered(self, given: Iterable[tuple[Entry, int]]) -> Iterator[tuple[int, Entry, int]]:
        """Number learnings by their age; below zero what may not be shown."""
        find = "SELECT 1 FROM entry WHERE number = ?"
        taken: set[int] = set()
        for entry, digest in given:
            sign = 1 if entry.status == _ACTIVE else -1
            seconds = max(0, entry.created // _MICROSECONDS)
            number = (seconds << _BITS_OF_ID) + key_of(entry.id) % (1 << _BITS_OF_ID) + 1
            while (
                sign * number in taken
                or self._connection.execute(find, (sign * number,)).fetchone() is not None
            ):
                number += 1
            taken.add(sign * number)
            yield sign * number, entry, digest

    def _finish(self, mark: str) -> bool:
        with transaction(self._connection):
            # Another process that read the learnings earlier may have put something in between.
            if not self._is_up_to_date() or any(self._differences()):
                return False
            say = "UPDATE source SET mark = ?, updates = updates + 1 WHERE source = ?"
            stored = mark.encode("utf-8", "surrogatepass")
            self._connection.execute(say, (stored, self._number()))
        return True

    def _is_up_to_date(self) -> bool:
        return progress_of(self._connection, self._name) == self._since

    def _number(self) -> int:
        find = "SELECT source FROM source WHERE name = ?"
        row = self._connection.execute(find, (self._name,)).fetchone()
        if row is not None:
            return int(row[0])
        add = "INSERT INTO source (name, mark, updates) VALUES (?, x'', 0)"
        return self._connection.execute(add, (self._name,)).lastrowid or 0


class _Sums:
    """What learnings that come and go change in the sums of all terms."""

    def __init__(self) -> None:
        # Of all learnings, and of those that tell what is rare in the project.
        self._totals = [0] * 6, [0] * 6
        self._counts: dict[str, list[int]] = {}

    def add(self, texts: Sequence[str], sign: int, *, is_own: bool) -> None:
        fields = [text.split() for text in texts]
        for totals in self._totals[: 1 + is_own]:
            totals[0] += sign
            for position, words in enumerate(fields, 1):
                totals[position] += sign * len(words)
        for term in set().union(*fields):
            counts = self._counts.setdefault(term, [0, 0])
            counts[0] += sign
            counts[1] += sign * is_own

    def write(self, connection: sqlite3.Connection) -> None:
        changed = [(term, a, b) for term, (a, b) in self._counts.items() if a or b]
        connection.executemany(_ADD_COUNTS, changed)
        fewer = ((term,) for term, count, _ in changed if count < 0)
        connection.executemany("DELETE FROM frequency WHERE term = ? AND documents = 0", fewer)
        for own, totals in enumerate(self._totals):
            connection.execute(_ADD_TOTALS, (*totals, own))


def progress_of(connection: sqlite3.Connection, source: str) -> Progress:
    """Return how far the index has come with a source."""
    find = "SELECT mark, updates FROM source WHERE name = ?"
    row = connection.execute(find, (source,)).fetchone()
    return Progress() if row is None else Progress(row[0].decode("utf-8", "surrogatepass"), row[1])


def digest_of(entry: Entry) -> int:
    """Return what stands for a learning when it is compared with what is in."""
    return fingerprint("\0".join(map(str, entry)).encode("utf-8", "surrogatepass"))
