"""The layout ``spread``: a file for each learning, written once and read with all others."""

import pytest
from attrs import evolve

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import file_header, format_entry
from grove_backend_markdown.migrate import relocate
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
