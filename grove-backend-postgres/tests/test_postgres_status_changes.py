"""Changes of a status that arrive in any order end in the same status."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_postgres.outbox import StatusChange, counts
from grove_core import LearningStatus

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
