"""A learning is kept whatever happens, is found meanwhile, and gets home once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from grove_core.indexing import refresh
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.memory.keeping import Shelves, deliver, keep
from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox
from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.memory import Capability, Detection, ReceiptStatus
from grove_core.plugins.descriptors import BackendContext, BackendSpec
from grove_core.retrieval.query_terms import query_terms
from grove_core.testing import InMemoryBackend

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
ROOT = Path("/projects/one")


def a_learning(name="cl_1", scope=Scope.PROJECT):
    return Learning(
        id=name,
        category=Category.PITFALL,
        summary="Migrations lock the table",
        detail="Add the index first, then the column.",
        session_id="s",
        timestamp=NOW,
        scope=scope,
    )


class Flaky(InMemoryBackend):
    """A backend whose writes and withdrawals can fail, and that git may ignore."""

    def __init__(self, name, *without):
        super().__init__(name)
        self.capabilities -= {*without, Capability.PERSONAL}
        self.down = self.stuck = self.private = False
        self.available = True

    def write(self, learning):
        if self.down:
            raise ConnectionError("no route")
        return evolve(super().write(learning), shared=not self.private)

    def withdraw(self, learning):
        if self.stuck:
            raise ConnectionError("no route")
        return super().withdraw(learning)

    def ids(self):
        return [one.id for one in self.iterate()]


class Place:
    """A project with a memory of its own, and files beside it."""

    def __init__(self, plugins_of, tmp_path):
        self.memory = Flaky("memory", Capability.WITHDRAW)
        self.files = Flaky("files")
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

    def waiting(self):
        return {one.learning.id: one.kept_in for one in self.outbox.entries(ROOT)}


@pytest.fixture
def place(plugins_of, tmp_path):
    return Place(plugins_of, tmp_path)


def test_what_its_backend_takes_is_nowhere_else(place):
    kept = place.keep(a_learning())
    assert (kept.receipt.status, kept.receipt.backend, kept.notes) == (
        ReceiptStatus.STORED,
        "memory",
        (),
    )
    assert (place.files.ids(), place.waiting()) == ([], {})


def test_what_its_backend_cannot_take_is_lent_and_moves_home_once(place):
    place.memory.down = True
    kept = place.keep(a_learning())
    assert (kept.receipt.status, kept.receipt.backend) == (ReceiptStatus.STORED, "files")
    assert kept.notes == ("memory could not take it: it is kept in files until that can",)
    assert place.waiting() == {"cl_1": "files"}
    assert deliver(place.shelves) == []
    assert (place.files.ids(), place.waiting()) == (["cl_1"], {"cl_1": "files"})
    place.memory.down = False
    assert [one.backend for one in deliver(place.shelves)] == ["memory"]
    assert (place.memory.ids(), place.files.ids(), place.waiting()) == (["cl_1"], [], {})
    assert deliver(place.shelves) == []


def test_it_goes_home_as_it_has_become_meanwhile(place):
    place.memory.down = True
    place.keep(a_learning())
    place.files.set_status("cl_1", LearningStatus.ARCHIVED)
    place.memory.down = False
    deliver(place.shelves)
    assert place.memory.get("cl_1").status is LearningStatus.ARCHIVED
    assert place.files.ids() == []


def test_a_crash_before_the_loan_loses_nothing(place):
    place.outbox.put(a_learning(), ROOT, NOW, kept_in="files")
    deliver(place.shelves)
    assert (place.memory.ids(), place.waiting()) == (["cl_1"], {})


def test_what_cannot_be_taken_back_is_taken_back_the_next_time(place):
    place.memory.down = True
    place.keep(a_learning())
    place.memory.down, place.files.stuck = False, True
    assert deliver(place.shelves) == []
    assert (place.memory.ids(), place.files.ids()) == (["cl_1"], ["cl_1"])
    place.files.stuck = False
    assert [one.status for one in deliver(place.shelves)] == [ReceiptStatus.DUPLICATE]
    assert (place.memory.ids(), place.files.ids(), place.waiting()) == (["cl_1"], [], {})


def test_where_nobody_lends_it_waits(place):
    place.files = Flaky("files", Capability.WITHDRAW)
    place.memory.down = True
    kept = place.keep(a_learning())
    assert (kept.receipt.status, kept.receipt.backend) == (ReceiptStatus.QUEUED, "memory")
    assert (place.files.ids(), place.waiting()) == ([], {"cl_1": ""})


def test_where_the_lender_fails_as_well_it_waits(place):
    place.memory.down = place.files.down = True
    assert place.keep(a_learning()).receipt.status is ReceiptStatus.QUEUED
    assert place.waiting() == {"cl_1": ""}
    place.memory.down = False
    deliver(place.shelves)
    assert place.memory.ids() == ["cl_1"]


def test_the_backend_that_is_configured_and_not_there_gets_it_later(place):
    place.settings = {"home": "memory"}
    place.memory.available = False
    kept = place.keep(a_learning())
    assert (kept.receipt.backend, place.waiting()) == ("files", {"cl_1": "files"})
    assert kept.notes == ("memory is not available here: it is kept in files until then",)
    assert deliver(place.shelves) == []
    place.memory.available = True
    deliver(place.shelves)
    assert (place.memory.ids(), place.files.ids(), place.waiting()) == (["cl_1"], [], {})


def test_a_backend_that_is_found_but_not_configured_is_not_waited_for(place):
    place.memory.available = False
    assert place.keep(a_learning()).notes == ()
    assert place.waiting() == {}


def test_a_team_learning_that_git_ignores_is_kept_in_a_shared_backend_as_well(place):
    place.memory.private = True
    kept = place.keep(a_learning(scope=Scope.TEAM))
    assert (place.memory.ids(), place.files.ids()) == (["cl_1"], ["cl_1"])
    assert kept.receipt.backend == "memory"
    (note,) = kept.notes
    assert "git ignores" in note
    assert "kept in files as well" in note
    assert place.waiting() == {}


def test_a_team_learning_only_warns_where_that_is_configured(place):
    place.settings = {"team_copies": False}
    place.memory.private = True
    (note,) = place.keep(a_learning(scope=Scope.TEAM)).notes
    assert "backends.team_copies" in note
    assert place.files.ids() == []


def test_a_team_learning_that_nobody_can_share_says_so(place):
    place.memory.private = place.files.private = True
    (note,) = place.keep(a_learning(scope=Scope.TEAM)).notes
    assert "no other backend here is shared" in note
    assert place.files.ids() == []


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.EPHEMERAL])
def test_what_is_not_the_teams_is_not_copied(place, scope):
    place.memory.private = True
    assert place.keep(a_learning(scope=scope)).notes == ()
    assert place.files.ids() == []


def test_a_team_learning_that_was_lent_stays_as_the_teams_copy(place):
    place.memory.down = place.memory.private = True
    place.keep(a_learning(scope=Scope.TEAM))
    place.memory.down = False
    deliver(place.shelves)
    assert (place.memory.ids(), place.files.ids(), place.waiting()) == (["cl_1"], ["cl_1"], {})


def test_both_copies_get_a_new_status(place):
    place.memory.private = True
    place.keep(a_learning(scope=Scope.TEAM))
    place.shelves.library.set_status("cl_1", LearningStatus.ARCHIVED)
    found = [one.get("cl_1").status for one in (place.memory, place.files)]
    assert found == [LearningStatus.ARCHIVED] * 2


def test_an_ephemeral_learning_is_not_lent(place):
    place.memory.down = True
    assert place.keep(a_learning(scope=Scope.EPHEMERAL)).receipt.status is ReceiptStatus.QUEUED
    assert place.files.ids() == []


@pytest.mark.parametrize("which", ["memory", "files"])
def test_what_one_of_two_has_put_away_is_put_away(place, which):
    place.memory.private = True
    place.keep(a_learning(scope=Scope.TEAM))
    getattr(place, which).set_status("cl_1", LearningStatus.SUPERSEDED)
    library = place.shelves.library
    assert library.get("cl_1").hit.learning.status is LearningStatus.SUPERSEDED
    assert [one.hit.learning.status for one in library.iterate()] == [LearningStatus.SUPERSEDED]
    index = LearningIndex(IN_MEMORY)
    refresh(index, library, None)
    terms = query_terms(text="migrations lock the table")
    assert (index.find(terms), index.newest()) == ([], [])
    assert [one.entry.status for one in index.find(terms, all_statuses=True)] == ["superseded"]
    assert [one.status for one in index.entries()] == ["superseded"]
    assert index.get("cl_1").status == "superseded"
