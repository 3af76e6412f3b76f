"""The older program's learnings and events, as `grove import older-grove` reads them."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.interchange import older_grove
from grove_core.interchange.older_events import read_older_events
from grove_core.interchange.older_grove import read_older_learnings
from grove_core.model.events import Rated, Referenced, Skip, Surfaced
from grove_core.model.learning import LearningStatus

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "older-grove"


def sample(name):
    return (SAMPLES / name).read_text()


def by_id(text):
    return {one.learning_id: one for one in read_older_learnings(text).entries}


def entry(**fields):
    values = {
        "head": "## cl_20260101_001",
        "category": "**Category:** Pitfall",
        "summary": "**Summary:** Words that say something",
        "more": "**Created:** 2026-01-01T00:00:00Z",
        "detail": "A detail of enough words to be kept.",
        "end": "---",
        **fields,
    }
    top = "\n".join(values[name] for name in ("category", "summary", "more") if values[name])
    return f"{values['head']}\n\n{top}\n\n{values['detail']}\n\n{values['end']}\n"


def test_fields_ids_statuses_and_origins_are_kept():
    found = by_id(sample("learnings.md"))
    assert list(found) == ["cl_20260206_001", "cl_20260207_001", "cl_20260208_001"]
    first, second, third = found.values()
    assert (
        first.fields["summary"] == "OrderList#index asks the database once a row | twice with notes"
    )
    assert first.fields["category"] == "Pitfall"
    assert first.fields["tags"] == ["orders", "n-plus-one"]
    assert first.fields["context_files"] == ["shop/orders.py", "shop/templates/orders.html"]
    assert first.fields["criteria_met"] == ["Behavior Changing", "Stable Fact"]
    assert (first.ticket_id, first.session_id) == ("SHOP-12", "5f0c2d7a")
    assert first.timestamp == datetime(2026, 2, 6, 10, tzinfo=UTC)
    assert (second.status, second.fields["scope"]) == (LearningStatus.ARCHIVED, "Team")
    assert (second.ticket_id, second.session_id) == (None, "5f0c2d7a")
    assert third.fields["confidence"] == "Low"


def test_a_detail_keeps_its_headings_and_rules_and_ends_where_the_entry_does():
    detail = by_id(sample("learnings.md"))["cl_20260206_001"].fields["detail"]
    assert "## Background\n\nIt was slow from 200 orders on.\n\n---\n\nThe measurement" in detail
    assert detail.endswith("SHOP-12.\n\nRelevant when: when the list of orders is touched")


def test_what_the_schema_demands_and_the_file_lacks_is_guessed_and_named():
    third = by_id(sample("learnings.md"))["cl_20260208_001"]
    assert third.fields["tags"] == ["deploy", "worker", "web", "server"]
    assert third.fields["criteria_met"] == ["stable_fact"]
    assert [note.partition(":")[0] for note in third.notes] == ["criteria_met", "tags"]


def test_an_entry_without_a_summary_is_a_fault_with_its_line():
    (fault,) = read_older_learnings(sample("learnings.md")).left_out
    assert fault.is_fault
    assert sample("learnings.md").splitlines()[fault.line - 1] == "## cl_20260207_002"


def test_the_personal_file_of_total_recall_is_read():
    (one,) = read_older_learnings(sample("personal-learnings.md")).entries
    assert (one.learning_id, one.fields["scope"]) == ("cl_20260209_001", "personal")
    assert one.timestamp == datetime(2026, 2, 9, 10, tzinfo=UTC)
    assert one.fields["detail"].startswith("One letter is enough")


def test_the_current_layout_is_named_and_not_read():
    reading = read_older_learnings("### [cl_20260101_k3f9a2] Words\n- **Category:** pitfall\n")
    assert reading.entries == ()
    assert "grove export" in reading.left_out[0].reason


def test_a_quotation_of_the_current_layout_in_a_detail_is_no_entry_of_it():
    reading = read_older_learnings(entry(detail="Before that\n\n### [cl_x] it said\n\nas it did."))
    assert len(reading.entries) == 1
    assert reading.left_out == ()


def test_crlf_and_a_missing_rule_at_the_end():
    text = entry(end="") + entry(head="## cl_20260101_002", end="")
    unix, windows = by_id(text), by_id(text.replace("\n", "\r\n"))
    assert len(unix) == 2
    assert unix == windows


@pytest.mark.parametrize("status", ["Active", "Archived", "Superseded"])
def test_statuses(status):
    more = f"**Scope:** Project | **Confidence:** High | **Status:** {status}"
    (one,) = read_older_learnings(entry(more=more)).entries
    assert one.status.value == status.lower()
    assert one.timestamp is None


def test_a_bar_in_a_summary_divides_nothing():
    summary = "**Summary:** Pipes | **Status:** is no field here"
    (one,) = read_older_learnings(entry(summary=summary)).entries
    assert one.fields["summary"] == "Pipes | **Status:** is no field here"
    assert one.status is LearningStatus.ACTIVE


# --- events -------------------------------------------------------------------------------------


def test_events_get_our_shape_and_keep_their_times():
    read = read_older_events(sample("stats.log"))
    kinds = [type(one.event) for one in read.events]
    assert kinds == [Surfaced, Referenced, Surfaced, Skip, Rated]
    assert read.events[0].event.ts == datetime(2026, 2, 10, 10, 0, 0, 123456, tzinfo=UTC)
    assert read.events[3].event.decider == "auto"
    assert read.unknown == {"implicitly_referenced": 1}


def test_conflict_markers_are_passed_over_and_torn_lines_named():
    assert read_older_events(sample("stats.log")).unreadable == (10,)


def test_hostile_texts_in_events_are_bounded_and_cleaned():
    line = (
        '{"v":1,"ts":"2026-02-10T10:00:00Z","grove_version":"0.10.0","event":"skip",'
        '"session_id":"s\\u202e1","reason":"' + "x\\n" * 5000 + '","decider":"user"}'
    )
    (one,) = read_older_events(line).events
    assert one.event.session_id == "s1"
    assert len(one.event.reason) <= 500
    assert "\n" not in one.event.reason


# --- as before, only sooner ---------------------------------------------------------------------

LINES = ("## cl_20260206_001", "## grove:cl_20260206_002", "## Two words", "", "  ", "text")
FIELDS = ("**Category:** Pitfall", "**Summary:** A | B", "**Word:** x", "**Scope:** Project | x")


@given(st.lists(st.sampled_from(LINES + FIELDS), max_size=12))
def test_the_starts_are_those_that_a_look_ahead_of_each_finds(lines):
    def is_start(at):
        following = next((one for one in lines[at + 1 :] if one.strip()), "")
        is_heading = lines[at] in LINES[:2]
        return is_heading and any(name in older_grove._NAMES for name, _ in fields_in(following))

    fields_in = older_grove._fields_in
    assert list(older_grove._starts(lines)) == [at for at in range(len(lines)) if is_start(at)]


def test_a_large_file_is_read_in_a_moment():
    entry = (
        "## cl_20260206_{:06}\n\n**Category:** Pitfall\n**Summary:** Step {}\n\nText.\n\n---\n\n"
    )
    text = "".join(entry.format(number, number) for number in range(20_000))
    started = time.process_time()
    assert len(read_older_learnings(text).entries) == 20_000
    assert time.process_time() - started < 15
