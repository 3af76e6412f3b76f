"""The engines that can be measured, by name, each behind the same calls.

This is the one module that reaches into grove's index and ranking: it measures what hooks do.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple, Protocol

from grove_core import Filters, LearningStatus, Query
from grove_core.retrieval import RetrievalStrategy
from grove_core.retrieval.choosing import choose
from grove_core.retrieval.index import MOST_CANDIDATES, LearningIndex
from grove_core.retrieval.ranking import FLOOR, RULES_FLOOR, Found, Ranked, Relevance, rank
from grove_core.retrieval.rules import rule_hits
from grove_core.retrieval.terms import Entry, entry_of, terms_of, text_of
from grove_core.storage.cache import Cache
from grove_eval.baselines import BASELINES, Scorer
from grove_eval.collection import CollectedLearning
from grove_eval.measures import SHOWN

DEFAULT: Final = "default"
RULES: Final = "rules"
RECENCY_DAYS: Final = 90.0
"""The age in days at which recency is 0.3, the default of the configuration."""
_SOURCE: Final = "evaluation"
_OF_ANY_STATUS: Final = Filters(statuses=frozenset(LearningStatus))


class Answer(NamedTuple):
    """What an engine finds, the best first; an engine that cannot inject ranks nothing."""

    ids: Sequence[str]
    ranked: Sequence[Ranked] | None = None
    floor: float = 0.0

    def injected(self, now: datetime) -> list[str] | None:
        """Return what hooks would show of it."""
        if self.ranked is None:
            return None
        choice = choose(self.ranked, RetrievalStrategy.MODERATE, SHOWN, now, floor=self.floor)
        return [one.entry.id for one in choice.chosen]


class Store(Protocol):
    """Some learnings in which an engine searches."""

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        """Let learnings be found from now on."""

    def ask(self, query: Query, now: datetime) -> Answer:
        """Find what fits."""
        ...


Engine = Callable[[], Store]
"""Opens an empty store."""


def engine_for(name: str, learnings: Sequence[CollectedLearning]) -> Engine:
    """Make an engine ready for a collection."""
    if name == DEFAULT:
        return _IndexStore
    if name == RULES:
        return _RulesStore
    places = {one.learning.id: place for place, one in enumerate(learnings)}
    # Every store needs the same one, and making it takes longer than all questions.
    scorer = cache(lambda: BASELINES[name](learnings))
    return lambda: _BaselineStore(places, scorer)


class _IndexStore:
    """What hooks do: the index, and the ranking of what it finds."""

    def __init__(self) -> None:
        self._index = LearningIndex(Cache())

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        self._index.put(_SOURCE, map(_entry, learnings), "", whole=False)

    def ask(self, query: Query, now: datetime) -> Answer:
        ranked = rank(self._index.find(terms_of(query)), {}, now, RECENCY_DAYS)
        return Answer([one.entry.id for one in ranked if one.score.total > 0], ranked, FLOOR)


class _RulesStore:
    """Rules score every learning: its relevance alone ranks, ties go to the newer."""

    def __init__(self) -> None:
        self._admitted: dict[str, CollectedLearning] = {}
        # Making terms of a learning takes longer than scoring it.
        self._found = cache(_found)

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        self._admitted |= {one.learning.id: one for one in learnings}

    def ask(self, query: Query, now: datetime) -> Answer:
        learnings = [one.learning for one in self._admitted.values()]
        hits = [hit for hit in rule_hits(query, learnings, _OF_ANY_STATUS) if hit.relevance > 0]
        found = [
            self._found(self._admitted[hit.learning.id])._replace(
                relevance=Relevance(hit.relevance, {})
            )
            for hit in hits[:MOST_CANDIDATES]
        ]
        ranked = rank(found, {}, now, RECENCY_DAYS)
        return Answer([hit.learning.id for hit in hits], ranked, RULES_FLOOR)


class _BaselineStore:
    """A baseline, which scores all learnings of the collection; those that are not in are cut."""

    def __init__(self, places: Mapping[str, int], scorer: Callable[[], Scorer]) -> None:
        self._places = places
        self._scorer = scorer
        self._inside: dict[int, CollectedLearning] = {}

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        self._scorer()
        self._inside |= {self._places[one.learning.id]: one for one in learnings}

    def ask(self, query: Query, now: datetime) -> Answer:
        del now
        inside = self._inside
        found = [
            (score, inside[place].created, -place)
            for place, score in self._scorer()(query).items()
            if place in inside and score > 0
        ]
        return Answer([inside[-place].learning.id for _, _, place in sorted(found, reverse=True)])


def _entry(one: CollectedLearning) -> Entry:
    entry = entry_of(one.learning, backend=_SOURCE, personal=False)
    return entry._replace(category=one.category)


def _found(one: CollectedLearning) -> Found:
    entry = _entry(one)
    return Found(entry, text_of(entry), Relevance(0.0, {}))
