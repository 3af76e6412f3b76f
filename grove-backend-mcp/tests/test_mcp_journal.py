"""What waits for a server: nothing is forgotten, however often grove ends between two lines."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


STEPS = {
    "want": lambda journal, one: journal.want(one, NOON, is_due=True),
    "want its status": lambda journal, one: journal.want(one, NOON, is_due=False),
    "begin": lambda journal, one: journal.begin(one, NOON),
    "fail": lambda journal, one: journal.fail(one, NOON, "it is full"),
    "deliver": lambda journal, one: journal.deliver(one, NOON, "7", ACTIVE),
    "deliver archived": lambda journal, one: journal.deliver(one, NOON, "7", ARCHIVED),
    "see": lambda journal, one: journal.see(one, NOON),
    "lose": lambda journal, one: journal.lose(one, NOON),
}
HISTORIES = st.lists(
    st.tuples(st.sampled_from([*STEPS]), st.integers(1, 3), st.sampled_from("ab")), max_size=12
)


def told(path, server):
    """Everything that a journal says, as a process sees it that begins now."""
    journal = Journal(path, server)
    ids = [learning_id(number) for number in (1, 2, 3)]
    learnings = [example_learning(number) for number in (1, 2, 3)]
    return (
        [*journal.wanted()],
        [*journal.undelivered()],
        [journal.delivery(one) for one in ids],
        [journal.waits(one, can_update=can) for one in learnings for can in (True, False)],
    )


@settings(max_examples=30, deadline=None)
@given(history=HISTORIES, cut=st.integers(1, 60))
def test_a_torn_line_is_as_if_it_had_not_been_begun(history, cut, tmp_path_factory):
    path = tmp_path_factory.mktemp("machine") / "journal.jsonl"
    path.touch()
    for name, number, server in history:
        STEPS[name](Journal(path, server), learning_id(number))
    before, content = [told(path, each) for each in "ab"], path.read_bytes()
    Journal(path, "a").lose(ONE, NOON)
    line = path.read_bytes()[len(content) :]
    path.write_bytes(content + line[: min(cut, len(line) - 2)])
    assert [told(path, each) for each in "ab"] == before
    Journal(path, "a").lose(ONE, NOON)
    assert Journal(path, "a").delivery(ONE).is_open
