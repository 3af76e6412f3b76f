"""Stops are counted once, however many sets of hooks the client calls for each."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.gate.stopping import SAME_STOP, count_stop
from grove_core.model.session import StopCount

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def real_stops(reports, prompt_id="p"):
    """The numbers of the reports that told of a new stop; a report is a second and a set."""
    count, real = StopCount(), []
    for number, (second, set_of_hooks) in enumerate(reports):
        now = NOW + timedelta(seconds=second)
        count, is_new = count_stop(count, set_of_hooks, prompt_id, now)
        real += [number] if is_new else []
    return real


@pytest.mark.parametrize("prompt_id", ["p", None])
@pytest.mark.parametrize(
    ("reports", "stops"),
    [
        ([(0, "a"), (0, "a"), (1, "a")], [0, 1, 2]),
        ([(0, "a"), (0, "b")], [0]),
        ([(0, "a"), (0, "b"), (1, "b"), (1, "a")], [0, 2]),
        ([(0, "a"), (30, "b"), (60, "c")], [0, 1, 2]),
        ([(0, "a"), (0, "b"), (20, "a"), (40, "b")], [0, 2, 3]),
        ([(60, "a"), (0, "b")], [0, 1]),
        ([(1, "a"), (0, "b")], [0]),
    ],
    ids=["one set", "two sets", "in any order", "a set that was renamed", "a set that has failed",
         "a clock that goes back", "who began first is counted second"],
)  # fmt: skip
def test_reports_of_stops(reports, stops, prompt_id):
    assert real_stops(reports, prompt_id) == stops


@settings(max_examples=30)
@given(st.lists(st.permutations(["a", "b", "c"]), max_size=8), st.integers(0, 20))
def test_every_stop_that_all_sets_report_counts_once_in_whatever_order(rounds, seconds):
    reports = [(number * seconds, one) for number, each in enumerate(rounds) for one in each]
    assert real_stops(reports) == [3 * number for number in range(len(rounds))]


@settings(max_examples=30)
@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=9))
def test_no_stop_is_overheard_that_comes_after_the_client_has_given_up_on_hooks(sets):
    far_apart = SAME_STOP.total_seconds()
    reports = [(number * far_apart, one) for number, one in enumerate(sets)]
    assert real_stops(reports) == list(range(len(sets)))
