"""Entries that stand as grove wrote them are read at once, and as if line by line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import format_entry
from grove_backend_markdown.lines import heading_of
from grove_backend_markdown.markup import BLANKS, split_list, unescape
from grove_backend_markdown.old_layout import read_old_section
from grove_backend_markdown.reader import read_entries, read_section
from grove_backend_markdown.usual import read_usual_entry
from grove_backend_markdown.values import learning_of
from grove_core import Category, is_learning_id

ENTRY = """\
### [cl_20260206_k3f9a2] A summary of R&D: [x] | y
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** behavior_changing, stable_fact
- **Tags:** rails, n-plus-one
- **Files:** app/models/user.rb, lib/a b.rb
- **Supersedes:** cl_20260101_aaaaaa
- **Origin:** ticket T042 | session abc123
- **Created:** 2026-02-06T10:00:00Z

> Preload it.
>
> ## Why
"""
CHANGES = (
    *"\\|,&#[]:*> \r\t\n-\x85\u2028\ufeff\0aZé",
    "",
    "&#10;",
    "\r\n",
    "\n\n",
    "\n> ",
    " | ticket X",
    "(note)",
    ":**",
    "- **Tags:** b",
    "Pit-Fall",
    "archived",
    "2026-13-01",
)


def line_by_line(text):
    """Read an entry in the first line without the short cut."""
    lines = text.split("\n")
    assert read_old_section(lines, 0) is None
    section = read_section(lines, 0, *heading_of(lines[0]))
    complaints = []
    learning = learning_of(section, 0, lambda *complaint: complaints.append(complaint))
    return section, learning, complaints


def assert_same(text):
    usual = read_usual_entry(text.split("\n"), 0)
    if usual is None:
        return
    section, learning, complaints = line_by_line(text)
    assert usual == (learning, section.fields["status"].position, section.end)
    assert complaints == []
    assert section.repeated == []
    assert section.summary
    assert section.detail is not None
    assert is_learning_id(learning.id)


def test_what_grove_writes_is_read_at_once(make_learning):
    assert read_usual_entry(ENTRY.split("\n"), 0) is not None
    assert_same(ENTRY)
    for changes in ({}, {"ticket_id": None}, {"tags": (), "context_files": (), "criteria_met": ()}):
        text = format_entry(make_learning(**changes))
        assert read_usual_entry(text.split("\n"), 0) is not None
        assert_same(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pitfall", "Pitfall"),
        ("project", "galaxy"),
        ("active", "archived (decayed 2026-05-07)"),
        ("behavior_changing", "behaviour"),
        ("rails", r"a\, b"),
        ("R&D", "R&#38;D"),
        ("T042", "T0 42"),
        ("- **Created:** 2026-02-06T10:00:00Z\n", ""),
        ("2026-02-06T10", "2026-13-06T10"),
        ("2026-02-06T10:00:00Z", "0001-01-01T00:00:00+14:00"),
        ("\n\n> ", "\n- **Mood:** gloomy\n\n> "),
        ("\n\n> ", "\n- **Tags:** more\n\n> "),
        ("\n\n> ", "\n"),
        ("\n", "\r\n"),
        (" | y\n", " | y\r\n"),
        ("- **Scope:** project\n", ""),
        ("cl_20260206_k3f9a2", "cl_ä"),
        ("A summary of R&D: [x] | y", ""),
        ("> Preload it.\n>\n> ## Why\n", ""),
    ],
)
def test_what_is_unusual_is_left_to_a_closer_look(old, new):
    assert read_usual_entry(ENTRY.replace(old, new).split("\n"), 0) is None


@settings(max_examples=400)
@given(
    changes=st.lists(
        st.tuples(
            st.integers(0, len(ENTRY)),
            st.integers(0, 3),
            st.sampled_from(CHANGES) | st.text(max_size=2),
        ),
        max_size=3,
    )
)
def test_a_changed_entry_reads_as_line_by_line(changes):
    text = ENTRY
    for start, length, new in changes:
        text = text[:start] + new + text[start + length :]
    assert_same(text)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_hostile_entry_reads_as_line_by_line(data, hostile_learnings):
    learning = data.draw(hostile_learnings)
    text = format_entry(learning)
    assert_same(text)
    assert [entry.learning for entry in read_entries(text).entries] == [learning]


def test_places_are_those_in_the_file():
    text = f"# Learnings\n\n{ENTRY}\n\n{ENTRY.replace('k3f9a2', 'k3f9a3')}"
    first, second = read_entries(text).entries
    assert (first.first_line, first.status_line, first.last_line, first.is_old) == (3, 7, 17, False)
    assert (second.first_line, second.status_line, second.last_line) == (20, 24, 34)
    assert second.learning.category is Category.PITFALL


@given(text=st.lists(st.sampled_from([*"\\,&#1;ab \t\r\0|", "&#44;", "\\,"]), max_size=12))
def test_a_list_is_split_as_item_by_item(text):
    whole = "".join(text)
    if "\\" in whole:
        return
    items = (part.strip(BLANKS) for part in whole.split(","))
    assert split_list(whole) == tuple(unescape(item) for item in items if item)
