"""What merges and repairs cannot know to be right is said, or kept."""

from itertools import permutations

import pytest

from grove_backend_markdown.format import file_header, format_entry
from grove_backend_markdown.merging import merge_texts
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.repairing import repair_of
from grove_backend_markdown.status import change_status
from grove_backend_markdown.three_way import merge_lines
from grove_core import Area, LearningStatus

HEADER = file_header(Area.PROJECT)
ONE, TWO = "cl_20260206_000001", "cl_20260206_000002"


def conflict(before, ours, theirs, after, ancestor=None):
    shown = "" if ancestor is None else f"||||||| base\n{ancestor}"
    return f"{before}<<<<<<< ours\n{ours}{shown}=======\n{theirs}>>>>>>> theirs\n{after}"


@pytest.fixture
def parts(make_learning):
    """An entry's lines before its category, the line, and what follows."""
    text = f"{HEADER}\n{format_entry(make_learning(1))}"
    before, found, after = text.partition("- **Confidence:** ")
    assert found
    return before, after.partition("\n")[2]


def test_markers_inside_an_entry_are_merged_and_named(tmp_path, parts):
    before, after = parts
    spoilt = conflict(before, "- **Confidence:** high\n", "- **Confidence:** low\n", after)
    repair = repair_of(tmp_path, spoilt)
    assert repair.mended
    (left,) = repair.left
    assert ONE in left
    assert "compare with your history" in left
    assert repair_of(tmp_path, repair.after).left == ()


@pytest.mark.parametrize(("ancestor", "count"), [("high", 0), ("medium", 1)])
def test_with_the_ancestor_only_a_quoted_loser_is_named(tmp_path, parts, ancestor, count):
    before, after = parts
    sides = ("- **Confidence:** high\n", "- **Confidence:** low\n")
    spoilt = conflict(before, *sides, after, f"- **Confidence:** {ancestor}\n")
    assert len(repair_of(tmp_path, spoilt).left) == count


def test_another_status_alone_is_no_doubt(tmp_path, make_learning):
    text = f"{HEADER}\n{format_entry(make_learning(1))}"
    before, found, after = text.partition("- **Status:** active\n")
    assert found
    spoilt = conflict(before, "- **Status:** archived\n", "- **Status:** superseded\n", after)
    assert repair_of(tmp_path, spoilt).left == ()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_an_entry_that_may_have_lost_its_last_line_is_named_once(tmp_path, make_learning, line_end):
    entries = [format_entry(make_learning(number)) for number in (1, 2)]
    text = "".join([HEADER, "\n", *entries]).replace("\n", line_end)
    repair = repair_of(tmp_path, text)
    (left,) = repair.left
    assert left.startswith(ONE)
    assert repair.after == "\n".join([HEADER, *entries]).replace("\n", line_end)
    again = repair_of(tmp_path, repair.after)
    assert (again.mended, again.left) == ((), ())


def test_sides_with_other_line_ends_and_no_ancestor_have_no_order(make_learning):
    texts = [f"{HEADER}\n{format_entry(make_learning(number))}" for number in (1, 2)]
    crlf = texts[0].replace("\n", "\r\n")
    merged = merge_texts("", crlf, texts[1])
    assert merged == merge_texts("", texts[1], crlf)
    assert "\r" not in merged
    assert {entry.learning.id for entry in read_entries(merged).entries} == {ONE, TWO}


NOTES = [
    (("no longer so", "moved to the wiki"), "archived (moved to the wiki; no longer so)"),
    (("", "moved"), "archived (moved)"),
    (("a; b", "b; c"), "archived (a; b; c)"),
    (("a (b)", "c"), "archived (a (b); c)"),
]


@pytest.mark.parametrize(("notes", "status"), NOTES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_both_notes_on_one_status_are_kept(make_learning, notes, status, line_end):
    base = f"{HEADER}\n{format_entry(make_learning(1))}".replace("\n", line_end)
    sides = [change_status(base, ONE, LearningStatus.ARCHIVED, note) for note in notes]
    for order in permutations(sides):
        merged = merge_texts(base, *order)
        assert f"- **Status:** {status}{line_end}" in merged
        assert merge_texts(base, merged, order[0]) == merged
    assert not read_entries(merged).problems


def test_lines_that_are_all_alike_are_merged_in_time():
    """Comparing them line by line would take minutes."""
    base = ["start", *["", "same"] * 20_000, "end"]
    ours, theirs = [*base], [*base]
    for place in range(100, 30_000, 7):
        ours[place], theirs[place + 3] = f"ours {place}", f"theirs {place}"
    merged = merge_lines(base, ours, theirs)
    assert merged == merge_lines(base, theirs, ours)
    assert set(merged) == {*ours, *theirs}
    assert (merged[0], merged[-1]) == ("start", "end")


def test_what_both_begin_and_end_with_is_compared_line_by_line_at_any_length():
    base = [str(number) for number in range(50_000)]
    ours, theirs = ["new", *base], [*base, "more"]
    assert merge_lines(base, ours, theirs) == ("new", *base, "more")
