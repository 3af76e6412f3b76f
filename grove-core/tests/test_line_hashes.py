"""Counting changed lines from what was kept of a file's content."""

import difflib

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.services.session_mode import changed_lines, sum_up

LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"", b"\xff", b"long line " * 9]), max_size=12)


def taken(content):
    return sum_up("a.txt", content)


def beyond(content):
    return evolve(taken(content), line_hashes=None)


def text(lines):
    return b"".join(line + b"\n" for line in lines)


@settings(max_examples=50, deadline=None)
@given(before=LINES, after=LINES)
def test_never_more_than_a_diff_counts_and_moved_lines_do_not_count(before, after):
    counted = changed_lines(taken(text(before)), taken(text(after)))
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    by_diff = len(before) + len(after) - 2 * kept
    assert counted == changed_lines(taken(text(after)), taken(text(before)))
    assert (counted == 0) == (before == after)
    assert counted <= max(by_diff, 1)
    if before != after and sorted(before) == sorted(after):
        assert counted == 1


def test_beyond_the_bound_the_numbers_of_lines_are_compared():
    long = beyond(b"x\n" * 30)
    assert changed_lines(long, beyond(b"y\n" * 45)) == 15
    assert changed_lines(long, taken(b"y\n" * 30)) == 1
    assert changed_lines(long, beyond(b"x\n" * 30)) == 0
    assert changed_lines(taken(b""), long) == 30
