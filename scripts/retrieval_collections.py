"""Collections of learnings and queries, asked through the production modules of retrieval.

For ``tune_retrieval.py``, which says what they are and what it needs.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np  # type: ignore[import-not-found]

from grove_core.model.memory import Query
from grove_core.retrieval import ranking, terms

CANDIDATES: Final = 200
SMALLEST_POOL: Final = 10
RECENCY_RATE: Final = 1.2039728 / 90  # 0.3 at 90 days
SECONDS_A_DAY: Final = 86_400
Array = Any
Json = dict[str, Any]
Baseline = Any
"""The module ``baseline.py`` beside the collections, or a function of it."""


class Found(NamedTuple):
    """A candidate and its relevance: ``document`` counts from the oldest of its index."""

    document: int
    relevance: ranking.Relevance
    score: float


class Index:
    """The learnings of a project in the order of time, as production keeps them."""

    def __init__(self, documents: Sequence[Json], times: Sequence[float]) -> None:
        """Index learnings.

        Args:
            documents: The learnings, in any order.
            times: When each was written, in seconds.
        """
        order = sorted(range(len(documents)), key=lambda at: times[at])
        self.documents = [documents[at] for at in order]
        self.times = np.array([times[at] for at in order])
        self.texts = [text_of(document) for document in self.documents]
        postings: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self.texts):
            for term in {term for field in text for term in field.split()}:
                postings[term].append(number)
        self._postings = {term: np.array(numbers) for term, numbers in postings.items()}
        lengths = [[len(field.split()) for field in text] for text in self.texts]
        self._lengths = np.cumsum(np.array([[0] * 5, *lengths], float), axis=0)

    def search(
        self, query: terms.QueryTerms, known: int, now: float | None, most: int = CANDIDATES
    ) -> list[Found]:
        """Score the candidates among the oldest ``known`` learnings; without a time all are new."""
        wanted = query.all_terms()
        frequencies = {
            term: int(np.searchsorted(self._postings[term], known))
            for term in (*wanted, *query.areas)
            if term in self._postings
        }
        sums = np.zeros(known)
        for term, weight in wanted.items():
            if frequencies.get(term):
                rarity = np.log(1 + (known - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
                sums[self._postings[term][: frequencies[term]]] += weight * rarity
        chosen = [int(at) for at in np.argsort(-sums, kind="stable")[:most] if sums[at] > 0]
        ages = [0.0 if now is None else (now - self.times[at]) / SECONDS_A_DAY for at in chosen]
        corpus = ranking.Corpus(
            documents=known,
            lengths=tuple(self._lengths[known] / max(1, known)),
            frequencies=lambda asked: {one: frequencies.get(one, 0) for one in asked},
        )
        scored = ranking.relevances(
            query,
            [self.texts[at] for at in chosen],
            corpus,
        )
        return [
            Found(at, one, one.value * recency(age) ** ranking.RECENCY_WEIGHT)
            for at, one, age in zip(chosen, scored, ages, strict=True)
        ]


def recency(age_days: float) -> float:
    """Tell how fresh a learning is, as the ranking does."""
    return max(0.1, float(np.exp(-RECENCY_RATE * age_days)))


def text_of(document: Json) -> terms.IndexedText:
    """Make a learning of a collection into terms."""
    # Ids are removed from the queries, so that a ticket would never be found by its own.
    return terms.indexed_text({**document, "ticket_id": ""})


def query_of(query: Json, *, only_title: bool = False) -> terms.QueryTerms:
    """Make a query of a collection into terms."""
    if only_title:
        return terms.terms_of(Query(text=query["ticket_title"]))
    return terms.terms_of(
        Query(
            ticket_title=query["ticket_title"],
            ticket_description=query["ticket_description"],
            tags=tuple(query["tags"]),
            files=tuple(query["file_paths"]),
        )
    )


class Collection:
    """A collection with an index for each project, and one for all of them."""

    def __init__(self, baseline: Baseline, name: str) -> None:
        """Read a collection.

        Args:
            baseline: The module ``baseline.py`` beside the collections.
            name: The collection's name.
        """
        self.name, self.baseline = name, baseline
        self.documents, self.queries, self.relevant = baseline.load(".", name)
        self.embargo = baseline.load.meta["embargo_days"]
        self._numbers = {document["id"]: at for at, document in enumerate(self.documents)}
        self.reindex()

    def reindex(self) -> None:
        """Make the learnings into terms again, after the rules for it were changed."""
        groups: dict[str, list[Json]] = defaultdict(list)
        for document in self.documents:
            groups[document["project"]].append(document)
            groups[""].append(document)
        time = self.baseline.ts
        self.indexes = {
            project: Index(group, [time(document["created_at"]) for document in group])
            for project, group in groups.items()
        }

    def scorer(self, scope: str, most: int = CANDIDATES) -> Callable[[Json, Array], Array]:
        """Make what ``baseline.evaluate`` calls with a query and the pool of its candidates."""

        def score(query: Json, pool: Array) -> Array:
            index = self.indexes[query["project"] if scope == "project" else ""]
            places = {number: at for at, number in enumerate(pool)}
            scores = np.zeros(len(pool))
            now = self.baseline.ts(query["created_at"])
            for found in index.search(query_of(query), len(pool), now, most):
                number = self._numbers[index.documents[found.document]["id"]]
                scores[places[number]] = found.score
            return scores

        score.pooled = True  # type: ignore[attr-defined]
        return score

    def evaluate(self, scorer: Baseline, scope: str = "project") -> dict[str, Any]:
        """Score every query that counts: its id and its row of metrics."""
        rows = self.baseline.evaluate(
            self.documents, self.queries, self.relevant, scorer, scope, SMALLEST_POOL, self.embargo
        )
        return {row[0]: row for row in rows}

    def scopes(self) -> tuple[str, ...]:
        """Name the scopes that are measured."""
        return ("project", "pooled") if self.name == "compound" else ("project",)
