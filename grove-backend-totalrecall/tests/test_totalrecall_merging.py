"""Two branches add to one log: both additions are there, and neither entry takes from the other."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_backend_totalrecall.entry import daily_template, format_entry, joint
from grove_backend_totalrecall.merging import merge_logs
from grove_backend_totalrecall.reading import read_log
from grove_core import BackendError, Category, Learning

TEMPLATE = daily_template(date(2030, 1, 2))


def with_entries(text, *numbers):
    for number in numbers:
        learning = Learning(
            id=f"cl_20300102_{number:06d}",
            category=Category.PITFALL,
            summary=f"Summary number {number}",
            detail=f"Detail number {number}",
            session_id="s",
            timestamp=datetime(2030, 1, 2, tzinfo=UTC),
            tags=("same",),
        )
        text += joint(text) + format_entry(learning, "14:32")
    return text


@given(
    st.lists(st.integers(0, 99), unique=True, max_size=6),
    st.integers(0, 6),
    st.integers(0, 6),
    st.booleans(),
)
def test_both_sides_entries_are_whole(numbers, first, second, has_base):
    first, second = sorted((first, second))
    base = with_entries(TEMPLATE, *numbers[:first])
    ours = with_entries(base, *numbers[first:second])
    theirs = with_entries(base, *numbers[second:])
    merged = merge_logs(base if has_base else "", ours, theirs)
    assert merged == merge_logs(base if has_base else "", theirs, ours)
    entries = read_log(merged, daily=True).entries
    assert sorted(entry.summary for entry in entries) == sorted(
        f"Summary number {n}" for n in numbers
    )
    assert all(entry.tags == ("same",) and entry.detail for entry in entries)
    assert merged.count("# 2030-01-02\n") == 1


def test_a_line_without_an_end_does_not_swallow_the_next():
    assert merge_logs("a\n", "a\nx", "a\ny") == "a\nx\ny"


def test_what_somebody_has_changed_is_merged_by_hand():
    with pytest.raises(BackendError, match="by hand"):
        merge_logs("a\nb\n", "a\nc\n", "a\nb\nd\n")
