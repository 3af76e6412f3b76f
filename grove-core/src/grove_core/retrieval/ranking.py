"""Ranking: relevance, recency and how often a learning has helped, combined into one score."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from grove_core.model.statistics import LearningStats
from grove_core.retrieval.entry import Entry, Found
from grove_core.retrieval.indexed_text import IndexedText
from grove_core.retrieval.relevance import RECENCY_WEIGHT
from grove_core.stats.decay import verification
from grove_core.stats.log_lines import instant

RECENCY_AT_REFERENCE_AGE: Final = 0.3
RECENCY_FLOOR: Final = 0.1
# A prior worth four showings, half of them used, keeps one unused showing from silencing it.
PRIOR_SHOWINGS: Final = 4.0
PRIOR_HIT_RATE: Final = 0.5
# What the author was less sure of has to prove itself; after some showings it makes no difference.
PRIOR_BY_CONFIDENCE: Final = {"high": PRIOR_HIT_RATE, "medium": 0.475, "low": 0.425}
BOOST_FLOOR: Final = 0.4
# Whoever rates has looked at it, while a showing that is not used may have gone unread.
RATING_SHOWINGS: Final = 2.0
_SECONDS_A_DAY: Final = 86_400.0


class Score(NamedTuple):
    """A score and what it is made of."""

    total: float
    relevance: float
    recency: float
    boost: float
    parts: Mapping[str, float]
    reasons: Sequence[str] = ()


class Ranked(NamedTuple):
    """A learning with its score."""

    entry: Entry
    text: IndexedText
    score: Score


def rank(
    found: Iterable[Found],
    stats: Mapping[str, LearningStats],
    now: datetime,
    recency_days: float,
) -> list[Ranked]:
    """Score what was found and put the best first; ties go to the newer, then to the smaller id."""
    ranked = [
        Ranked(one.entry, one.text, score_of(one, stats.get(one.entry.id), now, recency_days))
        for one in found
    ]
    return sorted(ranked, key=lambda one: (-one.score.total, -one.entry.created, one.entry.id))


def score_of(
    found: Found, stats: LearningStats | None, now: datetime, recency_days: float
) -> Score:
    """Score one learning."""
    entry, relevance = found.entry, found.relevance.value
    fresh = recency(last_verified(entry, stats, now), now, recency_days) ** RECENCY_WEIGHT
    boost = reference_boost(stats, entry.confidence)
    told = found.relevance
    return Score(relevance * fresh * boost, relevance, fresh, boost, told.parts, told.reasons)


def recency(verified: datetime, now: datetime, recency_days: float) -> float:
    """Return how fresh something is."""
    days = max(0.0, (now - verified).total_seconds() / _SECONDS_A_DAY)
    rate = -math.log(RECENCY_AT_REFERENCE_AGE) / recency_days
    return max(RECENCY_FLOOR, math.exp(-rate * days))


def last_verified(entry: Entry, stats: LearningStats | None, now: datetime) -> datetime:
    """Tell when a learning was last written, shown, used or restored."""
    return verification(instant(entry.created), stats, now).at


def reference_boost(stats: LearningStats | None, confidence: str = "high") -> float:
    """Turn a learning's history, and its author's confidence, into a factor."""
    prior = PRIOR_BY_CONFIDENCE.get(confidence, PRIOR_HIT_RATE)
    observed, good = 0.0, 0.0
    if stats is not None:
        ratings = stats.rated_useful
        observed = stats.surfaced + RATING_SHOWINGS * ratings.total
        good = stats.referenced + RATING_SHOWINGS * ratings.count
    estimate = (good + PRIOR_SHOWINGS * prior) / (observed + PRIOR_SHOWINGS)
    return min(1.0, BOOST_FLOOR + (1.0 - BOOST_FLOOR) * estimate / PRIOR_HIT_RATE)
