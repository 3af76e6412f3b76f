"""What an engine has to be better than: the newest first, and text scores from the books."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Final

from grove_core.evaluation.collection import CollectedLearning
from grove_core.model.memory import Query
from grove_core.retrieval.terms import STOP_WORDS, words

Scores = Mapping[int, float]
"""A score above zero by the learning's place in the collection."""
Scorer = Callable[[Query], Scores]
Baseline = Callable[[Sequence[CollectedLearning]], Scorer]

_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.75
_SHORT_LENGTH_SHARE: Final = 0.3
_PATH_LENGTH_SHARE: Final = 0.5
# What each field adds to the score of the whole text.
_SUMMARY_WEIGHT: Final = 1.0
_TAGS_WEIGHT: Final = 0.45
_PATHS_WEIGHT: Final = 0.5
_TITLE_WEIGHT: Final = 2.0
_MOST_WORDS: Final = 120


class BM25:
    """An index of texts that scores all of them at once."""

    def __init__(
        self, texts: Sequence[Sequence[str]], *, length_share: float = _LENGTH_SHARE
    ) -> None:
        mean = sum(map(len, texts)) / len(texts) or 1.0
        self._places: dict[str, list[tuple[int, float]]] = {}
        for place, terms in enumerate(texts):
            norm = _SATURATION * (1 - length_share + length_share * len(terms) / mean)
            for term, count in Counter(terms).items():
                gain = count * (_SATURATION + 1) / (count + norm)
                self._places.setdefault(term, []).append((place, gain))
        self._texts = len(texts)

    def add_scores(
        self, query: Mapping[str, float], weight: float, scores: dict[int, float]
    ) -> None:
        """Score the texts that hold a term of the query."""
        for term, importance in query.items():
            places = self._places.get(term, ())
            rarity = log(1 + (self._texts - len(places) + 0.5) / (len(places) + 0.5))
            factor = weight * importance * rarity
            for place, gain in places:
                scores[place] = scores.get(place, 0.0) + factor * gain


def recent(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score everything alike, so that the newest come first."""
    alike = dict.fromkeys(range(len(learnings)), 1.0)
    return lambda _: alike


def bm25(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score by BM25 of summary, detail and tags as one text."""
    texts = BM25([_text_terms(one) for one in learnings])

    def score(query: Query) -> Scores:
        scores: dict[int, float] = {}
        texts.add_scores(_wanted(query, title=1.0), 1.0, scores)
        return scores

    return score


def bm25f(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score by BM25 of the text, and again of summary, tags with category, and words of paths."""
    known = [one.learning for one in learnings]
    texts = BM25([_text_terms(one) for one in learnings])
    summaries = BM25([words(one.summary) for one in known], length_share=_SHORT_LENGTH_SHARE)
    tags = BM25(
        [words(" ".join((*one.learning.tags, one.category))) for one in learnings],
        length_share=_SHORT_LENGTH_SHARE,
    )
    paths = BM25(
        [words(" ".join(one.context_files)) for one in known], length_share=_PATH_LENGTH_SHARE
    )

    def score(query: Query) -> Scores:
        scores: dict[int, float] = {}
        wanted = _wanted(query, title=_TITLE_WEIGHT)
        texts.add_scores(wanted, 1.0, scores)
        summaries.add_scores(wanted, _SUMMARY_WEIGHT, scores)
        tags.add_scores(wanted, _TAGS_WEIGHT, scores)
        of_paths = dict.fromkeys(words(" ".join(query.files)), 1.0)
        paths.add_scores(of_paths, _PATHS_WEIGHT, scores)
        return scores

    return score


def fts5(learnings: Sequence[CollectedLearning]) -> Scorer:
    """Score by SQLite's own: FTS5 with its Porter stemmer, summary and tags twice the detail."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE text USING fts5(summary, tags, detail, tokenize = 'porter unicode61')"
    )
    rows = (
        (place, one.learning.summary, " ".join(one.learning.tags), one.learning.detail)
        for place, one in enumerate(learnings)
    )
    database.executemany("INSERT INTO text (rowid, summary, tags, detail) VALUES (?,?,?,?)", rows)

    def score(query: Query) -> Scores:
        text = " ".join((query.ticket_title, *query.tags, query.ticket_description)).lower()
        named = dict.fromkeys(re.findall(r"[^\W_]{2,}", text))
        wanted = [word for word in named if word not in STOP_WORDS][:_MOST_WORDS]
        found = database.execute(
            "SELECT rowid, -bm25(text, 2.0, 2.0, 1.0) FROM text WHERE text MATCH ?",
            (" OR ".join(f'"{word}"' for word in wanted) or '""',),
        )
        return dict(found.fetchall())

    return score


BASELINES: Final[Mapping[str, Baseline]] = {
    "recent": recent,
    "bm25": bm25,
    "bm25f": bm25f,
    "fts5": fts5,
}


def _text_terms(one: CollectedLearning) -> Sequence[str]:
    known = one.learning
    return words(f"{known.summary} {known.detail} {' '.join(known.tags)}")


def _wanted(query: Query, *, title: float) -> Mapping[str, float]:
    """Weigh a query's terms: one that is said ten times is not ten times as important."""
    counts: dict[str, float] = {}
    _count(words(query.ticket_title), title, counts)
    _count(words(f"{query.ticket_description}\n{' '.join(query.tags)}"), 1.0, counts)
    return {term: 1 + log(count) for term, count in counts.items()}


def _count(terms: Iterable[str], weight: float, counts: dict[str, float]) -> None:
    for term in terms:
        counts[term] = counts.get(term, 0.0) + weight
