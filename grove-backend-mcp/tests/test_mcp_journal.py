"""What waits for a server: nothing is forgotten, however often grove ends between two lines."""

from datetime import UTC, datetime

import pytest

from grove_backend_mcp.sync.journal import Delivery, Journal
from grove_core import LearningStatus
from grove_core.testing.samples import example_learning, learning_id

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
ACTIVE, ARCHIVED = LearningStatus.ACTIVE, LearningStatus.ARCHIVED
ONE = learning_id(1)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "deep" / "journal.jsonl", "a")


def test_what_is_wanted_waits_until_it_is_delivered(journal):
    learning = example_learning()
    assert not journal.waits(learning, can_update=True)
    journal.want(ONE, NOON, is_due=True)
    assert journal.waits(learning, can_update=False)
    assert [*journal.wanted()] == [*journal.undelivered()] == [ONE]
    journal.begin(ONE, NOON)
    assert journal.waits(learning, can_update=False)
    journal.deliver(ONE, NOON, "7", ACTIVE)
    assert not journal.waits(learning, can_update=True)
    assert journal.delivery(ONE) == Delivery(handle="7", status=ACTIVE)
    assert [*journal.undelivered()] == []


def test_a_status_waits_only_for_a_server_that_can_be_told(journal):
    journal.want(ONE, NOON, is_due=True)
    journal.deliver(ONE, NOON, "7", ACTIVE)
    archived = example_learning(status=ARCHIVED)
    # The branch has changed: nobody has put it away here.
    assert not journal.waits(archived, can_update=True)
    journal.want(ONE, NOON, status=ARCHIVED)
    assert journal.waits(archived, can_update=True)
    assert not journal.waits(archived, can_update=False)
    assert not journal.waits(example_learning(), can_update=True)


def test_what_is_lost_waits_again_and_may_be_there(journal):
    journal.want(ONE, NOON, is_due=True)
    journal.deliver(ONE, NOON, "7", ACTIVE)
    journal.lose(ONE, NOON)
    assert journal.waits(example_learning(), can_update=False)
    assert journal.delivery(ONE).is_open


def test_another_server_has_got_nothing_yet(journal, tmp_path):
    journal.want(ONE, NOON, is_due=True)
    journal.deliver(ONE, NOON, "7", ACTIVE)
    other = Journal(tmp_path / "deep" / "journal.jsonl", "b")
    assert other.waits(example_learning(), can_update=False)
    assert other.delivery(ONE) == Delivery()
    assert [*other.undelivered()] == []


def test_what_version_0_1_has_written_still_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(
        f'{{"id": "{ONE}", "at": "2026-02-06T12:00:00Z", "state": "wanted", "is_new": true}}\n'
    )
    assert Journal(path, "a").waits(example_learning(), can_update=False)
