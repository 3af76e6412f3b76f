"""What could not be delivered waits, and is delivered once under the same id."""

import shutil
from pathlib import Path

import pytest
from core_worlds import NOW, a_learning

from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox
from grove_core.model.learning import Scope
from grove_core.model.memory import Detection, ReceiptStatus
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.testing import InMemoryBackend

ROOT, OTHER = Path("/projects/one"), Path("/projects/two")


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
def library(plugins_of, backends, outbox):
    spec = BackendSpec(
        name="flaky", detect=lambda _: Detection(marker="x"), open=lambda one: backends[one.area]
    )
    context = BackendContext(root=ROOT, home=Path("/h"))
    return MemoryLibrary(
        plugins_of(spec), context, personal_backend="flaky", settings={}, outbox=outbox
    )


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "home" / "outbox"


@pytest.fixture
def outbox(directory):
    return Outbox(directory)


def delivered(outbox, library):
    return library.deliver()


def waiting(outbox, root=None):
    return [one.learning.id for one in outbox.entries(root)]


def test_it_waits_until_the_backend_is_back_and_is_delivered_once(outbox, library, backends):
    outbox.put(a_learning("cl_1"), ROOT, NOW)
    outbox.put(a_learning("cl_2"), ROOT, NOW)
    assert delivered(outbox, library) == []
    assert waiting(outbox) == ["cl_1", "cl_2"]
    backends[Area.PROJECT].down = False
    receipts = delivered(outbox, library)
    assert [one.learning_id for one in receipts] == ["cl_1", "cl_2"]
    assert {one.status for one in receipts} == {ReceiptStatus.STORED}
    assert delivered(outbox, library) == []
    assert waiting(outbox) == []
    assert backends[Area.PROJECT].get("cl_1") == a_learning("cl_1")
    assert backends[Area.PROJECT].attempts == ["cl_1", "cl_2", "cl_1", "cl_2"]


def test_a_crash_between_delivery_and_removal_stores_nothing_twice(outbox, library, backends):
    outbox.put(a_learning(), ROOT, NOW)
    backends[Area.PROJECT].down = False
    backends[Area.PROJECT].write(a_learning())
    (receipt,) = delivered(outbox, library)
    assert receipt.status is ReceiptStatus.DUPLICATE
    assert waiting(outbox) == []
    assert len(list(backends[Area.PROJECT].iterate())) == 1


def test_each_project_gets_its_own_and_personal_ones_go_from_anywhere(outbox, library, backends):
    for backend in backends.values():
        backend.down = False
    outbox.put(a_learning("cl_here"), ROOT, NOW)
    outbox.put(a_learning("cl_there"), OTHER, NOW)
    outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), OTHER, NOW)
    assert waiting(outbox, ROOT) == ["cl_here", "cl_mine"]
    delivered(outbox, library)
    assert waiting(outbox) == ["cl_there"]
    stored = {area: [one.id for one in backend.iterate()] for area, backend in backends.items()}
    assert stored == {Area.PROJECT: ["cl_here"], Area.PERSONAL: ["cl_mine"]}


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"root": "/projects/one"}'], ids=lambda one: repr(one[:20])
)
def test_an_entry_that_cannot_be_read_stays_and_stops_nothing(
    outbox, library, backends, directory, content
):
    directory.mkdir(parents=True)
    (directory / "a-broken.json").write_bytes(content)
    (directory / "folder.json").mkdir()
    outbox.put(a_learning(), ROOT, NOW)
    backends[Area.PROJECT].down = False
    assert len(delivered(outbox, library)) == 1
    assert (directory / "a-broken.json").read_bytes() == content
    assert waiting(outbox) == []
    assert [one.name for one in outbox.unreadable()] == ["a-broken.json", "folder.json"]


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
    assert not any(one.is_stranded for one in outbox.entries())


def test_projects_that_are_gone_strand_their_learnings(outbox, tmp_path):
    here, gone = tmp_path / "here", tmp_path / "gone"
    for number, root in enumerate((here, gone)):
        (root / ".git").mkdir(parents=True)
        outbox.put(a_learning(f"cl_{number}"), root, NOW)
    outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), gone, NOW)
    gone.rename(tmp_path / "moved")
    assert [one.learning.id for one in outbox.entries() if one.is_stranded] == ["cl_1"]
    assert waiting(outbox, here) == ["cl_0", "cl_mine"]
