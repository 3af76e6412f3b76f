"""Moving learnings in and out of the index, and what that does to the sums of all terms."""

import sqlite3

from grove_core.learning_index import tables
from grove_core.learning_index.tables import ACTIVE, ENTRY_COLUMNS, NOTING, TEXT_COLUMNS
from grove_core.retrieval.entry import Entry, text_of
from grove_core.retrieval.indexed_text import IndexedText

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FURTHEST = "SELECT (SELECT max(number) FROM learning), (SELECT min(number) FROM learning)"
_INSERT = f"""
INSERT INTO learning (number, source, digest, {ENTRY_COLUMNS}, {TEXT_COLUMNS})
VALUES ({", ".join("?" * 18)})
"""
_INSERT_TERMS = f"INSERT INTO term (rowid, {TEXT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_DELETE_TERMS = (
    f"INSERT INTO term (term, rowid, {TEXT_COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
)
_COUNT = """
INSERT INTO frequency VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    documents = documents + excluded.documents, own = own + excluded.own
"""
_FORGET_TERM = "DELETE FROM frequency WHERE term = ? AND documents = 0"
_TOTAL = """
UPDATE total SET documents = documents + ?, summary = summary + ?, tags = tags + ?,
    detail = detail + ?, paths = paths + ?, keys = keys + ?
WHERE own = ?
"""


class Additions:
    """Learnings that go into the index and out of it, and what that does to the sums."""

    def __init__(self, connection: sqlite3.Connection, source: int) -> None:
        """Begin."""
        self._connection = connection
        self._source = source
        # Of all learnings, and of those that tell what is rare in the project.
        self._sums = Sums(), Sums()
        row = connection.execute(_FURTHEST).fetchone()
        self._next = max(row[0] or 0, -(row[1] or 0)) + 1

    def add(self, entry: Entry, digest: int) -> None:
        """Put in a learning that is not there."""
        text = text_of(entry)
        number = self._next if entry.status == ACTIVE else -self._next
        self._next += 1
        self._connection.execute(_INSERT, (number, self._source, digest, *entry, *text))
        if tables.has_fts5():
            self._connection.execute(_INSERT_TERMS, (number, *text))
        if number > 0 and entry.category in NOTING:
            # Half a character, which a path may hold, cannot be stored.
            paths = (path.encode("utf-8", "replace").decode() for path in _files(entry))
            noted = ((path, number) for path in paths)
            self._connection.executemany("INSERT OR IGNORE INTO noted_file VALUES (?, ?)", noted)
        self._count(text, 1, own=is_own(number, personal=entry.personal))

    def remove(self, learning_id: str) -> None:
        """Take out a learning, if it is there."""
        find = f"SELECT personal, number, {TEXT_COLUMNS} FROM learning WHERE source = ? AND id = ?"
        row = self._connection.execute(find, (self._source, learning_id)).fetchone()
        if row is None:
            return
        personal, *columns = row
        number = columns[:1]
        if tables.has_fts5():
            self._connection.execute(_DELETE_TERMS, columns)
        self._connection.execute("DELETE FROM learning WHERE number = ?", number)
        self._connection.execute("DELETE FROM noted_file WHERE number = ?", number)
        self._count(IndexedText(*columns[1:]), -1, own=is_own(number[0], personal=personal))

    def settle(self) -> None:
        """Write down the sums."""
        every, own = self._sums
        changed = [
            (term, count, own.documents.get(term, 0))
            for term, count in every.documents.items()
            if count or own.documents.get(term)
        ]
        self._connection.executemany(_COUNT, changed)
        fewer = ((term,) for term, count, _ in changed if count < 0)
        self._connection.executemany(_FORGET_TERM, fewer)
        for kind, sums in enumerate(self._sums):
            self._connection.execute(_TOTAL, (*sums.totals, kind))

    def _count(self, text: IndexedText, sign: int, *, own: bool) -> None:
        for sums in self._sums if own else self._sums[:1]:
            sums.add(text, sign)


class Sums:
    """What learnings that come and go change in the sums of all terms."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.documents: dict[str, int] = {}
        self.totals = [0, 0, 0, 0, 0, 0]

    def add(self, text: IndexedText, sign: int) -> None:
        """Count a learning."""
        terms: set[str] = set()
        self.totals[0] += sign
        for position, field in enumerate(text, 1):
            words = field.split()
            self.totals[position] += sign * len(words)
            terms.update(words)
        for term in terms:
            self.documents[term] = self.documents.get(term, 0) + sign


def is_own(number: int, *, personal: bool) -> bool:
    """Return whether a learning says what is rare in the project."""
    return number > 0 and not personal


def _files(entry: Entry) -> "Sequence[str]":
    files: Sequence[str] = entry.fields()["context_files"]
    return files
