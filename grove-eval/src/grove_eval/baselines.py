"""What an engine has to be better than: the newest first, and text scores from the books."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Final

from grove_core import Query
from grove_core.retrieval.terms import words
from grove_eval.collection import CollectedLearning

Scores = Mapping[int, float]
"""A score above zero by the learning's place in the collection."""
Scorer = Callable[[Query], Scores]
Field = tuple[Callable[[CollectedLearning], str], float, float]

_SATURATION: Final = 1.2
_TITLE_WEIGHT: Final = 2.0


class BM25:
    """An index of texts that scores all of them at once."""

    def __init__(self, texts: Sequence[Sequence[str]], *, length_share: float = 0.75) -> None:
        mean = sum(map(len, texts)) / len(texts) or 1.0
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for place, terms in enumerate(texts):
            norm = _SATURATION * (1 - length_share + length_share * len(terms) / mean)
            for term, count in Counter(terms).items():
                gain = count * (_SATURATION + 1) / (count + norm)
                self._postings.setdefault(term, []).append((place, gain))
        self._texts = len(texts)

    def add_scores(
        self, query: Mapping[str, float], weight: float, scores: dict[int, float]
    ) -> None:
        """Score the texts that hold a term of the query."""
        for term, importance in query.items():
            postings = self._postings.get(term, ())
            rarity = log(1 + (self._texts - len(postings) + 0.5) / (len(postings) + 0.5))
            factor = weight * importance * rarity
            for place, gain in postings:
                scores[place] = scores.get(place, 0.0) + factor * gain


def recent(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score everything alike, so that the newest come first."""
    alike = dict.fromkeys(range(len(learnings)), 1.0)
    return lambda _: alike


def bm25(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score by BM25 of summary, detail and tags as one text."""
    return _sum_of(learnings, _FIELDS[:1], title=1.0)


def bm25f(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score by BM25 of the text, and again of summary, tags with category, and words of paths."""
    return _sum_of(learnings, _FIELDS, title=_TITLE_WEIGHT)


def _sum_of(
    learnings: Sequence[CollectedLearning], fields: Sequence[Field], *, title: float
) -> Scorer:
    indexes = [
        BM25([words(text_of(one)) for one in learnings], length_share=length_share)
        for text_of, length_share, _ in fields
    ]

    def score(query: Query) -> Scores:
        scores: dict[int, float] = {}
        # A term that is said ten times is not ten times as important.
        counts = Counter(words(f"{query.ticket_description}\n{' '.join(query.tags)}"))
        of_title = Counter(words(query.ticket_title))
        wanted = {
            term: 1 + log(counts[term] + title * of_title[term]) for term in counts | of_title
        }
        paths = dict.fromkeys(words(" ".join(query.files)), 1.0)
        for index, (text_of, _, weight) in zip(indexes, fields, strict=True):
            index.add_scores(paths if text_of is _paths else wanted, weight, scores)
        return scores

    return score


def _whole_text(one: CollectedLearning) -> str:
    return f"{one.learning.summary} {one.learning.detail} {' '.join(one.learning.tags)}"


def _summary(one: CollectedLearning) -> str:
    return one.learning.summary


def _tags(one: CollectedLearning) -> str:
    return " ".join((*one.learning.tags, one.category))


def _paths(one: CollectedLearning) -> str:
    return " ".join(one.learning.context_files)


# What is scored, how much its length counts, and what it adds to the score of the whole text.
_FIELDS: Final[Sequence[Field]] = (
    (_whole_text, 0.75, 1.0),
    (_summary, 0.3, 1.0),
    (_tags, 0.3, 0.45),
    (_paths, 0.5, 0.5),
)


BASELINES: Final[Mapping[str, Callable[[Sequence[CollectedLearning]], Scorer]]] = {
    "recent": recent,
    "bm25": bm25,
    "bm25f": bm25f,
}
