"""What is written is markdown as documented, and reads back equal."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import file_header, format_entry, format_status
from grove_backend_markdown.reader import read_entries
from grove_core import (
    Area,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)

DOCUMENTED = """\
### [cl_20260206_k3f9a2] N+1 query in UserDashboard#index
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** behavior_changing
- **Tags:** rails, n-plus-one
- **Files:** app/models/user.rb
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
    )


def test_entry_is_written_as_documented():
    assert format_entry(documented_learning()) == DOCUMENTED


def test_documented_entry_is_read():
    reading = read_entries(DOCUMENTED)
    assert [entry.learning for entry in reading.entries] == [documented_learning()]
    entry = reading.entries[0]
    assert (entry.first_line, entry.last_line, entry.status_line) == (1, 14, 5)
    assert not reading.problems


def test_empty_fields_are_left_out(make_learning):
    text = format_entry(
        make_learning(criteria_met=frozenset(), tags=(), context_files=(), ticket_id=None)
    )
    for name in ("Criteria", "Tags", "Files", "Supersedes", "ticket"):
        assert name not in text
    assert "- **Origin:** session abc123\n" in text


def test_superseded_learnings_stand_after_the_files(make_learning):
    text = format_entry(make_learning(supersedes=("cl_a", "cl_b")))
    names = [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]
    assert names[-4:] == ["Files:", "Supersedes:", "Origin:", "Created:"]
    assert "- **Supersedes:** cl_a, cl_b\n" in text


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
def test_summary_is_escaped_and_read_back(make_learning, summary, written):
    text = format_entry(make_learning(summary=summary))
    assert text.split("\n")[0] == f"### [cl_20260206_000001] {written}"
    assert read_entries(text).entries[0].learning.summary == summary


@pytest.mark.parametrize(
    ("status", "note", "written"),
    [
        (LearningStatus.ARCHIVED, "decayed 2026-05-07", "archived (decayed 2026-05-07)"),
        (LearningStatus.SUPERSEDED, "", "superseded"),
        (LearningStatus.ACTIVE, "never mind", "active"),
        (LearningStatus.ARCHIVED, "two\nlines", "archived (two lines)"),
    ],
)
def test_status(status, note, written):
    assert format_status(status, note) == written


@given(data=st.data())
@settings(max_examples=80)
def test_any_learning_reads_back_equal(hostile_learnings, data):
    learning = data.draw(hostile_learnings)
    reading = read_entries(format_entry(learning))
    assert [entry.learning for entry in reading.entries] == [learning]


@given(data=st.data())
@settings(max_examples=40)
def test_any_file_reads_back_equal(hostile_learnings, data):
    learnings = data.draw(
        st.lists(hostile_learnings, max_size=5, unique_by=lambda learning: learning.id)
    )
    text = "\n".join([file_header(Area.PROJECT), *map(format_entry, learnings)])
    assert [entry.learning for entry in read_entries(text).entries] == learnings


@given(data=st.data())
@settings(max_examples=25)
def test_files_with_other_line_ends_read_back_equal(hostile_learnings, data):
    learnings = data.draw(
        st.lists(hostile_learnings, max_size=3, unique_by=lambda learning: learning.id)
    )
    text = "\n".join(map(format_entry, learnings)).replace("\n", "\r\n")
    assert [entry.learning for entry in read_entries(text).entries] == learnings


@pytest.mark.parametrize("area", Area)
def test_header_holds_nothing_to_read(area):
    header = file_header(area)
    assert header.startswith("# ")
    assert header.endswith("\n")
    assert read_entries(header)[:2] == ((), ())
