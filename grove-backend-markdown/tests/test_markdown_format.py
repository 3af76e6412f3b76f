"""What is written is markdown as documented, and reads back equal."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import file_header, format_entry
from grove_backend_markdown.reader import read_entries
from grove_core import (
    Area,
    Category,
    Confidence,
    Criterion,
    Learning,
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
def test_summary_is_escaped_and_read_back(make_learning, summary, written):
    text = format_entry(make_learning(summary=summary))
    assert text.split("\n")[0] == f"### [cl_20260206_000001] {written}"
    assert read_entries(text).entries[0].learning.summary == summary


@settings(max_examples=40, deadline=None)
@given(data=st.data(), end=st.sampled_from(["\n", "\r\n"]))
def test_any_file_reads_back_equal(hostile_learnings, data, end):
    learnings = data.draw(st.lists(hostile_learnings, max_size=4, unique_by=lambda one: one.id))
    text = "\n".join([file_header(Area.PROJECT), *map(format_entry, learnings)])
    text = text.replace("\n", end)
    reading = read_entries(text)
    assert [entry.learning for entry in reading.entries] == learnings
