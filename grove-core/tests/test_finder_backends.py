"""Finding learnings in backends that list theirs and in others, with engines of plugins, whatever
they do."""

import itertools
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from grove_core import hookimpl
from grove_core.finder import Finder
from grove_core.indexing import refresh
from grove_core.learning_index import additions, updating
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.memory import available
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.memory import Capability, Changes, Detection, Filters, Query
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec, EngineSpec
from grove_core.plugins.discovery import BACKEND_GROUP, GENERAL_GROUP, FoundPlugin
from grove_core.plugins.engines import find_engine
from grove_core.plugins.facade import Plugins
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.selection import PluginSettings
from grove_core.testing import InMemoryBackend

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
NUMBERS = itertools.count()
ALL = InMemoryBackend().capabilities
WITHOUT_CHANGES = ALL - {Capability.CHANGES}
WITHOUT_LISTS = WITHOUT_CHANGES - {Capability.ITERATE}
QUERY = Query(text="redis cluster failover", tags=("redis",))


def a_learning(name, days=0, **fields):
    values = {
        "summary": f"What redis taught {name}",
        "detail": f"Much about {name}.",
        "tags": ("redis",),
        **fields,
    }
    return Learning(
        id=f"cl_{name}",
        category=Category.PITFALL,
        session_id="s",
        timestamp=NOW - timedelta(days=days),
        **values,
    )


class Store:
    """A backend's plugin, whose detection, opening and listing may be replaced."""

    def __init__(self, name="files", capabilities=ALL):
        self.detection = Detection(marker="x")
        self.backends = {
            area: InMemoryBackend(name, capabilities) for area in (Area.PROJECT, Area.PERSONAL)
        }
        self.opener = self.backends.get
        self.spec = BackendSpec(
            name=name,
            detect=lambda _: self.detection() if callable(self.detection) else self.detection,
            open=lambda context: self.opener(context.area),
        )

    @property
    def project(self):
        return self.backends[Area.PROJECT]

    @property
    def personal(self):
        return self.backends[Area.PERSONAL]


@pytest.fixture
def plugins_of(monkeypatch):
    """Real plugins of stores and engines; a process has them once."""

    def make(stores, engines=()):
        module = ModuleType(f"plugins_of_finder_{next(NUMBERS)}")
        module.backends, module.engines = ModuleType("backends"), ModuleType("engines")
        module.backends.grove_memory_backends = hookimpl(
            lambda: [one.spec for one in stores], specname="grove_memory_backends"
        )
        module.engines.grove_retrieval_engines = hookimpl(
            lambda: list(engines), specname="grove_retrieval_engines"
        )
        monkeypatch.setitem(sys.modules, module.__name__, module)
        found = [
            FoundPlugin(group, name, f"{module.__name__}:{name}", "acme", "1.0", False)
            for group, name in ((BACKEND_GROUP, "backends"), (GENERAL_GROUP, "engines"))
        ]
        order = tuple(one.spec.name for one in stores)
        problems = []
        limits = TimeLimits(load=30, registration=30, life_cycle=30)
        plugins = Plugins(
            found, PluginSettings(backend_order=order), problems.append, limits=limits
        )
        plugins.problems = problems
        return plugins

    return make


@pytest.fixture
def world(tmp_path, plugins_of):
    """Stores, and a finder for each process that looks into them."""

    class World:
        cache = tmp_path / "home" / "cache" / "key"

        def finder(self, *stores, engines=(), engine="default", **options):
            self.plugins = plugins_of(stores, engines)
            library = MemoryLibrary(
                self.plugins,
                BackendContext(root=Path("/p"), home=Path("/h")),
                personal_backend="files",
                settings={},
            )
            self.library = library
            return Finder(
                library,
                self.cache,
                NOW,
                lambda _: {},
                recency_days=90,
                engine=find_engine(self.plugins, engine),
                **options,
            )

        def held(self):
            """What is in the file, whoever may be there to list it."""
            index = LearningIndex(str(self.cache / "index.sqlite"))
            try:
                return sorted(one.id for one in index.entries())
            finally:
                index.close()

    (tmp_path / "home").mkdir()
    return World()


def ids(ranked):
    return sorted(one.entry.id for one in ranked)


@pytest.fixture
def added(monkeypatch):
    """The ids that were put into an index."""
    found = []
    add = additions.Additions.add

    def counted(additions, entry, digest):
        found.append(entry.id)
        add(additions, entry, digest)

    monkeypatch.setattr(additions.Additions, "add", counted)
    return found


# --- what is found ------------------------------------------------------------------------------


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
def test_what_changes_between_processes(world, added, capabilities):
    store = Store(capabilities=capabilities)
    for number in range(20):
        store.project.write(a_learning(f"n{number}"))
    assert len(world.finder(store).search(QUERY, Filters())) == 20
    added.clear()
    store.project.write(a_learning("new"))
    store.project.set_status("cl_n3", LearningStatus.ARCHIVED)
    found = ids(world.finder(store).search(QUERY, Filters()))
    assert len(found) == 20
    assert "cl_new" in found
    assert "cl_n3" not in found
    assert sorted(added) == ["cl_n3", "cl_new"]
    store.backends[Area.PROJECT] = InMemoryBackend("files", capabilities)
    store.project.write(a_learning("only"))
    assert ids(world.finder(store).search(QUERY, Filters())) == ["cl_only"]


def test_a_learning_in_two_backends_is_found_once(world):
    first, second = Store("files"), Store("other")
    first.project.write(a_learning("a", summary="redis"))
    second.project.write(a_learning("a", summary="redis cluster failover"))
    second.project.write(a_learning("b"))
    finder = world.finder(first, second)
    assert ids(finder.search(QUERY, Filters())) == ["cl_a", "cl_b"]
    assert ids(finder.newest(Filters())) == ["cl_a", "cl_b"]
    assert finder.get("cl_a").backend == "files"


def test_names_that_no_file_can_hold(world):
    store = Store("files")
    odd = Store("odd")
    odd.project.name = "half \ud800"
    store.project.write(a_learning("a", context_files=("src/\udcff.py",), ticket_id="\ud800"))
    odd.project.write(a_learning("b", tags=("\ud800", "redis")))
    finder = world.finder(store, odd)
    assert ids(finder.search(QUERY, Filters())) == ["cl_a", "cl_b"]
    assert ids(world.finder(store, odd).search(QUERY, Filters())) == ["cl_a", "cl_b"]


def test_a_mark_that_no_file_can_hold(world):
    store = Store()
    store.project.write(a_learning("a"))
    asked = []

    def changes(mark):
        asked.append(mark)
        return Changes(learnings=tuple(store.project.iterate()), mark="\ud800 \0", whole=True)

    store.project.changes = changes
    for _ in range(2):
        assert ids(world.finder(store).search(QUERY, Filters())) == ["cl_a"]
    assert asked == ["", "\ud800 \0"]


# --- backends that fail -------------------------------------------------------------------------


def fail(*_):
    raise RuntimeError("boom")


def hang(*_):
    threading.Event().wait(20)


def answer_nonsense(*_):
    return Changes(learnings="nonsense", mark="", whole=True)


def give_no_detection(store):
    store.detection = fail


def give_no_backend(store):
    store.opener = fail


def hang_at_opening(store):
    store.opener = hang


def fail_at_listing(store):
    store.project.changes = fail


def hang_at_listing(store):
    store.project.changes = hang


def list_nonsense(store):
    store.project.changes = answer_nonsense


def say_nothing(store):
    store.project.changes = lambda _: None


FAULTS = [
    give_no_detection,
    give_no_backend,
    hang_at_opening,
    fail_at_listing,
    hang_at_listing,
    list_nonsense,
    say_nothing,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_backend_that_fails_loses_nothing(world, added, monkeypatch, fault):
    monkeypatch.setattr(available, "OPEN_SECONDS", 0.1)
    monkeypatch.setattr(available, "DETECT_SECONDS", 5.0)
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
    added.clear()
    healed = world.finder(store, other)
    assert ids(healed.search(QUERY, Filters())) == ["cl_a", "cl_b", "cl_c"]
    assert healed.complete
    assert added == []


def test_the_learnings_of_a_backend_that_is_gone_are_gone(world):
    store, other = Store(), Store("other")
    store.project.write(a_learning("a"))
    other.project.write(a_learning("b"))
    assert len(world.finder(store, other).search(QUERY, Filters())) == 2
    other.detection = None
    assert ids(world.finder(store, other).search(QUERY, Filters())) == ["cl_a"]
    assert world.held() == ["cl_a"]
    assert ids(world.finder(store).search(QUERY, Filters())) == ["cl_a"]
    other.detection = Detection(marker="x", usable=False)
    assert ids(world.finder(store, other).search(QUERY, Filters())) == ["cl_a"]


# --- time ---------------------------------------------------------------------------------------


class Clock:
    """One more each time somebody looks at it."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(updating, "time", self)

    def monotonic(self):
        self.now += 1
        return self.now


def test_what_there_was_no_time_for_is_put_in_the_next_time(world, added, monkeypatch):
    monkeypatch.setattr(updating, "_AT_ONCE", 5)
    store = Store()
    for number in range(20):
        store.project.write(a_learning(f"n{number:02}", days=number))
    finder = world.finder(store)
    # As long as the clock of the backends is the real one, these are listed.
    index = LearningIndex(str(world.cache / "index.sqlite"))
    world.cache.mkdir(parents=True)
    Clock(monkeypatch)
    monkeypatch.setattr("grove_core.indexing.time", type("", (), {"monotonic": lambda: -5.0}))
    assert not refresh(index, world.library, 2.0)
    # The newest come first.
    assert sorted(one.id for one in index.entries()) == [f"cl_n{n:02}" for n in range(10)]
    assert len(index.newest(50)) == 10
    index.close()
    monkeypatch.undo()
    put_in = len(added)
    assert len(finder.search(QUERY, Filters())) == 20
    assert finder.complete
    assert put_in == 10


def test_no_time_at_all(world):
    store = Store()
    store.project.write(a_learning("a"))
    finder = world.finder(store, until=lambda: time.monotonic() - 1)
    assert finder.search(QUERY, Filters()) == []
    assert not finder.complete
    assert ids(world.finder(store).search(QUERY, Filters())) == ["cl_a"]


def test_nothing_is_made_where_grove_has_no_home(world):
    world.cache = Path("/nowhere/cache/key")
    store = Store()
    store.project.write(a_learning("a"))
    finder = world.finder(store)
    assert ids(finder.search(QUERY, Filters())) == ["cl_a"]
    assert finder.index.path == IN_MEMORY


# --- engines ------------------------------------------------------------------------------------


def an_engine(score, floor=0.3, name="acme"):
    return EngineSpec(name=name, score=score, floor=floor)


@pytest.fixture
def store():
    made = Store()
    for number, name in enumerate(("a", "b", "c")):
        made.project.write(a_learning(name, days=number))
    made.project.write(a_learning("old", status=LearningStatus.ARCHIVED))
    return made


def test_an_engine_judges_what_may_be_found(world, store):
    asked = []

    def score(query, learnings):
        asked.append((query, [one.id for one in learnings]))
        return [(0.9 if one.id == "cl_b" else 0.0, ("vector",)) for one in learnings]

    finder = world.finder(store, engines=[an_engine(score)], engine="acme")
    (found,) = finder.search(QUERY, Filters())
    assert (found.entry.id, found.score.relevance) == ("cl_b", 0.9)
    assert (found.score.parts, found.score.reasons) == ({}, ("vector",))
    assert finder.judged_by == "acme"
    assert finder.floor == 0.3
    assert [(query, sorted(names)) for query, names in asked] == [(QUERY, ["cl_a", "cl_b", "cl_c"])]
    finder.search(QUERY, Filters(statuses=frozenset({LearningStatus.ARCHIVED})))
    assert asked[1][1] == ["cl_old"]


def too_few(_, learnings):
    return [(0.5, ())] * (len(learnings) - 1)


def spoil_the_list(_, learnings):
    learnings.clear()
    return []


BAD_SCORES = {
    "raises": fail,
    "hangs": hang,
    "nothing": lambda *_: None,
    "text": lambda *_: "0.5",
    "too few": too_few,
    "spoils": spoil_the_list,
    "too large": lambda _, found: [(1.5, ())] * len(found),
    "negative": lambda _, found: [(-0.1, ())] * len(found),
    "not a number": lambda _, found: [(float("nan"), ())] * len(found),
    "no reasons": lambda _, found: [0.5] * len(found),
    "reasons as text": lambda _, found: [(0.5, "vector")] * len(found),
    "reasons of numbers": lambda _, found: [(0.5, (1,))] * len(found),
    "a text as a number": lambda _, found: [("0.5", ())] * len(found),
    "a generator": lambda _, found: ((0.5, ()) for _ in found),
}


@pytest.mark.parametrize("bad", BAD_SCORES)
def test_where_an_engine_fails_the_index_serves(world, store, monkeypatch, bad):
    monkeypatch.setattr("grove_core.plugins.engines.SECONDS", 0.1)
    expected = world.finder(store).search(QUERY, Filters())
    assert len(expected) == 3
    usual = world.finder(store).floor
    finder = world.finder(store, engines=[an_engine(BAD_SCORES[bad])], engine="acme")
    assert finder.search(QUERY, Filters()) == expected
    assert finder.floor == usual
    (problem,) = world.plugins.problems
    assert "score of acme" in str(problem)
    finder.search(QUERY, Filters())
    assert len(world.plugins.problems) == 1


@pytest.mark.parametrize("floor", [float("nan"), -1, 2, "0.5", None])
def test_an_engine_without_a_sensible_floor_is_not_used(world, store, floor):
    engine = an_engine(lambda _, found: [(0.9, ())] * len(found), floor)
    finder = world.finder(store, engines=[engine], engine="acme")
    assert finder.floor == world.finder(store).floor
    finder = world.finder(store, engines=[engine], engine="acme")
    (problem,) = world.plugins.problems
    assert "floor" in str(problem)


def test_an_engine_that_nobody_offers(world, store):
    finder = world.finder(store, engine="unknown")
    assert len(finder.search(QUERY, Filters())) == 3
    assert world.plugins.problems == []


def test_the_rules_are_an_engine(world, store):
    store.project.write(a_learning("part", tags=("redis-cache",), summary="x", detail="y"))
    finder = world.finder(store, engine="rules")
    found = {one.entry.id: one.score.relevance for one in finder.search(QUERY, Filters())}
    assert found == {"cl_a": 1.0, "cl_b": 1.0, "cl_c": 1.0, "cl_part": 0.5}


def test_backends_that_list_nothing_are_searched_beside_an_engine(world, store):
    other = Store("other", WITHOUT_LISTS)
    other.project.write(a_learning("far"))
    engine = an_engine(lambda _, found: [(0.9, ())] * len(found))
    finder = world.finder(store, other, engines=[engine], engine="acme")
    assert ids(finder.search(QUERY, Filters())) == ["cl_a", "cl_b", "cl_c", "cl_far"]
