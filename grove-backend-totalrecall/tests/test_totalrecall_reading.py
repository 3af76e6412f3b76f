"""What Total Recall, older programs, models and people write is read for what it is."""

import pytest

from grove_backend_totalrecall.reader import Mark, read_log
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
        ("- [14:32] **Domain** (grove:cl_20260206_001): s", ("14:32", Category.DOMAIN, "s", "")),
        ("**Unheard** (grove:cl_20260206_001): s", ("", None, "s", "")),
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
    ("following", "detail", "last_line"),
    [
        ("> a\n> b\n\nConfidence: Low\n> not mine", "a\nb", 5),
        ("> a\n\n> b\n\nConfidence: Low", "a\n\nb", 6),
        ("> a\nprose\n> not mine\nConfidence: Low", "a", 2),
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
        ("Confidence: low | Tags: a, #b", {"confidence": Confidence.LOW, "tags": ("a", "b")}),
        ("Mood: good | Scope: team", {"scope": Scope.TEAM}),
        ("Ticket: | Files: a.py,b c.py,", {"context_files": ("a.py", "b c.py")}),
        ("Confidence: huge | Ticket: A:B | Ticket: C", {"ticket_id": "A:B"}),
    ],
)
def test_metadata_is_read_in_any_order(line, expected):
    (entry,) = entries(f"(grove:cl_first): s\n> d\n\n{line}")
    names = ("tags", "confidence", "ticket_id", "context_files", "scope", "status")
    said = {name: getattr(entry, name) for name in names}
    assert {name: value for name, value in said.items() if value is not None} == expected


@pytest.mark.parametrize(
    ("text", "is_superseded"),
    [
        ("## [superseded: 2026-02-07]\n(grove:cl_first): s", True),
        ("## [superseded: 2026-02-07]\n## [current]\n(grove:cl_first): s", False),
        ("- [superseded: 2026-02-07] (grove:cl_first): s", True),
        ("[10:00] [superseded: 2026-02-07] **Pitfall** (grove:cl_first): s", True),
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
        ("<!-- not closed\n(grove:cl_a): s", ["cl_a"]),
        ("```\n(grove:cl_a): s\n```\n(grove:cl_b): s", ["cl_b"]),
        ("````md\n```\n(grove:cl_a): s\n```\n````\n(grove:cl_b): s", ["cl_b"]),
        ("```\n(grove:cl_a): s", ["cl_a"]),
        ("```\n\n## Learnings\n\n(grove:cl_a): s\n```", ["cl_a"]),
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
        ("[14:50] [superseded] “Use tabs” - marked", ("14:50", "superseded", "", "Use tabs")),
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

## Corrections
[10:05] Deploy with `make ship`
  and never by hand
[10:06] [session-flush] Saved at the end
- [ ] Write the docs — created 2026-02-06

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
        (8, "10:05", "Deploy with `make ship`", "and never by hand", "Corrections"),
        (10, "10:06", "[session-flush] Saved at the end", "", "Corrections"),
        (11, "", "Write the docs — created 2026-02-06", "", "Corrections"),
        (17, "11:30", "After it", "", "[pre-compact 11:00]"),
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
- **Alice**: leads the team
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
        ("**Alice**: leads the team", "Code Style", None, False, ""),
    ]
    assert reading.notes[0].detail == (
        "**choice**: PostgreSQL\n**rationale**: we know it\n**status**: superseded\n"
        "**confidence**: high\n**last_verified**: 2026-02-06"
    )


@pytest.mark.parametrize(
    "text",
    [
        "- [No open loops] ^tr0123456789",
        "| Register | Load When |\n|---|---|\n| people.md | names |",
        "Prose of the schema.\nMore of it.",
        "- **claim**:\n- **confidence**: high",
        "```\n- code\n```",
        "<!-- - [ ] template -->\n<!--\n- [ ] template\n-->",
        "(grove:cl_first): s\n> - detail\n\nTags: #x",
    ],
)
def test_what_is_no_note(text):
    assert not notes(text, daily=False)
    assert not notes(text, daily=True)
