"""What is shown of what was found, and why the rest is not: strategies, floor, limits, repetition."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.learning import Category, Confidence, Learning
from grove_core.model.statistics import LearningStats
from grove_core.retrieval.choosing import (
    BELOW_FLOOR,
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
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.entry import Found, text_of
from grove_core.retrieval.ranking import rank
from grove_core.retrieval.relevance import FLOOR, Relevance
from grove_core.retrieval.strategy import RetrievalStrategy

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
    learning = Learning(
        id=f"cl_{name}",
        category=Category.PATTERN,
        summary=text if text is not None else f"About {own}",
        detail="",
        session_id="s",
        timestamp=ago(days),
        confidence=Confidence.HIGH,
    )
    entry = entry_of(evolve(learning, **fields), backend="markdown", personal=False)
    return Found(entry, text_of(entry), Relevance(relevance, {}))


def ranked(*hits, stats=()):
    return rank(hits, {one.learning_id: one for one in stats}, NOW, 90)


def fared(name, surfaced, referenced, **fields):
    return LearningStats(f"cl_{name}", surfaced=surfaced, referenced=referenced, **fields)


def names(choice):
    return [one.entry.id.removeprefix("cl_") for one in choice.chosen]


def reasons(choice):
    return {one.ranked.entry.id.removeprefix("cl_"): one.reason for one in choice.verdicts}


def chosen(*hits, strategy=MODERATE, limit=10, **options):
    return choose(ranked(*hits), strategy, limit, NOW, floor=HALF, **options)


# --- how many -----------------------------------------------------------------------------------


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
    many = [found(f"n{number:02}", tags=("redis",)) for number in range(20)]
    choice = chosen(*many, strategy=strategy, limit=limit, exact=exact_matches(["redis"], [], ""))
    assert names(choice) == [f"n{number:02}" for number in range(count)]
    assert choice.beyond == 20 - count
    assert list(reasons(choice).values()) == [SHOWN] * count + [BEYOND_LIMIT] * (20 - count)


def test_silence_is_an_answer():
    assert names(chosen(found("a", 0.0), found("b", 0.49))) == []
    assert choose([], AGGRESSIVE, 5, NOW).chosen == ()
    assert choose_without_query([], {}, 5).chosen == ()


# --- the floor ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relevance", "reason"), [(0.0, BELOW_FLOOR), (0.4999, BELOW_FLOOR), (0.5, SHOWN), (1.0, SHOWN)]
)
@pytest.mark.parametrize("strategy", [MODERATE, AGGRESSIVE])
def test_the_floor_is_one_of_relevance(strategy, relevance, reason):
    """Neither age nor a bad history hides what fits."""
    old = found("a", relevance, days=400)
    ignored = ranked(old, stats=[fared("a", 500, 0)])
    choice = choose(ignored, strategy, 5, NOW, floor=HALF)
    assert reasons(choice) == {"a": reason}


def test_the_usual_floor_is_that_of_the_index():
    barely, hardly = found("a", FLOOR), found("b", FLOOR * 0.999)
    assert names(choose(ranked(barely, hardly), MODERATE, 5, NOW)) == ["a"]


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
    assert [one.ranked for one in choice.verdicts] == order
    assert choice.beyond == len(fitting) - len(choice.chosen)
    assert {one.ranked.entry.id for one in choice.verdicts if one.reason == SHOWN} == {
        one.entry.id for one in choice.chosen
    }


# --- exact matches ------------------------------------------------------------------------------

CASES = [
    # tags and files of the learning; tags, files and words of the query; whether they match
    (("redis",), (), ("redis",), (), "", True),
    (("Redis",), (), ("rEDIS",), (), "", True),
    ((" redis ",), (), ("redis",), (), "", True),
    (("redis",), (), ("postgres",), (), "", False),
    (("redis-cache",), (), ("redis",), (), "", False),
    (("redis",), (), (), (), 'why is "Redis", slow?', True),
    (("redis",), (), (), (), "why is rediscovery slow", False),
    (("n+1",), (), (), (), "an n+1 query", True),
    ((), ("src/a.py",), (), ("src/a.py",), "", True),
    ((), ("./src/a.py",), (), ("src/a.py",), "", True),
    ((), ("src\\a.py",), (), ("src/a.py",), "", True),
    ((), ("src/a.py",), (), ("./src//a.py",), "", True),
    ((), ("src/a.py",), (), ("src/b.py",), "", False),
    ((), ("src/a.py",), (), ("a.py",), "", False),
    (("src/a.py",), (), (), ("src/a.py",), "", False),
    ((), (), (), (), "", False),
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


def test_an_exact_match_that_does_not_fit_is_not_shown():
    one = found("a", 0.1, tags=("redis",))
    choice = chosen(one, strategy=CONSERVATIVE, exact=exact_matches(["redis"], [], ""))
    assert reasons(choice) == {"a": BELOW_FLOOR}


# --- aggressive ---------------------------------------------------------------------------------


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
    assert reasons(choice)["old"] == BELOW_FLOOR
    assert names(chosen(*hits)) == ["match"]


def test_what_is_merely_recent_is_no_further_match():
    """It is not counted among those that a search would show."""
    hits = [found(f"match{n}", 0.9) for n in range(9)] + [found(f"new{n}", 0.0) for n in range(9)]
    choice = chosen(*hits, strategy=AGGRESSIVE)
    assert names(choice) == [*(f"match{n}" for n in range(9)), "new0"]
    assert choice.beyond == 0
    assert reasons(choice)["new5"] == BELOW_FLOOR


def test_recent_ones_are_neither_repeated_nor_the_same():
    hits = [
        found("match", 0.9, text="retry the export when the queue is empty"),
        found("same", 0.0, text="retry the export when the queue is empty again"),
        found("before", 0.0),
        found("new", 0.0),
    ]
    choice = chosen(*hits, strategy=AGGRESSIVE, shown={"cl_before"})
    assert names(choice) == ["match", "new"]
    assert reasons(choice)["same"] == "says the same as cl_match"
    assert reasons(choice)["before"] == SHOWN_BEFORE


# --- the same again -----------------------------------------------------------------------------

TEXT = "the export job of the ledger fails when its queue is empty so retry it"
SAME = [
    (TEXT, TEXT, True),
    (TEXT, TEXT.upper(), True),
    (TEXT, f"{TEXT} twice", True),
    (TEXT, "retry the ledger's export job: it fails when the queue is empty", True),
    (TEXT, "the import job of the ledger fails when its disk is full so clean it", False),
    (TEXT, "something else entirely", False),
    # A denial or another number makes something else of nearly the same words.
    (TEXT, TEXT.replace("so retry", "so do not retry"), False),
    (f"{TEXT} 2 times", f"{TEXT} 9 times", False),
    (f"{TEXT} if you can", f"{TEXT} if you can't", False),
    ("", "", False),
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


def test_tags_and_files_do_not_make_two_the_same():
    alike = {"tags": ("redis", "cache", "queue"), "context_files": ("src/queue/cache.py",)}
    assert names(chosen(found("a", **alike), found("b", **alike))) == ["a", "b"]


def test_what_was_not_shown_keeps_nothing_away():
    """Only what the agent will have read tells it the same."""
    hits = [found("weak", 0.1, text=TEXT), found("strong", 0.9, text=TEXT)]
    assert names(chosen(*hits)) == ["strong"]
    order = ranked(found("full", 1.0), found("cut", 0.9, text=TEXT), found("too", 0.8, text=TEXT))
    choice = choose(order, MODERATE, 1, NOW, floor=HALF)
    assert reasons(choice) == {"full": SHOWN, "cut": BEYOND_LIMIT, "too": BEYOND_LIMIT}


def test_the_same_is_no_further_match_either():
    hits = [found("a", 0.9, text=TEXT), found("b", 0.8, text=TEXT), found("c", 0.7)]
    choice = chosen(*hits, limit=1)
    assert (names(choice), choice.beyond) == (["a"], 1)


# --- what was shown before ----------------------------------------------------------------------


def test_nothing_is_shown_twice_and_its_place_goes_to_others():
    hits = [found(f"n{number}", 1 - number / 100) for number in range(8)]
    choice = chosen(*hits, shown={"cl_n0", "cl_n3"}, limit=3)
    assert names(choice) == ["n1", "n2", "n4"]
    assert choice.beyond == 3
    assert reasons(choice)["n0"] == reasons(choice)["n3"] == SHOWN_BEFORE


@pytest.mark.parametrize("relevance", [0.9, 0.1])
def test_what_says_the_same_as_something_shown_before_is_not_shown(relevance):
    hits = [found("before", relevance, text=TEXT), found("again", 0.8, text=TEXT)]
    choice = chosen(*hits, shown={"cl_before"})
    assert reasons(choice) == {"before": SHOWN_BEFORE, "again": "says the same as cl_before"}


# --- nothing is known ---------------------------------------------------------------------------

STATS = [
    fared("proven", 9, 8, last_surfaced=ago(10), last_referenced=ago(10)),
    fared("used", 3, 2, last_surfaced=ago(10), last_referenced=ago(10)),
    fared("ignored", 30, 0, last_surfaced=ago(1)),
]
NEWEST = [
    found("fresh", 0.0, days=1),
    found("proven", 0.0, days=40),
    found("used", 0.0, days=40),
    found("ignored", 0.0, days=1),
    found("ancient", 0.0, days=900),
]


@pytest.mark.parametrize(
    ("limit", "shown", "expected"),
    [
        (5, set(), ["proven", "used", "fresh"]),
        (1, set(), ["proven"]),
        (0, set(), []),
        (2, {"cl_proven"}, ["used", "fresh"]),
    ],
)
def test_without_a_query_the_most_proven_recent_ones_come_first(limit, shown, expected):
    by_id = {one.learning_id: one for one in STATS}
    choice = choose_without_query(ranked(*NEWEST, stats=STATS), by_id, limit, shown=shown)
    assert names(choice) == expected
    assert len(choice.verdicts) == len(NEWEST)


def test_without_a_query_the_same_is_not_shown_twice():
    hits = [found("a", 0.0, text=TEXT), found("b", 0.0, text=TEXT), found("c", 0.0, days=9)]
    assert names(choose_without_query(ranked(*hits), {}, 5)) == ["a", "c"]


def test_without_a_query_the_newer_of_equal_ones_comes_first():
    hits = [found(f"n{days}", 0.0, days=days) for days in range(7)]
    assert names(choose_without_query(ranked(*hits), {}, 5)) == ["n0", "n1", "n2"]
