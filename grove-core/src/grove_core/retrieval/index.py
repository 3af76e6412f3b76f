"""The index of a project's learnings, in the project's cache and shared by all backends."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log
from typing import Any, Final

from grove_core.retrieval.ranking import Corpus, Found, relevances
from grove_core.retrieval.terms import Entry, IndexedText, QueryTerms
from grove_core.retrieval.update import (
    COLUMNS,
    CONTENT,
    TEXTS,
    Progress,
    Update,
    digest_of,
    progress_of,
)
from grove_core.storage.cache import (
    Cache,
    CachedPart,
    is_busy,
    places,
    portions,
    transaction,
)
from grove_core.text import key_of, storable

MOST_CANDIDATES: Final = 100
"""How many are compared by all terms; docs/explanation/retrieval.md says what it loses."""

MOST_NEWEST: Final = 50
"""How many learnings are looked at where nothing is known of the work."""

_MOST_POSTINGS: Final = 10_000
"""How many places in the index are looked at: in a project of some hundred learnings that is all of
them, and a larger one takes no longer. With half of it nothing was lost among 2,400."""
# What several backends have may be shown only as long as none of them has put it away.
_NOT_PUT_AWAY: Final = (
    "(number < 0 OR NOT EXISTS"
    " (SELECT 1 FROM entry AS other WHERE other.id = entry.id AND other.number < 0))"
)
# The last one of an id counts: of the first source, but before it what a source has put away.
_COUNTING_LAST: Final = "number > 0 DESC, source DESC"
_SELECT: Final = f"SELECT {COLUMNS} FROM entry"
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
_HOLDING: Final = "SELECT rowid FROM term WHERE term MATCH ?"
_FORGET_SOURCE: Final = """
DELETE FROM source WHERE name = ?
    AND NOT EXISTS (SELECT 1 FROM entry WHERE entry.source = source.source)
"""


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

    @property
    def content(self) -> str:
        """Another text whenever a learning has come or gone."""
        return self.fingerprint(CONTENT)

    def progress(self, source: str) -> Progress:
        """Return how far the index has come with a source."""
        return self.ask(lambda connection: progress_of(connection, source))

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
        wanted = {one.id: (one, digest_of(one)) for one in entries}

        def work(connection: sqlite3.Connection) -> bool:
            try:
                return Update(connection, source, known, wanted, whole=whole).run(mark, until)
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
                # Another process may have begun with the same source again.
                self._rows(_FORGET_SOURCE, name)
        return complete

    def find(
        self,
        query: QueryTerms,
        *,
        all_statuses: bool = False,
        admits: Callable[[Entry], bool] = lambda _: True,
    ) -> list[Found]:
        """Find the learnings that have something in common with what is looked for."""

        def question(connection: sqlite3.Connection) -> list[Found]:
            # Other processes change it meanwhile.
            with transaction(connection, "DEFERRED"):
                numbers = _candidates(connection, query)
                wanted = [number for number in numbers if all_statuses or number > 0]
                found = list(_load(connection, wanted, admits))
                texts = [text for _, text in found]
                fit = relevances(query, texts, _corpus(connection))
            return _best(Found(*one, fits) for one, fits in zip(found, fit, strict=True))

        return self.ask(question)

    def entries(self) -> list[Entry]:
        """List all learnings of any status, each once."""
        return list({one.id: one for one in self._entries()}.values())

    def _entries(self) -> Iterator[Entry]:
        everything = f"{_SELECT} ORDER BY {_COUNTING_LAST}, created"
        return map(_entry, self.ask(lambda connection: connection.execute(everything)))

    def catalogue(self) -> Iterator[tuple[Any, ...]]:
        """List all learnings as numbers need them; of several with one id the last counts."""
        return map(_catalogued, self._entries())

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
        numbers = [number for (number,) in connection.execute(_HOLDING, (f'"{term}"',))]
        if len(numbers) < known[term]:
            raise sqlite3.DatabaseError(f"{known[term] - len(numbers)} learnings are lost")
        for number in numbers:
            sums[number] = sums.get(number, 0.0) + weight
    newest_first = sorted(sums, key=abs, reverse=True)
    return sorted(newest_first, key=sums.__getitem__, reverse=True)


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
    admits: Callable[[Entry], bool],
) -> Iterator[tuple[Entry, IndexedText]]:
    """Read the learnings of some numbers until there are enough ids."""
    seen: set[str] = set()
    for some in portions(numbers, MOST_CANDIDATES):
        select = f"SELECT number, {TEXTS}, {COLUMNS} FROM entry"
        select += f" WHERE number IN ({places(some)}) AND {_NOT_PUT_AWAY}"
        rows = {row[0]: row[1:] for row in connection.execute(select, some)}
        for row in (rows[number] for number in some if number in rows):
            entry = _entry(row[5:])
            if admits(entry):
                seen.add(entry.id)
                yield entry, IndexedText(*row[:5])
            if len(seen) >= MOST_CANDIDATES:
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
    name, backend, personal, *told, complete, document = row
    return Entry._make((name, backend, personal != 0, *told, complete != 0, document))


def _catalogued(entry: Entry) -> tuple[Any, ...]:
    fields = entry.fields()
    return (
        key_of(entry.id),
        entry.id,
        storable(fields["summary"]),
        entry.category,
        entry.scope,
        entry.status,
        " ".join(sorted(fields["criteria_met"])),
        " ".join(fields["tags"]),
        entry.created,
        fields["session_id"],
        fields["ticket_id"] or "",
        len(fields["summary"]) + len(fields["detail"]),
    )
