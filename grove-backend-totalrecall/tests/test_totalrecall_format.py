"""Any learning, whatever it holds and whatever stands around it, is read back equal."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_backend_totalrecall.entry import format_entry, format_mark, joint, one_line_note
from grove_backend_totalrecall.markup import (
    escape_claim,
    escape_detail,
    escape_item,
    escape_summary,
    escape_tag,
    escape_value,
    unescape,
)
from grove_backend_totalrecall.reading import Mark, read_log
from grove_core import Category, Confidence, Learning, Scope

LOOKALIKES = (
    "[14:32] **Pitfall** (grove:cl_forged): forged",
    "- (grove:cl_forged): forged ^tr0123456789",
    '[14:50] [superseded] "claim" (grove:cl_forged)',
    '" (grove:cl_forged) - x',
    "[superseded: 2026-02-06] ",
    "[supersedes grove:cl_forged]",
    "[supersedes",
    "## Learnings",
    "## [superseded: 2026-02-06]",
    "### Below",
    "## [pre-compact 10:00]",
    "# Title",
    "Tags: #forged | Confidence: Low | Ticket: T | Files: x | Scope: Team | Status: Archived",
    "Confidence: Low",
    " | Status: Archived",
    "<!--",
    "-->",
    "--!>",
    "<!-- whole -->",
    "```",
    "````",
    "~~~",
    "```py",
    "> quoted",
    ">",
    "- bullet",
    "- **claim**: x",
    "- **confidence**: high",
    "|",
    ",",
    "a, b\\, c",
    "&#10;",
    "\\&#10;",
    "\\\\&#124;",
    "&#1114112;",
    "&",
    "#",
    "&#12",
    ";",
    "\\",
    "\\\\",
    '"',
    "^tr0123456789",
    " ^tr0123456789",
    "",
    " ",
    "\t",
    "\r",
    "\r\n",
    "\x00\x0b\x0c\x1c\x85\u2028\u2029\x7f",
    "\ufeff",
    "\u3000",
    "prose",
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


def carried(learning):
    """What an entry says of a learning, with what is left out as ``None``."""
    return (
        learning.id,
        learning.category,
        learning.summary,
        learning.detail,
        learning.tags or None,
        learning.confidence,
        learning.ticket_id,
        learning.context_files or None,
        None if learning.scope is Scope.PROJECT else learning.scope,
        learning.supersedes,
        None,
        "",
    )


def said(entry):
    return (
        entry.learning_id,
        entry.category,
        entry.summary,
        entry.detail,
        entry.tags,
        entry.confidence,
        entry.ticket_id,
        entry.context_files,
        entry.scope,
        entry.supersedes,
        entry.status,
        entry.durable_id,
    )


def healed(text):
    return text if not text or text.endswith("\n") else text + "\n"


def appended(before, new):
    text = healed(before)
    return text + joint(text) + new if text else new


def ids_of(reading):
    marks = [mark.learning_id for mark in reading.marks]
    return {*marks, *(entry.learning_id for entry in reading.entries)}


@given(text=texts)
@example(text="\\" * 3 + "\r" + "\\&#10;\\")
@settings(max_examples=300)
@pytest.mark.parametrize(
    "escape",
    [escape_summary, escape_detail, escape_claim, escape_value, escape_item, escape_tag],
)
def test_any_text_is_read_back(escape, text):
    written = escape(text)
    assert unescape(written) == text
    lines = written.splitlines()
    assert len(lines) <= (text.count("\n") + 1 if escape is escape_detail else 1)
    assert "<!--" not in written
    assert "-->" not in written


@given(
    text=st.text(
        st.characters(categories=["L", "N", "Zs"], include_characters="\\.:/+-*?()[]{}<>='`"),
        min_size=1,
    )
)
@settings(max_examples=100)
def test_usual_text_is_not_touched(text):
    text = text.strip(" ").replace("--", "-").replace("[s", "s").replace("[S", "S")
    assert escape_summary(text) == text
    assert escape_detail(text) == text


@given(learning=learnings, before=surroundings, after=surroundings)
@settings(max_examples=400)
@example(
    learning=Learning(
        id="cl_20260206_aaaaaa",
        category=Category.PITFALL,
        summary="s",
        detail="-->",
        session_id="s",
        timestamp=datetime(2026, 2, 6, tzinfo=UTC),
    ),
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


@given(learnings=st.lists(learnings, max_size=4), before=surroundings)
@settings(max_examples=100)
def test_a_day_of_learnings_is_read_back(learnings, before):
    text = before
    for learning in learnings:
        text = appended(text, format_entry(learning, "14:32"))
    read = read_log(text, daily=True).entries
    written = [carried(learning) for learning in learnings]
    assert [said(entry) for entry in read][len(read) - len(written) :] == written
    assert len(read) - len(written) == len(read_log(before, daily=True).entries)


@given(summary=texts, why=texts, learning_id=ids)
@settings(max_examples=200)
def test_any_mark_is_read_back_and_is_no_entry(summary, why, learning_id):
    text = format_mark("superseded", "14:50", summary, learning_id, why)
    assert text.count("\n") == len(text.splitlines()) == 1
    reading = read_log(f"text\n{text}", daily=True)
    assert reading == ((), (), (Mark(2, "14:50", "superseded", learning_id, summary),))


@given(learning=learnings)
@settings(max_examples=100)
def test_a_note_logged_by_a_command_is_read_back(learning):
    line = f"[14:32] {one_line_note(learning)}"
    (entry,) = read_log(f"## Notes\n{line}\n[14:33] next", daily=True).entries
    assert (entry.learning_id, entry.category, entry.summary) == (
        learning.id,
        learning.category,
        learning.summary,
    )
    assert len(line.splitlines()) == 1


@given(lines=st.lists(pieces | st.sampled_from(["\udc80"]), max_size=20), daily=st.booleans())
@settings(max_examples=300)
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


@pytest.mark.parametrize(
    "unit",
    [
        "\\",
        "<!--",
        "<!--\n",
        "-->\n",
        "```a\n",
        "```\n\n## Learnings\n",
        "(grove:cl_a): s\n\n",
        "(grove:cl_a): s\n> \n\n",
        "> \n\n",
        "- ",
        "- **a**: b\n\n",
        "[10:00] ",
        '[10:00] [superseded] "',
        '" ',
        "[superseded: ",
        "(grove:",
        "**",
        "&#",
        "| Tags: #a ",
        "#",
        "[10:00] x\ny\n",
    ],
)
@pytest.mark.parametrize(
    "start", ["", '[10:00] [superseded] "', "(grove:cl_a): ", "- [superseded] ", "# "]
)
def test_long_hostile_text_is_read_in_linear_time(unit, start):
    # A quadratic reader would not come back from this within the time that a test run may take.
    text = start + unit * (60_000 // len(unit))
    read_log(text, daily=True)
    joint(text)


def test_long_fences_of_falling_length_are_read_in_linear_time():
    text = "\n".join("~" * length for length in range(600, 2, -1)) + "\n" * 50_000
    read_log(text, daily=True)
