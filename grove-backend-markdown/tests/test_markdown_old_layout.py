"""Files of the older layout can be read and archived in, not written."""

from datetime import UTC, datetime

import pytest

from grove_backend_markdown.format import change_status
from grove_backend_markdown.reader import read_entries
from grove_core import Category, Confidence, Criterion, LearningStatus, Scope

OLD = """\
# Project learnings

Written by a tool.

---

## cl_20260206_001

**Category:** Pitfall
**Summary:** Escaped \\# and \\| and C:\\\\temp
**Scope:** Team | **Confidence:** High | **Status:** Active
**Tags:** #rails #n-plus-one
**Ticket:** T042 | **Session:** abc123
**Context Files:** a.rb, b/c.rb
**Relevance:** whatever | **Status:** Archived
**Criteria:** Behavior Changing, StableFact
**Created:** 2026-02-06T10:00:00Z

The detail.

## Background

---

More of it.

---

## cl_20260206_002

**Category:** Domain
**Summary:** Second
**Scope:** Project | **Confidence:** Low | **Status:** Superseded
**Session:** s2
**Created:** 2026-02-06T11:00:00Z

Short.

---
"""


def test_old_entries_are_read():
    reading = read_entries(OLD)
    first, second = (entry.learning for entry in reading.entries)
    assert first.id == "cl_20260206_001"
    assert first.category is Category.PITFALL
    assert first.summary == r"Escaped # and | and C:\\temp"
    assert (first.scope, first.confidence) == (Scope.TEAM, Confidence.HIGH)
    assert first.status is LearningStatus.ACTIVE
    assert first.tags == ("rails", "n-plus-one")
    assert (first.ticket_id, first.session_id) == ("T042", "abc123")
    assert first.context_files == ("a.rb", "b/c.rb")
    assert first.criteria_met == {Criterion.BEHAVIOR_CHANGING, Criterion.STABLE_FACT}
    assert first.timestamp == datetime(2026, 2, 6, 10, tzinfo=UTC)
    assert first.detail == "The detail.\n\n## Background\n\n---\n\nMore of it."
    assert (second.id, second.detail, second.session_id) == ("cl_20260206_002", "Short.", "s2")
    assert second.status is LearningStatus.SUPERSEDED
    assert [(entry.first_line, entry.last_line) for entry in reading.entries] == [(7, 27), (29, 39)]
    assert reading.problems == ()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_status_word_changes(end):
    text = OLD.replace("\n", end)
    changed = change_status(text, "cl_20260206_001", LearningStatus.ARCHIVED, "decayed")
    assert changed == text.replace("**Status:** Active", "**Status:** Archived")
    back = change_status(changed, "cl_20260206_001", LearningStatus.ACTIVE)
    assert back == text
