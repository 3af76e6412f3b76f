"""A learning is stored or waits in the outbox, is found meanwhile, and is delivered once."""

import shutil
import subprocess
from pathlib import Path

import pytest
from core_worlds import a_learning

from grove_core.errors import StorageError
from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox
from grove_core.model.learning import LearningStatus, Scope
from grove_core.model.memory import Capability, Detection, Filters, Query, ReceiptStatus
from grove_core.plugins.descriptors import BackendContext, BackendSpec
from grove_core.testing import InMemoryBackend


class Flaky(InMemoryBackend):
    """A backend whose writes can fail."""

    def __init__(self, name):
        super().__init__(name)
        self.capabilities -= {Capability.PERSONAL}
        self.available, self.opens, self.down = True, True, False

    def write(self, learning):
        if self.down:
            raise ConnectionError("no route")
        return super().write(learning)

    def ids(self):
        return [one.id for one in self.iterate()]


class Place:
    """A project with a memory of its own, and files beside it."""

    def __init__(self, plugins_of, tmp_path):
        self.memory, self.files = Flaky("memory"), Flaky("files")
        self.outbox = Outbox(tmp_path / "outbox")
        self.root = tmp_path / "project"
        self.root.mkdir()
        self._plugins_of = plugins_of
        self.primary = None

    def spec(self, backend):
        def detect(_):
            return Detection(marker="x") if backend.available else None

        def opened(_):
            if not backend.opens:
                raise RuntimeError("boom")
            return backend

        shared = (f"{backend.name}/*.md",)
        return BackendSpec(name=backend.name, detect=detect, open=opened, shared=shared)

    @property
    def library(self):
        """As the next process finds it."""
        return MemoryLibrary(
            self._plugins_of(self.spec(self.memory), self.spec(self.files)),
            BackendContext(root=self.root, home=Path("/h")),
            personal_backend="files",
            settings={},
            outbox=self.outbox,
            primary=self.primary,
        )

    def store(self, learning):
        library = self.library
        return library.store(library.target_for(learning.scope), learning)

    def deliver(self):
        return [one.backend for one in self.library.deliver()]

    def everywhere(self):
        waiting = [one.learning.id for one in self.outbox.entries(self.root)]
        return self.memory.ids(), self.files.ids(), waiting


@pytest.fixture
def place(plugins_of, tmp_path):
    return Place(plugins_of, tmp_path)


@pytest.mark.parametrize("fault", ["down", "closed", "not there"])
def test_what_its_backend_cannot_take_waits_is_found_and_is_delivered_as_it_has_become(
    place, fault
):
    if fault == "not there":
        place.primary = "memory"
    place.memory.down, place.memory.opens = fault == "down", fault != "closed"
    place.memory.available = fault != "not there"
    receipt = place.store(a_learning())
    assert (receipt.backend, receipt.status) == ("memory", ReceiptStatus.QUEUED)
    assert place.deliver() == []
    assert place.everywhere() == ([], [], ["cl_1"])
    (found,) = place.library.iterate()
    assert (found.backend, found.hit.learning) == ("outbox", a_learning())
    assert place.library.get("cl_1").hit.learning == a_learning()
    place.library.set_status("cl_1", LearningStatus.ARCHIVED)
    place.memory.down, place.memory.opens, place.memory.available = False, True, True
    assert (place.deliver(), place.deliver()) == (["memory"], [])
    assert place.everywhere() == (["cl_1"], [], [])
    assert place.memory.get("cl_1").status is LearningStatus.ARCHIVED


def test_nothing_is_found_twice_when_a_delivery_was_cut_short(place):
    place.outbox.put(a_learning(), place.root)
    place.memory.write(a_learning())
    assert len(list(place.library.iterate())) == 1
    assert len(place.library.search(Query(), Filters())) == 1
    (receipt,) = place.library.deliver()
    assert receipt.status is ReceiptStatus.DUPLICATE
    assert place.everywhere() == (["cl_1"], [], [])


def test_a_personal_learning_that_waits_is_found_as_personal(place):
    place.outbox.put(a_learning(scope=Scope.PERSONAL), Path("/elsewhere"))
    (found,) = place.library.iterate()
    assert found.area.value == "personal"


@pytest.mark.parametrize(
    ("ignored", "backend", "noted"),
    [("", "memory", False), ("memory/", "files", False), ("*", "memory", True)],
)
def test_a_team_learning_goes_to_a_backend_that_git_does_not_ignore(place, ignored, backend, noted):
    place.root.joinpath(".gitignore").write_text(f"{ignored}\n")
    subprocess.run(["git", "init", "-q", str(place.root)], check=True)
    stored = place.store(a_learning(scope=Scope.TEAM))
    assert (stored.backend, "git ignores" in stored.note) == (backend, noted)
    assert place.store(a_learning("cl_2")).backend == "memory"


def test_where_nothing_can_keep_it_that_is_an_error(place, tmp_path):
    (tmp_path / "outbox").write_text("in the way")
    place.memory.down = True
    with pytest.raises(StorageError):
        place.store(a_learning())


def waiting(place, root=None):
    return [one.learning.id for one in place.outbox.entries(root)]


def test_each_project_gets_its_own_and_personal_ones_go_from_anywhere(place):
    place.files.capabilities |= {Capability.PERSONAL}
    place.outbox.put(a_learning("cl_here"), place.root)
    place.outbox.put(a_learning("cl_there"), Path("/elsewhere"))
    place.outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), Path("/elsewhere"))
    assert waiting(place, place.root) == ["cl_here", "cl_mine"]
    place.deliver()
    assert waiting(place) == ["cl_there"]
    assert (place.memory.ids(), place.files.ids()) == (["cl_here"], ["cl_mine"])


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"root": "/projects/one"}'], ids=lambda one: repr(one[:20])
)
def test_an_entry_that_cannot_be_read_stays_and_stops_nothing(place, tmp_path, content):
    directory = tmp_path / "outbox"
    directory.mkdir()
    (directory / "a-broken.json").write_bytes(content)
    (directory / "folder.json").mkdir()
    place.outbox.put(a_learning(), place.root)
    assert place.deliver() == ["memory"]
    assert (directory / "a-broken.json").read_bytes() == content
    assert waiting(place) == []
    assert [one.name for one in place.outbox.unreadable()] == ["a-broken.json", "folder.json"]


def test_half_a_character_is_read_as_an_older_grove_wrote_it(place):
    place.outbox.put(a_learning(), Path("/projects/caf\udce9"))
    (path,) = place.outbox.directory.glob("*.json")
    older = path.read_text().replace(r"\udce9", "\udce9")
    path.write_bytes(older.encode("utf-8", "surrogatepass"))
    assert [one.root for one in place.outbox.entries()] == ["/projects/caf\udce9"]


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


def test_what_a_work_tree_leaves_is_delivered_from_another_once_it_is_gone(place, work_trees):
    main, linked = work_trees
    place.outbox.put(a_learning(), linked / "shop")
    assert waiting(place, main / "shop") == []
    shutil.rmtree(linked)
    assert waiting(place, main / "shop") == ["cl_1"]
    assert not any(one.is_stranded for one in place.outbox.entries())


def test_projects_that_are_gone_strand_their_learnings(place, tmp_path):
    here, gone = tmp_path / "here", tmp_path / "gone"
    for number, root in enumerate((here, gone)):
        (root / ".git").mkdir(parents=True)
        place.outbox.put(a_learning(f"cl_{number}"), root)
    place.outbox.put(a_learning("cl_mine", scope=Scope.PERSONAL), gone)
    gone.rename(tmp_path / "moved")
    assert [one.learning.id for one in place.outbox.entries() if one.is_stranded] == ["cl_1"]
    assert waiting(place, here) == ["cl_0", "cl_mine"]
