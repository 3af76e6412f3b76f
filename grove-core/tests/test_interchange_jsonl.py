"""JSON Lines: our own without loss, other programs' under our names; the page for people."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings

from grove_core import LearningStatus
from grove_core.interchange.entries import Origin
from grove_core.interchange.jsonl import read_jsonl, write_jsonl
from grove_core.interchange.markdown_export import write_markdown
from grove_core.reflection.schema import ReadCandidate, read_candidate
from grove_core.testing.samples import example_learning
from grove_core.testing.strategies import learnings

SAMPLE = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "basic.jsonl"
ORIGIN = Origin(name="basic.jsonl")


def read(*objects):
    return read_jsonl("\n".join(json.dumps(one) for one in objects), ORIGIN)


def only(**fields):
    (one,) = read(fields).entries
    return one


def sample():
    return read_jsonl(SAMPLE.read_text(), ORIGIN)


@settings(max_examples=150)
@given(learnings())
def test_what_is_written_is_read_back_field_by_field(learning):
    (one,) = read_jsonl(write_jsonl([learning]), ORIGIN).entries
    answer = read_candidate(one.fields)
    assert isinstance(answer, ReadCandidate)
    assert answer.notes == ()
    assert one.notes == ()
    assert (one.learning_id, one.timestamp) == (learning.id, learning.timestamp)
    assert (one.ticket_id, one.session_id) == (learning.ticket_id, learning.session_id)
    for name in ("category", "summary", "detail", "scope", "confidence", "criteria_met", "tags"):
        assert getattr(answer.candidate, name) == getattr(learning, name)
    assert answer.candidate.context_files == learning.context_files
    assert answer.candidate.supersedes == learning.supersedes


@pytest.mark.parametrize("status", list(LearningStatus))
def test_statuses_survive(status):
    text = write_jsonl([example_learning(status=status)])
    assert read_jsonl(text, ORIGIN).entries[0].status is status


def test_names_of_other_programs_stand_for_ours():
    first = sample().entries[0]
    assert first.fields["summary"] == "Invoices round half to even"
    assert first.fields["detail"].startswith("The tax office")
    assert first.fields["tags"] == ["invoices", "Rounding"]
    assert first.timestamp == datetime(2026, 4, 1, tzinfo=UTC)


def test_a_single_text_becomes_summary_and_detail():
    second = sample().entries[1]
    assert second.fields["summary"].startswith("Never call shop.mail.send() inside a transaction")
    assert second.fields["detail"].endswith("Use on_commit.")
    assert second.fields["category"] == "pitfall"
    assert isinstance(read_candidate(second.fields), ReadCandidate)


def test_a_single_sentence_is_not_refused_for_repeating_itself():
    one = only(text="Use uv and never pip in this project")
    assert isinstance(read_candidate(one.fields), ReadCandidate)


def test_what_is_guessed_or_ignored_is_named():
    third = sample().entries[2]
    assert third.learning_id is None
    assert [note.partition(":")[0] for note in third.notes] == [
        "category",
        "criteria_met",
        "unknown fields were ignored",
    ]
    assert '"Fact" is unknown' in third.notes[0]
    assert '"author"' in third.notes[2]


def test_lines_that_are_no_objects_are_faults_with_their_numbers():
    assert [(one.line, one.is_fault) for one in sample().left_out] == [(5, True), (6, True)]


def test_conflict_markers_are_passed_over_and_both_sides_read():
    line = json.dumps({"text": "Words of one side of a merge, or the other"})
    text = f"<<<<<<< HEAD\n{line}\n=======\n{line}\n>>>>>>> other\n"
    reading = read_jsonl(text, ORIGIN)
    assert [one.line for one in reading.entries] == [2, 4]
    assert [one.is_fault for one in reading.left_out] == [False] * 3


def test_an_unknown_status_is_not_shown():
    one = only(summary="Words enough", detail="And more words than that", status="obsolete")
    assert one.status is LearningStatus.ARCHIVED


@pytest.mark.parametrize("line", ["[" * 100_000, "{" * 9, "null", "1e999", '"text"', "\x00"])
def test_odd_lines_are_faults(line):
    reading = read_jsonl(line, ORIGIN)
    assert reading.entries == ()
    assert reading.left_out[0].is_fault


@pytest.mark.parametrize("when", [True, [], "soon", 1e300, -1e18, "99999-01-01", float("nan")])
def test_odd_times_are_none(when):
    assert only(summary="Words", timestamp=when).timestamp is None


@pytest.mark.parametrize("odd", [7, "../etc/passwd", "x", [], "a" * 200])
def test_odd_ids_sessions_and_tickets(odd):
    one = only(summary="Words", id=odd, session=odd, ticket=odd)
    assert one.learning_id is None
    assert one.session_id in (None, "x")
    assert one.ticket_id is None or len(one.ticket_id) <= 200


def test_the_longest_ticket_id_is_kept_whole_and_a_longer_one_is_cut_to_its_length():
    longest = "T-" + "1" * 198
    assert only(summary="Words", ticket=longest).ticket_id == longest
    assert only(summary="Words", ticket=f"{longest}2").ticket_id == f"{longest[:-1]}…"


@pytest.mark.parametrize("summary", ["Port 8080 of 2024 is taken", "٤٢ ports 8080 are taken"])
def test_numbers_alone_are_no_tags(summary):
    tags = only(summary=summary, detail="And more words than that").fields["tags"]
    assert "taken" in tags
    assert not any(tag.isdigit() for tag in tags)


# --- the page for people ------------------------------------------------------------------------


def test_the_page_has_categories_facts_and_quotations():
    learning = example_learning(detail="First.\n\n# No heading\n\nLast.", ticket_id="SHOP-1")
    page = write_markdown([learning], "shop")
    assert page.startswith("# Learnings of shop\n\n## ")
    assert "> First.\n>\n> # No heading\n>\n> Last.\n" in page
    assert "ticket SHOP-1" in page
    assert f"`{learning.id}`" in page


@pytest.mark.parametrize(
    ("summary", "heading"),
    [
        ("Call `a_b_c` and *wait*", r"Call `a_b_c` and \*wait\*"),
        ("A lone ` before *stars*", r"A lone \` before \*stars\*"),
        ("`a_b` and a lone ` before <b>", r"`a_b` and a lone \` before \<b\>"),
        ("``a`b_c`` and *stars*", r"``a`b_c`` and \*stars\*"),
        ("``a`b`c`` *d*`", r"``a`b`c`` \*d\*\`"),
        ("``one *two* ` three", r"\`\`one \*two\* \` three"),
    ],
)
def test_only_what_stands_in_code_marks_is_left_as_it_is(summary, heading):
    page = write_markdown([example_learning(summary=summary)], "shop")
    assert f"\n### {heading}\n" in page


@settings(max_examples=100)
@given(learnings())
def test_nothing_in_a_learning_makes_a_heading_of_the_page(learning):
    page = write_markdown([learning], "sh*op")
    headings = re.findall(r"^#+ ", page, re.MULTILINE)
    assert headings == ["# ", "## ", "### "]
