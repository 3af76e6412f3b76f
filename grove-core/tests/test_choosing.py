"""What is shown of what was found, and why the rest is not: strategies, floor, limits, repetition."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Confidence, LearningStats
from grove_core.retrieval import RetrievalStrategy
from grove_core.retrieval.choosing import (
    BEYOND_LIMIT,
    MOST_BY_STRATEGY,
    NO_EXACT_MATCH,
    SHOWN,
    SHOWN_BEFORE,
    choose,
    choose_without_query,
    exact_matches,
    says_the_same,
)
from grove_core.retrieval.ranking import Found, Relevance, rank
from grove_core.retrieval.terms import entry_of, text_of
from grove_core.testing.samples import example_learning

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
CONSERVATIVE, MODERATE, AGGRESSIVE = (
    RetrievalStrategy.CONSERVATIVE,
    RetrievalStrategy.MODERATE,
    RetrievalStrategy.AGGRESSIVE,
)
HALF = 0.5  # the floor in these tests: what it is in use is measured elsewhere


def ago(days):
    return NOW - timedelta(days=days)


def found(name, relevance=1.0, days=0.0, text=None, **fields):
    own = " ".join(f"{name}{letter}" for letter in "abcdefghijkl")
    usual = {"detail": "", "tags": (), "context_files": (), "confidence": Confidence.HIGH}
    learning = example_learning(
        id=f"cl_{name}",
        summary=text if text is not None else f"About {own}",
        timestamp=ago(days),
        **usual | fields,
    )
    entry = entry_of(learning, backend="markdown", personal=False)
    return Found(entry, text_of(entry), Relevance(relevance, {}))


def ranked(*hits, stats=()):
    return rank(hits, {one.learning_id: one for one in stats}, NOW, 90)


def fared(name, surfaced, referenced, **fields):
    return LearningStats(f"cl_{name}", surfaced=surfaced, referenced=referenced, **fields)


def names(choice):
    return [one.entry.id.removeprefix("cl_") for one in choice.chosen]


def reasons(choice):
    return {one.ranked.entry.id.removeprefix("cl_"): one.reason for one in choice.assessments}


def chosen(*hits, strategy=MODERATE, limit=10, **options):
    return choose(ranked(*hits), strategy, limit, NOW, floor=HALF, **options)


@pytest.mark.parametrize(
    ("strategy", "limit", "count"),
    [
        (CONSERVATIVE, 50, 3),
        (MODERATE, 50, 5),
        (AGGRESSIVE, 50, 10),
        (MODERATE, 2, 2),
    ],
)
def test_caps_of_strategies(strategy, limit, count):
    many = [found(f"n{number:02}", tags=("redis",)) for number in range(20)]
    choice = chosen(*many, strategy=strategy, limit=limit, exact=exact_matches(["redis"], [], ""))
    assert names(choice) == [f"n{number:02}" for number in range(count)]
    assert choice.beyond == 20 - count
    assert list(reasons(choice).values()) == [SHOWN] * count + [BEYOND_LIMIT] * (20 - count)


@pytest.mark.parametrize(
    ("relevance", "reason"),
    [(0.4999, "relevance 0.49990 is below the threshold 0.5"), (0.5, SHOWN)],
)
@pytest.mark.parametrize("strategy", [MODERATE, AGGRESSIVE])
def test_the_floor_is_one_of_relevance(strategy, relevance, reason):
    """Neither age nor a bad history hides what fits."""
    old = found("a", relevance, days=400)
    ignored = ranked(old, stats=[fared("a", 500, 0)])
    choice = choose(ignored, strategy, 5, NOW, floor=HALF)
    assert reasons(choice) == {"a": reason}


@settings(max_examples=30, deadline=None)
@given(
    relevances=st.lists(st.floats(0, 1), max_size=15),
    ages=st.lists(st.floats(0, 400), min_size=15, max_size=15),
    strategy=st.sampled_from([CONSERVATIVE, MODERATE]),
    limit=st.integers(0, 12),
    before=st.sets(st.integers(0, 14)),
)
def test_whatever_is_found(relevances, ages, strategy, limit, before):
    hits = [found(f"n{n}", value, ages[n], tags=("x",)) for n, value in enumerate(relevances)]
    order = ranked(*hits)
    shown = {f"cl_n{number}" for number in before}
    exact = exact_matches(["x"], [], "")
    choice = choose(order, strategy, limit, NOW, floor=HALF, exact=exact, shown=shown)
    fitting = [one for one in order if one.score.relevance >= HALF and one.entry.id not in shown]
    assert list(choice.chosen) == fitting[: min(limit, MOST_BY_STRATEGY[strategy])]
    assert [one.ranked for one in choice.assessments] == order
    assert choice.beyond == len(fitting) - len(choice.chosen)
    assert {one.ranked.entry.id for one in choice.assessments if one.reason == SHOWN} == {
        one.entry.id for one in choice.chosen
    }


CASES = [
    # tags and files of the learning; tags, files and words of the query; whether they match
    (("redis",), (), ("redis",), (), "", True),
    ((" redis ",), (), ("redis",), (), "", True),
    (("redis-cache",), (), ("redis",), (), "", False),
    (("redis",), (), (), (), 'why is "Redis", slow?', True),
    (("redis",), (), (), (), "why is rediscovery slow", False),
    (("n+1",), (), (), (), "an n+1 query", True),
    ((), ("./src/a.py",), (), ("src/a.py",), "", True),
    ((), ("src/a.py",), (), ("./src//a.py",), "", True),
    ((), ("src/a.py",), (), ("a.py",), "", False),
    (("redis",), (), (), (), "", False),
    (("",), (), (), (), "anything", False),
]


@pytest.mark.parametrize(("tags", "files", "asked_tags", "asked_files", "said", "matches"), CASES)
def test_conservative_asks_for_an_exact_tag_or_file(
    tags, files, asked_tags, asked_files, said, matches
):
    one = found("a", tags=tags, context_files=files)
    exact = exact_matches(asked_tags, asked_files, said)
    choice = chosen(one, strategy=CONSERVATIVE, exact=exact)
    assert reasons(choice) == {"a": SHOWN if matches else NO_EXACT_MATCH}
    assert reasons(chosen(one, strategy=MODERATE, exact=exact)) == {"a": SHOWN}


def test_aggressive_adds_recent_ones_without_a_match_after_the_matches():
    hits = [
        found("match", 0.9, days=20),
        found("new", 0.0, days=1),
        found("newer", 0.0, days=0),
        found("old", 0.0, days=31),
        found("last", 0.0, days=30),
    ]
    choice = chosen(*hits, strategy=AGGRESSIVE)
    assert names(choice) == ["match", "newer", "new", "last"]
    # What is merely recent is no further match.
    assert choice.beyond == 0
    assert "is below the threshold" in reasons(choice)["old"]
    assert names(chosen(*hits)) == ["match"]


TEXT = "the export job of the ledger fails when its queue is empty so retry it"
SAME = [
    (TEXT, TEXT.upper(), True),
    (TEXT, "retry the ledger's export job: it fails when the queue is empty", True),
    (TEXT, "the import job of the ledger fails when its disk is full so clean it", False),
    # A denial or another number makes something else of nearly the same words.
    (TEXT, TEXT.replace("so retry", "so do not retry"), False),
    (f"{TEXT} 2 times", f"{TEXT} 9 times", False),
    (TEXT, "", False),
]


@pytest.mark.parametrize(("one", "other", "same"), SAME)
def test_of_two_that_say_the_same_the_better_is_shown(one, other, same):
    better, worse = found("better", 0.9, text=one), found("worse", 0.8, text=other)
    assert says_the_same(better, worse) is same
    assert says_the_same(worse, better) is same
    choice = chosen(better, worse)
    assert names(choice) == (["better"] if same else ["better", "worse"])
    assert reasons(choice)["worse"] == ("says the same as cl_better" if same else SHOWN)


def test_what_was_not_shown_keeps_nothing_away():
    """Only what the agent will have read tells it the same."""
    hits = [found("weak", 0.1, text=TEXT), found("strong", 0.9, text=TEXT)]
    assert names(chosen(*hits)) == ["strong"]
    choice = chosen(found("full"), found("cut", 0.9, text=TEXT), found("too", text=TEXT), limit=1)
    assert list(reasons(choice).values()) == [SHOWN, BEYOND_LIMIT, BEYOND_LIMIT]


@pytest.mark.parametrize("relevance", [0.9, 0.1])
def test_what_says_the_same_as_something_shown_before_is_not_shown(relevance):
    hits = [found("before", relevance, text=TEXT), found("again", 0.8, text=TEXT)]
    choice = chosen(*hits, shown={"cl_before"})
    assert reasons(choice) == {"before": SHOWN_BEFORE, "again": "says the same as cl_before"}


STATS = [
    fared("proven", 9, 8, last_surfaced=ago(10), last_referenced=ago(10)),
    fared("used", 3, 2, last_surfaced=ago(10), last_referenced=ago(10)),
    fared("ignored", 30, 0, last_surfaced=ago(1)),
]
AGES = {"fresh": 1, "proven": 40, "used": 40, "ignored": 1, "ancient": 900}
NEWEST = [found(name, 0.0, days=days) for name, days in AGES.items()]


@pytest.mark.parametrize(
    ("limit", "shown", "expected"),
    [
        (5, set(), ["proven", "used", "fresh"]),
        (0, set(), []),
        (2, {"cl_proven"}, ["used", "fresh"]),
    ],
)
def test_without_a_query_the_most_proven_recent_ones_come_first(limit, shown, expected):
    by_id = {one.learning_id: one for one in STATS}
    choice = choose_without_query(ranked(*NEWEST, stats=STATS), by_id, limit, shown=shown)
    assert names(choice) == expected
    assert len(choice.assessments) == len(NEWEST)
