"""Finding with a backend that keeps learnings here and asks a server for more."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grove_core.errors import BackendError
from grove_core.finder import Finder
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import Category, Learning, LearningStatus
from grove_core.model.memory import Capability, Detection, Filters, Hit, Query, Synchronised
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec, Freshness
from grove_core.testing import InMemoryBackend

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
QUERY = Query(text="redis failover")
SERVED = InMemoryBackend().capabilities | {Capability.NOTES, Capability.SYNCHRONISE}


def a_learning(name, **fields):
    values = {"summary": f"What redis taught {name}", "detail": f"Much about {name}.", **fields}
    return Learning(
        id=f"cl_{name}", category=Category.PITFALL, session_id="s", timestamp=NOW, **values
    )


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
        self.fresh = Freshness(source="the server x", mark=Path("/nowhere"))
        self.done = Synchronised(received=1)
        self.calls = []

    def search(self, query, filters):
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return [*super().search(query, filters), *self.there]

    def freshness(self):
        if self.fault is not None:
            raise self.fault
        return self.fresh

    def synchronise(self, seconds, *, asked):
        self.calls.append((seconds, asked))
        if self.fault is not None:
            raise self.fault
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
    cache = tmp_path / "home" / "cache" / "key"
    return Finder(library, cache, NOW, lambda _: {}, recency_days=90)


def found(finder, filters=None, **options):
    return {one.entry.id: one for one in finder.search(QUERY, filters or Filters(), **options)}


def test_a_hook_asks_no_server(finder, served):
    served.write(a_learning("here"))
    served.there = [a_hit("there")]
    assert [*found(finder)] == ["cl_here"]
    assert served.asked == 0


def test_whoever_asks_for_notes_gets_what_the_server_has_found(finder, served):
    served.write(a_learning("here"))
    served.there = [a_hit("there"), a_hit("note", complete=False)]
    results = found(finder, notes=True)
    assert {name: one.entry.complete for name, one in results.items()} == {
        "cl_here": True,
        "cl_there": True,
        "cl_note": False,
    }
    assert {one.entry.backend for one in results.values()} == {"served"}


def test_what_shares_words_is_judged_by_them_and_what_shares_none_by_the_server(finder, served):
    served.there = [
        a_hit("words", 0.01, summary="redis failover"),
        a_hit("meaning", 0.4, summary="Sentinel", detail="Promotes a replica."),
    ]
    results = found(finder, notes=True)
    assert results["cl_words"].score.relevance > 0.01
    assert results["cl_meaning"].score.relevance == pytest.approx(0.4)
    assert tuple(results["cl_meaning"].score.reasons) == ("near",)


def test_what_is_found_here_is_not_found_twice(finder, served):
    learning = a_learning("here")
    served.write(learning)
    served.there = [Hit(learning=learning, relevance=0.99, reasons=("near",))]
    results = finder.search(QUERY, Filters(), notes=True)
    assert [one.entry.id for one in results] == ["cl_here"]


def test_what_is_kept_here_and_no_index_finds_is_found_by_its_meaning(finder, served):
    learning = a_learning("here", summary="Sentinel", detail="Promotes a replica.")
    served.write(learning)
    served.there = [Hit(learning=learning, relevance=0.6, reasons=("near",))]
    assert found(finder) == {}
    assert found(finder, notes=True)["cl_here"].score.relevance == pytest.approx(0.6)


def test_what_was_put_away_is_not_brought_back(finder, served):
    learning = a_learning("here")
    served.write(learning)
    served.set_status("cl_here", LearningStatus.ARCHIVED)
    served.there = [a_hit("gone", status=LearningStatus.ARCHIVED)]
    assert found(finder, notes=True) == {}
    everything = Filters(statuses=frozenset(LearningStatus))
    assert set(found(finder, everything, notes=True)) == {"cl_here", "cl_gone"}


def test_filters_hold_for_what_the_server_finds(finder, served):
    served.there = [a_hit("there", tags=("redis",)), a_hit("other")]
    assert [*found(finder, Filters(tags=frozenset({"redis"})), notes=True)] == ["cl_there"]


@pytest.mark.parametrize("fault", [BackendError("it is down"), RuntimeError("a fault")])
def test_a_server_that_fails_costs_nothing_that_is_here(finder, library, served, fault):
    served.write(a_learning("here"))
    library.files.write(a_learning("file"))
    finder.refresh()
    served.fault = fault
    assert set(found(finder, notes=True)) == {"cl_here", "cl_file"}


def test_complete_hits_count_of_those_only_that_have_a_server(plugins_of, tmp_path):
    """Without one, what a backend holds is in the index already, or was put away since."""
    served = Served(SERVED - {Capability.SYNCHRONISE})
    served.there = [a_hit("there"), a_hit("note", complete=False)]
    spec = BackendSpec(name="served", detect=lambda _: Detection(marker="x"), open=lambda _: served)
    library = MemoryLibrary(
        plugins_of(spec),
        BackendContext(root=Path("/p"), home=Path("/h")),
        personal_backend="served",
        settings={},
    )
    finder = Finder(library, tmp_path / "cache" / "key", NOW, lambda _: {}, recency_days=90)
    assert [*found(finder, notes=True)] == ["cl_note"]


# --- synchronising --------------------------------------------------------------------------------


def test_only_backends_with_a_server_are_asked_how_fresh_they_are(library, served):
    assert [one.source for one in library.freshness()] == ["the server x"]
    served.fresh = "fresh"
    assert library.freshness() == []
    served.fault = RuntimeError("a fault")
    assert library.freshness() == []


@pytest.mark.parametrize("asked", [True, False])
def test_synchronising_tells_what_came_of_it(library, served, asked):
    assert library.synchronise(5, asked=asked) == [("served", Synchronised(received=1))]
    assert served.calls == [(5, asked)]
    assert library.has_written


@pytest.mark.parametrize("done", [None, "done", 3])
def test_what_is_no_answer_is_a_fault(library, served, done):
    served.done = done
    ((name, answer),) = library.synchronise(5, asked=True)
    assert (name, answer.received, "did not answer" in answer.fault) == ("served", 0, True)


def test_a_backend_that_raises_is_a_fault(library, served):
    served.fault = BackendError("the disk is full")
    ((_, answer),) = library.synchronise(5, asked=True)
    assert "did not answer" in answer.fault
