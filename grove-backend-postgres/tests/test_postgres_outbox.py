"""What waits for the database, and which of two changes of a status counts."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_postgres.outbox import Outbox, StatusChange, counts, new_learnings
from grove_core import LearningStatus
from grove_core.testing.samples import example_learning, learnings

CHANGE = StatusChange(
    status=LearningStatus.ARCHIVED,
    at=datetime(2026, 2, 6, 10, 0, 0, 123456, tzinfo=UTC),
    was=LearningStatus.ACTIVE,
)
FIRST, SECOND = example_learning(1), example_learning(2)


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "postgres" / "outbox.jsonl")


@settings(max_examples=30, deadline=None)
@given(learning=learnings())
def test_any_learning_is_read_as_it_was_written(tmp_path_factory, learning):
    outbox = Outbox(tmp_path_factory.mktemp("outbox") / "outbox.jsonl")
    outbox.add([learning])
    outbox.add_change(learning.id, CHANGE)
    entries = outbox.all().entries
    assert new_learnings(entries) == {learning.id: learning}
    assert [(one.learning_id, one.what) for one in entries[1:]] == [(learning.id, CHANGE)]
    assert outbox.about([learning.id]) == [*entries]


def test_what_was_delivered_is_taken_out_and_nothing_else(outbox):
    outbox.add([FIRST, SECOND])
    outbox.add_change(FIRST.id, CHANGE)
    before = outbox.all()
    outbox.remove([one for one in before.entries if one.what == FIRST])
    after = outbox.since(before.mark)
    assert [one.what for one in after.entries] == [SECOND, CHANGE]
    outbox.remove(after.entries)
    assert outbox.all().entries == ()


def test_a_file_of_version_0_1_is_read_and_stays(outbox):
    outbox.add([FIRST])
    first = b'{"outbox": "0123456789abcdef"}\n'
    outbox.path.write_bytes(first + outbox.path.read_bytes())
    tail = outbox.all()
    assert ([one.what for one in tail.entries], tail.unreadable) == ([FIRST], 0)
    outbox.remove(tail.entries)
    assert outbox.path.read_bytes() == first


STRANGE = {
    "torn": b'{"learning": {"id": "cl_2026',
    "of a newer grove": b'{"forgotten": "cl_20260206_k3f9a2"}',
    "an unknown status": b'{"id": "cl_x", "status": "lost", "at": "2026-02-06", "was": "active"}',
    "no text": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_what_cannot_be_read_is_counted_and_kept(outbox, strange):
    outbox.add([FIRST])
    with outbox.path.open("ab") as file:
        file.write(strange)
    # The next one heals a line that a process has died over.
    outbox.add([SECOND])
    tail = outbox.all()
    assert [one.what for one in tail.entries] == [FIRST, SECOND]
    assert tail.unreadable == 1
    outbox.remove(tail.entries)
    assert strange in outbox.path.read_bytes()
    assert outbox.all().unreadable == 1


def test_a_last_line_that_lacks_only_its_end_does_not_wait_for_the_next(outbox):
    """Somebody has appended it by hand, or a process has ended right there."""
    outbox.add([FIRST])
    whole = outbox.path.read_bytes()
    outbox.path.write_bytes(whole[:-1])
    tail = outbox.all()
    assert [one.what for one in tail.entries] == [FIRST]
    outbox.add([SECOND])
    assert [one.what for one in outbox.since(tail.mark).entries] == [SECOND]
    outbox.path.write_bytes(whole[:-1])
    outbox.remove(tail.entries)
    assert outbox.all().entries == ()


ACTIVE, ARCHIVED, SUPERSEDED = LearningStatus
NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)


def change(status, minute, was=ACTIVE):
    return StatusChange(status=status, at=NOON + timedelta(minutes=minute), was=was)


def after(changes, status=ACTIVE):
    at = None
    for one in changes:
        if counts(one, status, at):
            status, at = one.status, one.at
    return status


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        pytest.param([change(ARCHIVED, 1), change(ACTIVE, 2, ARCHIVED)], ACTIVE, id="restored"),
        pytest.param([change(ACTIVE, 2, ARCHIVED), change(ARCHIVED, 1)], ACTIVE, id="came late"),
        pytest.param([change(SUPERSEDED, 1), change(ARCHIVED, 2)], SUPERSEDED, id="did not know"),
        pytest.param(
            [change(SUPERSEDED, 1), change(ACTIVE, 2, SUPERSEDED)], ACTIVE, id="knew, restored"
        ),
        pytest.param(
            [change(SUPERSEDED, 1), change(ARCHIVED, 2, SUPERSEDED)], ARCHIVED, id="knew, archived"
        ),
        pytest.param([change(ARCHIVED, 1), change(SUPERSEDED, 1)], SUPERSEDED, id="at once"),
    ],
)
def test_the_change_that_counts(changes, wanted):
    assert after(changes) is wanted


KNEW_NOTHING = st.lists(
    st.builds(change, st.sampled_from([ARCHIVED, SUPERSEDED]), st.integers(0, 5)), max_size=4
)


@settings(max_examples=40, deadline=None)
@given(KNEW_NOTHING)
def test_changes_of_machines_that_know_nothing_of_each_other_have_no_order(changes):
    assert len({after(order) for order in permutations(changes)}) == 1


@given(KNEW_NOTHING, st.integers(0, 3))
def test_a_change_that_is_delivered_again_changes_nothing(changes, number):
    again = changes[number : number + 1]
    assert after([*changes, *again]) is after(changes)
