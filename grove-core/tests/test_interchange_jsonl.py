"""JSON Lines: our own without loss, other programs' under our names; the page for people."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from grove_core.interchange.jsonl import read_jsonl
from grove_core.interchange.markdown import write_markdown
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.testing.samples import example_learning, learnings

SAMPLE = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "basic.jsonl"
ORIGIN = Path("basic.jsonl")


def test_what_other_programs_write():
    first, second, third, *faults = read_jsonl(SAMPLE.read_text(), ORIGIN)
    assert first.fields["summary"] == "Invoices round half to even"
    assert first.fields["detail"].startswith("The tax office")
    assert first.fields["tags"] == ["invoices", "Rounding"]
    assert first.timestamp == datetime(2026, 4, 1, tzinfo=UTC)
    # A single text becomes summary and detail.
    assert second.fields["summary"].startswith("Never call shop.mail.send() inside a transaction")
    assert second.fields["detail"].endswith("Use on_commit.")
    assert second.fields["category"] == "convention"
    assert isinstance(read_candidate(second.fields), ReadCandidate)
    # What is guessed or ignored is named.
    guessed, _, ignored = third.notes
    assert '"Fact" is unknown' in guessed
    assert '"author"' in ignored
    assert third.learning_id is None
    assert [(one.line, one.is_fault) for one in faults] == [(5, True), (6, True)]


def test_conflict_markers_are_passed_over_and_both_sides_read():
    line = json.dumps({"text": "Words of one side of a merge, or the other"})
    text = f"<<<<<<< HEAD\n{line}\n=======\n{line}\n>>>>>>> other\n"
    entries = read_jsonl(text, ORIGIN)
    assert [one.line for one in entries if not one.reason] == [2, 4]
    assert not any(one.is_fault for one in entries)


@pytest.mark.parametrize("line", ["[" * 100_000, "null"])
def test_odd_lines_are_faults(line):
    (one,) = read_jsonl(line, ORIGIN)
    assert one.is_fault


def test_the_page_has_categories_facts_and_quotations():
    text = {
        "summary": "`a_b` and a *lone* ` before <b>",
        "detail": "First.\n\n# No heading\n\nLast.",
    }
    learning = example_learning(**text, ticket_id="SHOP-1")
    page = write_markdown([learning], "shop")
    assert page.startswith("# Learnings of shop\n\n## ")
    assert "> First.\n>\n> # No heading\n>\n> Last.\n" in page
    assert "\n### `a_b` and a \\*lone\\* \\` before \\<b\\>\n" in page
    assert "ticket SHOP-1" in page
    assert f"`{learning.id}`" in page


@settings(max_examples=25, deadline=None)
@given(learnings())
def test_nothing_in_a_learning_makes_a_heading_of_the_page(learning):
    page = write_markdown([learning], "sh*op")
    headings = re.findall(r"^#+ ", page, re.MULTILINE)
    assert headings == ["# ", "## ", "### "]
