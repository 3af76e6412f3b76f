"""Memory backends with a fault in searching."""

# ruff: noqa: D102 - each class says what is wrong with its methods

from collections.abc import Iterable, Sequence

from attrs import evolve

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Filters,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
)
from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage
from grove_core.testing.samples import UNKNOWN_ID, example_learning


class TooRelevant(InMemoryBackend):
    """Adds up relevance beyond 1."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return [evolve(hit, relevance=hit.relevance * 2) for hit in super().search(query, filters)]


class IgnoresLimit(InMemoryBackend):
    """Returns all hits."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return super().search(query, evolve(filters, limit=None))


class LimitsTooEarly(InMemoryBackend):
    """Takes the first ones that it comes across, and only then the best of these."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        first = list(self._storage.learnings)[: filters.limit]
        hits = super().search(query, evolve(filters, limit=None))
        return [hit for hit in hits if hit.learning.id in first]


class IgnoresStatusFilter(InMemoryBackend):
    """Finds archived learnings as well."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return super().search(query, evolve(filters, statuses=frozenset(LearningStatus)))


class FindsEverything(InMemoryBackend):
    """Finds everything, whatever was asked."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        found = {hit.learning.id: hit for hit in super().search(query, filters)}
        others = super().search(Query(), evolve(filters, limit=None))
        weak = (evolve(hit, relevance=0.01) for hit in others if hit.learning.id not in found)
        return [*found.values(), *weak][: filters.limit]


class SearchesTextOnly(InMemoryBackend):
    """Knows nothing of a query but its text."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return [] if not query.text else super().search(Query(text=query.text), filters)


class WorstFirst(InMemoryBackend):
    """Sorts hits the wrong way round."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return super().search(query, filters)[::-1]


class ShowsStrangers(InMemoryBackend):
    """Gives a note of somebody else out for a learning of its own."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        hits = super().search(query, evolve(filters, limit=None))
        stranger = Hit(learning=evolve(example_learning(), id=UNKNOWN_ID), relevance=0.0)
        return [*hits, stranger][: filters.limit] if hits else hits


class HandsOutItsOwn(InMemoryBackend):
    """Hands out the very list that it goes on working with."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self._kept: list[Learning] = []

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        if receipt.status is ReceiptStatus.STORED:
            self._kept.append(learning)
        return receipt

    def iterate(self) -> Iterable[Learning]:
        return self._kept

    def _all(self) -> list[Learning]:
        return list(self._kept)


class ChangesWhatItIsAsked(InMemoryBackend):
    """Puts its own limit into the caller's filters."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        object.__setattr__(filters, "limit", min(filters.limit or 10, 10))
        return super().search(query, filters)


class FindsNothingForNothing(InMemoryBackend):
    """Takes an empty query for one that nothing fits."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return [] if query.is_empty else super().search(query, filters)


class ShortensWhatItFinds(InMemoryBackend):
    """Shows the beginning of a detail, and says that it is complete."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return [
            evolve(hit, learning=evolve(hit.learning, detail=hit.learning.detail[:40]))
            for hit in super().search(query, filters)
        ]


class SearchesAnOldIndex(InMemoryBackend):
    """Searches learnings as they were when they were written."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self._index = InMemoryBackend()

    def write(self, learning: Learning) -> Receipt:
        self._index.write(learning)
        return super().write(learning)

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        return self._index.search(query, filters)
