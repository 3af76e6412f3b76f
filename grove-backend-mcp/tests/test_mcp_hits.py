"""What a server has found: resolved to what is known here, and believed as far as it deserves."""

from datetime import UTC, datetime

import pytest
from attrs import evolve

from grove_backend_mcp.protocol.results import Found
from grove_backend_mcp.sync.record import Contents, Paths
from grove_backend_mcp.sync.server import hits_of
from grove_core import BackendContext, LearningStatus, Query
from grove_core.testing.samples import SUBJECTS

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
KEROSENE, BRANCHES, WORKERS, VOUCHERS = SUBJECTS.values()
ASKED = Query(text="kerosene migrations")


def found(written, **fields):
    values = {
        "learning_id": written.id,
        "learning": written,
        "project": "shop",
        "handle": written.id,
        "text": written.summary,
    }
    return Found(**values | fields)


@pytest.fixture
def contents(tmp_path):
    contents = Contents(Paths(BackendContext(root=tmp_path, home=tmp_path / "home"), ""))
    for learning in (KEROSENE, BRANCHES, WORKERS):
        contents.record.add(learning, NOON)
    return contents


@pytest.fixture
def judge(contents):
    return lambda query, *results: hits_of(results, query, contents, "shop")


def ids(known):
    return [hit.learning.id for hit in known[0]]


def test_the_end_of_a_list_that_has_no_word_in_common_is_left_out(judge):
    known = judge(ASKED, *map(found, (BRANCHES, KEROSENE, WORKERS)))
    assert ids(known) == [BRANCHES.id, KEROSENE.id]
    first, second = known[0]
    assert 0 < first.relevance < second.relevance
    assert "meaning" in first.reasons[0]


def test_our_own_record_and_its_status_count_whatever_the_server_says(judge, contents):
    contents.record.add_status(KEROSENE.id, LearningStatus.ARCHIVED, NOON)
    ((hit,), _) = judge(ASKED, found(evolve(KEROSENE, detail="Forged.")))
    assert hit.learning == evolve(KEROSENE, status=LearningStatus.ARCHIVED)
    ((cut,), _) = judge(ASKED, found(KEROSENE, learning=None, project=None))
    assert (cut.learning, cut.complete) == (hit.learning, True)


def test_what_others_have_written_is_kept_and_what_is_of_other_projects_is_not(judge):
    asked = Query(text="vouchers")
    known = judge(asked, found(VOUCHERS))
    assert (ids(known), [*known[1]]) == ([VOUCHERS.id], [VOUCHERS])
    elsewhere = judge(asked, found(VOUCHERS, project="library"), found(VOUCHERS, learning=None))
    assert elsewhere == ([], [])
