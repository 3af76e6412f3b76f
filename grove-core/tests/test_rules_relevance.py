"""The rule scorer: exact tag 1.0, file 0.8, partial tag 0.5, keyword 0.3, at most 1."""

import pytest
from attrs import evolve
from core_worlds import a_learning

from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Filters, Query
from grove_core.retrieval.rules import rule_hits, rule_relevance
from grove_core.testing.samples import example_learning

LEARNING = a_learning(
    detail="Postgres rewrites every row when a default is added.",
    tags=("database", "n-plus-one"),
    context_files=("app/models/user.rb",),
    ticket_id="T-1",
)


@pytest.mark.parametrize(
    ("query", "relevance"),
    [
        ({}, 0.0),
        ({"tags": ("database",)}, 1.0),
        ({"text": "the Database of users"}, 1.0),
        ({"ticket_title": "n-plus-one in the list"}, 1.0),
        ({"text": "databases"}, 0.5),
        ({"files": ("app/models/user.rb",)}, 0.8),
        ({"files": ("other/user.rb",)}, 0.0),
        ({"files": ("user.rb",)}, 0.8),
        ({"text": "postgres migrations"}, 0.6),
        ({"error_signature": "ERROR: table is busy"}, 0.3),
        ({"ticket_id": "T-1"}, 1.0),
        ({"ticket_id": "T-2"}, 0.0),
        ({"text": "postgres", "files": ("user.rb",)}, 1.0),
    ],
)
def test_relevance(query, relevance):
    value, reasons = rule_relevance(Query(**query), LEARNING)
    assert value == pytest.approx(relevance)
    assert bool(reasons) == (relevance > 0)


def test_reasons_name_what_matched():
    query = Query(text="postgres", tags=("database",), files=("user.rb",), ticket_id="T-1")
    assert rule_relevance(query, LEARNING)[1] == (
        "tag database",
        "file app/models/user.rb",
        "words postgres",
        "ticket T-1",
    )


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
