"""Scores: the numbers of the specification, and what must never happen."""

import math
from datetime import timedelta

import pytest
from core_worlds import NOW, a_learning
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.learning import Confidence, LearningStats
from grove_core.retrieval.ranking import (
    BOOST_FLOOR,
    PRIOR_BY_CONFIDENCE,
    RECENCY_WEIGHT,
    Found,
    Relevance,
    in_order,
    rank,
    recency,
    reference_boost,
    score_of,
)
from grove_core.retrieval.terms import entry_of, text_of


def ago(days):
    return NOW - timedelta(days=days)


def found(name="a", relevance=1.0, days=0.0, confidence=Confidence.HIGH, parts=()):
    learning = a_learning(f"cl_{name}", timestamp=ago(days), confidence=confidence)
    entry = entry_of(learning, backend="markdown", personal=False)
    return Found(entry, text_of(entry), Relevance(relevance, dict(parts)))


def fared(name="a", surfaced=0, referenced=0, **fields):
    return LearningStats(
        learning_id=f"cl_{name}", surfaced=surfaced, referenced=referenced, **fields
    )


def ranked(*hits, stats=(), recency_days=90):
    return rank(hits, {one.learning_id: one for one in stats}, NOW, recency_days)


def names(hits):
    return [one.entry.id.removeprefix("cl_") for one in hits]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_logs_of_others_move_each_learning_by_one_place_at_most(worth):
    items = [(number, own, known) for number, (own, known) in enumerate(worth)]
    by_own = sorted(items, key=lambda one: (one[1], one[0]))
    order = in_order(items, lambda one: (one[1], one[0]), lambda one: (one[2], one[0]))
    assert sorted(order) == items
    assert all(abs(by_own.index(one) - place) <= 1 for place, one in enumerate(order))
    used = fared("b", 3, 3, own=fared("b"))
    hits = [found("a"), found("b", 0.9), found("c", 0.8)]
    assert names(ranked(*hits, stats=[fared("a", 9, own=fared("a")), used])) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, 1.0), (45, math.sqrt(0.3)), (90, 0.3), (180, 0.1), (3650, 0.1), (-5, 1.0)],
)
def test_recency(days, expected):
    assert recency(ago(days), NOW, 90) == pytest.approx(expected)


def test_a_learning_is_as_fresh_as_its_last_use():
    def days_since(stats):
        factor = score_of(found(days=100), stats, NOW, 900).recency
        return pytest.approx(900 * math.log(factor) / (RECENCY_WEIGHT * math.log(0.3)))

    assert days_since(None) == 100
    assert days_since(fared()) == 100
    assert days_since(fared(surfaced=1, last_surfaced=ago(50))) == 50
    used = fared(surfaced=1, referenced=1, last_surfaced=ago(50), last_referenced=ago(20))
    assert days_since(used) == 20
    assert days_since(fared(surfaced=1, last_surfaced=ago(200))) == 100


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_boost_is_bounded_and_one_more_unused_showing_changes_little(surfaced, referenced):
    boost = reference_boost(fared(surfaced=surfaced, referenced=referenced))
    again = reference_boost(fared(surfaced=surfaced + 1, referenced=referenced))
    assert BOOST_FLOOR <= boost <= 1.0
    assert again > boost / 2
    assert again <= boost


@pytest.mark.parametrize("confidence", Confidence)
def test_confidence_matters_until_something_is_known(confidence):
    prior = PRIOR_BY_CONFIDENCE[confidence.value]
    fresh = score_of(found(confidence=confidence), None, NOW, 90)
    assert fresh.total == fresh.boost == pytest.approx(0.4 + 0.6 * prior / 0.5)
    used = fared(surfaced=20, referenced=20)
    assert score_of(found(confidence=confidence), used, NOW, 90).boost == 1.0
    often = fared(surfaced=1000, referenced=250)
    assert reference_boost(often, confidence.value) == pytest.approx(0.7, abs=0.002)


def test_every_part_of_a_score_is_told():
    given = {"bias": -2.0000001, "summary": 1.5, "detail": 0.0}
    score = score_of(found(relevance=0.25, parts=given), None, NOW, 90)
    assert score.rounded().parts == {"bias": -2.0, "summary": 1.5, "detail": 0.0}
    assert score.total == pytest.approx(score.relevance * score.recency * score.boost)
    first, second = score.lines()
    assert first == "score 0.2500 = relevance 0.2500 × recency 1.00 × usage 1.00"
    assert second == "relevance from bias -2.00, summary +1.50"
    assert score._replace(parts={}).lines() == [first]


def rated(useful=0, useless=0, **fields):
    return fared(useful_ratings=useful, useless_ratings=useless, **fields)


@given(*[st.integers(0, 300)] * 4)
def test_ratings_move_the_boost_one_way_and_within_bounds(surfaced, referenced, useful, useless):
    fields = {"surfaced": surfaced, "referenced": referenced}
    boost = reference_boost(rated(useful, useless, **fields))
    assert BOOST_FLOOR <= boost <= 1.0
    assert reference_boost(rated(useful + 1, useless, **fields)) >= boost
    worse = reference_boost(rated(useful, useless + 1, **fields))
    assert boost * 0.75 < worse <= boost


def test_the_best_comes_first_and_ties_go_to_the_newer_then_the_smaller_id():
    hits = [
        found("weak", 0.2),
        found("c", 0.5, days=-1),
        found("b", 0.5),
        found("a", 0.5),
        found("strong", 0.9),
    ]
    assert names(ranked(*hits)) == ["strong", "c", "a", "b", "weak"]
