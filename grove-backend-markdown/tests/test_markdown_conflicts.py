"""Files with git's conflict markers are read on both sides."""

import subprocess

import pytest

from grove_backend_markdown.format import format_entry
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.status import change_status
from grove_core import BackendError, LearningStatus

HEADING_A = "### [cl_20260206_aaaaaa] A\n"
HEADING_B = "### [cl_20260206_bbbbbb] B\n"


def conflict(ours, theirs, base=None):
    middle = f"||||||| base\n{base}" if base is not None else ""
    return f"<<<<<<< HEAD\n{ours}{middle}=======\n{theirs}>>>>>>> branch\n"


def test_both_sides_are_read_and_the_markers_named(make_learning):
    learnings = [make_learning(number) for number in (1, 2, 3)]
    before, ours, theirs = map(format_entry, learnings)
    text = f"{before}\n{conflict(ours, theirs)}"
    reading = read_entries(text)
    assert [entry.learning for entry in reading.entries] == learnings
    markers = [n for n, line in enumerate(text.split("\n"), 1) if line[:3] in {"<<<", "===", ">>>"}]
    assert [problem.line for problem in reading.problems] == markers


def test_lines_that_both_entries_share_belong_to_both(make_learning):
    text = (
        conflict(HEADING_A + "- **Category:** pitfall\n", HEADING_B + "- **Category:** domain\n")
        + "- **Scope:** team\n- **Status:** active\n"
        + conflict("- **Tags:** a\n\n> detail of a\n", "- **Tags:** b\n\n> detail of b\n")
    )
    a, b = (entry.learning for entry in read_entries(text).entries)
    assert (a.summary, a.category.value, a.tags, a.detail) == (
        "A",
        "pitfall",
        ("a",),
        "detail of a",
    )
    assert (b.summary, b.category.value, b.tags, b.detail) == ("B", "domain", ("b",), "detail of b")
    assert a.scope is b.scope
    with pytest.raises(BackendError, match="resolve the conflict"):
        change_status(text, a.id, LearningStatus.ARCHIVED)


def test_our_side_of_a_changed_status_counts_and_is_changed(make_learning):
    entry = format_entry(make_learning())
    status = "- **Status:** active\n"
    archived = "- **Status:** archived (decayed)\n"
    text = entry.replace(status, conflict(archived, status, base=status))
    (found,) = read_entries(text).entries
    assert found.learning.status is LearningStatus.ARCHIVED
    changed = change_status(text, found.learning.id, LearningStatus.ACTIVE)
    assert changed == text.replace(archived, status)


def test_leftover_markers_hide_nothing(make_learning):
    one, two = make_learning(1), make_learning(2)
    for marker in ("<<<<<<< HEAD", "=======\n>>>>>>> x", ">>>>>>> x", "<<<<<<< a\n<<<<<<< b"):
        text = f"{format_entry(one)}{marker}\n{format_entry(two)}"
        assert [entry.learning for entry in read_entries(text).entries] == [one, two]
        assert read_entries(text).problems


def test_real_merge_conflict_loses_nothing(tmp_path, make_learning):
    def git(*arguments, check=True):
        subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
            cwd=tmp_path,
            check=check,
            capture_output=True,
        )

    path = tmp_path / "learnings.md"
    base, ours, theirs = (
        make_learning(1),
        make_learning(2, detail="Ours."),
        make_learning(3, tags=("other",)),
    )
    git("init", "-q", "-b", "main")
    path.write_text(format_entry(base))
    git("add", ".")
    git("commit", "-qm", "base")
    for branch, learning in (("theirs", theirs), ("ours", ours)):
        git("checkout", "-q", "-b", branch, "main")
        path.write_text(f"{format_entry(base)}\n{format_entry(learning)}")
        git("commit", "-qam", branch)
    git("merge", "theirs", check=False)
    text = path.read_text()
    assert "<<<<<<<" in text
    reading = read_entries(text)
    assert {entry.learning.id: entry.learning for entry in reading.entries} == {
        learning.id: learning for learning in (base, ours, theirs)
    }
