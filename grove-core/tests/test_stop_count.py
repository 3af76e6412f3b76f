"""Stops are counted once, however many sets of hooks the client calls for each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.gate.stop_count import count_stop
from grove_core.model.session import StopCount


def real_stops(reports):
    count, real = StopCount(), 0
    for prompt_id, set_of_hooks in reports:
        count, is_new = count_stop(count, set_of_hooks, prompt_id)
        real += is_new
    return real


@pytest.mark.parametrize(
    ("reports", "stops"),
    [
        ([("p", "a"), ("p", "a"), ("p", "a")], 3),
        ([("p", "a"), ("p", "b")], 1),
        ([("p", "a"), ("p", "b"), ("p", "b"), ("p", "a")], 2),
        ([("p", "a"), ("q", "b"), ("q", "a")], 2),
        ([(None, "a"), (None, "b")], 2),
    ],
    ids=["one set", "two sets", "in any order", "a new prompt", "a client that names no prompt"],
)
def test_reports_of_stops(reports, stops):
    assert real_stops(reports) == stops


@given(st.lists(st.permutations(["a", "b", "c"]), max_size=8))
def test_every_stop_that_all_sets_report_counts_once_in_whatever_order(rounds):
    assert real_stops([("p", one) for each in rounds for one in each]) == len(rounds)


@given(st.lists(st.booleans(), max_size=12))
def test_a_set_that_reports_every_stop_is_not_overheard_for_another_that_misses_some(others):
    rounds = [["a", "b"] if other_reports else ["a"] for other_reports in others]
    assert real_stops([("p", one) for each in rounds for one in each]) == len(rounds)
