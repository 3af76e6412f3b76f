"""Finding the learnings that have something in common with what is looked for."""

from itertools import islice
from math import log
from typing import TYPE_CHECKING

from grove_core.derived_database import transaction
from grove_core.learning_index import tables
from grove_core.retrieval.entry import Entry, Found
from grove_core.retrieval.indexed_text import IndexedText
from grove_core.retrieval.relevance import Corpus, relevances

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from grove_core.retrieval.query_terms import QueryTerms

MOST_CANDIDATES = 100
"""How many learnings are judged by all terms; docs/explanation/retrieval.md says what it loses."""

_MOST_POSTINGS = 10_000
"""How many places in the index are looked at: in a project of some hundred learnings that is all of
them, and a larger one takes no longer. With half of it nothing was lost among 2,400."""


class Search:
    """What is looked for, and what may be found."""

    def __init__(
        self,
        query: "QueryTerms",
        most: int,
        *,
        all_statuses: bool,
        admits: "Callable[[Entry], bool] | None",
    ) -> None:
        """Keep what is given; see ``LearningIndex.find``."""
        self.query = query
        self.most = most
        self.all_statuses = all_statuses
        self.admits = admits


def find(connection: "sqlite3.Connection", search: Search) -> list[Found]:
    """Find learnings."""
    # Other processes change it meanwhile.
    with transaction(connection, "DEFERRED"):
        corpus, documents = _corpus(connection)
        terms = search.query.all_terms()
        known = tables.frequencies_of(connection, terms)
        numbers = _candidates(connection, search, _weights(terms, known, documents), known)
        found = list(_load(connection, search, numbers))
        judged = relevances(search.query, [text for _, text in found], corpus)
    return _best([Found(*one, relevance) for one, relevance in zip(found, judged, strict=True)])


def _best(found: "Iterable[Found]") -> list[Found]:
    """Keep of several with one id the most relevant; of equal ones the first."""
    best: dict[str, Found] = {}
    for one in found:
        known = best.get(one.entry.id)
        if known is None or one.relevance.value > known.relevance.value:
            best[one.entry.id] = one
    return list(best.values())


def _corpus(connection: "sqlite3.Connection") -> tuple[Corpus, int]:
    """Sum up the project's own learnings, where it has some, and tell how many there are in all."""
    every, own = connection.execute("SELECT * FROM total ORDER BY own").fetchall()
    has_own = own[1] > 0
    _, documents, *lengths = own if has_own else every
    corpus = Corpus(
        documents,
        tuple(length / max(1, documents) for length in lengths),
        lambda terms: tables.frequencies_of(connection, terms, own=has_own),
    )
    return corpus, every[1]


def _weights(
    terms: "Mapping[str, float]", known: "Mapping[str, int]", documents: int
) -> dict[str, float]:
    return {
        term: terms[term] * log(1 + (documents - count + 0.5) / (count + 0.5))
        for term, count in known.items()
        if 0 < count <= documents
    }


def _candidates(
    connection: "sqlite3.Connection",
    search: Search,
    weights: "Mapping[str, float]",
    known: "Mapping[str, int]",
) -> list[int]:
    """List the numbers of learnings that hold some of the rarest terms, the most fitting first."""
    sums: dict[int, float] = {}
    left = _MOST_POSTINGS
    for term in sorted(weights, key=lambda term: (known[term], term)):
        if known[term] > left and sums:
            break
        left -= known[term]
        weight = weights[term]
        for number in tables.numbers_of(connection, term, known[term]):
            sums[number] = sums.get(number, 0.0) + weight
    wanted = [number for number in sums if search.all_statuses or number > 0]
    wanted.sort(key=lambda number: (-sums[number], number))
    return _newest_first(connection, wanted, sums, search.most)


def _newest_first(
    connection: "sqlite3.Connection",
    numbers: "list[int]",
    sums: "Mapping[int, float]",
    most: int,
) -> list[int]:
    """Let the newest come first among those that fit equally well and of which some are cut off."""
    if len(numbers) <= most:
        return numbers
    last = sums[numbers[most - 1]]
    equal = [number for number in numbers if sums[number] == last]
    start = numbers.index(equal[0])
    newest = list(islice(tables.newest_of(connection, equal), most - start))
    others = set(equal).difference(newest)
    return [*numbers[:start], *newest, *sorted(others), *numbers[start + len(equal) :]]


def _load(
    connection: "sqlite3.Connection", search: Search, numbers: "list[int]"
) -> "Iterator[tuple[Entry, IndexedText]]":
    """Read the learnings of some numbers until there are enough ids."""
    seen: set[str] = set()
    most = search.most
    for start in range(0, len(numbers), most):
        portion = numbers[start : start + most]
        rows = {row[0]: row[1:] for row in _rows(connection, portion)}
        for number in portion:
            if number not in rows:
                continue
            *stored, summary, tags, detail, paths, keys = rows[number]
            entry = tables.entry_of(stored)
            if search.admits is None or search.admits(entry):
                seen.add(entry.id)
                yield entry, IndexedText(summary, tags, detail, paths, keys)
            if len(seen) >= most:
                return


def _rows(connection: "sqlite3.Connection", numbers: "Sequence[int]") -> "list[Any]":
    return connection.execute(
        f"SELECT number, {tables.STORED_COLUMNS}, {tables.TEXT_COLUMNS} FROM learning"
        f" WHERE number IN ({','.join(map(str, numbers))}) AND {tables.NOT_PUT_AWAY}"
    ).fetchall()
