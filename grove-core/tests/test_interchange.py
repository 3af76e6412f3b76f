"""What other programs have kept, as grove reads it, and the pages and lines that it writes."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.interchange.jsonl import read_jsonl
from grove_core.interchange.markdown import read_document, write_markdown
from grove_core.interchange.older_grove import read_older_learnings
from grove_core.model.learning import LearningStatus
from grove_core.reflection.candidates import ReadCandidate, read_candidate
from grove_core.testing.samples import example_learning, learnings

SAMPLE = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "basic.jsonl"
ORIGIN = Path("basic.jsonl")


def test_what_other_programs_write():
    first, second, *faults = read_jsonl(SAMPLE.read_text(), ORIGIN)
    assert first.fields["summary"] == "Invoices round half to even"
    assert first.fields["detail"].startswith("The tax office")
    assert first.fields["tags"] == ["invoices", "Rounding"]
    assert first.timestamp == datetime(2026, 4, 1, tzinfo=UTC)
    # What is guessed or ignored is named.
    guessed, _, ignored = second.notes
    assert '"Fact" is unknown' in guessed
    assert '"author"' in ignored
    assert second.learning_id is None
    assert [(one.line, one.is_fault) for one in faults] == [(4, True), (5, True)]


@pytest.mark.parametrize("line", ["[" * 100_000, "null", "<<<<<<< HEAD"])
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


SOLUTIONS = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "solutions"
BODY = "# A title of enough words\n\n## Solution\n\nPrefetch the customers in the query set.\n"


def read(text, path="docs/solutions/x.md"):
    return read_document(text, Path(path))


def only(text, **origin):
    (one,) = read(text, **origin)
    assert isinstance(read_candidate(one.fields), ReadCandidate)
    return one


def test_front_matter_and_sections_become_one_learning():
    place = "performance-issues/order-list-asks-once-a-row.md"
    path = f"docs/solutions/{place}"
    one = only((SOLUTIONS / place).read_text(), path=path)
    assert one.timestamp == datetime(2026, 1, 10, tzinfo=UTC)
    assert one.fields["summary"] == "Order list: one query a row"
    assert one.fields["category"] == "pitfall"
    assert one.fields["tags"] == ["orders", "n-plus-one"]
    assert one.fields["context_files"] == [path, "shop/orders.py", "tests/shop/test_orders.py"]
    assert len(one.fields["criteria_met"]) == 3


@pytest.mark.parametrize(
    ("front", "note"),
    [
        ("title: [unclosed", "line "),
        ("title: Orders: slow", "line 2: mapping values"),
        ("!!python/object/apply:os.system ['true']", ""),
    ],
)
def test_odd_front_matter_harms_nothing_and_is_named(front, note):
    one = only(f"---\n{front}\n---\n\n{BODY}")
    assert one.fields["summary"] == "A title of enough words"
    assert note in one.notes[0]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["---", "title: x", "tags: [a", "## Solution", "# T", "```", "", "- a", "…"]
        )
        | st.text(max_size=20)
    ).map("\n".join)
)
def test_any_text_is_read_within_the_limits(text):
    for one in read(text):
        if one.reason:
            continue
        assert len(one.fields["summary"]) <= 200
        assert len(one.fields["detail"]) <= 2000


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("# Rules\n\n- Answer in English, always.\n- Never push to main.\n", "CLAUDE.md", "rules"),
        ("# Memory\n\n[Clock](clock.md) says how.\n", "MEMORY.md", "a list of documents"),
    ],
)
def test_what_is_no_lesson_is_left_out_and_where_it_is(text, name, reason):
    (one,) = read(text, path=name)
    assert not one.is_fault
    assert reason in one.reason


def test_a_memory_file_is_one_learning_named_by_its_description():
    text = (
        "---\nname: clock\ndescription: Freeze the clock of export tests\n---\n\n- One.\n- Two.\n"
    )
    one = only(text, path="clock.md")
    assert one.fields["summary"] == "Freeze the clock of export tests"
    assert "- One.\n- Two." in one.fields["detail"]


OLDER = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "older-grove"
LEARNINGS = Path("learnings.md")


def sample(name):
    return (OLDER / name).read_text()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_learnings_keep_their_fields_ids_statuses_and_origins(line_end):
    text = sample("learnings.md")
    first, second, fault, third = read_older_learnings(text.replace("\n", line_end), LEARNINGS)
    assert first.learning_id == "cl_20260206_001"
    assert (
        first.fields["summary"] == "OrderList#index asks the database once a row | twice with notes"
    )
    assert first.fields["category"] == "Pitfall"
    assert first.fields["tags"] == ["orders", "n-plus-one"]
    assert first.fields["context_files"] == ["shop/orders.py", "shop/templates/orders.html"]
    assert first.fields["criteria_met"] == ["Behavior Changing", "Stable Fact"]
    assert (first.ticket_id, first.session_id) == ("SHOP-12", "5f0c2d7a")
    assert first.timestamp == datetime(2026, 2, 6, 10, tzinfo=UTC)
    # A detail keeps its headings and rules, and ends where the entry does.
    detail = first.fields["detail"]
    assert "## Background\n\nIt was slow from 200 orders on.\n\n---\n\nThe measurement" in detail
    assert detail.endswith("SHOP-12.\n\nRelevant when: when the list of orders is touched")
    assert (second.status, second.fields["scope"]) == (LearningStatus.ARCHIVED, "Team")
    assert (second.ticket_id, second.session_id) == (None, "5f0c2d7a")
    # What the schema demands and the file lacks is guessed and named.
    assert third.fields["confidence"] == "Low"
    assert third.fields["tags"] == ["deploy", "worker", "before", "server"]
    assert third.fields["criteria_met"] == ["stable_fact"]
    assert [note.partition(":")[0] for note in third.notes] == [
        "criteria_met",
        "tags, taken from the summary",
    ]
    # An entry without a summary is a fault with its line.
    assert fault.is_fault
    assert text.splitlines()[fault.line - 1] == "## cl_20260207_002"
