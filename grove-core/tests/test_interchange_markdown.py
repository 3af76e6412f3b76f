"""Markdown documents: each is one learning, of its front matter and a digest of its sections."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.interchange.markdown import read_document
from grove_core.reflection.candidates import ReadCandidate, read_candidate

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "solutions"
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
    one = only((SAMPLES / place).read_text(), path=path)
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
