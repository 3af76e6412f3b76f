"""A learning is kept whatever happens, is found meanwhile, and gets home once."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from grove_core.errors import StorageError
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
        self.down = self.stuck = self.private = self.deaf = False
        self.available = True
        self.unclear = False

    def write(self, learning):
        if self.down:
            raise ConnectionError("no route")
        return evolve(super().write(learning), shared=not self.private)

    def get(self, learning_id):
        if self.deaf:
            raise ConnectionError("no route")
        return super().get(learning_id)

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
            if backend.unclear:
                raise OSError("stale file handle")
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

    def deliver(self, **options):
        return deliver(self.shelves, **options)

    def notes(self):
        return [one.note for one in self.deliver()]

    def lends(self, *, scope=Scope.PROJECT):
        """What was accepted while the memory was down, which is up again."""
        self.memory.down = True
        self.keep(a_learning(scope=scope))
        self.memory.down = False

    def everywhere(self):
        return self.memory.ids(), self.files.ids(), self.waiting()

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


# --- what is lent -------------------------------------------------------------------------------


@pytest.fixture
def away(place):
    """A project whose configured memory is not there."""
    place.settings = {"home": "memory"}
    place.memory.available = False
    return place


def test_what_nothing_keeps_is_found_while_its_home_is_awaited(away):
    """And goes no further: it is not at home in the backend that is there."""
    away.files.down = True
    assert away.keep(a_learning()).receipt.backend == "memory"
    assert away.everywhere() == ([], [], {"cl_1": ""})
    away.files.down = False
    assert away.deliver() == []
    assert away.everywhere() == ([], ["cl_1"], {"cl_1": "files"})
    away.memory.available = True
    assert [one.backend for one in away.deliver()] == ["memory"]
    assert away.everywhere() == (["cl_1"], [], {})


def test_what_is_lent_is_not_lent_on_while_its_home_is_awaited(away, plugins_of):
    away.keep(a_learning())
    third = Flaky("third")
    plugins = plugins_of(*map(away.spec, (away.memory, third, away.files)))
    context = BackendContext(root=ROOT, home=Path("/h"))
    library = MemoryLibrary(plugins, context, personal_backend="files", settings={})
    shelves = Shelves(library=library, outbox=away.outbox, root=ROOT, home="memory")
    assert deliver(shelves) == []
    assert (third.ids(), away.everywhere()) == ([], ([], ["cl_1"], {"cl_1": "files"}))


def test_a_crash_before_the_loan_is_made_good_while_its_home_is_awaited(away):
    away.outbox.put(a_learning(), ROOT, NOW, kept_in="files")
    assert away.deliver() == []
    assert away.everywhere() == ([], ["cl_1"], {"cl_1": "files"})
    (entry,) = away.outbox.entries()
    assert entry.is_kept
    assert entry.queued_at == NOW


@pytest.mark.parametrize("is_there", [True, False])
def test_what_is_awaited_no_more_is_done(away, is_there):
    away.outbox.put(a_learning(), ROOT, NOW, kept_in="files")
    if is_there:
        away.files.write(a_learning())
    away.settings = {}
    assert [one.backend for one in away.deliver()] == ["files"]
    assert away.everywhere() == ([], ["cl_1"], {})


@pytest.mark.parametrize("comes_back", [True, False])
def test_what_a_person_has_deleted_meanwhile_is_not_brought_back(away, comes_back):
    away.keep(a_learning())
    away.files.withdraw(a_learning())
    away.memory.available = comes_back
    assert away.deliver() == []
    assert away.everywhere() == ([], [], {})


@pytest.mark.parametrize("comes_back", [True, False])
def test_what_cannot_be_looked_for_waits(away, comes_back):
    """It may have been changed where it is, and would be in both."""
    away.keep(a_learning())
    away.files.set_status("cl_1", LearningStatus.ARCHIVED)
    away.files.deaf, away.memory.available = True, comes_back
    assert away.deliver() == []
    assert away.everywhere() == ([], ["cl_1"], {"cl_1": "files"})
    away.files.deaf, away.memory.available = False, True
    away.deliver()
    assert away.memory.get("cl_1").status is LearningStatus.ARCHIVED


@pytest.mark.parametrize("missing", [Capability.GET, Capability.WITHDRAW])
def test_only_what_can_be_fetched_and_taken_back_is_lent(place, missing):
    place.files = Flaky("files", missing)
    place.memory.down = True
    assert place.keep(a_learning()).receipt.status is ReceiptStatus.QUEUED
    assert place.files.ids() == []


def test_a_lender_that_has_gone_is_named(place):
    place.lends()
    place.files.available = False
    (note,) = place.notes()
    assert "files, which has kept it, is not available here" in note
    assert (place.memory.ids(), place.waiting()) == (["cl_1"], {})


def test_a_lender_that_cannot_say_whether_it_is_there_is_waited_for(place):
    place.lends()
    place.files.unclear = True
    assert place.deliver() == []
    assert place.everywhere() == ([], ["cl_1"], {"cl_1": "files"})


def test_what_was_changed_while_it_moved_stays_and_that_is_told(place, monkeypatch):
    place.lends()
    monkeypatch.setattr(Flaky, "withdraw", lambda *_: False)
    assert place.notes() == ["it stays in files as well, since it was changed there"]
    assert place.everywhere() == (["cl_1"], ["cl_1"], {})


def test_a_backend_that_cannot_say_whether_it_is_there_is_waited_for(place):
    place.memory.unclear = True
    kept = place.keep(a_learning())
    assert kept.notes == ("memory is not available here: it is kept in files until then",)
    assert place.waiting() == {"cl_1": "files"}
    place.memory.unclear = False
    place.deliver()
    assert place.everywhere() == (["cl_1"], [], {})


def test_one_that_would_not_come_first_is_not_waited_for(place):
    place.files.unclear = True
    assert place.keep(a_learning()).notes == ()
    assert place.everywhere() == (["cl_1"], [], {})


@pytest.mark.parametrize(("in_a_hurry", "delivered"), [(True, ["cl_1"]), (False, ["cl_1", "cl_2"])])
def test_whoever_is_in_a_hurry_gives_a_slow_backend_one_learning(place, in_a_hurry, delivered):
    place.memory.down = True
    for name in ("cl_1", "cl_2"):
        place.keep(a_learning(name))
    place.memory.down = False
    place.memory.capabilities |= {Capability.SLOW}
    place.deliver(in_a_hurry=in_a_hurry)
    assert place.memory.ids() == delivered


# --- an outbox that cannot be written -----------------------------------------------------------


def test_without_an_outbox_a_learning_is_lent_for_good(place, tmp_path):
    (tmp_path / "outbox").write_text("in the way")
    place.memory.down = True
    kept = place.keep(a_learning())
    assert (kept.receipt.backend, place.files.ids()) == ("files", ["cl_1"])
    assert kept.notes[0] == "memory could not take it: it is kept in files until that can"
    assert kept.notes[1].startswith("it will not move to memory by itself: cannot create")


def test_without_an_outbox_it_is_kept_where_its_home_is_awaited(away, tmp_path):
    (tmp_path / "outbox").write_text("in the way")
    kept = away.keep(a_learning())
    assert (kept.receipt.backend, away.files.ids()) == ("files", ["cl_1"])
    assert "will not move to memory by itself" in kept.notes[1]


@pytest.mark.parametrize("home", [None, "memory"])
def test_where_everything_fails_that_is_an_error(place, tmp_path, home):
    (tmp_path / "outbox").write_text("in the way")
    place.settings = {"home": home}
    place.memory.down = place.files.down = True
    place.memory.available = home is None
    with pytest.raises(StorageError):
        place.keep(a_learning())


# --- what the team gets to see ------------------------------------------------------------------


def test_a_copy_for_the_team_that_fails_is_told(place):
    place.memory.private = place.files.down = True
    (note,) = place.keep(a_learning(scope=Scope.TEAM)).notes
    assert note.endswith("and files could not take a copy")


def test_without_team_copies_what_was_lent_is_taken_back(place):
    place.settings = {"team_copies": False}
    place.memory.private = True
    place.lends(scope=Scope.TEAM)
    (note,) = place.notes()
    assert "backends.team_copies" in note
    assert place.everywhere() == (["cl_1"], [], {})


@pytest.mark.parametrize("which", ["memory", "files"])
def test_what_one_has_put_away_is_put_away_in_its_copy(place, which):
    place.memory.private = True
    place.keep(a_learning("cl_1", scope=Scope.TEAM))
    place.keep(a_learning("cl_2", scope=Scope.TEAM))
    getattr(place, which).set_status("cl_1", LearningStatus.SUPERSEDED)
    place.shelves.library.level()
    for backend in (place.memory, place.files):
        found = {one.id: one.status for one in backend.iterate()}
        assert found == {"cl_1": LearningStatus.SUPERSEDED, "cl_2": LearningStatus.ACTIVE}


def test_a_copy_that_cannot_be_changed_stays_until_it_can(place):
    place.memory.private = True
    place.keep(a_learning(scope=Scope.TEAM))
    place.memory.set_status("cl_1", LearningStatus.ARCHIVED)
    real, place.files.set_status = place.files.set_status, lambda *_: 1 / 0
    place.shelves.library.level()
    place.files.set_status = real
    assert place.files.get("cl_1").status is LearningStatus.ACTIVE
    place.shelves.library.level()
    assert place.files.get("cl_1").status is LearningStatus.ARCHIVED
