"""Scores and choices: the numbers of the specification, and what must never happen."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Hit
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.ranking import (
    BOOST_FLOOR,
    SCORE_FLOOR,
    choose,
    choose_without_query,
    last_verified,
    rank,
    recency,
    reference_boost,
    score_hit,
)
from grove_core.retrieval.strategy import RetrievalStrategy

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
CONSERVATIVE, MODERATE, AGGRESSIVE = (
    RetrievalStrategy.CONSERVATIVE,
    RetrievalStrategy.MODERATE,
    RetrievalStrategy.AGGRESSIVE,
)


def ago(days):
    return NOW - timedelta(days=days)


def a_hit(name="a", relevance=1.0, days=0.0):
    learning = Learning(
        id=f"cl_{name}",
        category=Category.PATTERN,
        summary="a summary of it",
        detail="a detail of some length",
        session_id="s",
        timestamp=ago(days),
    )
    return Hit(learning=learning, relevance=relevance)


def fared(name="a", surfaced=0, referenced=0, **fields):
    return LearningStats(
        learning_id=f"cl_{name}", surfaced=surfaced, referenced=referenced, **fields
    )


def ranked(*hits, stats=(), recency_days=90):
    return rank(hits, {one.learning_id: one for one in stats}, NOW, recency_days)


def names(chosen):
    return [one.hit.learning.id.removeprefix("cl_") for one in chosen]


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
    learning = a_hit(days=100).learning
    assert last_verified(learning, None, NOW) == ago(100)
    assert last_verified(learning, fared(), NOW) == ago(100)
    shown = fared(surfaced=1, last_surfaced=ago(50))
    assert last_verified(learning, shown, NOW) == ago(50)
    used = fared(surfaced=1, referenced=1, last_surfaced=ago(50), last_referenced=ago(20))
    assert last_verified(learning, used, NOW) == ago(20)
    before_it_was_written = fared(surfaced=1, last_surfaced=ago(200))
    assert last_verified(learning, before_it_was_written, NOW) == ago(100)


@pytest.mark.parametrize(("surfaced", "days"), [(4, 1), (5, 100), (50, 100)])
def test_what_is_shown_often_and_never_used_gets_no_younger_by_it(surfaced, days):
    learning = a_hit(days=100).learning
    often = fared(surfaced=surfaced, last_surfaced=ago(1))
    assert last_verified(learning, often, NOW) == ago(days)
    once_used = fared(surfaced=surfaced, referenced=1, last_surfaced=ago(1))
    assert last_verified(learning, once_used, NOW) == ago(1)


# The boost.


def test_one_unused_showing_never_halves_a_score():
    before = score_hit(a_hit(), None, NOW, 90).total
    after = score_hit(a_hit(), fared(surfaced=1, last_surfaced=NOW), NOW, 90).total
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


def test_a_score_is_the_product_of_its_parts():
    score = score_hit(a_hit(relevance=0.8, days=90), fared(surfaced=1), NOW, 90)
    assert (score.relevance, score.recency) == (0.8, pytest.approx(0.3))
    assert score.total == pytest.approx(0.8 * 0.3 * score.boost)


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
        score_hit(a_hit(relevance=0.5), rated(useless=bad), NOW, 90).total for bad in range(12)
    ]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == len(scores)
    assert scores[1] > scores[0] * 0.75
    assert scores[5] < scores[0] * 0.6
    assert choose(ranked(a_hit("a", 0.5), stats=[rated(useless=1)]), MODERATE, 5, NOW)


def test_a_good_rating_makes_up_for_showings_that_nobody_used():
    ignored = rated(surfaced=6)
    praised = rated(1, surfaced=6)
    assert reference_boost(ignored) < reference_boost(praised) < 1.0
    order = ranked(a_hit("a"), a_hit("b"), stats=[ignored, fared("b", surfaced=6)._replace(useful_ratings=1)])  # fmt: skip
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
        a_hit("weak", 0.2),
        a_hit("c", 0.5, days=-1),
        a_hit("b", 0.5),
        a_hit("a", 0.5),
        a_hit("strong", 0.9),
    ]
    assert names(ranked(*hits)) == ["strong", "c", "a", "b", "weak"]


@given(st.permutations([a_hit(name, value) for name in "abc" for value in (0.5, 0.9)]))
def test_the_order_does_not_depend_on_the_order_of_hits(hits):
    hits = [a_hit(f"{one.learning.id[3:]}{one.relevance}", one.relevance) for one in hits]
    expected = ["a0.9", "b0.9", "c0.9", "a0.5", "b0.5", "c0.5"]
    assert names(ranked(*hits)) == expected
    chosen = choose_without_query(ranked(*hits), {}, 5)
    assert len(chosen) == 3
    assert names(chosen) == expected[:3]


# Choices.


@pytest.mark.parametrize(
    ("strategy", "limit", "count"),
    [
        (CONSERVATIVE, 50, 3),
        (MODERATE, 50, 5),
        (AGGRESSIVE, 50, 10),
        (AGGRESSIVE, 5, 5),
        (MODERATE, 2, 2),
        (CONSERVATIVE, 0, 0),
    ],
)
def test_caps_of_strategies(strategy, limit, count):
    many = ranked(*(a_hit(f"{number:02}") for number in range(20)))
    assert len(choose(many, strategy, limit, NOW)) == count


@given(
    relevances=st.lists(st.floats(0, 1), max_size=15),
    ages=st.lists(st.floats(0, 400), min_size=15, max_size=15),
    strategy=st.sampled_from([CONSERVATIVE, MODERATE]),
)
def test_nothing_is_shown_below_the_floor(relevances, ages, strategy):
    hits = [a_hit(str(n), r, ages[n]) for n, r in enumerate(relevances)]
    everything = ranked(*hits)
    chosen = choose(everything, strategy, 10, NOW)
    assert all(one.score.total >= SCORE_FLOOR for one in chosen)
    totals = [one.score.total for one in chosen]
    assert totals == sorted(totals, reverse=True)
    if strategy is MODERATE:
        fitting = [one for one in everything if one.score.total >= SCORE_FLOOR]
        assert list(chosen) == fitting[:5]


def test_silence_is_an_answer():
    assert choose(ranked(a_hit("a", 0.0), a_hit("b", 0.1)), MODERATE, 5, NOW) == []
    assert choose([], AGGRESSIVE, 5, NOW) == []
    assert choose_without_query([], {}, 5) == []


def test_conservative_shows_strong_matches_only():
    hits = ranked(a_hit("tag", 1.0), a_hit("file", 0.8), a_hit("part", 0.5), a_hit("words", 0.6))
    assert names(choose(hits, CONSERVATIVE, 5, NOW)) == ["tag", "file"]


def test_aggressive_adds_recent_ones_without_a_match_after_the_matches():
    hits = ranked(
        a_hit("match", 0.9, days=20),
        a_hit("new", 0.0, days=1),
        a_hit("newer", 0.0, days=0),
        a_hit("old", 0.0, days=31),
        a_hit("last", 0.0, days=30),
    )
    assert names(choose(hits, AGGRESSIVE, 9, NOW)) == ["match", "newer", "new", "last"]
    assert names(choose(hits, MODERATE, 9, NOW)) == ["match"]


def test_without_a_query_the_most_proven_recent_ones_come_first():
    hits = ranked(
        a_hit("fresh", 0.0, days=1),
        a_hit("proven", 0.0, days=40),
        a_hit("used", 0.0, days=40),
        a_hit("ignored", 0.0, days=1),
        a_hit("ancient", 0.0, days=900),
        stats=stats_of_them(),
    )
    by_id = {one.learning_id: one for one in stats_of_them()}
    assert names(choose_without_query(hits, by_id, 5)) == ["proven", "used", "fresh"]
    assert names(choose_without_query(hits, by_id, 1)) == ["proven"]
    assert choose_without_query(hits, by_id, 0) == []


def stats_of_them():
    return [
        fared("proven", 9, 8, last_surfaced=ago(10), last_referenced=ago(10)),
        fared("used", 3, 2, last_surfaced=ago(10), last_referenced=ago(10)),
        fared("ignored", 30, 0, last_surfaced=ago(1)),
    ]
