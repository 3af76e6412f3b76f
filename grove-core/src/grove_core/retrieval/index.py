"""The index of a project's learnings, in the project's cache and shared by all backends."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Any, Final, NamedTuple

from grove_core.retrieval.entry import Entry, text_of
from grove_core.retrieval.ranking import Corpus, Found, relevances
from grove_core.retrieval.terms import IndexedText, QueryTerms
from grove_core.storage.cache import (
    Cache,
    CachedPart,
    is_busy,
    places,
    portions,
    transaction,
)
from grove_core.text import fingerprint, key_of, storable

MOST_CANDIDATES: Final = 100
"""How many are compared by all terms; docs/explanation/retrieval.md says what it loses."""

MOST_NEWEST: Final = 50
"""How many learnings are looked at where nothing is known of the work."""

NOTING: Final = frozenset(("pitfall", "convention"))
"""The categories of what is worth a word when a file that a learning names is touched."""

_CONTENT: Final = "entries"
_SOURCES: Final = "sources"
_ACTIVE: Final = "active"
_MOST_POSTINGS: Final = 10_000
"""How many places in the index are looked at: in a project of some hundred learnings that is all of
them, and a larger one takes no longer. With half of it nothing was lost among 2,400."""
# Between two looks at the clock, and at most lost when the process is killed.
_AT_ONCE: Final = 100
_MICROSECONDS: Final = 1_000_000
_BITS_OF_ID: Final = 20

_COLUMNS: Final = ", ".join(Entry._fields)
_TEXTS: Final = ", ".join(IndexedText._fields)
# What several backends have may be shown only as long as none of them has put it away.
_NOT_PUT_AWAY: Final = (
    "(number < 0 OR NOT EXISTS"
    " (SELECT 1 FROM entry AS other WHERE other.id = entry.id AND other.number < 0))"
)
# The last one of an id counts: of the first source, but before it what a source has put away.
_COUNTING_LAST: Final = "number > 0 DESC, source DESC"
_SELECT: Final = f"SELECT {_COLUMNS} FROM entry"
_NEWEST: Final = f"""
{_SELECT} WHERE number > 0 AND personal <= ? AND {_NOT_PUT_AWAY} ORDER BY number DESC
"""
_OLDER: Final = f"""
SELECT DISTINCT id, created FROM entry
WHERE number > 0 AND personal = ? AND created < ? AND {_NOT_PUT_AWAY} ORDER BY created
"""
_NAMED_FILES: Final = f"""
SELECT DISTINCT path, id FROM named_file JOIN entry USING (number)
WHERE {_NOT_PUT_AWAY} ORDER BY path, id
"""
_INSERT: Final = (
    f"INSERT INTO entry (number, source, digest, {_COLUMNS}, {_TEXTS})"
    f" VALUES ({', '.join('?' * 18)})"
)
_INSERT_TERMS: Final = f"INSERT INTO term (rowid, {_TEXTS}) VALUES (?, ?, ?, ?, ?, ?)"
_DELETE_TERMS: Final = (
    f"INSERT INTO term (term, rowid, {_TEXTS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
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
_FORGET_SOURCE: Final = """
DELETE FROM source WHERE name = ?
    AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.source = source.source)
"""


class Progress(NamedTuple):
    """How far the index has come with a source."""

    mark: str = ""
    updates: int = 0


class LearningIndex(CachedPart):
    """The index of one project."""

    def __init__(
        self, cache: Cache, fill: "Callable[[LearningIndex], object] | None" = None
    ) -> None:
        super().__init__(cache)
        self._fill = fill

    def fill(self) -> None:
        """Put in what the backends have."""
        if self._fill is not None:
            self._fill(self)

    def has_all_of(self, sources: str) -> bool:
        """Return whether everything is in of sources that look like this."""
        return self.is_fresh(_SOURCES, sources)

    def set_complete(self, sources: str) -> None:
        """Note that everything is in of sources that look like this."""
        self.set_fingerprint(_SOURCES, sources)

    @property
    def content(self) -> str:
        """Another text whenever a learning has come or gone."""
        return self.fingerprint(_CONTENT)

    def progress(self, source: str) -> Progress:
        """Return how far the index has come with a source."""
        return self.ask(lambda connection: _progress(connection, source))

    def put(
        self,
        source: str,
        entries: Iterable[Entry],
        mark: str,
        *,
        whole: bool,
        since: Progress | None = None,
        until: float | None = None,
    ) -> bool:
        """Put in the learnings of a source, as far as the time allows and no other is faster."""
        known = self.progress(source) if since is None else since
        wanted = {one.id: (one, _digest(one)) for one in entries}

        def work(connection: sqlite3.Connection) -> bool:
            try:
                return _Update(connection, source, known, wanted, whole=whole).run(mark, until)
            except sqlite3.OperationalError as error:
                if is_busy(error):
                    return False
                raise

        return self.ask(work)

    def forget_others(self, sources: Iterable[str], until: float | None = None) -> bool:
        """Take out the learnings of sources that there are no more."""
        known = {name for (name,) in self._rows("SELECT name FROM source")}
        complete = True
        for name in sorted(known.difference(sources)):
            complete = self.put(name, (), "", whole=True, until=until) and complete
            if complete:
                # Another process may have begun with the same source anew.
                self._rows(_FORGET_SOURCE, name)
        return complete

    def find(
        self,
        query: QueryTerms,
        *,
        most: int = MOST_CANDIDATES,
        all_statuses: bool = False,
        admits: Callable[[Entry], bool] = lambda _: True,
    ) -> list[Found]:
        """Find the learnings that have something in common with what is looked for."""

        def question(connection: sqlite3.Connection) -> list[Found]:
            # Other processes change it meanwhile.
            with transaction(connection, "DEFERRED"):
                numbers = _candidates(connection, query)
                wanted = [number for number in numbers if all_statuses or number > 0]
                found = list(_load(connection, wanted, most, admits))
                texts = [text for _, text in found]
                fit = relevances(query, texts, _corpus(connection))
            return _best(Found(*one, fits) for one, fits in zip(found, fit, strict=True))

        return self.ask(question)

    def entries(self) -> list[Entry]:
        """List all learnings of any status, each once."""
        rows = self._rows(f"{_SELECT} ORDER BY {_COUNTING_LAST}, created")
        return list({one.id: one for one in map(_entry, rows)}.values())

    def catalogue(self) -> list[tuple[Any, ...]]:
        """List all learnings as numbers need them."""
        return [_catalogued(one) for one in self.entries()]

    def newest(self, most: int = MOST_NEWEST, *, personal: bool = True) -> list[Entry]:
        """List the newest learnings that may be shown."""

        def question(connection: sqlite3.Connection) -> list[Entry]:
            found: dict[str, Entry] = {}
            for row in connection.execute(_NEWEST, (personal,)):
                if len(found) == most:
                    break
                entry = _entry(row)
                found.setdefault(entry.id, entry)
            return list(found.values())

        return self.ask(question)

    def written_before(self, moment: int, *, personal: bool) -> list[tuple[str, int]]:
        """List the learnings that may be shown and are older than a moment."""
        return self._rows(_OLDER, personal, moment)

    def get(self, learning_id: str) -> Entry | None:
        """Fetch a learning of any status."""
        rows = self._rows(f"{_SELECT} WHERE id = ? ORDER BY {_COUNTING_LAST}", learning_id)
        return _entry(rows[-1]) if rows else None

    def named_files(self) -> list[tuple[str, str]]:
        """List the files that a pitfall or convention which may be shown names."""
        return self._rows(_NAMED_FILES)

    def __len__(self) -> int:
        """Return how many learnings of any status are in."""
        return int(self._rows("SELECT documents FROM total WHERE own = 0")[0][0])

    def _rows(self, question: str, *terms: Any) -> list[Any]:  # noqa: ANN401 - what SQLite takes
        return self.ask(lambda connection: connection.execute(question, terms).fetchall())


class _Update:
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
            self._connection.execute("DELETE FROM meta WHERE name = ?", (_SOURCES,))
            renew = "INSERT OR REPLACE INTO meta VALUES (?, hex(randomblob(8)))"
            self._connection.execute(renew, (_CONTENT,))
        return True

    def _remove(self, source: int, ids: Sequence[str], sums: "_Sums") -> None:
        # In the order of numbers, as the full text likes it; and so below.
        find = f"SELECT personal, number, {_TEXTS} FROM entry WHERE source = ?"
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
        return _progress(self._connection, self._name) == self._since

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


def _progress(connection: sqlite3.Connection, source: str) -> Progress:
    find = "SELECT mark, updates FROM source WHERE name = ?"
    row = connection.execute(find, (source,)).fetchone()
    return Progress() if row is None else Progress(row[0].decode("utf-8", "surrogatepass"), row[1])


def _candidates(connection: sqlite3.Connection, query: QueryTerms) -> list[int]:
    """List learnings that hold some of the rarest terms, the most fitting and newest first."""
    terms = query.all_terms()
    known = _frequencies(connection, terms)
    (documents,) = connection.execute("SELECT documents FROM total WHERE own = 0").fetchone()
    sums: dict[int, float] = {}
    left = _MOST_POSTINGS
    for term in sorted(known, key=lambda term: (known[term], term)):
        if known[term] > left and sums:
            break
        left -= known[term]
        weight = terms[term] * log(1 + (documents - known[term] + 0.5) / (known[term] + 0.5))
        for number in _holding(connection, term, known[term]):
            sums[number] = sums.get(number, 0.0) + weight
    newest_first = sorted(sums, key=abs, reverse=True)
    return sorted(newest_first, key=sums.__getitem__, reverse=True)


def _holding(connection: sqlite3.Connection, term: str, documents: int) -> list[int]:
    find = "SELECT rowid FROM term WHERE term MATCH ?"
    numbers = [number for (number,) in connection.execute(find, (f'"{term}"',))]
    if len(numbers) < documents:
        raise sqlite3.DatabaseError(f"{documents - len(numbers)} learnings are lost")
    return numbers


def _corpus(connection: sqlite3.Connection) -> Corpus:
    """Sum up the project's own learnings, where it has some."""
    every, own = connection.execute("SELECT * FROM total ORDER BY own").fetchall()
    has_own = own[1] > 0
    _, documents, *lengths = own if has_own else every
    column = "own" if has_own else "documents"
    return Corpus(
        documents,
        tuple(length / max(1, documents) for length in lengths),
        lambda terms: _frequencies(connection, terms, column),
    )


def _frequencies(
    connection: sqlite3.Connection, terms: Iterable[str], column: str = "documents"
) -> Mapping[str, int]:
    """Return how many learnings hold each of some terms."""
    found: dict[str, int] = {}
    for some in portions(list(terms)):
        select = f"SELECT term, {column} FROM frequency WHERE term IN ({places(some)})"
        found.update(connection.execute(select, some))
    return found


def _load(
    connection: sqlite3.Connection,
    numbers: Sequence[int],
    most: int,
    admits: Callable[[Entry], bool],
) -> Iterator[tuple[Entry, IndexedText]]:
    """Read the learnings of some numbers until there are enough ids."""
    seen: set[str] = set()
    for some in portions(numbers, most):
        select = f"SELECT number, {_TEXTS}, {_COLUMNS} FROM entry"
        select += f" WHERE number IN ({places(some)}) AND {_NOT_PUT_AWAY}"
        rows = {row[0]: row[1:] for row in connection.execute(select, some)}
        for row in (rows[number] for number in some if number in rows):
            entry = _entry(row[5:])
            if admits(entry):
                seen.add(entry.id)
                yield entry, IndexedText(*row[:5])
            if len(seen) >= most:
                return


def _best(found: Iterable[Found]) -> list[Found]:
    """Keep of several with one id the most relevant; of equal ones the first."""
    best: dict[str, Found] = {}
    for one in found:
        known = best.get(one.entry.id)
        if known is None or one.relevance.value > known.relevance.value:
            best[one.entry.id] = one
    return list(best.values())


def _entry(row: Sequence[Any]) -> Entry:
    entry = Entry._make(row)
    return entry._replace(personal=entry.personal != 0, complete=entry.complete != 0)


def _digest(entry: Entry) -> int:
    return fingerprint("\0".join(map(str, entry)).encode("utf-8", "surrogatepass"))


def _catalogued(entry: Entry) -> tuple[Any, ...]:
    fields = entry.fields()
    return (
        key_of(entry.id),
        entry.id,
        storable(fields["summary"]),
        entry.category,
        entry.scope,
        entry.status,
        entry.confidence,
        " ".join(sorted(fields["criteria_met"])),
        " ".join(fields["tags"]),
        entry.created,
        fields["session_id"],
        fields["ticket_id"] or "",
        entry.backend,
    )
