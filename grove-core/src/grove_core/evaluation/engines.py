"""The engines that can be measured, by name, each behind the same calls."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, Protocol

from attrs import frozen

from grove_core.evaluation.baselines import BASELINES, Scorer
from grove_core.evaluation.collection import CollectedLearning
from grove_core.finder import terms_of
from grove_core.learning_index.finding import MOST_CANDIDATES
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.model.learning import Learning
from grove_core.model.memory import Query
from grove_core.plugins.engines import Engine as Judge
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.entry import Entry, Found, text_of
from grove_core.retrieval.ranking import Ranked, rank
from grove_core.retrieval.relevance import FLOOR, Relevance
from grove_core.stats.log_lines import instant

DEFAULT: Final = "default"
RULES: Final = "rules"
RECENCY_DAYS: Final = 90.0
"""The age in days at which recency is 0.3, unless somebody configures another one."""
_SOURCE: Final = "evaluation"
_NONE: Final = Relevance(0.0, {})


class Answer(NamedTuple):
    """What an engine finds."""

    ids: Sequence[str]
    ranked: Sequence[Ranked] | None = None
    floor: float = 0.0
    failed: bool = False


class Store(Protocol):
    """Some learnings in which an engine searches."""

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        """Let learnings be found from now on."""

    def ask(self, query: Query, now: int) -> Answer:
        """Find what fits."""
        ...

    def close(self) -> None:
        """Let go of everything."""


@frozen(kw_only=True)
class Engine:
    """Something that finds learnings."""

    name: str
    open: Callable[[], Store]
    injects: bool = True


def engines_for(
    names: Iterable[str],
    learnings: Sequence[CollectedLearning],
    judges: Mapping[str, Judge],
) -> list[Engine]:
    """Make engines ready for a collection."""
    return [_engine(name, learnings, judges) for name in names]


def names_of_engines(judges: Iterable[str]) -> list[str]:
    """Name everything that can be measured."""
    return list(dict.fromkeys([DEFAULT, *judges, *BASELINES]))


def _engine(
    name: str,
    learnings: Sequence[CollectedLearning],
    judges: Mapping[str, Judge],
) -> Engine:
    if name == DEFAULT:
        return Engine(name=name, open=_IndexStore)
    if name in judges:
        return Engine(name=name, open=lambda: _JudgedStore(judges[name]))
    places = {one.learning.id: place for place, one in enumerate(learnings)}
    # Every store needs the same one, and making it takes longer than all questions.
    scorer = cache(lambda: BASELINES[name](learnings))
    return Engine(name=name, open=lambda: _BaselineStore(places, scorer), injects=False)


class _IndexStore:
    """What hooks do: the index, and the ranking of what it finds."""

    def __init__(self) -> None:
        self._index = LearningIndex(IN_MEMORY)

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        self._index.put(_SOURCE, map(_entry, learnings), "", whole=False)

    def ask(self, query: Query, now: int) -> Answer:
        found = self._index.find(terms_of(query))
        ranked = rank(found, {}, instant(now), RECENCY_DAYS)
        return Answer([one.entry.id for one in ranked if one.score.total > 0], ranked, FLOOR)

    def close(self) -> None:
        self._index.close()


class _JudgedStore:
    """An engine that judges every learning: its relevance alone ranks, ties go to the newer."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._admitted: list[CollectedLearning] = []
        self._learnings: list[Learning] = []
        # Making terms of a learning takes longer than scoring it.
        self._found: dict[str, Found] = {}

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        # The newest first, so that sorting by relevance leaves ties as they should be.
        self._admitted = sorted((*learnings, *self._admitted), key=lambda one: -one.created)
        self._learnings = [one.learning for one in self._admitted]

    def ask(self, query: Query, now: int) -> Answer:
        scores = self._judge.score(query, self._learnings)
        if len(scores) < len(self._learnings):
            # It has failed, which was reported.
            return Answer([], [], self._judge.floor, failed=True)
        scored = zip(scores, self._admitted, strict=True)
        found = [(value, one) for (value, _), one in scored if value > 0]
        found.sort(key=lambda each: -each[0])
        judged = [self._judged(one, value) for value, one in found[:MOST_CANDIDATES]]
        ranked = rank(judged, {}, instant(now), RECENCY_DAYS)
        return Answer([one.learning.id for _, one in found], ranked, self._judge.floor)

    def close(self) -> None:
        self._admitted.clear()

    def _judged(self, one: CollectedLearning, value: float) -> Found:
        known = self._found.get(one.learning.id)
        if known is None:
            entry = _entry(one)
            known = self._found[one.learning.id] = Found(entry, text_of(entry), _NONE)
        return known._replace(relevance=Relevance(value, {}))


class _BaselineStore:
    """A baseline, which scores all learnings of the collection; those that are not in are cut."""

    def __init__(self, places: Mapping[str, int], scorer: Callable[[], Scorer]) -> None:
        self._places = places
        self._scorer = scorer
        self._inside: dict[int, CollectedLearning] = {}

    def admit(self, learnings: Sequence[CollectedLearning]) -> None:
        self._scorer()
        self._inside |= {self._places[one.learning.id]: one for one in learnings}

    def ask(self, query: Query, now: int) -> Answer:
        del now
        inside = self._inside
        found = [
            (-score, -inside[place].created, place)
            for place, score in self._scorer()(query).items()
            if place in inside and score > 0
        ]
        return Answer([inside[place].learning.id for _, _, place in sorted(found)])

    def close(self) -> None:
        self._inside.clear()


def _entry(one: CollectedLearning) -> Entry:
    entry = entry_of(one.learning, backend=_SOURCE, personal=False)
    return entry._replace(category=one.category)
