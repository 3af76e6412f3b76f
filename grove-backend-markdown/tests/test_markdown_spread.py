"""The layout ``spread``: a file for each learning, written once and read with all others."""

import pytest
from attrs import evolve

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import file_header, format_entry
from grove_backend_markdown.plugin import grove_memory_backends
from grove_backend_markdown.relocating import relocate
from grove_core import (
    Area,
    BackendError,
    LearningStatus,
    ReceiptStatus,
    StorageLayout,
)


@pytest.fixture
def spread(context):
    return evolve(context, layout=StorageLayout.SPREAD)


@pytest.fixture
def folder(context):
    return context.root / ".grove" / "learnings"


def test_each_learning_gets_a_file_and_a_second_write_changes_nothing(
    spread, folder, make_learning
):
    backend = MarkdownBackend(spread)
    one, two = make_learning(1), make_learning(2)
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


def test_both_layouts_are_read_whatever_is_written(context, spread, make_learning):
    MarkdownBackend(context).write(make_learning(1))
    MarkdownBackend(spread).write(make_learning(2))
    assert MarkdownBackend(spread).write(make_learning(1)).status is ReceiptStatus.DUPLICATE
    assert MarkdownBackend(context).write(make_learning(2)).status is ReceiptStatus.DUPLICATE
    assert len(list(MarkdownBackend(context).iterate())) == 2


def test_a_status_is_changed_where_the_entry_stands(spread, folder, make_learning):
    backend = MarkdownBackend(spread)
    backend.write(make_learning(1))
    backend.set_status(make_learning(1).id, LearningStatus.ARCHIVED, "decayed")
    path = folder / f"{make_learning(1).id}.md"
    assert "- **Status:** archived (decayed)" in path.read_text()


def test_an_entry_that_was_cut_off_is_completed(spread, folder, make_learning):
    folder.mkdir(parents=True)
    path = folder / f"{make_learning(1).id}.md"
    path.write_text(format_entry(make_learning(1))[:-20])
    assert MarkdownBackend(spread).write(make_learning(1)).status is ReceiptStatus.STORED
    assert path.read_text() == format_entry(make_learning(1))


def test_a_link_out_of_the_project_is_not_followed(spread, folder, make_learning, tmp_path):
    (tmp_path / "outside").mkdir()
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "outside")
    backend = MarkdownBackend(spread)
    with pytest.raises(BackendError, match="outside"):
        backend.write(make_learning(1))
    assert not backend.ping().ok
    assert list((tmp_path / "outside").iterdir()) == []


def test_personal_learnings_have_one_file_in_any_layout(spread, make_learning):
    personal = evolve(spread, area=Area.PERSONAL)
    MarkdownBackend(personal).write(make_learning(1))
    assert (spread.home / "personal-learnings.md").is_file()
    assert relocate(personal, dry_run=False) == ()


def test_init_makes_no_file_that_nobody_writes_to(spread):
    (spec,) = grove_memory_backends()
    assert list(spec.scaffold(spread)) == []
    assert spec.detect(spread).marker == ".grove/learnings"


def test_moving_merges_what_stands_in_both_places(context, spread, folder, make_learning):
    """A branch has moved an entry, another one has archived it in its old place."""
    backend = MarkdownBackend(context)
    backend.write(make_learning(1))
    text = (folder.parent / "learnings.md").read_text()
    relocate(spread, dry_run=False)
    (folder.parent / "learnings.md").write_text(text.replace("active", "archived (old)"))
    assert MarkdownBackend(spread).get(make_learning(1).id).status is LearningStatus.ARCHIVED
    relocate(spread, dry_run=False)
    assert "archived (old)" in (folder / f"{make_learning(1).id}.md").read_text()
    assert (folder.parent / "learnings.md").read_text() == file_header(Area.PROJECT)


@pytest.mark.parametrize("fault", ["<<<<<<< HEAD\n=======\n>>>>>>> x\n", "twice"])
def test_a_spoilt_file_is_not_moved(context, spread, folder, make_learning, fault):
    MarkdownBackend(context).write(make_learning(1))
    path = folder.parent / "learnings.md"
    extra = (
        format_entry(make_learning(1, summary="Another text, same id"))
        if fault == "twice"
        else fault
    )
    path.write_text(path.read_text() + "\n" + extra)
    before = path.read_bytes()
    with pytest.raises(BackendError, match="grove maintain repair"):
        relocate(spread, dry_run=False)
    assert path.read_bytes() == before
    assert not folder.exists()
