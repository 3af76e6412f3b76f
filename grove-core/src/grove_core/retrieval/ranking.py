"""Ranking: relevance, recency and how often a learning has helped, combined into one score."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from attrs import frozen

from grove_core.model.learning import Learning
from grove_core.model.memory import Hit
from grove_core.model.statistics import LearningStats
from grove_core.model.value import Value
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.stats.decay import verification

RECENCY_AT_REFERENCE_AGE: Final = 0.3
RECENCY_FLOOR: Final = 0.1
# A prior worth four showings, half of them used, keeps one unused showing from silencing it.
PRIOR_SHOWINGS: Final = 4.0
PRIOR_HIT_RATE: Final = 0.5
BOOST_FLOOR: Final = 0.4
# Whoever rates has looked at it, while a showing that is not used may have gone unread.
RATING_SHOWINGS: Final = 2.0
# Below this nothing is shown: one keyword in a fresh learning scores about 0.2.
SCORE_FLOOR: Final = 0.15
MOST_WITHOUT_QUERY: Final = 3
RECENT_DAYS: Final = 30.0
_SECONDS_A_DAY: Final = 86_400.0


MOST_BY_STRATEGY: Final = {
    RetrievalStrategy.CONSERVATIVE: 3,
    RetrievalStrategy.MODERATE: 5,
    RetrievalStrategy.AGGRESSIVE: 10,
}
# An exact tag or a file is worth at least this much to the rule scorer.
CONSERVATIVE_RELEVANCE: Final = 0.8


@frozen(kw_only=True, eq=False, repr=False)
class Score(Value):
    """A score and what it is made of.

    Attributes:
        total: The product of the others.
        relevance: How well the learning fits the query, 0 to 1.
        recency: How fresh it is, 0.1 to 1.
        boost: How often it has helped, and how it was rated, 0.4 to 1.
    """

    total: float
    relevance: float
    recency: float
    boost: float


@frozen(kw_only=True, eq=False, repr=False)
class RankedHit(Value):
    """A hit with its score.

    Attributes:
        hit: The hit.
        score: Its score.
    """

    hit: Hit
    score: Score


def score_hit(hit: Hit, stats: LearningStats | None, now: datetime, recency_days: float) -> Score:
    """Score one hit.

    Args:
        hit: The hit.
        stats: How the learning has fared, if anything is known.
        now: The time, UTC.
        recency_days: The age in days at which recency is 0.3.

    Returns:
        The score with its parts.
    """
    fresh = recency(last_verified(hit.learning, stats, now), now, recency_days)
    boost = reference_boost(stats)
    return Score(
        total=hit.relevance * fresh * boost, relevance=hit.relevance, recency=fresh, boost=boost
    )


def recency(verified: datetime, now: datetime, recency_days: float) -> float:
    """Tell how fresh something is.

    Args:
        verified: When it was last known to hold.
        now: The time.
        recency_days: The age in days at which the answer is 0.3.

    Returns:
        ``exp(-λ·days)``, at least 0.1 and at most 1.
    """
    days = max(0.0, (now - verified).total_seconds() / _SECONDS_A_DAY)
    rate = -math.log(RECENCY_AT_REFERENCE_AGE) / recency_days
    return max(RECENCY_FLOOR, math.exp(-rate * days))


def last_verified(learning: Learning, stats: LearningStats | None, now: datetime) -> datetime:
    """Tell when a learning was last written, shown, used or restored.

    Args:
        learning: The learning.
        stats: How it has fared, if anything is known.
        now: The time, UTC.

    Returns:
        The latest of these instants, at most now; one that was shown often and never used is not
        kept fresh by being shown.
    """
    return verification(learning.timestamp, stats, now).at


def reference_boost(stats: LearningStats | None) -> float:
    """Turn a learning's history into a factor.

    Showings and ratings are observations of how useful the learning is: a showing speaks for it
    when it was used, and a rating, which weighs as two showings, when it says so. The rate is
    estimated with a prior of four observations, half of them good, so that a few say little: one
    bad rating leaves 0.8 of a score, three leave 0.64, and no number of them less than 0.4.

    Args:
        stats: How the learning has fared, if anything is known.

    Returns:
        A factor from 0.4 (shown or rated often, never of use) to 1 (nothing known, or of use).
    """
    if stats is None:
        return 1.0
    ratings = stats.rated_useful
    observed = stats.surfaced + RATING_SHOWINGS * ratings.total
    if not observed:
        return 1.0
    good = stats.referenced + RATING_SHOWINGS * ratings.count
    estimate = (good + PRIOR_SHOWINGS * PRIOR_HIT_RATE) / (observed + PRIOR_SHOWINGS)
    return min(1.0, BOOST_FLOOR + (1.0 - BOOST_FLOOR) * estimate / PRIOR_HIT_RATE)


def rank(
    hits: Iterable[Hit],
    stats: Mapping[str, LearningStats],
    now: datetime,
    recency_days: float,
) -> Sequence[RankedHit]:
    """Score hits and put the best first; ties go to the newer, then to the smaller id.

    Args:
        hits: The hits.
        stats: How learnings have fared, by id.
        now: The time, UTC.
        recency_days: The age in days at which recency is 0.3.

    Returns:
        All hits with their scores.
    """
    ranked = [
        RankedHit(hit=hit, score=score_hit(hit, stats.get(hit.learning.id), now, recency_days))
        for hit in hits
    ]
    return sorted(
        ranked,
        key=lambda one: (
            -one.score.total,
            -one.hit.learning.timestamp.timestamp(),
            one.hit.learning.id,
        ),
    )


def fitting(ranked: Sequence[RankedHit], strategy: RetrievalStrategy) -> Sequence[RankedHit]:
    """Tell which hits fit the query at all, however many they are.

    Args:
        ranked: Scored hits, best first.
        strategy: How generous to be.

    Returns:
        Those that are not below the floor, best first.
    """
    strict = strategy is RetrievalStrategy.CONSERVATIVE
    return [
        one
        for one in ranked
        if one.score.total >= SCORE_FLOOR
        and (not strict or one.hit.relevance >= CONSERVATIVE_RELEVANCE)
    ]


def choose(
    ranked: Sequence[RankedHit], strategy: RetrievalStrategy, limit: int, now: datetime
) -> Sequence[RankedHit]:
    """Choose what is worth showing; nothing is a correct answer.

    Args:
        ranked: Scored hits, best first.
        strategy: How generous to be.
        limit: The configured maximum.
        now: The time, UTC.

    Returns:
        The chosen ones, best first.
    """
    most = min(limit, MOST_BY_STRATEGY[strategy])
    chosen = list(fitting(ranked, strategy))
    if strategy is RetrievalStrategy.AGGRESSIVE:
        shown = {one.hit.learning.id for one in chosen}
        chosen += [
            one
            for one in _newest_first(ranked)
            if one.hit.learning.id not in shown and _age_days(one, now) <= RECENT_DAYS
        ]
    return chosen[:most]


def choose_without_query(
    ranked: Sequence[RankedHit], stats: Mapping[str, LearningStats], limit: int
) -> Sequence[RankedHit]:
    """Choose what to show when nothing is known about the work: the most proven recent ones.

    Args:
        ranked: Scored hits of any relevance.
        stats: How learnings have fared, by id.
        limit: The configured maximum.

    Returns:
        At most three, the most proven first.
    """

    def worth(one: RankedHit) -> float:
        seen = stats.get(one.hit.learning.id)
        proven = seen.referenced if seen is not None else 0
        return one.score.recency * one.score.boost * (1.0 + proven)

    ordered = sorted(_newest_first(ranked), key=worth, reverse=True)
    return ordered[: min(limit, MOST_WITHOUT_QUERY)]


def _newest_first(ranked: Sequence[RankedHit]) -> Sequence[RankedHit]:
    return sorted(ranked, key=lambda one: one.hit.learning.timestamp, reverse=True)


def _age_days(one: RankedHit, now: datetime) -> float:
    return (now - one.hit.learning.timestamp).total_seconds() / _SECONDS_A_DAY
