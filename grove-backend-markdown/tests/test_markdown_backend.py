"""The backend in both layouts: where entries lie, their statuses, and how it is offered."""

import pytest
from attrs import evolve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import grove_core
from grove_backend_markdown import plugin
from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import change_status, file_header, format_entry
from grove_backend_markdown.migrate import relocate
from grove_backend_markdown.reader import read_entries
from grove_core import (
    Area,
    BackendError,
    LearningStatus,
    ReceiptStatus,
    StorageLayout,
)
from grove_core.testing.samples import example_learning


@pytest.fixture
def backend(context):
    return MarkdownBackend(context)


@pytest.fixture
def file(context):
    return context.root / ".grove" / "learnings.md"


def test_folder_of_single_files_is_read_too(context, backend, file):
    folder = context.root / ".grove" / "learnings"
    folder.mkdir(parents=True)
    for number in (1, 2):
        learning = example_learning(number)
        (folder / f"{learning.id}.md").write_text(format_entry(learning))
    (folder / "notes.txt").write_text(format_entry(example_learning(9)))
    backend.write(example_learning(3))
    assert [learning.id[-1] for learning in backend.iterate()] == ["b", "c", "d"]
    assert backend.write(example_learning(1)).status is ReceiptStatus.DUPLICATE
    before = file.read_bytes()
    backend.set_status(example_learning(2).id, LearningStatus.ARCHIVED)
    assert "**Status:** archived" in (folder / f"{example_learning(2).id}.md").read_text()
    assert file.read_bytes() == before


def test_set_status_leaves_every_other_byte(backend, file):
    backend.write(example_learning(1))
    backend.write(example_learning(2))
    file.write_bytes(b"caf\xe9 \xff\n" + file.read_bytes().replace(b"\n", b"\r\n")[:-2])
    file.chmod(0o640)
    before = file.read_bytes()
    changed = backend.set_status(
        "cl_20260206_aaaaab", LearningStatus.ARCHIVED, "decayed 2026-05-07"
    )
    assert changed == example_learning(1, status=LearningStatus.ARCHIVED)
    assert file.read_bytes() == before.replace(
        b"**Status:** active", b"**Status:** archived (decayed 2026-05-07)", 1
    )
    assert file.stat().st_mode & 0o777 == 0o640
    assert backend.set_status("cl_20260206_aaaaab", LearningStatus.ACTIVE) == example_learning(1)
    assert file.read_bytes() == before


def test_ping_counts_learnings_and_names_what_cannot_be_read(backend, file, folder):
    backend.write(example_learning())
    assert backend.ping().location == str(file)
    assert backend.ping().detail == "1 learning"
    entry = file.read_text()
    file.write_text(f"{entry}<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    folder.mkdir()
    (folder / "copy.md").write_text(f"\n{format_entry(example_learning())}")
    (folder / "words.md").write_text("hello\n")
    health = backend.ping()
    assert health.ok
    assert health.detail.startswith("1 learning; 5 faults: ")
    assert "learnings/words.md line 1: there is no learning in this file" in health.detail
    count = entry.count("\n")
    for line in (count + 1, count + 2, count + 3):
        assert f"learnings.md line {line}: a conflict marker" in health.detail
    assert "copy.md line 2: cl_20260206_aaaaab is in learnings.md already" in health.detail
    assert "grove maintain repair" in health.fix


@pytest.fixture
def spread(context):
    return evolve(context, layout=StorageLayout.SPREAD)


@pytest.fixture
def folder(context):
    return context.root / ".grove" / "learnings"


def test_each_learning_gets_a_file_and_a_second_write_changes_nothing(spread, folder):
    backend = MarkdownBackend(spread)
    one, two = example_learning(1), example_learning(2)
    assert backend.write(one).status is ReceiptStatus.STORED
    receipt = backend.write(two)
    assert receipt.location == str(folder / f"{two.id}.md")
    assert MarkdownBackend(spread).write(evolve(one, summary="x")).status is ReceiptStatus.DUPLICATE
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        f"{learning.id}.md": format_entry(learning) for learning in (one, two)
    }
    assert not (folder.parent / "learnings.md").exists()
    assert list(backend.iterate()) == [one, two]
    assert backend.ping().ok
    assert backend.ping().location == str(folder)


def test_unchanged_files_are_not_read_for_each_write(spread, folder, monkeypatch):
    backend = MarkdownBackend(spread)
    read = []

    def read_bytes(path, largest):
        read.append(path)
        return grove_core.read_bytes(path, largest)

    monkeypatch.setattr("grove_backend_markdown.store.read_bytes", read_bytes)
    for number in range(9):
        backend.write(example_learning(number))
    assert len(read) <= 9
    edited = min(folder.glob("*.md"))
    edited.write_text(edited.read_text().replace(edited.stem, "cl_20260206_bbbbbb"))
    assert backend.get("cl_20260206_bbbbbb") is not None


def test_moving_merges_what_stands_in_both_places(context, spread, folder):
    """A branch has moved an entry, another one has archived it in its old place."""
    backend = MarkdownBackend(context)
    backend.write(example_learning(1))
    text = (folder.parent / "learnings.md").read_text()
    relocate(spread, dry_run=False)
    (folder.parent / "learnings.md").write_text(text.replace("active", "archived (old)"))
    assert MarkdownBackend(spread).get(example_learning(1).id).status is LearningStatus.ARCHIVED
    relocate(spread, dry_run=False)
    assert "archived (old)" in (folder / f"{example_learning(1).id}.md").read_text()
    assert (folder.parent / "learnings.md").read_text() == file_header(Area.PROJECT)


@pytest.mark.parametrize("fault", ["<<<<<<< HEAD\n=======\n>>>>>>> x\n", "twice"])
def test_a_spoilt_file_is_not_moved(context, spread, folder, fault):
    MarkdownBackend(context).write(example_learning(1))
    path = folder.parent / "learnings.md"
    extra = (
        format_entry(example_learning(1, summary="Another text, same id"))
        if fault == "twice"
        else fault
    )
    path.write_text(path.read_text() + "\n" + extra)
    before = path.read_bytes()
    with pytest.raises(BackendError, match="grove maintain repair"):
        relocate(spread, dry_run=False)
    assert path.read_bytes() == before
    assert not folder.exists()


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
        assert any(line[:7] in ("<<<<<<<", ">>>>>>>") for line in text.split("\n"))
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


@pytest.fixture
def spec():
    (found,) = plugin.grove_memory_backends()
    return found


def test_backend_is_always_available(spec, context, personal_context, tmp_path):
    assert spec.name == "markdown"
    assert spec.paths == (".grove",)
    detection = spec.detect(context)
    assert detection.marker == ".grove/learnings.md"
    assert detection.usable
    assert spec.detect(personal_context).marker.endswith("personal-learnings.md")
    assert list(context.root.iterdir()) == []
