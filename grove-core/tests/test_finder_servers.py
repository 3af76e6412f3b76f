"""Finding with a backend that keeps learnings here and asks a server for more."""

from datetime import timedelta
from pathlib import Path

import pytest

from grove_core.errors import BackendError
from grove_core.finder import Finder
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability, Detection, Filters, Hit, Query, Synchronised
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec, Freshness
from grove_core.storage.cache import cache_in
from grove_core.testing import InMemoryBackend
from grove_core.testing.samples import FIRST_INSTANT, example_learning

NOW = FIRST_INSTANT + timedelta(days=1)
QUERY = Query(text="redis failover")
SERVED = InMemoryBackend().capabilities | {Capability.NOTES, Capability.SYNCHRONISE}


def a_learning(name, **fields):
    usual = {"summary": f"What redis taught {name}", "detail": f"About {name}."}
    return example_learning(id=f"cl_{name}", **usual | fields)


def a_hit(name, relevance=0.5, *, complete=True, **fields):
    learning = a_learning(name, **fields)
    return Hit(learning=learning, relevance=relevance, complete=complete, reasons=("near",))


class Served(InMemoryBackend):
    """A backend with a server: what that would find on top of what is kept here."""

    def __init__(self, capabilities=SERVED):
        super().__init__("served", capabilities)
        self.there = []
        self.fault = None
        self.asked = 0
        self.done = Synchronised(received=1)
        self.calls = []

    def search(self, query, filters):
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return [*super().search(query, filters), *self.there]

    def freshness(self):
        return Freshness(source="the server x", mark=Path("/nowhere"))

    def synchronise(self, seconds, *, asked):
        self.calls.append((seconds, asked))
        return self.done


@pytest.fixture
def served():
    return Served()


@pytest.fixture
def library(plugins_of, served):
    """The served backend, and another one in front of it that has none of its own."""
    files = InMemoryBackend("files")
    specs = [
        BackendSpec(name=one.name, detect=lambda _: Detection(marker="x"), open=opener)
        for one, opener in (
            (files, lambda context: files if context.area is Area.PROJECT else InMemoryBackend()),
            (served, lambda _: served),
        )
    ]
    made = MemoryLibrary(
        plugins_of(*specs),
        BackendContext(root=Path("/p"), home=Path("/h")),
        personal_backend="files",
        settings={},
    )
    made.files = files
    return made


@pytest.fixture
def finder(library, tmp_path):
    (tmp_path / "home").mkdir()
    cache = cache_in(tmp_path / "home" / "cache" / "key", tmp_path / "home", in_hook=False)
    return Finder(library, cache, NOW, lambda _: {}, recency_days=90)


def found(finder, filters=None, **options):
    return {one.entry.id: one for one in finder.search(QUERY, filters or Filters(), **options)}


def test_whoever_asks_for_notes_gets_what_the_server_has_found(finder, served):
    served.write(a_learning("here"))
    served.there = [a_hit("there"), a_hit("note", complete=False), a_hit("here", 0.99)]
    results = found(finder, notes=True)
    assert {name: one.entry.complete for name, one in results.items()} == {
        "cl_here": True,
        "cl_there": True,
        "cl_note": False,
    }
    assert {one.entry.backend for one in results.values()} == {"served"}


def test_what_was_put_away_is_not_brought_back(finder, served):
    learning = a_learning("here")
    served.write(learning)
    served.set_status("cl_here", LearningStatus.ARCHIVED)
    served.there = [a_hit("gone", status=LearningStatus.ARCHIVED)]
    assert found(finder, notes=True) == {}
    everything = Filters(statuses=frozenset(LearningStatus))
    assert set(found(finder, everything, notes=True)) == {"cl_here", "cl_gone"}


@pytest.mark.parametrize("fault", [BackendError("it is down"), RuntimeError("a fault")])
def test_a_server_that_fails_costs_nothing_that_is_here(finder, library, served, fault):
    served.write(a_learning("here"))
    library.files.write(a_learning("file"))
    finder.refresh()
    served.fault = fault
    assert set(found(finder, notes=True)) == {"cl_here", "cl_file"}


@pytest.mark.parametrize("asked", [True, False])
def test_synchronising_tells_what_came_of_it(library, served, asked):
    assert [one.source for one in library.freshness()] == ["the server x"]
    assert library.synchronise(5, asked=asked) == [("served", Synchronised(received=1))]
    assert served.calls == [(5, asked)]
    assert library.has_written
