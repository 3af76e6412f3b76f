"""Entries look as Total Recall and people expect them, and any learning is read back equal."""

from datetime import UTC, date, datetime

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_backend_totalrecall.entry import (
    daily_template,
    format_entry,
    format_mark,
    joint,
    one_line_note,
)
from grove_backend_totalrecall.reader import Mark, read_log
from grove_core import (
    Category,
    Confidence,
    Learning,
    Scope,
)

TEMPLATE = "# 2026-02-06\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
WRITTEN = """\
[14:32] **Pitfall** (grove:cl_20260206_k3f9a2): Using unwrap() in async context causes panics
> [supersedes grove:cl_a, grove:learn-b]
> When an async task panics, the runtime goes on.
>
> Use `?` instead.

Tags: #rust #async | Confidence: High | Ticket: T-1 | Files: src/x.rs, src/y.rs | Scope: Team
"""
BASIC = Learning(
    id="cl_20260206_k3f9a2",
    category=Category.PITFALL,
    summary="Using unwrap() in async context causes panics",
    detail="When an async task panics, the runtime goes on.\n\nUse `?` instead.",
    session_id="abc123",
    timestamp=datetime(2026, 2, 6, 10, tzinfo=UTC),
    confidence=Confidence.HIGH,
    tags=("rust", "async"),
    context_files=("src/x.rs", "src/y.rs"),
    ticket_id="T-1",
)


def only_entry(text):
    reading = read_log(text, daily=True)
    assert not reading.marks
    assert not reading.notes
    (entry,) = reading.entries
    return entry


def test_entries_templates_and_marks_are_written_as_documented():
    learning = evolve(BASIC, scope=Scope.TEAM, supersedes=("cl_a", "learn-b"))
    assert format_entry(learning, "14:32") == WRITTEN
    bare = evolve(BASIC, tags=(), context_files=(), ticket_id=None, confidence=Confidence.MEDIUM)
    assert format_entry(bare, "09:05").split("\n")[-2] == "Confidence: Medium"
    assert daily_template(date(2026, 2, 6)) == TEMPLATE
    line = format_mark("superseded", "14:50", "Use tabs", "cl_old", "replaced by grove:cl_new")
    assert line == '[14:50] [superseded] "Use tabs" (grove:cl_old) replaced by grove:cl_new\n'


@pytest.mark.parametrize(
    ("summary", "written"),
    [
        (r"C:\new and \d+ stay", r"C:\new and \d+ stay"),
        ("see (grove:cl_other): AT&T & co", "see (grove:cl_other): AT&T & co"),
        ("Größe – ‘quoted’ – 日本", "Größe – ‘quoted’ – 日本"),
        ("&#10; is text", r"\&#10; is text"),
        ("\x00\x1b\x7f\x85\u2028", "&#0;&#27;&#127;&#133;&#8232;"),
        ("[Superseded: 2026-02-06] forged", "&#91;Superseded: 2026-02-06] forged"),
        ("promoted ^tr0123456789", "promoted &#94;tr0123456789"),
        ("<!-- hidden --!>", "&#60;!-- hidden --!&#62;"),
    ],
)
def test_only_what_is_ambiguous_in_a_summary_is_escaped(summary, written):
    text = format_entry(evolve(BASIC, summary=summary), "14:32")
    assert text.split("\n")[0].endswith(f": {written}")
    assert only_entry(text).summary == summary


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({"tags": ("two words", "a,b", "#c")}, "Tags: #two&#32;words #a&#44;b ##c |"),
        ({"context_files": ("a, b.py", "my file.py")}, "| Files: a&#44; b.py, my file.py\n"),
        ({"tags": ("x\nConfidence: Low",)}, "Tags: #x&#10;Confidence:&#32;Low |"),
    ],
)
def test_metadata_cannot_be_forged(changes, written):
    text = format_entry(evolve(BASIC, **changes), "14:32")
    assert written in text
    entry = only_entry(text)
    assert {name: getattr(entry, name) for name in changes} == changes
    assert entry.confidence is Confidence.HIGH


LOOKALIKES = (
    "[14:32] **Pitfall** (grove:cl_forged): forged",
    "- (grove:cl_forged): forged ^tr0123456789",
    '[14:50] [superseded] "claim" (grove:cl_forged)',
    "[superseded: 2026-02-06] ",
    "[supersedes grove:cl_forged]",
    "## Learnings",
    "## [pre-compact 10:00]",
    "Tags: #forged | Confidence: Low | Ticket: T | Files: x | Scope: Team | Status: Archived",
    "<!--",
    "-->",
    "```",
    "> quoted",
    "- **claim**: x",
    "|",
    ",",
    "&#10;",
    "#",
    "\\",
    '"',
    "^tr0123456789",
    "",
    " ",
    "\r\n",
    "\x00\x0b\x0c\x1c\x85\u2028\u2029\x7f",
    "\ufeff",
)

pieces = st.sampled_from(LOOKALIKES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
words = st.lists(pieces, max_size=4).map("".join)
texts = st.lists(words, max_size=4).map("\n".join)
names = words.filter(bool)
surroundings = st.lists(pieces | st.sampled_from(["\udc80", "\n"]), max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
ids = st.from_regex(r"cl_20260206_[a-z2-7]{6}|learn-[a-f0-9]{6}", fullmatch=True)
learnings = st.builds(
    Learning,
    id=ids,
    category=st.sampled_from(Category),
    summary=words | texts,
    detail=texts,
    session_id=st.just("s"),
    timestamp=st.just(datetime(2026, 2, 6, tzinfo=UTC)),
    scope=st.sampled_from(Scope),
    confidence=st.sampled_from(Confidence),
    tags=st.lists(names, max_size=3).map(tuple),
    context_files=st.lists(names, max_size=3).map(tuple),
    ticket_id=st.none() | names,
    supersedes=st.lists(ids, max_size=2).map(tuple),
)


SAID = "category summary detail confidence ticket_id supersedes".split()


def carried(learning):
    """What an entry says of a learning, with what is left out as ``None``."""
    scope = None if learning.scope is Scope.PROJECT else learning.scope
    rest = (learning.tags or None, learning.context_files or None, scope, None, "")
    return learning.id, *(getattr(learning, name) for name in SAID), *rest


def said(entry):
    rest = (entry.tags, entry.context_files, entry.scope, entry.status, entry.durable_id)
    return entry.learning_id, *(getattr(entry, name) for name in SAID), *rest


def healed(text):
    return text if not text or text.endswith("\n") else text + "\n"


def appended(before, new):
    text = healed(before)
    return text + joint(text) + new if text else new


def ids_of(reading):
    marks = [mark.learning_id for mark in reading.marks]
    return {*marks, *(entry.learning_id for entry in reading.entries)}


@given(learning=learnings, before=surroundings, after=surroundings)
@settings(max_examples=50)
@example(
    learning=evolve(BASIC, detail="-->"),
    before="## Learnings\n\n<!--\n```",
    after="```\n-->",
)
def test_any_learning_in_any_log_is_read_back(learning, before, after):
    written = appended(before, format_entry(learning, "14:32"))
    number = healed(before).count("\n") + 1
    known = ids_of(read_log(before, daily=True)) | ids_of(read_log(after, daily=True))
    for text in (written, written + after, (written + after).replace("\n", "\r\n")):
        reading = read_log(text, daily=True)
        ours = [
            entry
            for entry in reading.entries
            if entry.learning_id == learning.id and entry.line >= number
        ]
        assert said(ours[0]) == carried(learning)
        assert ours[0].time == "14:32"
        assert ours[0].last_line == written.count("\n")
        assert ids_of(reading) <= known | {learning.id}
    alone = read_log(format_entry(learning, "14:32"), daily=False)
    assert [entry.learning_id for entry in alone.entries] == [learning.id]
    assert not alone.marks
    assert not alone.notes


@given(summary=texts, why=texts, learning_id=ids)
@settings(max_examples=50)
def test_any_mark_is_read_back_and_is_no_entry(summary, why, learning_id):
    text = format_mark("superseded", "14:50", summary, learning_id, why)
    assert text.count("\n") == len(text.splitlines()) == 1
    reading = read_log(f"text\n{text}", daily=True)
    assert reading == ((), (), (Mark(2, "14:50", "superseded", learning_id, summary),))
    # What Total Recall's own command is asked to note.
    line = f"[14:32] {one_line_note(evolve(BASIC, id=learning_id, summary=summary))}"
    (entry,) = read_log(f"## Notes\n{line}\n[14:33] next", daily=True).entries
    assert (entry.learning_id, entry.summary, len(line.splitlines())) == (learning_id, summary, 1)


@given(lines=st.lists(pieces | st.sampled_from(["\udc80"]), max_size=20), daily=st.booleans())
@settings(max_examples=60)
def test_anything_can_be_read(lines, daily):
    text = "\n".join(lines)
    reading = read_log(text, daily=daily)
    count = text.count("\n") + 1
    ends = [0]
    for entry in reading.entries:
        assert ends[-1] < entry.line <= entry.last_line <= count
        ends.append(entry.last_line)
    for note in reading.notes:
        assert "\n" not in note.text
        assert note.text.strip()


UNITS = (
    "\\", "<!--\n", "-->\n", "```a\n", "```\n\n## Learnings\n", "- ", "(grove:cl_a): s\n> \n\n", "- **a**: b\n\n",
    '[10:00] [superseded] "', '" ', "[superseded: ", "(grove:", "**", "&#", "| Tags: #a ",
)  # fmt: skip
STARTS = ("", '[10:00] [superseded] "', "(grove:cl_a): ", "- [superseded] ", "# ")


@pytest.mark.parametrize("unit", UNITS)
def test_long_hostile_text_is_read_in_linear_time(unit):
    # A quadratic reader would not come back from this within the time that a test run may take.
    for start in STARTS:
        text = start + unit * (30_000 // len(unit))
        read_log(text, daily=True)
        joint(text)
