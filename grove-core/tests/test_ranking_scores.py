"""Scores: the numbers of the specification, and what must never happen."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.learning import Category, Confidence, Learning
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.entry import Found, text_of
from grove_core.retrieval.explaining import explanation_of, lines_of
from grove_core.retrieval.ranking import (
    BOOST_FLOOR,
    PRIOR_BY_CONFIDENCE,
    last_verified,
    rank,
    recency,
    reference_boost,
    score_of,
)
from grove_core.retrieval.relevance import RECENCY_WEIGHT, Relevance

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def ago(days):
    return NOW - timedelta(days=days)


def found(name="a", relevance=1.0, days=0.0, confidence=Confidence.HIGH, parts=()):
    learning = Learning(
        id=f"cl_{name}",
        category=Category.PATTERN,
        summary="a summary of it",
        detail="a detail of some length",
        session_id="s",
        timestamp=ago(days),
        confidence=confidence,
    )
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


# Recency.


@pytest.mark.parametrize(
    ("days", "expected"),
    [(0, 1.0), (45, math.sqrt(0.3)), (90, 0.3), (180, 0.1), (3650, 0.1), (-5, 1.0)],
)
def test_recency(days, expected):
    assert recency(ago(days), NOW, 90) == pytest.approx(expected)


def test_the_reference_age_is_a_setting():
    assert recency(ago(7), NOW, 7) == pytest.approx(0.3)
    assert recency(ago(30), NOW, 365) == pytest.approx(0.3 ** (30 / 365))


@given(st.floats(0, 5000), st.floats(0, 5000), st.integers(1, 36_500))
def test_recency_never_rises_with_age(one, other, days):
    younger, older = sorted((one, other))
    fresh, stale = recency(ago(younger), NOW, days), recency(ago(older), NOW, days)
    assert 0.1 <= stale <= fresh <= 1.0


def test_a_learning_is_as_fresh_as_its_last_use():
    entry = found(days=100).entry
    assert last_verified(entry, None, NOW) == ago(100)
    assert last_verified(entry, fared(), NOW) == ago(100)
    shown = fared(surfaced=1, last_surfaced=ago(50))
    assert last_verified(entry, shown, NOW) == ago(50)
    used = fared(surfaced=1, referenced=1, last_surfaced=ago(50), last_referenced=ago(20))
    assert last_verified(entry, used, NOW) == ago(20)
    before_it_was_written = fared(surfaced=1, last_surfaced=ago(200))
    assert last_verified(entry, before_it_was_written, NOW) == ago(100)


@pytest.mark.parametrize(("surfaced", "days"), [(4, 1), (5, 100), (50, 100)])
def test_what_is_shown_often_and_never_used_gets_no_younger_by_it(surfaced, days):
    entry = found(days=100).entry
    often = fared(surfaced=surfaced, last_surfaced=ago(1))
    assert last_verified(entry, often, NOW) == ago(days)
    once_used = fared(surfaced=surfaced, referenced=1, last_surfaced=ago(1))
    assert last_verified(entry, once_used, NOW) == ago(1)


# The boost.


def test_one_unused_showing_never_halves_a_score():
    before = score_of(found(), None, NOW, 90).total
    after = score_of(found(), fared(surfaced=1, last_surfaced=NOW), NOW, 90).total
    assert before / 2 < after < before
    # A prior worth four showings: one more of them unused.
    assert after / before == pytest.approx(0.88)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_boost_is_bounded_and_one_more_unused_showing_changes_little(surfaced, referenced):
    boost = reference_boost(fared(surfaced=surfaced, referenced=referenced))
    again = reference_boost(fared(surfaced=surfaced + 1, referenced=referenced))
    assert BOOST_FLOOR <= boost <= 1.0
    assert again > boost / 2
    assert again <= boost


@given(st.integers(1, 500), st.integers(0, 500))
def test_one_more_use_never_lowers_the_boost(surfaced, referenced):
    more = reference_boost(fared(surfaced=surfaced, referenced=referenced + 1))
    assert more >= reference_boost(fared(surfaced=surfaced, referenced=referenced))


def test_the_boost_at_its_ends():
    assert reference_boost(None) == reference_boost(fared()) == 1.0
    assert reference_boost(fared(surfaced=9, referenced=9)) == 1.0
    assert reference_boost(fared(surfaced=10_000)) == pytest.approx(BOOST_FLOOR, abs=0.001)


@pytest.mark.parametrize("confidence", Confidence)
def test_confidence_matters_until_something_is_known(confidence):
    prior = PRIOR_BY_CONFIDENCE[confidence.value]
    fresh = score_of(found(confidence=confidence), None, NOW, 90)
    assert fresh.boost == pytest.approx(0.4 + 0.6 * prior / 0.5)
    used = fared(surfaced=20, referenced=20)
    assert score_of(found(confidence=confidence), used, NOW, 90).boost == 1.0
    often = fared(surfaced=1000, referenced=250)
    assert reference_boost(often, confidence.value) == pytest.approx(0.7, abs=0.002)


def test_less_sure_ones_come_later_and_are_not_silenced():
    order = ranked(
        found("low", confidence=Confidence.LOW),
        found("high", confidence=Confidence.HIGH),
        found("medium", confidence=Confidence.MEDIUM),
    )
    assert names(order) == ["high", "medium", "low"]
    assert order[-1].score.total > 0.85 * order[0].score.total


def test_a_score_is_the_product_of_its_parts():
    score = score_of(found(relevance=0.8, days=90), fared(surfaced=1), NOW, 90)
    assert (score.relevance, score.recency) == (0.8, pytest.approx(0.3**RECENCY_WEIGHT))
    assert score.total == pytest.approx(0.8 * score.recency * score.boost)


def test_every_part_of_a_score_is_told():
    given = {"bias": -2.00001, "summary": 1.5, "detail": 0.0}
    score = score_of(found(relevance=0.25, parts=given), None, NOW, 90)
    assert score.parts == given
    document = explanation_of(score)
    assert set(document) == {"total", "relevance", "recency", "boost", "parts", "reasons"}
    assert document["parts"] == {"bias": -2.0, "summary": 1.5, "detail": 0.0}
    product = document["relevance"] * document["recency"] * document["boost"]
    assert document["total"] == pytest.approx(product)
    first, second = lines_of(score)
    assert first == "score 0.2500 = relevance 0.2500 × recency 1.00 × boost 1.00"
    assert second == "relevance from bias -2.00, summary +1.50"
    assert lines_of(score._replace(parts={})) == [first]
    reasons = ("tag orders", "far away")
    told = lines_of(score._replace(parts={}, reasons=reasons))
    assert told == [first, "relevance because of tag orders, far away"]


# Ratings.


def rated(useful=0, useless=0, **fields):
    return fared(useful_ratings=useful, useless_ratings=useless, **fields)


@pytest.mark.parametrize(
    ("useful", "useless", "expected"),
    [(0, 0, 1.0), (1, 0, 1.0), (0, 1, 0.8), (0, 3, 0.64), (1, 1, 1.0), (1, 2, 0.88), (0, 98, 0.412)],
)  # fmt: skip
def test_ratings_alone(useful, useless, expected):
    assert reference_boost(rated(useful, useless)) == pytest.approx(expected, abs=0.001)


def test_one_bad_rating_silences_nothing_and_several_lower_it():
    scores = [
        score_of(found(relevance=0.5), rated(useless=bad), NOW, 90).total for bad in range(12)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert scores[1] > scores[0] * 0.75
    assert scores[5] < scores[0] * 0.6


def test_a_good_rating_makes_up_for_showings_that_nobody_used():
    ignored = rated(surfaced=6)
    praised = rated(1, surfaced=6)
    assert reference_boost(ignored) < reference_boost(praised) < 1.0
    order = ranked(found("a"), found("b"), stats=[ignored, fared("b", surfaced=6)._replace(useful_ratings=1)])  # fmt: skip
    assert names(order) == ["b", "a"]


@given(*[st.integers(0, 300)] * 4)
def test_ratings_move_the_boost_one_way_and_within_bounds(surfaced, referenced, useful, useless):
    fields = {"surfaced": surfaced, "referenced": referenced}
    boost = reference_boost(rated(useful, useless, **fields))
    assert BOOST_FLOOR <= boost <= 1.0
    assert reference_boost(rated(useful + 1, useless, **fields)) >= boost
    worse = reference_boost(rated(useful, useless + 1, **fields))
    assert boost * 0.75 < worse <= boost


# Order.


def test_the_best_comes_first_and_ties_go_to_the_newer_then_the_smaller_id():
    hits = [
        found("weak", 0.2),
        found("c", 0.5, days=-1),
        found("b", 0.5),
        found("a", 0.5),
        found("strong", 0.9),
    ]
    assert names(ranked(*hits)) == ["strong", "c", "a", "b", "weak"]


HITS = [found(f"{name}{value}", value) for name in "abc" for value in (0.5, 0.9)]


@given(st.permutations(HITS))
def test_the_order_does_not_depend_on_the_order_of_hits(hits):
    assert names(ranked(*hits)) == ["a0.9", "b0.9", "c0.9", "a0.5", "b0.5", "c0.5"]
