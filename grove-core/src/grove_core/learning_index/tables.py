"""The tables of the index, and moving learnings in and out of them."""

import sqlite3
from functools import cache

from grove_core.retrieval.entry import Entry
from grove_core.stats.fingerprints import fingerprint

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

SCHEMA_VERSION = 4
_VERSION_WITHOUT_FTS5 = SCHEMA_VERSION + 1000
_TABLES = """
CREATE TABLE learning (
    number INTEGER PRIMARY KEY, source INTEGER, id TEXT, digest INTEGER, backend TEXT,
    personal INTEGER, status TEXT, scope TEXT, category TEXT, confidence TEXT, created INTEGER,
    complete INTEGER, document TEXT, summary TEXT, tags TEXT, detail TEXT, paths TEXT, keys TEXT
);
CREATE UNIQUE INDEX learning_by_id ON learning (id, source);
CREATE INDEX learning_by_source ON learning (source, id, digest);
CREATE INDEX learning_by_age ON learning (created DESC, id);
CREATE TABLE frequency (
    term TEXT PRIMARY KEY, documents INTEGER, own INTEGER
) WITHOUT ROWID;
CREATE TABLE total (
    own INTEGER PRIMARY KEY, documents INTEGER, summary INTEGER, tags INTEGER, detail INTEGER,
    paths INTEGER, keys INTEGER
);
INSERT INTO total VALUES (0, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0);
CREATE TABLE noted_file (path TEXT, number INTEGER, PRIMARY KEY (path, number)) WITHOUT ROWID;
CREATE TABLE source (
    source INTEGER PRIMARY KEY, name TEXT UNIQUE, mark BLOB, updates INTEGER
);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID
"""
_TERMS = """;
CREATE VIRTUAL TABLE term USING fts5 (
    summary, tags, detail, paths, keys,
    content = 'learning', content_rowid = 'number', tokenize = 'ascii', detail = none,
    columnsize = 0
)
"""
STAMP = "stamp"
"""The fact that tells what the learnings' files looked like when all of them had been put in."""

ACTIVE = "active"
NOTING = frozenset(("pitfall", "convention"))
"""The categories of what is worth a word when a file that a learning names is touched."""

ENTRY_COLUMNS = (
    "id, backend, personal, status, scope, category, confidence, created, complete, document"
)
STORED_COLUMNS = f"{ENTRY_COLUMNS}, digest"
TEXT_COLUMNS = "summary, tags, detail, paths, keys"
NOT_PUT_AWAY = (
    "(number < 0 OR NOT EXISTS"
    " (SELECT 1 FROM learning AS other WHERE other.id = learning.id AND other.number < 0))"
)
"""What several backends have may be shown only as long as none of them has put it away."""
# What one question may name; how many SQLite allows is a matter of how it was built.
_MOST_NAMED = 500
# So many are sorted by themselves; more than that are met soon among all by age.
_FEW = 1000

_FIND = "SELECT rowid FROM term WHERE term MATCH ?"
_FIND_WITHOUT_FTS5 = (
    "SELECT rowid FROM learning WHERE instr("
    "' ' || summary || ' ' || tags || ' ' || detail || ' ' || paths || ' ' || keys || ' ', ?)"
)


@cache
def has_fts5() -> bool:
    """Return whether this SQLite can search full text; almost every one can."""
    connection = sqlite3.connect(":memory:")
    try:
        row = connection.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    finally:
        connection.close()
    return bool(row[0])


def schema() -> str:
    """Return the statements that lay the tables; without FTS5 all learnings are looked through."""
    return _TABLES + _TERMS if has_fts5() else _TABLES


def schema_version() -> int:
    """Return the version of the schema, which is another one without FTS5."""
    return SCHEMA_VERSION if has_fts5() else _VERSION_WITHOUT_FTS5


def entry_of(row: "Sequence[Any]") -> Entry:
    """Read a learning from the columns ``STORED_COLUMNS``."""
    *values, digest = row
    entry = Entry(*values)
    entry = entry._replace(personal=bool(entry.personal), complete=bool(entry.complete))
    if digest_of(entry) != digest:
        raise sqlite3.DatabaseError(f"the learning {entry.id} is not what was put in")
    return entry


def digest_of(entry: Entry) -> int:
    """Stand for all that the index keeps of a learning."""
    return fingerprint("\0".join(map(str, entry)).encode("utf-8", "surrogatepass"))


def sources(connection: sqlite3.Connection) -> list[str]:
    """List the sources that were put in."""
    return [name for (name,) in connection.execute("SELECT name FROM source")]


def numbers_of(connection: sqlite3.Connection, term: str, documents: int) -> list[int]:
    """List the numbers of the learnings that hold a term."""
    if has_fts5():
        rows = connection.execute(_FIND, (f'"{term}"',)).fetchall()
    else:
        rows = connection.execute(_FIND_WITHOUT_FTS5, (f" {term} ",)).fetchall()
    if len(rows) < documents:
        raise sqlite3.DatabaseError(f"{documents - len(rows)} learnings are lost")
    return [number for (number,) in rows]


def newest_of(connection: sqlite3.Connection, numbers: "Sequence[int]") -> "Iterator[int]":
    """Sort learnings by their age."""
    wanted = set(numbers)
    these = f"WHERE number IN ({','.join(map(str, numbers))})" if len(numbers) <= _FEW else ""
    rows = connection.execute(f"SELECT number FROM learning {these} ORDER BY created DESC, id")
    for (number,) in rows:
        if number in wanted:
            yield number


def frequencies_of(
    connection: sqlite3.Connection, terms: "Iterable[str]", *, own: bool = False
) -> "Mapping[str, int]":
    """Return how many learnings hold each of some terms."""
    column = "own" if own else "documents"
    found: dict[str, int] = {}
    for some in portions(list(terms)):
        places = ",".join("?" * len(some))
        select = f"SELECT term, {column} FROM frequency WHERE term IN ({places})"
        found.update(connection.execute(select, some))
    return found


def portions(names: "Sequence[str]") -> "Iterator[Sequence[str]]":
    """Divide names into as many as one question may hold."""
    for start in range(0, len(names), _MOST_NAMED):
        yield names[start : start + _MOST_NAMED]
