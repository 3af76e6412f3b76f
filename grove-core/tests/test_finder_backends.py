"""Finding learnings in backends that list theirs and in others, with engines of plugins, whatever
they do."""

import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from core_worlds import plugins_with

from grove_core.errors import BackendError
from grove_core.finder import Finder
from grove_core.memory import backends
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import LearningStatus, Scope
from grove_core.model.memory import Capability, Changes, Detection, Filters, Hit, Query
from grove_core.plugins import limits
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.retrieval import RetrievalEngine
from grove_core.storage.cache import cache_in
from grove_core.testing import InMemoryBackend
from grove_core.testing.samples import FIRST_INSTANT, example_learning

NOW = FIRST_INSTANT + timedelta(days=1)
ALL = InMemoryBackend().capabilities
WITHOUT_CHANGES = ALL - {Capability.CHANGES}
WITHOUT_LISTS = WITHOUT_CHANGES - {Capability.ITERATE}
QUERY = Query(text="redis cluster failover", tags=("redis",))


def a_learning(name, **fields):
    usual = {"summary": f"What redis taught {name}", "detail": f"About {name}.", "tags": ("redis",)}
    return example_learning(id=f"cl_{name}", **usual | fields)


class Store:
    """A backend's plugin, whose detection may be replaced."""

    def __init__(self, name="files", capabilities=ALL):
        self.detection = Detection(marker="x")
        self.backends = {
            area: InMemoryBackend(name, capabilities) for area in (Area.PROJECT, Area.PERSONAL)
        }
        self.project, self.personal = self.backends.values()
        self.spec = BackendSpec(
            name=name,
            detect=lambda _: self.detection() if callable(self.detection) else self.detection,
            open=lambda context: self.backends[context.area],
        )


@pytest.fixture
def plugins_of(monkeypatch):
    """Real plugins of stores; a process has them once."""

    def make(stores):
        return plugins_with(
            monkeypatch,
            ("grove_memory_backends", lambda: [one.spec for one in stores]),
            orders={"grove.backends": tuple(one.spec.name for one in stores)},
        )

    return make


@pytest.fixture
def world(tmp_path, plugins_of):
    """Stores, and a finder for each process that looks into them."""

    class World:
        home = tmp_path / "home"

        def finder(self, *stores, **options):
            self.plugins = plugins_of(stores)
            context = BackendContext(root=Path("/p"), home=Path("/h"))
            library = MemoryLibrary(self.plugins, context, personal_backend="files", settings={})
            cache = cache_in(self.home / "cache" / "key", self.home, in_hook=False)
            return Finder(library, cache, NOW, lambda _: {}, recency_days=90, **options)

    (tmp_path / "home").mkdir()
    return World()


def ids(ranked):
    return sorted(one.entry.id for one in ranked)


@pytest.mark.parametrize("capabilities", [ALL, WITHOUT_CHANGES, WITHOUT_LISTS])
def test_each_kind_of_backend(world, capabilities):
    store = Store(capabilities=capabilities)
    store.project.write(a_learning("ours"))
    store.personal.write(a_learning("mine", scope=Scope.PERSONAL))
    store.project.write(a_learning("gone", status=LearningStatus.ARCHIVED))
    store.project.write(a_learning("other", summary="Postgres", detail="x", tags=("sql",)))
    finder = world.finder(store)
    found = finder.search(QUERY, Filters())
    assert ids(found) == ["cl_mine", "cl_ours"]
    assert {one.entry.id: one.entry.personal for one in found} == {
        "cl_mine": True,
        "cl_ours": False,
    }
    everything = Filters(statuses=frozenset(LearningStatus))
    assert ids(finder.search(QUERY, everything)) == ["cl_gone", "cl_mine", "cl_ours"]
    assert ids(finder.search(QUERY, Filters(scopes=frozenset({Scope.PERSONAL})))) == ["cl_mine"]
    assert finder.get("cl_gone").status == "archived"
    assert finder.get("cl_none") is None
    assert world.plugins.problems == []


@pytest.mark.parametrize("capabilities", [ALL, WITHOUT_CHANGES])
def test_what_changes_between_processes(world, capabilities):
    store = Store(capabilities=capabilities)
    for number in range(20):
        store.project.write(a_learning(f"n{number}"))
    assert len(world.finder(store).search(QUERY, Filters())) == 20
    store.project.write(a_learning("new"))
    store.project.set_status("cl_n3", LearningStatus.ARCHIVED)
    found = ids(world.finder(store).search(QUERY, Filters()))
    assert len(found) == 20
    assert "cl_new" in found
    assert "cl_n3" not in found
    store.backends[Area.PROJECT] = InMemoryBackend("files", capabilities)
    store.backends[Area.PROJECT].write(a_learning("only"))
    assert ids(world.finder(store).search(QUERY, Filters())) == ["cl_only"]


def fail(*_):
    raise RuntimeError("boom")


def hang(*_):
    threading.Event().wait(20)


def give_no_detection(store):
    store.detection = fail


def hang_at_listing(store):
    store.project.changes = hang


def list_nonsense(store):
    store.project.changes = lambda *_: Changes(learnings="nonsense", mark="", whole=True)


@pytest.mark.parametrize("fault", [give_no_detection, hang_at_listing, list_nonsense])
def test_a_backend_that_fails_loses_nothing(world, monkeypatch, fault):
    monkeypatch.setattr(backends, "OPEN_SECONDS", 0.02)
    monkeypatch.setattr(backends, "DETECT_SECONDS", 5.0)
    monkeypatch.setattr(limits, "_CLOCK_SECONDS", 0.5)
    store, other = Store(), Store("other")
    other.project.write(a_learning("a"))
    store.project.write(a_learning("b"))
    finder = world.finder(store, other)
    assert ids(finder.search(QUERY, Filters())) == ["cl_a", "cl_b"]
    assert finder.complete
    stored = dict(vars(other)), dict(vars(other.project))
    fault(other)
    store.project.write(a_learning("c"))
    failing = world.finder(store, other, until=lambda: time.monotonic() + 0.5)
    assert ids(failing.search(QUERY, Filters())) == ["cl_a", "cl_b", "cl_c"]
    assert not failing.complete
    vars(other.project).clear()
    vars(other).update(stored[0])
    vars(other.project).update(stored[1])
    healed = world.finder(store, other)
    assert ids(healed.search(QUERY, Filters())) == ["cl_a", "cl_b", "cl_c"]
    assert healed.complete


def test_the_learnings_of_a_backend_that_is_gone_are_gone(world):
    store, other = Store(), Store("other")
    store.project.write(a_learning("a"))
    other.project.write(a_learning("b"))
    assert len(world.finder(store, other).search(QUERY, Filters())) == 2
    other.detection = None
    assert ids(world.finder(store, other).search(QUERY, Filters())) == ["cl_a"]
    other.detection = Detection(marker="x", usable=False)
    assert ids(world.finder(store, other).search(QUERY, Filters())) == ["cl_a"]


@pytest.fixture
def store():
    made = Store()
    for name in ("a", "b", "c"):
        made.project.write(a_learning(name))
    made.project.write(a_learning("old", status=LearningStatus.ARCHIVED))
    return made


def test_rules_judge_what_may_be_found(world, store):
    store.project.write(a_learning("q", tags=("queue",)))
    finder = world.finder(store, engine=RetrievalEngine.RULES)
    (found,) = finder.search(Query(tags=("queue",)), Filters())
    assert (found.entry.id, found.score.relevance) == ("cl_q", 1.0)
    assert (found.score.parts, found.score.reasons) == ({}, ("tag queue",))
    assert finder.floor == 0.15
    archived = Filters(statuses=frozenset({LearningStatus.ARCHIVED}))
    assert finder.search(Query(tags=("queue",)), archived) == []


class Served(InMemoryBackend):
    """A backend with a server: what that would find on top of what is kept here."""

    def __init__(self):
        super().__init__("served", ALL | {Capability.NOTES, Capability.SYNCHRONISE})
        self.there = []
        self.fault = None

    def search(self, query, filters):
        if self.fault is not None:
            raise self.fault
        return [*super().search(query, filters), *self.there]


def a_hit(name, relevance=0.5, *, complete=True, **fields):
    learning = a_learning(name, **fields)
    return Hit(learning=learning, relevance=relevance, complete=complete, reasons=("near",))


@pytest.fixture
def served():
    """A store whose backend has a server."""
    made = Store("served")
    made.project = made.backends[Area.PROJECT] = Served()
    made.project.write(a_learning("here"))
    return made


def test_whoever_asks_for_notes_gets_what_the_server_has_found_but_not_what_was_put_away(
    world, served
):
    served.project.write(a_learning("old"))
    served.project.set_status("cl_old", LearningStatus.ARCHIVED)
    gone = a_hit("gone", status=LearningStatus.ARCHIVED)
    note = a_hit("note", complete=False)
    served.project.there = [a_hit("there"), note, a_hit("here", 0.99), gone]
    finder = world.finder(served)
    found = {
        one.entry.id: one.entry.complete for one in finder.search(QUERY, Filters(), notes=True)
    }
    assert found == {"cl_here": True, "cl_there": True, "cl_note": False}
    everything = Filters(statuses=frozenset(LearningStatus))
    put_away = {one.entry.id for one in finder.search(QUERY, everything, notes=True)} - found.keys()
    assert put_away == {"cl_old", "cl_gone"}


@pytest.mark.parametrize("fault", [BackendError("it is down"), RuntimeError("a fault")])
def test_a_server_that_fails_costs_nothing_that_is_here(world, served, fault):
    files = Store()
    files.project.write(a_learning("file"))
    finder = world.finder(files, served)
    finder.refresh()
    served.project.fault = fault
    assert ids(finder.search(QUERY, Filters(), notes=True)) == ["cl_file", "cl_here"]
