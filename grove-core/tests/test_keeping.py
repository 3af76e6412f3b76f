"""A learning is kept whatever happens, is found meanwhile, and gets home once."""

from pathlib import Path

import pytest
from attrs import evolve
from core_worlds import NOW, a_learning

from grove_core.errors import StorageError
from grove_core.memory.keeping import Shelves, deliver, keep
from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox
from grove_core.model.learning import LearningStatus, Scope
from grove_core.model.memory import Capability, Detection
from grove_core.plugins.descriptors import BackendContext, BackendSpec
from grove_core.testing import InMemoryBackend

ROOT = Path("/projects/one")


class Flaky(InMemoryBackend):
    """A backend whose writes can fail, and that git may ignore."""

    def __init__(self, name, *without):
        super().__init__(name)
        self.capabilities -= {*without, Capability.PERSONAL}
        self.available, self.down, self.private = True, False, False

    def write(self, learning):
        if self.down:
            raise ConnectionError("no route")
        return evolve(super().write(learning), shared=not self.private)

    def ids(self):
        return [one.id for one in self.iterate()]


class Place:
    """A project with a memory of its own, and files beside it."""

    def __init__(self, plugins_of, tmp_path):
        self.memory, self.files = Flaky("memory", Capability.WITHDRAW), Flaky("files")
        self.outbox = Outbox(tmp_path / "outbox")
        self._plugins_of = plugins_of
        self.settings = {}

    def spec(self, backend):
        def detect(_):
            return Detection(marker="x") if backend.available else None

        return BackendSpec(name=backend.name, detect=detect, open=lambda _: backend)

    @property
    def shelves(self):
        """As the next process finds it."""
        plugins = self._plugins_of(self.spec(self.memory), self.spec(self.files))
        context = BackendContext(root=ROOT, home=Path("/h"))
        library = MemoryLibrary(plugins, context, personal_backend="files", settings={})
        return Shelves(library=library, outbox=self.outbox, root=ROOT, **self.settings)

    def keep(self, learning):
        shelves = self.shelves
        return keep(shelves, shelves.library.target_for(learning.scope), learning, NOW)

    def deliver(self):
        return [one.backend for one in deliver(self.shelves)]

    def everywhere(self):
        waiting = {one.learning.id: one.kept_in for one in self.outbox.entries(ROOT)}
        return self.memory.ids(), self.files.ids(), waiting


@pytest.fixture
def place(plugins_of, tmp_path):
    return Place(plugins_of, tmp_path)


@pytest.mark.parametrize("fault", ["down", "not there"])
def test_what_its_backend_cannot_take_is_lent_and_moves_home_once_as_it_has_become(place, fault):
    if fault == "not there":
        place.settings = {"home": "memory"}
    place.memory.down, place.memory.available = fault == "down", fault == "down"
    kept = place.keep(a_learning())
    assert (kept.receipt.backend, "it is kept in files" in kept.notes[0]) == ("files", True)
    assert place.deliver() == []
    assert place.everywhere() == ([], ["cl_1"], {"cl_1": "files"})
    place.files.set_status("cl_1", LearningStatus.ARCHIVED)
    place.memory.down, place.memory.available = False, True
    assert (place.deliver(), place.deliver()) == (["memory"], [])
    assert place.everywhere() == (["cl_1"], [], {})
    assert place.memory.get("cl_1").status is LearningStatus.ARCHIVED


def test_a_crash_before_the_loan_is_made_good_while_its_home_is_awaited(place):
    place.settings = {"home": "memory"}
    place.memory.available = False
    place.outbox.put(a_learning(), ROOT, NOW, kept_in="files")
    assert place.deliver() == []
    assert place.everywhere() == ([], ["cl_1"], {"cl_1": "files"})


def test_a_team_learning_that_git_ignores_is_kept_in_a_shared_backend_as_well(place):
    place.memory.private = True
    assert "git ignores" in place.keep(a_learning(scope=Scope.TEAM)).notes[0]
    assert place.everywhere() == (["cl_1"], ["cl_1"], {})
    place.files.set_status("cl_1", LearningStatus.SUPERSEDED)
    place.shelves.library.level()
    assert place.memory.get("cl_1").status is LearningStatus.SUPERSEDED


def test_where_nothing_can_keep_it_that_is_an_error(place, tmp_path):
    (tmp_path / "outbox").write_text("in the way")
    place.memory.down = True
    assert place.keep(a_learning()).receipt.backend == "files"
    place.files.down = True
    with pytest.raises(StorageError):
        place.keep(a_learning())
