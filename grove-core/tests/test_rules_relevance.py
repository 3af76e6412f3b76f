"""The rule scorer: exact tag 1.0, file 0.8, partial tag 0.5, keyword 0.3, at most 1."""

from datetime import UTC, datetime

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.learning import Category, Learning, LearningStatus
from grove_core.model.memory import Filters, Hit, Query
from grove_core.retrieval.rules import (
    best_first,
    keywords,
    overlaps,
    rule_hits,
    rule_relevance,
)
from grove_core.testing.samples import example_learning

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def a_learning(**fields):
    given_fields = {
        "summary": "Migrations lock the table",
        "detail": "Postgres rewrites every row when a default is added.",
        "tags": ("database", "n-plus-one"),
        "context_files": ("app/models/user.rb",),
        "ticket_id": "T-1",
        **fields,
    }
    return Learning(
        id="cl_1", category=Category.PITFALL, session_id="s", timestamp=NOW, **given_fields
    )


@pytest.mark.parametrize(
    ("query", "relevance"),
    [
        ({}, 0.0),
        ({"text": "something else entirely"}, 0.0),
        ({"tags": ("database",)}, 1.0),
        ({"text": "the Database of users"}, 1.0),
        ({"ticket_title": "n-plus-one in the list"}, 1.0),
        ({"tags": ("data",)}, 0.5),
        ({"text": "databases"}, 0.5),
        ({"tags": ("plus",)}, 0.5),
        ({"tags": ("one",)}, 0.0),
        ({"files": ("app/models/user.rb",)}, 0.8),
        ({"files": ("models/user.rb",)}, 0.8),
        ({"files": ("/home/me/app/models/user.rb",)}, 0.8),
        ({"files": ("other/user.rb",)}, 0.0),
        ({"files": ("user.rb",)}, 0.8),
        ({"text": "migrations"}, 0.3),
        ({"text": "postgres migrations"}, 0.6),
        ({"ticket_description": "rewrites rows"}, 0.3),
        ({"error_signature": "ERROR: table is busy"}, 0.3),
        ({"ticket_id": "T-1"}, 1.0),
        ({"ticket_id": "T-2"}, 0.0),
        ({"text": "postgres", "files": ("user.rb",)}, 1.0),
        ({"tags": ("database",), "ticket_id": "T-1", "files": ("user.rb",)}, 1.0),
        ({"text": "the and with for"}, 0.0),
        ({"text": "2026 17"}, 0.0),
    ],
)
def test_relevance(query, relevance):
    value, reasons = rule_relevance(Query(**query), a_learning())
    assert value == pytest.approx(relevance)
    assert bool(reasons) == (relevance > 0)


def test_reasons_name_what_matched():
    query = Query(text="postgres", tags=("database",), files=("user.rb",), ticket_id="T-1")
    assert rule_relevance(query, a_learning())[1] == (
        "tag database",
        "file app/models/user.rb",
        "words postgres",
        "ticket T-1",
    )


def test_a_learning_without_a_ticket_matches_no_empty_ticket():
    assert rule_relevance(Query(ticket_id=""), a_learning(ticket_id=None))[0] == 0.0


@given(text=st.text(max_size=60), tags=st.lists(st.text(max_size=8), max_size=4))
def test_relevance_is_between_zero_and_one_for_any_query(text, tags):
    query = Query(text=text, tags=tuple(tags), files=(text,), error_signature=text)
    value, reasons = rule_relevance(query, a_learning())
    assert 0.0 <= value <= 1.0
    assert bool(reasons) == (value > 0)


@given(words=st.lists(st.sampled_from(["postgres", "table", "rewrites", "zebra"]), max_size=4))
def test_more_words_never_lower_relevance(words):
    values = [
        rule_relevance(Query(text=" ".join(words[:count])), a_learning())[0]
        for count in range(len(words) + 1)
    ]
    assert values == sorted(values)


def test_keywords_are_words_that_say_something():
    assert keywords("The N-plus-one QUERY of my_app in 2026, and ÄRGER") == {
        "n-plus-one",
        "query",
        "my_app",
        "ärger",
    }


@pytest.mark.parametrize(
    ("file", "other", "same"),
    [
        ("a/b.py", "a/b.py", True),
        ("a/b.py", "b.py", True),
        ("a/b.py", "x/a/b.py", True),
        ("a/b.py", "xa/b.py", False),
        ("a/b.py", "a/c.py", False),
        ("a/b.py", "ab.py", False),
        ("a/b.py", "", False),
        ("", "a", False),
        ("a/b.py", "./a/b.py", True),
    ],
)
def test_overlapping_paths(file, other, same):
    assert overlaps(file, [other]) is same
    assert overlaps(file, ["unrelated", other]) is same


def test_search_by_rules_applies_filters_and_sorts():
    shelf, strange = example_learning(1), example_learning(3, tags=("kitchen",))
    newer = evolve(shelf, id="cl_20260206_newer2", timestamp=shelf.timestamp.replace(year=2027))
    archived = evolve(shelf, id="cl_20260206_archiv", status=LearningStatus.ARCHIVED)
    note = evolve(shelf, id="note-1", timestamp=shelf.timestamp.replace(year=2025))
    learnings = [shelf, newer, archived]
    hits = rule_hits(Query(tags=("shelf",)), [*learnings, strange], Filters(), notes=[note])
    assert [hit.learning for hit in hits] == [newer, shelf, note]
    assert [hit.complete for hit in hits] == [True, True, False]
    assert all(hit.relevance == 1 and "tag shelf" in hit.reasons for hit in hits)
    assert rule_hits(Query(tags=("shelf",)), learnings, Filters(limit=1)) == hits[:1]
    everything = rule_hits(Query(), [shelf, strange], Filters())
    assert {hit.relevance for hit in everything} == {0.0}
    assert len(everything) == 2


def test_the_best_come_first_then_the_newest_then_by_id():
    one = example_learning(1)
    same = [Hit(learning=evolve(one, id=name), relevance=0.5) for name in ("b", "a")]
    best = Hit(learning=evolve(one, timestamp=one.timestamp.replace(year=2020)), relevance=0.6)
    newest = Hit(learning=evolve(one, timestamp=one.timestamp.replace(year=2027)), relevance=0.5)
    assert best_first([*same, newest, best]) == [best, newest, same[1], same[0]]
