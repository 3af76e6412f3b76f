"""Entries as they are written, and whatever else stands in a file."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import change_status, file_header, format_entry
from grove_backend_markdown.reader import read_entries
from grove_core import (
    Area,
    BackendError,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.testing.samples import example_learning


def only(text):
    reading = read_entries(text)
    assert len(reading.entries) == 1, reading
    return reading.entries[0].learning


def problems(text):
    return [(problem.line, problem.message) for problem in read_entries(text).problems]


def test_fields_may_be_reordered_and_unknown_ones_are_passed_over():
    text = (
        "### [cl_x] A summary\n* **Mood:** gloomy\n- **Created:** 2026-02-06\n**Tags:** a,b\n"
        "- **confidence**: Low\n- a remark\n- **Category:** PIT-FALL\n\n> Detail\n"
    )
    learning = only(text)
    assert learning.tags == ("a", "b")
    assert learning.confidence is Confidence.LOW
    assert learning.category is Category.PITFALL
    assert learning.timestamp == datetime(2026, 2, 6, tzinfo=UTC)
    assert problems(text) == []


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("archived (decayed 2026-05-07)", LearningStatus.ARCHIVED),
        ("Archived", LearningStatus.ARCHIVED),
        ("superseded (by cl_y)", LearningStatus.SUPERSEDED),
        ("active", LearningStatus.ACTIVE),
        ("", LearningStatus.ACTIVE),
    ],
)
def test_status_is_read_with_its_note(value, status):
    text = f"### [cl_x] A summary\n- **Category:** domain\n- **Status:** {value}\n\n> D\n"
    assert only(text).status is status
    assert problems(text) == []


@pytest.mark.parametrize(
    ("learning_id", "instant"),
    [
        ("cl_20260206_001", datetime(2026, 2, 6, tzinfo=UTC)),
        ("cl_20261399_001", datetime(1970, 1, 1, tzinfo=UTC)),
        ("cl_20260206", datetime(1970, 1, 1, tzinfo=UTC)),
        ("other-id", datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_missing_time_comes_from_the_id(learning_id, instant):
    assert only(f"### [{learning_id}] S\n- **Category:** domain\n\n> D\n").timestamp == instant


@pytest.mark.parametrize(
    "value", ["yesterday", "2026-13-01", "0001-01-01T00:00:00+14:00", "9" * 99]
)
def test_time_that_cannot_be_read_is_named(value):
    text = f"### [cl_20260206_001] S\n- **Category:** domain\n- **Created:** {value}\n\n> D\n"
    assert only(text).timestamp == datetime(2026, 2, 6, tzinfo=UTC)
    assert [line for line, _ in problems(text)] == [3]


def test_code_block_in_prose_is_skipped_and_an_unclosed_one_hides_nothing():
    learning = example_learning()
    example = "```markdown\n### [cl_example] S\n- **Category:** domain\n\n> D\n```\n"
    text = (
        f"{example}\n{format_entry(learning)}\n```\nunclosed\n\n{format_entry(example_learning(2))}"
    )
    reading = read_entries(text)
    assert [entry.learning for entry in reading.entries] == [learning, example_learning(2)]
    assert problems(text) == [(2, "an entry inside a code block is not read")]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("### [cl x] S\n- **Category:** domain\n\n> D\n", [1]),
        ("### [cl_x] S\n", [1]),
        ("prose\n\n- **Category:** domain\n- **Scope:** team\n\n> D\n", [3]),
        ("### [cl_x S\n- **Category:** domain\n\n> D\n", [2]),
        ("### [cl_x] S\n- **Scope:** team\n\n> D\n", [1]),
        ("### [cl_x] S\n- **Category:** weather\n\n> D\n", [2]),
        ("### [cl_x] S\n- **Category:** domain\n- **Category:** pitfall\n\n> D\n", [3]),
        ("### [cl_x] S\n- **Category:** domain\n", [1]),
        ("### [cl_x]\n- **Category:** domain\n\n> D\n", [1]),
        ("### [cl_x] S\n- **Category:** domain\n- **Origin:** Mars\n\n> D\n", [3]),
        ("### [cl_x] S\n- **Category:** domain\n- **Criteria:** stable_fact, luck\n\n> D\n", [3]),
        ("### [cl_x] S\n- **Category:** domain\n\n> D\n\n- **Tags:** late\n", [6]),
        ("prose \udcff\n", [1]),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text, named):
    assert [line for line, _ in problems(text)] == named


def test_first_of_two_fields_and_of_two_entries_counts():
    entry = "### [cl_x] {}\n- **Category:** domain\n- **Status:** active\n- **Status:** archived\n\n> D\n"
    text = entry.format("First") + "\n" + entry.format("Second")
    learning = only(text)
    assert (learning.summary, learning.status) == ("First", LearningStatus.ACTIVE)
    assert [line for line, _ in problems(text)] == [4, 8, 11]


@given(data=st.data())
@settings(max_examples=60)
def test_any_text_can_be_read(lookalikes, data):
    piece = st.sampled_from(lookalikes) | st.text(max_size=8)
    text = "\n".join(data.draw(st.lists(piece, max_size=25)))
    reading = read_entries(text)
    count = len(text.split("\n"))
    assert all(1 <= problem.line <= count for problem in reading.problems)
    for entry in reading.entries:
        assert 1 <= entry.first_line <= entry.last_line <= count
        assert entry.learning.id in text.split("\n")[entry.first_line - 1]
    assert len({entry.learning.id for entry in reading.entries}) == len(reading.entries)


HEADING_A = "### [cl_20260206_aaaaaa] A\n"
HEADING_B = "### [cl_20260206_bbbbbb] B\n"


def conflict(ours, theirs, base=None):
    middle = f"||||||| base\n{base}" if base is not None else ""
    return f"<<<<<<< HEAD\n{ours}{middle}=======\n{theirs}>>>>>>> branch\n"


def test_both_sides_are_read_and_the_markers_named():
    learnings = [example_learning(number) for number in (1, 2, 3)]
    before, ours, theirs = map(format_entry, learnings)
    text = f"{before}\n{conflict(ours, theirs)}"
    reading = read_entries(text)
    assert [entry.learning for entry in reading.entries] == learnings
    markers = [n for n, line in enumerate(text.split("\n"), 1) if line[:3] in {"<<<", "===", ">>>"}]
    assert [problem.line for problem in reading.problems] == markers


def test_lines_that_both_entries_share_belong_to_both():
    text = (
        conflict(HEADING_A + "- **Category:** pitfall\n", HEADING_B + "- **Category:** domain\n")
        + "- **Scope:** team\n- **Status:** active\n"
        + conflict("- **Tags:** a\n\n> detail of a\n", "- **Tags:** b\n\n> detail of b\n")
    )
    a, b = (entry.learning for entry in read_entries(text).entries)
    assert (a.summary, a.category.value, a.tags, a.detail) == (
        "A",
        "pitfall",
        ("a",),
        "detail of a",
    )
    assert (b.summary, b.category.value, b.tags, b.detail) == ("B", "domain", ("b",), "detail of b")
    assert a.scope is b.scope


def test_our_side_of_a_changed_status_counts():
    status, archived = "- **Status:** active\n", "- **Status:** archived (decayed)\n"
    entry = format_entry(example_learning())
    text = entry.replace(status, conflict(archived, status, base=status))
    assert only(text).status is LearningStatus.ARCHIVED
    with pytest.raises(BackendError, match="conflict markers"):
        change_status(text, example_learning().id, LearningStatus.ACTIVE)


def test_paragraphs_of_a_detail_may_be_parted_by_lines_without_a_mark():
    text = "### [cl_x] A summary\n- **Category:** domain\n\n> One\n\n\n> Two\n\nProse of somebody\n"
    assert only(text).detail == "One\n\n\nTwo"


DOCUMENTED = """\
### [cl_20260206_k3f9a2] N+1 query in UserDashboard#index
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** behavior_changing
- **Tags:** rails, n-plus-one
- **Files:** app/models/user.rb
- **Supersedes:** cl_a, cl_b
- **Origin:** ticket T042 | session abc123
- **Created:** 2026-02-06T10:00:00Z

> Preload it.
>
> ## Why
"""


def documented_learning():
    return Learning(
        id="cl_20260206_k3f9a2",
        category=Category.PITFALL,
        summary="N+1 query in UserDashboard#index",
        detail="Preload it.\n\n## Why",
        session_id="abc123",
        timestamp=datetime(2026, 2, 6, 10, tzinfo=UTC),
        scope=Scope.PROJECT,
        confidence=Confidence.HIGH,
        criteria_met=frozenset({Criterion.BEHAVIOR_CHANGING}),
        tags=("rails", "n-plus-one"),
        context_files=("app/models/user.rb",),
        ticket_id="T042",
        supersedes=("cl_a", "cl_b"),
    )


def test_entry_is_written_as_documented():
    assert format_entry(documented_learning()) == DOCUMENTED
    (entry,) = read_entries(DOCUMENTED).entries
    assert entry.learning == documented_learning()
    assert (entry.first_line, entry.last_line, entry.status_line) == (1, 15, 5)


@pytest.mark.parametrize(
    ("summary", "written"),
    [
        ("Use a | b", r"Use a \| b"),
        ("# not a heading", r"\# not a heading"),
        ("Issue #12 stays", "Issue #12 stays"),
        (r"C:\temp", r"C:\\temp"),
        ("AT&T & co", "AT&T & co"),
        ("&#10; is text", r"\&#10; is text"),
        (" blanks at the ends ", "&#32;blanks at the ends&#32;"),
        ("one\rline", "one&#13;line"),
    ],
)
def test_summary_is_escaped_and_read_back(summary, written):
    text = format_entry(example_learning(summary=summary))
    assert text.split("\n")[0] == f"### [cl_20260206_aaaaab] {written}"
    assert read_entries(text).entries[0].learning.summary == summary


@settings(max_examples=40, deadline=None)
@given(data=st.data(), end=st.sampled_from(["\n", "\r\n"]))
def test_any_file_reads_back_equal(hostile_learnings, data, end):
    learnings = data.draw(st.lists(hostile_learnings, max_size=4, unique_by=lambda one: one.id))
    text = "\n".join([file_header(Area.PROJECT), *map(format_entry, learnings)])
    text = text.replace("\n", end)
    reading = read_entries(text)
    assert [entry.learning for entry in reading.entries] == learnings
