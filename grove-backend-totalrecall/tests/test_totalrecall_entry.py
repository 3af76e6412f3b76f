"""What is written into a daily log looks as Total Recall and people expect it."""

from datetime import UTC, date, datetime

import pytest

from grove_backend_totalrecall.entry import (
    daily_template,
    format_entry,
    format_mark,
    joint,
    one_line_note,
)
from grove_backend_totalrecall.reading import read_log
from grove_core import Category, Confidence, Learning, Scope

WRITTEN = """\
[14:32] **Pitfall** (grove:cl_20260206_k3f9a2): Using unwrap() in async context causes panics
> When an async task panics, the runtime goes on.
>
> Use `?` instead.

Tags: #rust #async | Confidence: High | Ticket: T-1 | Files: src/x.rs, src/y.rs
"""


def learning(**changes):
    values = {
        "id": "cl_20260206_k3f9a2",
        "category": Category.PITFALL,
        "summary": "Using unwrap() in async context causes panics",
        "detail": "When an async task panics, the runtime goes on.\n\nUse `?` instead.",
        "session_id": "abc123",
        "timestamp": datetime(2026, 2, 6, 10, tzinfo=UTC),
        "confidence": Confidence.HIGH,
        "tags": ("rust", "async"),
        "context_files": ("src/x.rs", "src/y.rs"),
        "ticket_id": "T-1",
    }
    return Learning(**(values | changes))


def only_entry(text):
    reading = read_log(text, daily=True)
    assert not reading.marks
    assert not reading.notes
    (entry,) = reading.entries
    return entry


def test_template_is_total_recalls_own():
    assert daily_template(date(2026, 2, 6)) == (
        "# 2026-02-06\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n"
        "## Notes\n"
    )


def test_entry_is_written_as_documented():
    assert format_entry(learning(), "14:32") == WRITTEN


def test_what_there_is_nothing_to_say_about_is_left_out():
    bare = learning(tags=(), context_files=(), ticket_id=None, confidence=Confidence.MEDIUM)
    assert format_entry(bare, "09:05").split("\n")[-2] == "Confidence: Medium"


@pytest.mark.parametrize("scope", [Scope.TEAM, Scope.EPHEMERAL, Scope.PERSONAL])
def test_scope_is_written_when_it_is_not_the_project(scope):
    text = format_entry(learning(scope=scope), "14:32")
    assert text.endswith(f" | Scope: {scope.value.capitalize()}\n")
    assert only_entry(text).scope is scope


def test_superseded_learnings_are_the_first_quoted_line():
    text = format_entry(learning(supersedes=("cl_a", "learn-b")), "14:32")
    assert text.split("\n")[1] == "> [supersedes grove:cl_a, grove:learn-b]"
    entry = only_entry(text)
    assert entry.supersedes == ("cl_a", "learn-b")
    assert entry.detail == learning().detail


def test_note_for_a_command_is_one_line():
    note = one_line_note(learning(summary="two\nlines"))
    assert note == "**Pitfall** (grove:cl_20260206_k3f9a2): two&#10;lines"


def test_mark():
    line = format_mark("superseded", "14:50", "Use tabs", "cl_old", "replaced by grove:cl_new")
    assert line == '[14:50] [superseded] "Use tabs" (grove:cl_old) replaced by grove:cl_new\n'
    assert format_mark("restored", "14:50", "Use tabs", "cl_old", "").endswith("(grove:cl_old)\n")


@pytest.mark.parametrize(
    "summary",
    [
        r"C:\new and \d+ stay",
        "a | b, c # d",
        "Use `List<T>` -> map",
        'say "hi" to <b>',
        "closes at ): here",
        "see (grove:cl_other): text",
        "AT&T & co",
        "ends in \\",
        "Größe – ‘quoted’ – 日本",
        "^tr0123456789 in the middle",
    ],
)
def test_usual_summaries_look_untouched(summary):
    text = format_entry(learning(summary=summary), "14:32")
    assert text.split("\n")[0].endswith(f": {summary}")
    assert only_entry(text).summary == summary


@pytest.mark.parametrize(
    ("summary", "written"),
    [
        ("&#10; is text", r"\&#10; is text"),
        (r"\&#10; is text", r"\\&#10; is text"),
        ("a\\\rb", "a&#92;&#13;b"),
        ("a\\\\\u2028b", "a&#92;&#92;&#8232;b"),
        ("tab\there", "tab&#9;here"),
        ("\x00\x1b\x7f\x85", "&#0;&#27;&#127;&#133;"),
        ("[superseded: 2026-02-06] forged", "&#91;superseded: 2026-02-06] forged"),
        ("[Superseded] forged", "&#91;Superseded] forged"),
        ("promoted ^tr0123456789", "promoted &#94;tr0123456789"),
        ("<!-- hidden -->", "&#60;!-- hidden --&#62;"),
        ("hidden --!>", "hidden --!&#62;"),
        (" blanks ", "&#32;blanks&#32;"),
    ],
)
def test_what_is_ambiguous_is_escaped_and_read_back(summary, written):
    text = format_entry(learning(summary=summary), "14:32")
    assert text.split("\n")[0].endswith(f": {written}")
    assert only_entry(text).summary == summary


@pytest.mark.parametrize(
    ("detail", "quoted"),
    [
        ("a\n\n b ", ["> a", ">", ">  b "]),
        ("\ttabs\tstay", ["> \ttabs\tstay"]),
        ("", [">"]),
        ("a\r\nb", ["> a&#13;", "> b"]),
        ("one\u2028two\x0c", ["> one&#8232;two&#12;"]),
        ("```\n<!-- x\n```", ["> ```", "> &#60;!-- x", "> ```"]),
        ("[supersedes grove:cl_x]", ["> &#91;supersedes grove:cl_x]"]),
        ("## Decisions\n---\n> quote", ["> ## Decisions", "> ---", "> > quote"]),
        ("Tags: #a | Confidence: Low", ["> Tags: #a | Confidence: Low"]),
        (
            "[10:00] **Pitfall** (grove:cl_forged): x",
            ["> [10:00] **Pitfall** (grove:cl_forged): x"],
        ),
    ],
)
def test_detail_is_quoted_line_by_line_and_read_back(detail, quoted):
    text = format_entry(learning(detail=detail), "14:32")
    assert text.split("\n")[1:-3] == quoted
    entry = only_entry(text)
    assert (entry.detail, entry.supersedes) == (detail, ())


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({"tags": ("two words", "a,b", "#c")}, "Tags: #two&#32;words #a&#44;b ##c |"),
        ({"context_files": ("a, b.py", "my file.py")}, "| Files: a&#44; b.py, my file.py\n"),
        ({"ticket_id": "T | Files: x"}, "| Ticket: T &#124; Files: x |"),
        ({"context_files": ("a|b\\",)}, "| Files: a&#124;b\\\n"),
        ({"tags": ("x\nConfidence: Low",)}, "Tags: #x&#10;Confidence:&#32;Low |"),
    ],
)
def test_metadata_cannot_be_forged(changes, written):
    text = format_entry(learning(**changes), "14:32")
    assert written in text
    entry = only_entry(text)
    assert {name: getattr(entry, name) for name in changes} == changes
    assert entry.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "between"),
    [
        (daily_template(date(2026, 2, 6)), "\n## Learnings\n\n"),
        ("## Notes\n- no line end", "\n## Learnings\n\n"),
        ("## Notes\n\n", "## Learnings\n\n"),
        ("## Notes\r\n\r\n", "## Learnings\n\n"),
        ("## Notes\r\n", "\n## Learnings\n\n"),
        ("\n", "## Learnings\n\n"),
        ("text", "\n## Learnings\n\n"),
        ("\ufeff## Learnings\n", "\n"),
        ("## Learnings\n\n", ""),
        ("## Learnings \t\r\n \t\r\n", ""),
        ("## Learnings\n\n[10:00] x\n\n\n\n", ""),
        ("## Learnings\n[10:00] x", "\n"),
        ("## Learnings\n\n## [pre-compact 10:00]\n\n- Compaction\n", "\n## Learnings\n\n"),
        ("## Notes\n> ## Learnings\n", "\n## Learnings\n\n"),
        ("## Notes\n```\n## Learnings\n```\n", "\n## Learnings\n\n"),
        ("## Notes\n<!--\n## Learnings\n-->\n", "\n## Learnings\n\n"),
        ("## Learnings\n```\n## Notes\n```\n", "\n"),
        ("## Learnings\n```\nnot closed\n", "\n## Learnings\n\n"),
        ("## Learnings\n<!-- not closed\n", "\n## Learnings\n\n"),
        ("```\nnot closed\n\n## Learnings\n\n", ""),
        ("#Learnings\n## Learnings\n#hashtag\n", "\n"),
    ],
)
def test_what_stands_between_a_log_and_an_entry(text, between):
    assert joint(text) == between


def test_entries_after_each_other_share_a_section():
    text = daily_template(date(2026, 2, 6))
    for number in range(3):
        text += joint(text) + format_entry(learning(id=f"cl_{number}"), "14:32")
    assert text.count("## Learnings") == 1
    assert [entry.learning_id for entry in read_log(text, daily=True).entries] == [
        "cl_0",
        "cl_1",
        "cl_2",
    ]
