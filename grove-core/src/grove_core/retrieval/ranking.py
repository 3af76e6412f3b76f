"""How well learnings fit what is looked for, and which come first."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import exp, log
from typing import Final, NamedTuple, TypeVar

from grove_core.model.learning import LearningStats
from grove_core.retrieval.terms import Entry, IndexedText, QueryTerms
from grove_core.stats.decay import verification
from grove_core.stats.lines import instant

# Evidence: a sum over matched terms of how rare they are. Measured; the optimum is flat.
SATURATION: Final = 1.5  # the k1 of BM25: how soon repeating a word says nothing more
LENGTH_SHARE: Final = 0.75  # the b of BM25: how far long texts are discounted
WHOLE_TEXT_WEIGHT: Final = 1.0
SUMMARY_WEIGHT: Final = 1.0
TAGS_WEIGHT: Final = 0.5
PATHS_WEIGHT: Final = 0.5

# Learnings that a project is thought to have besides, all about other things: with three of its own
# nothing could be rare.
BACKGROUND: Final = 10

# Log odds: learned on what tells a project's own matters from a stranger's, all but the bias, which
# moves values and floor together: at -2 and more the best values come too close to 1.
BIAS: Final = -4.0
EVIDENCE_SLOPE: Final = 1.75
NEED_SLOPE: Final = -1.12
CORPUS_SLOPE: Final = -0.29
IDENTIFIERS_SLOPE: Final = 0.89
KNOWN_AREA: Final = 1.03
KNOWN_AREAS_SLOPE: Final = 2.34
UNKNOWN_AREA: Final = -1.09

# Of queries asked of strange projects 1.4 % have a better candidate, of answerable ones 96.6 %.
FLOOR: Final = 0.033
# Where rules alone score it: half of what one keyword is worth.
RULES_FLOOR: Final = 0.15
# The exponent of recency in the score. Measured from 0 to 1: best from 0.2 to 0.5.
RECENCY_WEIGHT: Final = 0.3

RECENCY_AT_REFERENCE_AGE: Final = 0.3
RECENCY_FLOOR: Final = 0.1
# A prior worth four showings, half of them used, keeps one unused showing from silencing it.
PRIOR_SHOWINGS: Final = 4.0
PRIOR_HIT_RATE: Final = 0.5
# What the author was less sure of has to prove itself; after some showings it makes no difference.
PRIOR_BY_CONFIDENCE: Final = {"high": PRIOR_HIT_RATE, "medium": 0.475, "low": 0.425}
BOOST_FLOOR: Final = 0.4
# Anyone who rates has looked at it, while a showing that is not used may have gone unread.
RATING_SHOWINGS: Final = 2.0
_SECONDS_A_DAY: Final = 86_400.0
_DIGITS: Final = 6

_T = TypeVar("_T")


class Corpus(NamedTuple):
    """What is known of all learnings together."""

    documents: int
    lengths: tuple[float, ...]
    frequencies: Callable[[Iterable[str]], Mapping[str, int]]


class Relevance(NamedTuple):
    """How well a learning fits."""

    value: float
    parts: Mapping[str, float]
    reasons: Sequence[str] = ()


class Found(NamedTuple):
    """A learning that was found."""

    entry: Entry
    text: IndexedText
    relevance: Relevance


class _Wanted(NamedTuple):
    """A query seen with the eyes of a corpus: its terms weighed by how rare they are."""

    words: Mapping[str, float]
    path_words: Mapping[str, float]
    keys: Mapping[str, float]
    lengths: tuple[float, float, float, float]
    parts: Mapping[str, float]


def relevances(query: QueryTerms, texts: Sequence[IndexedText], corpus: Corpus) -> list[Relevance]:
    """Return how well each of some learnings fits."""
    if not texts:
        return []
    wanted = _wanted(query, corpus)
    return [_relevance(wanted, text) for text in texts]


def _wanted(query: QueryTerms, corpus: Corpus) -> _Wanted:
    found = corpus.frequencies([*query.all_terms(), *query.areas])
    documents = corpus.documents
    background = documents + BACKGROUND

    def weighed(terms: Mapping[str, float]) -> dict[str, float]:
        # How often a term is found may be counted a little later than the documents were.
        return {
            term: weight * log(1 + (background - known + 0.5) / (known + 0.5))
            for term, weight in terms.items()
            for known in (min(found.get(term, 0), documents),)
        }

    words, path_words = weighed(query.words), weighed(query.path_words)
    # With nothing but files asked for, a few path words in common would be all there is to say.
    need = max(sum(words.values()), sum(path_words.values()))
    known_identifiers = sum(1 for word in query.identifiers if found.get(word))
    parts = {
        "query": BIAS + NEED_SLOPE * log(1 + need),
        "corpus": CORPUS_SLOPE * log(1 + documents),
        "identifiers": IDENTIFIERS_SLOPE * log(1 + known_identifiers),
        "area": 0.0,
    }
    if query.areas:
        share = sum(1 for area in query.areas if found.get(area)) / len(query.areas)
        parts["area"] = KNOWN_AREA + KNOWN_AREAS_SLOPE * share if share else UNKNOWN_AREA
    summary, tags, detail, paths = corpus.lengths[:4]
    return _Wanted(
        words=words,
        path_words=path_words,
        keys=weighed(query.keys),
        lengths=(summary + tags + detail, summary, tags, paths),
        parts=parts,
    )


def _relevance(wanted: _Wanted, text: IndexedText) -> Relevance:
    evidence = _evidence(wanted, text)
    total = sum(evidence.values())
    if total <= 0:
        return Relevance(0.0, {})
    # The logarithm is of the sum: each component gets its share of it.
    each = EVIDENCE_SLOPE * log(1 + total) / total
    parts = {name: each * amount for name, amount in evidence.items()}
    parts.update(wanted.parts)
    return Relevance(1 / (1 + exp(-sum(parts.values()))), parts)


def _evidence(wanted: _Wanted, text: IndexedText) -> dict[str, float]:
    words = wanted.words
    summary, tags, detail = text.summary.split(), text.tags.split(), text.detail.split()
    in_summary = [term for term in summary if term in words]
    in_tags = [term for term in tags if term in words]
    in_text = [term for term in detail if term in words] + in_summary + in_tags
    whole_mean, summary_mean, tags_mean, paths_mean = wanted.lengths
    whole = len(summary) + len(tags) + len(detail)
    evidence = {
        "text": WHOLE_TEXT_WEIGHT * _saturated(in_text, words, whole, whole_mean),
        "summary": SUMMARY_WEIGHT * _saturated(in_summary, words, len(summary), summary_mean),
        "tags": TAGS_WEIGHT * _saturated(in_tags, words, len(tags), tags_mean),
    }
    if wanted.path_words:
        weights, paths = wanted.path_words, text.paths.split()
        in_paths = [term for term in paths if term in weights]
        evidence["paths"] = PATHS_WEIGHT * _saturated(in_paths, weights, len(paths), paths_mean)
    if wanted.keys:
        evidence["keys"] = sum(
            [wanted.keys[key] for key in text.keys.split() if key in wanted.keys]
        )
    return evidence


def _saturated(
    found: list[str], weights: Mapping[str, float], length: int, mean_length: float
) -> float:
    """Sum up a field's matches as BM25 does (Robertson and Zaragoza 2009)."""
    if not found:
        return 0.0
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / (mean_length or 1))
    counts: dict[str, int] = {}
    for term in found:
        counts[term] = counts.get(term, 0) + 1
    total = 0.0
    for term, count in counts.items():
        total += weights[term] * count / (count + norm)
    return (SATURATION + 1) * total


class Score(NamedTuple):
    """A score and what it is made of."""

    total: float
    relevance: float
    recency: float
    boost: float
    parts: Mapping[str, float]
    reasons: Sequence[str] = ()

    def rounded(self) -> "Score":
        """Leave out digits that say nothing."""
        return Score(
            total=round(self.total, _DIGITS),
            relevance=round(self.relevance, _DIGITS),
            recency=round(self.recency, _DIGITS),
            boost=round(self.boost, _DIGITS),
            parts={name: round(value, _DIGITS) for name, value in self.parts.items()},
            reasons=list(self.reasons),
        )

    def lines(self) -> list[str]:
        """Return the numbers that it is made of."""
        factors = f"relevance {self.relevance:.4f} × recency {self.recency:.2f}"
        lines = [f"score {self.total:.4f} = {factors} × usage {self.boost:.2f}"]
        parts = [f"{name} {value:+.2f}" for name, value in self.parts.items() if value]
        if parts:
            lines.append(f"relevance from {', '.join(parts)}")
        return lines


class Ranked(NamedTuple):
    """A learning with its score."""

    entry: Entry
    text: IndexedText
    score: Score

    @classmethod
    def unweighed(cls, found: Found) -> "Ranked":
        """Take what was found with its relevance for its score."""
        value, parts, reasons = found.relevance
        return cls(found.entry, found.text, Score(value, value, 1.0, 1.0, parts, reasons))


def rank(
    found: Iterable[Found],
    stats: Mapping[str, LearningStats],
    now: datetime,
    recency_days: float,
) -> list[Ranked]:
    """Score what was found and put the best first; ties go to the newer, then to the smaller id."""

    def scored(one: Found, fared: LearningStats | None) -> Ranked:
        return Ranked(one.entry, one.text, score_of(one, fared, now, recency_days))

    def place(one: Ranked) -> tuple[float, int, str]:
        return -one.score.total, -one.entry.created, one.entry.id

    def both_ways(one: Found, fared: LearningStats | None) -> tuple[Ranked, Ranked]:
        own, known = own_of(fared), scored(one, fared)
        return (known if own is fared else scored(one, own)), known

    both = [both_ways(one, stats.get(one.entry.id)) for one in found]
    return [
        one for one, _ in in_order(both, lambda pair: place(pair[0]), lambda pair: place(pair[1]))
    ]


def own_of(stats: LearningStats | None) -> LearningStats | None:
    """Return what was logged on this machine."""
    return stats and (stats.own or stats)


def in_order(
    items: Iterable[_T],
    own: Callable[[_T], tuple[float | str, ...]],
    known: Callable[[_T], tuple[float | str, ...]],
) -> list[_T]:
    """Sort by what this machine knows; logs of others move each by one place at most.

    Whoever writes into a repository can write any number of events into its logs.
    """
    order = sorted(items, key=own)
    place = 1
    while place < len(order):
        if known(order[place]) < known(order[place - 1]):
            order[place - 1 : place + 1] = order[place], order[place - 1]
            place += 1
        place += 1
    return order


def score_of(
    found: Found, stats: LearningStats | None, now: datetime, recency_days: float
) -> Score:
    """Score one learning."""
    entry, relevance = found.entry, found.relevance.value
    verified = verification(instant(entry.created), stats, now).at
    fresh = recency(verified, now, recency_days) ** RECENCY_WEIGHT
    boost = reference_boost(stats, entry.confidence)
    told = found.relevance
    return Score(relevance * fresh * boost, relevance, fresh, boost, told.parts, told.reasons)


def recency(verified: datetime, now: datetime, recency_days: float) -> float:
    """Return how fresh something is."""
    days = max(0.0, (now - verified).total_seconds() / _SECONDS_A_DAY)
    rate = -log(RECENCY_AT_REFERENCE_AGE) / recency_days
    return max(RECENCY_FLOOR, exp(-rate * days))


def reference_boost(stats: LearningStats | None, confidence: str = "high") -> float:
    """Turn a learning's history, and its author's confidence, into a factor."""
    prior = PRIOR_BY_CONFIDENCE.get(confidence, PRIOR_HIT_RATE)
    observed, good = 0.0, 0.0
    if stats is not None:
        ratings = stats.useful_ratings + stats.useless_ratings
        observed = stats.surfaced + RATING_SHOWINGS * ratings
        good = stats.referenced + RATING_SHOWINGS * stats.useful_ratings
    estimate = (good + PRIOR_SHOWINGS * prior) / (observed + PRIOR_SHOWINGS)
    return min(1.0, BOOST_FLOOR + (1.0 - BOOST_FLOOR) * estimate / PRIOR_HIT_RATE)
