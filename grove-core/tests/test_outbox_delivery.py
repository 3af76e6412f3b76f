"""What could not be delivered waits, and is delivered once under the same id."""

import errno
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grove_core import files
from grove_core.errors import StorageError
from grove_core.memory.backends import queued_receipt
from grove_core.memory.keeping import Shelves, deliver
from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox
from grove_core.model.learning import Category, Confidence, Criterion, Learning, Scope
from grove_core.model.memory import Detection, ReceiptStatus
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.testing import InMemoryBackend

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
ROOT, OTHER = Path("/projects/one"), Path("/projects/two")


def a_learning(name="cl_1", **fields):
    return Learning(
        id=name,
        category=Category.PITFALL,
        summary="Migrations lock the table",
        detail="Add the index\nfirst: é 😀",
        session_id="s",
        timestamp=NOW,
        confidence=Confidence.HIGH,
        criteria_met=frozenset({Criterion.STABLE_FACT}),
        tags=("a", "b"),
        ticket_id="T-1",
        **fields,
    )


class Flaky(InMemoryBackend):
    """A backend whose writes fail while it is down."""

    def __init__(self):
        super().__init__("flaky")
        self.down = True
        self.attempts = []

    def write(self, learning):
        self.attempts.append(learning.id)
        if self.down:
            raise ConnectionError("no route")
        return super().write(learning)


@pytest.fixture
def backends():
    return {area: Flaky() for area in (Area.PROJECT, Area.PERSONAL)}


@pytest.fixture
def library(plugins_of, backends):
    spec = BackendSpec(
        name="flaky", detect=lambda _: Detection(marker="x"), open=lambda one: backends[one.area]
    )
    context = BackendContext(root=ROOT, home=Path("/h"))
    return MemoryLibrary(plugins_of(spec), context, personal_backend="flaky", settings={})


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "home" / "outbox"


@pytest.fixture
def outbox(directory):
    return Outbox(directory)


def waiting(outbox, root=None):
    return [one.learning.id for one in outbox.entries(root)]


def test_an_empty_outbox_makes_no_directory(outbox, library, directory):
    assert outbox.entries() == []
    assert outbox.unreadable() == ()
    assert deliver(Shelves(library=library, outbox=outbox, root=ROOT)) == []
    assert not directory.exists()


def test_a_learning_comes_out_as_it_went_in(outbox, directory):
    outbox.put(a_learning(), ROOT, NOW)
    (entry,) = outbox.entries()
    assert outbox.unreadable() == ()
    assert (entry.learning, entry.root) == (a_learning(), str(ROOT))
    assert [one.name for one in directory.iterdir()] == ["cl_1.json"]
    assert json.loads(entry.path.read_text("utf-8"))["queued_at"] == "2026-02-06T10:00:00Z"
    assert entry.path.stat().st_mode & 0o777 == 0o600


def test_names_that_are_no_utf_8_survive(outbox):
    root = Path(os.fsdecode(b"/projects/caf\xe9"))
    odd = a_learning(context_files=("\udcff.py",))
    outbox.put(odd, root, NOW)
    (entry,) = outbox.entries(root)
    assert (entry.learning, entry.root) == (odd, str(root))


def test_it_waits_until_the_backend_is_back_and_is_delivered_once(outbox, library, backends):
    outbox.put(a_learning("cl_1"), ROOT, NOW)
    outbox.put(a_learning("cl_2"), ROOT, NOW)
    assert deliver(Shelves(library=library, outbox=outbox, root=ROOT)) == []
    assert waiting(outbox) == ["cl_1", "cl_2"]
    backends[Area.PROJECT].down = False
    receipts = deliver(Shelves(library=library, outbox=outbox, root=ROOT))
    assert [(one.learning_id, one.status) for one in receipts] == [
        ("cl_1", ReceiptStatus.STORED),
        ("cl_2", ReceiptStatus.STORED),
    ]
    assert deliver(Shelves(library=library, outbox=outbox, root=ROOT)) == []
    assert waiting(outbox) == []
    assert backends[Area.PROJECT].get("cl_1") == a_learning("cl_1")
    assert backends[Area.PROJECT].attempts == ["cl_1", "cl_2", "cl_1", "cl_2"]


def test_a_crash_between_delivery_and_removal_stores_nothing_twice(outbox, library, backends):
    outbox.put(a_learning(), ROOT, NOW)
    backends[Area.PROJECT].down = False
    backends[Area.PROJECT].write(a_learning())
    (receipt,) = deliver(Shelves(library=library, outbox=outbox, root=ROOT))
    assert receipt.status is ReceiptStatus.DUPLICATE
    assert waiting(outbox) == []
    assert len(list(backends[Area.PROJECT].iterate())) == 1


def test_two_deliveries_at_once_store_it_once(outbox, library, backends):
    """The other process has delivered and removed it while this one was writing."""
    outbox.put(a_learning(), ROOT, NOW)
    backend = backends[Area.PROJECT]
    backend.down = False
    real = backend.write

    def write(learning):
        outbox.entries()[0].path.unlink()
        real(learning)
        return real(learning)

    backend.write = write
    assert len(deliver(Shelves(library=library, outbox=outbox, root=ROOT))) == 1
    assert len(list(backend.iterate())) == 1


def test_each_project_gets_its_own_and_personal_ones_go_from_anywhere(outbox, library, backends):
    for backend in backends.values():
        backend.down = False
    outbox.put(a_learning("cl_here"), ROOT, NOW)
    outbox.put(a_learning("cl_there"), OTHER, NOW)
    outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), OTHER, NOW)
    assert waiting(outbox, ROOT) == ["cl_here", "cl_mine"]
    deliver(Shelves(library=library, outbox=outbox, root=ROOT))
    assert waiting(outbox) == ["cl_there"]
    stored = {area: [one.id for one in backend.iterate()] for area, backend in backends.items()}
    assert stored == {Area.PROJECT: ["cl_here"], Area.PERSONAL: ["cl_mine"]}


def test_what_no_backend_takes_waits_on(outbox, plugins_of):
    nobody = MemoryLibrary(
        plugins_of(), BackendContext(root=ROOT, home=Path("/h")), personal_backend="x", settings={}
    )
    outbox.put(a_learning(), ROOT, NOW)
    assert deliver(Shelves(library=nobody, outbox=outbox, root=ROOT)) == []
    assert waiting(outbox) == ["cl_1"]


def test_a_learning_that_is_put_twice_waits_once(outbox):
    outbox.put(a_learning(), ROOT, NOW)
    outbox.put(a_learning(), ROOT, NOW)
    assert waiting(outbox) == ["cl_1"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"x"',
        b"\xff",
        b"[" * 50_000,
        b'{"learning": 7, "root": "/"}',
        b'{"learning": {}, "root": "/"}',
        b'{"learning": null}',
        b'{"root": "/projects/one"}',
    ],
    ids=lambda one: repr(one[:20]),
)
def test_an_entry_that_cannot_be_read_stays_and_stops_nothing(
    outbox, library, backends, directory, content
):
    directory.mkdir(parents=True)
    (directory / "a-broken.json").write_bytes(content)
    (directory / "folder.json").mkdir()
    outbox.put(a_learning(), ROOT, NOW)
    backends[Area.PROJECT].down = False
    assert len(deliver(Shelves(library=library, outbox=outbox, root=ROOT))) == 1
    assert (directory / "a-broken.json").read_bytes() == content
    assert waiting(outbox) == []
    assert [one.name for one in outbox.unreadable()] == ["a-broken.json", "folder.json"]


def test_an_entry_without_its_root_is_no_entry(outbox, directory):
    outbox.put(a_learning(), ROOT, NOW)
    path = directory / "cl_1.json"
    document = json.loads(path.read_text("utf-8"))
    del document["root"]
    path.write_text(json.dumps(document))
    assert outbox.entries() == []
    assert path.exists()
    assert outbox.unreadable() == (path,)


def test_a_learning_that_cannot_be_kept_is_an_error(outbox, monkeypatch, directory):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(StorageError, match="No space left"):
        outbox.put(a_learning(), ROOT, NOW)
    assert list(directory.iterdir()) == []


def test_the_receipt_of_what_waits():
    receipt = queued_receipt(a_learning(), "flaky")
    assert (receipt.learning_id, receipt.status, receipt.backend) == (
        "cl_1",
        ReceiptStatus.QUEUED,
        "flaky",
    )


# --- whose it is --------------------------------------------------------------------------------


@pytest.fixture
def work_trees(tmp_path):
    """The main work tree of a repository and a linked one, as git lays them out."""
    main, linked = tmp_path / "main", tmp_path / "linked"
    inside = main / ".git" / "worktrees" / "linked"
    inside.mkdir(parents=True)
    (inside / "commondir").write_text("../..\n")
    for top in (main, linked):
        (top / "shop").mkdir(parents=True)
    (linked / ".git").write_text(f"gitdir: {inside}\n")
    return main, linked


def test_what_a_work_tree_leaves_is_delivered_from_another_once_it_is_gone(outbox, work_trees):
    main, linked = work_trees
    outbox.put(a_learning(), linked / "shop", NOW)
    assert waiting(outbox, main / "shop") == []
    shutil.rmtree(linked)
    assert waiting(outbox, main / "shop") == ["cl_1"]
    assert outbox.stranded() == []


def test_another_folder_of_the_repository_is_another_project(outbox, work_trees):
    main, linked = work_trees
    outbox.put(a_learning(), linked / "shop", NOW)
    shutil.rmtree(linked)
    assert waiting(outbox, main) == []


def test_what_has_left_its_project_is_delivered_as_it_was_accepted(
    outbox, library, backends, work_trees
):
    """Not found here says nothing of a person's wish: the other work tree may not be merged."""
    main, linked = work_trees
    outbox.put(a_learning(), linked / "shop", NOW, kept_in="flaky", is_kept=True)
    shutil.rmtree(linked)
    backends[Area.PROJECT].down = False
    deliver(Shelves(library=library, outbox=outbox, root=main / "shop"))
    assert (waiting(outbox), backends[Area.PROJECT].attempts) == ([], ["cl_1"])


def test_projects_that_are_gone_strand_their_learnings(outbox, tmp_path):
    here, gone = tmp_path / "here", tmp_path / "gone"
    for number, root in enumerate((here, gone)):
        (root / ".git").mkdir(parents=True)
        outbox.put(a_learning(f"cl_{number}"), root, NOW)
    outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), gone, NOW)
    gone.rename(tmp_path / "moved")
    assert [one.learning.id for one in outbox.stranded()] == ["cl_1"]
    assert waiting(outbox, here) == ["cl_0", "cl_mine"]
