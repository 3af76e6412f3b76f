"""What Total Recall, older programs, models and people write is read for what it is."""

import pytest

from grove_backend_totalrecall.reading import Mark, read_log
from grove_core import Category, Confidence, LearningStatus, Scope

SEED = """\
## Learnings

[14:45] **Pitfall** (grove:learn-def456): Correct approach for async error handling
> [supersedes grove:learn-abc123 — previous advice was incomplete]
> Use `?` operator with proper error context...
>BLANK
> More.

Tags: #rust #async | Confidence: High | Ticket: grove-1 | Files: src/a.rs, src/b.rs | Status: Archived
""".replace("BLANK", " ")  # as it writes blank lines of a detail


def entries(text, *, daily=True):
    return read_log(text, daily=daily).entries


def ids(text, *, daily=True):
    return [entry.learning_id for entry in entries(text, daily=daily)]


def notes(text, *, daily=True):
    return [note.text for note in read_log(text, daily=daily).notes]


def test_an_older_programs_entry_is_read_whole():
    (entry,) = entries(SEED)
    assert entry == (
        "learn-def456",
        3,
        9,
        "14:45",
        Category.PITFALL,
        "Correct approach for async error handling",
        "Use `?` operator with proper error context...\n\nMore.",
        ("rust", "async"),
        Confidence.HIGH,
        "grove-1",
        ("src/a.rs", "src/b.rs"),
        None,
        ("learn-abc123",),
        LearningStatus.ARCHIVED,
        "",
        False,
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[14:32] **Pitfall** (grove:cl_20260206_001): s", ("14:32", Category.PITFALL, "s", "")),
        ("- [14:32] **Domain** (grove:cl_20260206_001): s", ("14:32", Category.DOMAIN, "s", "")),
        ("* (grove:cl_20260206_001): s", ("", None, "s", "")),
        ("(grove:cl_20260206_001):s", ("", None, "s", "")),
        ("**Unheard** (grove:cl_20260206_001): s", ("", None, "s", "")),
        ("**debugging:** (grove:cl_20260206_001): s", ("", Category.DEBUGGING, "s", "")),
        ("(grove:cl_20260206_001):", ("", None, "", "")),
        (
            "(grove:cl_20260206_001): f(g(x)): y (grove:cl_x): z",
            ("", None, "f(g(x)): y (grove:cl_x): z", ""),
        ),
        ("- (grove:cl_20260206_001): s ^tr0123456789", ("", None, "s", "tr0123456789")),
        ("- (grove:cl_20260206_001): s ^tr0123", ("", None, "s ^tr0123", "")),
    ],
)
def test_heads(line, expected):
    (entry,) = entries(line)
    assert (entry.time, entry.category, entry.summary, entry.durable_id) == expected
    assert entry.learning_id == "cl_20260206_001"
    assert entry.detail is entry.tags is entry.confidence is entry.status is None


@pytest.mark.parametrize(
    "line",
    [
        "> (grove:cl_20260206_001): quoted",
        " (grove:cl_20260206_001): indented",
        "see (grove:cl_20260206_001): mentioned",
        "[14:32] text (grove:cl_20260206_001): mentioned",
        "- text (grove:cl_20260206_001)",
        "(grove:cl_20260206_001) without a colon",
        "(grove:no id): text",
        "(grove:x): too short",
        "(grove:): text",
        "> [supersedes grove:cl_20260206_001]",
        '[14:50] [superseded] "claim" (grove:cl_20260206_001): no longer',
        "[14:50] [superseded] (grove:cl_20260206_001): no longer",
        "## [14:32] **Pitfall** (grove:cl_20260206_001): heading",
    ],
)
def test_mentions_are_no_entries(line):
    assert not entries(line)


@pytest.mark.parametrize(
    ("following", "detail", "last_line"),
    [
        ("> a\n> b\n\nConfidence: Low\n> not mine", "a\nb", 5),
        ("> a\nConfidence: Low", "a", 3),
        ("> a\n\n> b\n\nConfidence: Low", "a\n\nb", 6),
        ("\n> a\n\nConfidence: Low", "a", 5),
        ("> a\n\n> not mine", "a", 2),
        ("\n> not mine", None, 1),
        ("> a\nprose\n> not mine\nConfidence: Low", "a", 2),
        ("> a\n## Heading\n> not mine\nTags: #x", "a", 2),
        ("> a\n[10:00] note\nTags: #x", "a", 2),
        ("> a\n(grove:cl_other): s\n> b", "a", 2),
        ("> a\n```\nTags: #x\n```", "a", 2),
        ("> a\n<!-- x: y | Files: z -->", "a", 2),
        (">a\n>\n>  b", "a\n\n b", 4),
        ("", None, 1),
    ],
)
def test_an_entry_takes_what_is_its_own(following, detail, last_line):
    entry = entries(f"[14:32] **Pitfall** (grove:cl_first): s\n{following}")[0]
    assert (entry.detail, entry.last_line) == (detail, last_line)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Confidence: low | Tags: a, #b", (("a", "b"), Confidence.LOW, None, None, None, None)),
        ("Mood: good | Scope: team", (None, None, None, None, Scope.TEAM, None)),
        ("tags:", ((), None, None, None, None, None)),
        ("Ticket: | Files: a.py,b c.py,", (None, None, None, ("a.py", "b c.py"), None, None)),
        (
            "Confidence: huge | Status: superseded",
            (None, None, None, None, None, LearningStatus.SUPERSEDED),
        ),
        ("Ticket: A:B | Ticket: C", (None, None, "A:B", None, None, None)),
    ],
)
def test_metadata_is_read_in_any_order(line, expected):
    (entry,) = entries(f"(grove:cl_first): s\n> d\n\n{line}")
    assert (
        entry.tags,
        entry.confidence,
        entry.ticket_id,
        entry.context_files,
        entry.scope,
        entry.status,
    ) == expected


@pytest.mark.parametrize(
    ("text", "is_superseded"),
    [
        ("## [superseded: 2026-02-07]\n(grove:cl_first): s", True),
        ("## [superseded: 2026-02-07]\n### Why\n(grove:cl_first): s\nStatus: Active", True),
        ("## [superseded: 2026-02-07]\n## [current]\n(grove:cl_first): s", False),
        ("# [superseded: 2026-02-07]\n(grove:cl_first): s", False),
        ("- [superseded: 2026-02-07] (grove:cl_first): s", True),
        ("[10:00] [superseded: 2026-02-07] **Pitfall** (grove:cl_first): s", True),
        ("[10:00] **Pitfall** (grove:cl_first): [superseded: 2026-02-07] s", True),
        ("(grove:cl_first): &#91;superseded: 2026-02-07] s", False),
    ],
)
def test_superseded_entries(text, is_superseded):
    (entry,) = entries(text)
    assert (entry.status is LearningStatus.SUPERSEDED) == is_superseded
    assert entry.summary.endswith("s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!--\n(grove:cl_a): s\n-->\n(grove:cl_b): s", ["cl_b"]),
        ("<!-- x -->\n(grove:cl_a): s", ["cl_a"]),
        ("<!-- not closed\n(grove:cl_a): s", ["cl_a"]),
        ("<!-- not closed\n(grove:cl_a): s\n<!-- x -->", ["cl_a"]),
        ("<!-- not closed\n(grove:cl_a): s\n<!-- x\n-->", ["cl_a"]),
        ("```\n(grove:cl_a): s\n```\n(grove:cl_b): s", ["cl_b"]),
        ("````md\n```\n(grove:cl_a): s\n```\n````\n(grove:cl_b): s", ["cl_b"]),
        ("~~~\n```\n(grove:cl_a): s\n~~~", []),
        ("  ```py\n(grove:cl_a): s\n  ```", []),
        ("```\n(grove:cl_a): s", ["cl_a"]),
        ("```\n(grove:cl_a): s\n~~~\n```py\n``", ["cl_a"]),
        ("`````\n(grove:cl_a): s\n```\n(grove:cl_b): s\n```", ["cl_a"]),
        ("```in line```\n(grove:cl_a): s\n```", ["cl_a"]),
        ("```\n\n## Learnings\n\n(grove:cl_a): s\n```", ["cl_a"]),
        ("<!--\n\n## Learnings\n\n(grove:cl_a): s\n-->", ["cl_a"]),
        ("(grove:cl_a): s\n> ```\n> <!--\n(grove:cl_b): s\n-->\n```", ["cl_a", "cl_b"]),
        ("\ufeff(grove:cl_a): s\r\n> d\r\n\r\nTags: #x\r\n(grove:cl_b): s", ["cl_a", "cl_b"]),
    ],
)
def test_comments_and_code_hold_no_entries(text, expected):
    assert ids(text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '[14:50] [superseded] "Use tabs" — marked as no longer current via /recall-forget',
            ("14:50", "superseded", "", "Use tabs"),
        ),
        ('[14:50] [superseded] "Use tabs" - marked', ("14:50", "superseded", "", "Use tabs")),
        ("[14:50] [superseded] “Use tabs” - marked", ("14:50", "superseded", "", "Use tabs")),
        ('[14:50] [superseded] "a "b" c" - marked', ("14:50", "superseded", "", 'a "b" c')),
        ('[14:50] [superseded] "Use tabs"', ("14:50", "superseded", "", "Use tabs")),
        ('[14:50] [superseded] "Use tabs". Gone', ("14:50", "superseded", "", "Use tabs")),
        ('- [14:50] [Restored] "x" (grove:cl_old) y', ("14:50", "restored", "cl_old", "x")),
        ('[superseded: 2026-02-07] "x" (grove:cl_old)', ("", "superseded", "cl_old", "x")),
        ("[14:50] [superseded] (grove:cl_old) gone", ("14:50", "superseded", "cl_old", "")),
        ('[14:50] [superseded] "x" - replaced by (grove:cl_new)', ("14:50", "superseded", "", "x")),
    ],
)
def test_marks(line, expected):
    reading = read_log(f"## Notes\n{line}\n", daily=True)
    assert reading.marks == (Mark(2, *expected),)
    assert not reading.notes
    assert not reading.entries


def test_notes_of_a_daily_log():
    text = """\
# 2026-02-06

## Decisions
- Use PostgreSQL for everything
- **Auth**: sessions, no tokens
- **Cache**: none

## Corrections
[10:05] Deploy with `make ship`
  and never by hand
[10:06] [session-flush] Saved at the end
- [ ] Write the docs — created 2026-02-06
* star

## [pre-compact 11:00]

- Compaction occurred at 11:00. Context was lost.

[11:30] After it
"""
    reading = read_log(text, daily=True)
    assert [
        (note.line, note.time, note.text, note.detail, note.section) for note in reading.notes
    ] == [
        (4, "", "Use PostgreSQL for everything", "", "Decisions"),
        (5, "", "**Auth**: sessions, no tokens", "", "Decisions"),
        (6, "", "**Cache**: none", "", "Decisions"),
        (9, "10:05", "Deploy with `make ship`", "and never by hand", "Corrections"),
        (11, "10:06", "[session-flush] Saved at the end", "", "Corrections"),
        (12, "", "Write the docs — created 2026-02-06", "", "Corrections"),
        (13, "", "star", "", "Corrections"),
        (19, "11:30", "After it", "", "[pre-compact 11:00]"),
    ]


def test_blocks_of_registers_are_one_note_each():
    text = """\
# Decisions

<!--
## DATE: Title
- **choice**: template
-->

## 2026-02-06: Database
- **choice**: PostgreSQL
- **rationale**: we know it
- **status**: superseded
- **confidence**: high

- **last_verified**: 2026-02-06

- **choice**: another block

## [superseded: 2026-02-07]
- **claim**: Use tabs ^tr0123456789
- **superseded_by**: spaces

## [current]
- **claim**: Use spaces
- **confidence**: Medium

## Code Style
- Short functions
  **confidence**: low | **evidence**: said so | **last_verified**: 2026-02-06
- Long names ^trabcdefabcd
- **confidence**: high | **evidence**: said so
- **house_rule**: be kind
- **Alice**: leads the team
- **Bob**: tests
"""
    reading = read_log(text, daily=False)
    assert [
        (note.text, note.section, note.confidence, note.is_superseded, note.durable_id)
        for note in reading.notes
    ] == [
        ("PostgreSQL", "2026-02-06: Database", Confidence.HIGH, True, ""),
        ("another block", "2026-02-06: Database", None, False, ""),
        ("Use tabs", "[superseded: 2026-02-07]", None, True, "tr0123456789"),
        ("Use spaces", "[current]", Confidence.MEDIUM, False, ""),
        ("Short functions", "Code Style", Confidence.LOW, False, ""),
        ("Long names", "Code Style", Confidence.HIGH, False, "trabcdefabcd"),
        ("be kind", "Code Style", None, False, ""),
        ("**Alice**: leads the team", "Code Style", None, False, ""),
        ("**Bob**: tests", "Code Style", None, False, ""),
    ]
    assert reading.notes[0].detail == (
        "**choice**: PostgreSQL\n**rationale**: we know it\n**status**: superseded\n"
        "**confidence**: high\n**last_verified**: 2026-02-06"
    )


@pytest.mark.parametrize(
    "text",
    [
        "- [None captured yet]",
        "- [No open loops] ^tr0123456789",
        "[10:00] [nothing]",
        "- ",
        "* * *",
        "- - -",
        "| Register | Load When |\n|---|---|\n| people.md | names |",
        "Prose of the schema.\nMore of it.",
        "- **claim**:\n- **confidence**: high",
        "- **confidence**: high",
        "```\n- code\n```",
        "<!-- - [ ] template -->\n<!--\n- [ ] template\n-->",
        "## Total Recall Settings\n- recall_suggestions: off",
        "1. numbered",
        "> - quoted",
        "(grove:cl_first): s\n> - detail\n\nTags: #x",
    ],
)
def test_what_is_no_note(text):
    assert not notes(text, daily=False)
    assert not notes(text, daily=True)


@pytest.mark.parametrize(
    "line", ["- [superseded: 2026-02-07] Use tabs", "[10:00] [superseded] Use tabs"]
)
def test_superseded_notes(line):
    (note,) = read_log(line, daily=True).notes
    assert note.text == "Use tabs"
    assert note.is_superseded


def test_lines_below_a_note_belong_to_it_until_a_blank_line():
    text = "- a\n  - b\n  c\n\nprose\n\n- **choice**: x\n\nprose"
    reading = read_log(text, daily=True)
    assert [(note.text, note.detail) for note in reading.notes] == [
        ("a", "- b\nc"),
        ("x", "**choice**: x"),
    ]


def test_unknown_fields_are_plain_bullets_in_a_daily_log():
    text = "- **house_rule**: be kind\n- **choice**: x"
    assert notes(text, daily=True) == ["**house_rule**: be kind", "x"]
    assert notes(text, daily=False) == ["x"]


@pytest.mark.parametrize(
    ("line", "summary", "durable_id"),
    [
        (
            "- The till closes at 22:00 (grove:cl_20260206_k3f9a2) ^tr0123456789",
            "The till closes at 22:00",
            "tr0123456789",
        ),
        ("- The till closes at 22:00 (grove:cl_20260206_k3f9a2)", "The till closes at 22:00", ""),
        ("* [x] Done (see TILL-9) (grove:cl_20260206_k3f9a2)", "Done (see TILL-9)", ""),
    ],
)
def test_an_item_of_a_register_with_the_id_behind_it_is_the_learning(line, summary, durable_id):
    reading = read_log(f"# Decisions\n\n{line}\n- another one\n", daily=False)
    (entry,) = reading.entries
    assert (entry.learning_id, entry.summary, entry.durable_id) == (
        "cl_20260206_k3f9a2",
        summary,
        durable_id,
    )
    assert entry.is_behind
    assert [note.text for note in reading.notes][1:] == ["another one"]
    assert read_log(f"{line}\n", daily=True).entries == ()


@pytest.mark.parametrize(
    "line",
    [
        "- (grove:cl_1)",
        "- see (grove:cl_20260206_k3f9a2) for more",
        "replaces (grove:cl_20260206_k3f9a2)",
    ],
)
def test_an_item_that_mentions_an_id_is_no_learning(line):
    assert read_log(f"{line}\n", daily=False).entries == ()
