"""A change of status changes one line and no other byte."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import format_entry
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.status import change_status
from grove_core import BackendError, LearningStatus

OLD_ENTRY = (
    "## cl_20250101_001\n\n**Category:** Domain\n**Summary:** Old one\n"
    "**Scope:** Project | **Confidence:** Low | **Status:** Active\n\nText\n\n---\n"
)
BY_HAND = "### [cl_hand] By hand\n* **Category**: domain\n\n> a\n\n> b"


@given(data=st.data())
@settings(max_examples=40)
def test_any_file_differs_in_one_line(hostile_learnings, lookalikes, data):
    piece = (
        hostile_learnings.map(format_entry)
        | hostile_learnings.map(lambda learning: format_entry(learning).replace("\n", "\r\n"))
        | st.sampled_from((*lookalikes, OLD_ENTRY, BY_HAND, "\udcff bytes", "prose"))
    )
    joint = data.draw(st.sampled_from(["\n", "\n\n", "\r\n"]))
    text = joint.join(data.draw(st.lists(piece, min_size=1, max_size=7)))
    entries = read_entries(text).entries
    assume(entries)
    entry = data.draw(st.sampled_from(entries))
    status = data.draw(st.sampled_from([s for s in LearningStatus if s != entry.learning.status]))
    try:
        changed = change_status(text, entry.learning.id, status, "note\x0b**Status:** x | y")
    except BackendError:
        assert any(line.startswith("<<<<<<<") for line in text.split("\n"))
        return
    assert one_line_differs(text.split("\n"), changed.split("\n"), entry)
    after = {found.learning.id: found.learning for found in read_entries(changed).entries}
    assert after.pop(entry.learning.id).status is status
    assert after == {other.learning.id: other.learning for other in entries if other is not entry}


def one_line_differs(before, after, entry):
    if entry.status_line is None:
        return before == after[: entry.first_line] + after[entry.first_line + 1 :]
    position = entry.status_line - 1
    return (
        before[:position] == after[:position]
        and before[position + 1 :] == after[position + 1 :]
        and before[position] != after[position]
    )
