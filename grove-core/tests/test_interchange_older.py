"""The older program's learnings and events, as `grove import older-grove` reads them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grove_core.interchange.older_grove import read_older_learnings
from grove_core.model.learning import LearningStatus

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "older-grove"
ORIGIN = Path("learnings.md")


def sample(name):
    return (SAMPLES / name).read_text()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_learnings_keep_their_fields_ids_statuses_and_origins(line_end):
    text = sample("learnings.md")
    first, second, fault, third = read_older_learnings(text.replace("\n", line_end), ORIGIN)
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


def test_the_current_layout_is_named_and_not_read():
    text = "### [cl_20260101_k3f9a2] Words\n- **Category:** pitfall\n"
    (one,) = read_older_learnings(text, ORIGIN)
    assert "grove export" in one.reason
