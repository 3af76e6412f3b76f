"""The memory backends of a project as one library: routing, searching, and broken backends."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from core_worlds import NOW, a_learning

from grove_core.errors import BackendError, LearningNotFoundError, UnsupportedError
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import LearningStatus, Scope
from grove_core.model.memory import Capability, Detection, Filters, Hit, Query, ReceiptStatus
from grove_core.plugins.descriptors import Area, BackendContext, BackendSpec
from grove_core.testing import InMemoryBackend

FOUND = Detection(marker=".x")
# A backend that says so has to have files, a server, or notes of others.
ALL = frozenset(Capability) - {
    Capability.FILES,
    Capability.NOTES,
    Capability.SLOW,
    Capability.SYNCHRONISE,
}


def explode(*_):
    raise RuntimeError("boom")


class Store:
    """A backend's plugin: one backend in memory for each area."""

    def __init__(self, name, detection=FOUND, capabilities=ALL, **spec):
        self.opened = {}
        self.backends = {
            area: InMemoryBackend(name, capabilities) for area in (Area.PROJECT, Area.PERSONAL)
        }
        self.spec = BackendSpec(
            name=name, detect=lambda _: detection, **{"open": self._open, **spec}
        )

    def _open(self, context):
        self.opened[context.area] = context
        return self.backends[context.area]

    @property
    def project(self):
        return self.backends[Area.PROJECT]

    @property
    def personal(self):
        return self.backends[Area.PERSONAL]


@pytest.fixture
def library_of(plugins_of):
    def make(*stores, personal="files", settings=None, **options):
        specs = [getattr(one, "spec", one) for one in stores]
        plugins = plugins_of(*specs, **options)
        library = MemoryLibrary(
            plugins,
            BackendContext(root=Path("/p"), home=Path("/h")),
            personal_backend=personal,
            settings=settings or {},
        )
        library.problems = plugins.problems
        return library

    return make


def stored_in(backend):
    return [one.id for one in backend.iterate()]


def ids(found):
    return [one.hit.learning.id for one in found]


def test_the_first_that_is_found_is_primary_and_all_that_are_found_are_searched(library_of):
    broken = Detection(marker=".y", usable=False, note="no program")
    stores = (Store("a", None), Store("b", broken), Store("c"), Store("d"))
    library = library_of(*stores)
    states = {one.spec.name: (one.is_primary, one.is_active, one.why) for one in library.states}
    assert states == {
        "a": (False, False, "not available in this project"),
        "b": (False, False, "no program"),
        "c": (True, True, "found .x"),
        "d": (False, True, "found .x"),
    }
    assert [one.backend.name for one in library.project_backends] == ["c", "d"]
    assert stores[0].opened == stores[1].opened == {}


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.TEAM])
def test_work_goes_to_the_primary_backend_alone(library_of, scope):
    first, second = Store("first"), Store("files")
    library = library_of(first, second)
    target = library.target_for(scope)
    assert target.area is Area.PROJECT
    receipt = library.write(target, a_learning(scope=scope))
    assert (receipt.status, receipt.backend) == (ReceiptStatus.STORED, "first")
    stored = [stored_in(one) for store in (first, second) for one in store.backends.values()]
    assert stored == [["cl_1"], [], [], []]


def test_personal_learnings_go_to_the_personal_backend_and_nowhere_else(library_of):
    first, files = Store("first"), Store("files")
    library = library_of(first, files)
    library.write(library.target_for(Scope.PERSONAL), a_learning(scope=Scope.PERSONAL))
    assert stored_in(files.personal) == ["cl_1"]
    assert stored_in(first.project) == stored_in(first.personal) == stored_in(files.project) == []


@pytest.mark.parametrize(
    "store",
    [Store("other"), Store("files", capabilities=ALL - {Capability.PERSONAL})],
    ids=["not installed", "cannot"],
)
def test_without_a_personal_backend_nobody_takes_a_personal_learning(library_of, store):
    assert library_of(Store("first"), store).target_for(Scope.PERSONAL) is None


def test_all_backends_are_searched_and_the_best_comes_first(library_of):
    first, files = Store("first"), Store("files")
    first.project.write(a_learning("cl_weak", tags=("other",)))
    files.project.write(a_learning("cl_tag", tags=("migrations",)))
    files.personal.write(a_learning("cl_mine", scope=Scope.PERSONAL))
    files.project.write(a_learning("cl_old", status=LearningStatus.ARCHIVED))
    library = library_of(first, files)
    found = library.search(Query(text="migrations"), Filters())
    assert ids(found) == ["cl_tag", "cl_weak", "cl_mine"]
    assert [one.backend for one in found] == ["files", "first", "files"]
    assert [one.area for one in found] == [Area.PROJECT, Area.PROJECT, Area.PERSONAL]
    assert ids(library.search(Query(text="migrations"), Filters(limit=2))) == ["cl_tag", "cl_weak"]
    assert ids(library.search(Query(text="zebra"), Filters())) == []


def test_one_id_in_two_backends_is_one_hit(library_of):
    first, files = Store("first"), Store("files")
    first.project.write(a_learning("cl_1"))
    files.project.write(a_learning("cl_1", tags=("migrations",)))
    (found,) = library_of(first, files).search(Query(text="migrations"), Filters())
    assert (found.backend, found.hit.relevance) == ("files", 1.0)
    (same,) = library_of(first, files).search(Query(), Filters())
    assert same.backend == "first"


def returning(answer, name="odd", **methods):
    """A backend whose search answers as told, and other methods too."""
    backend = InMemoryBackend(name)
    backend.search = lambda *_: answer
    for method, function in methods.items():
        setattr(backend, method, function)
    return BackendSpec(name=name, detect=lambda _: FOUND, open=lambda _: backend)


def hit(learning=None, relevance=0.5, **fields):
    return Hit(learning=learning or a_learning(), relevance=relevance, **fields)


def test_filters_hold_whatever_a_backend_returns(library_of):
    answers = [
        hit(a_learning("cl_archived", status=LearningStatus.ARCHIVED)),
        hit(a_learning("cl_team", scope=Scope.TEAM)),
        hit(a_learning("cl_old", timestamp=NOW - timedelta(days=9))),
        *(hit(a_learning(f"cl_{number}")) for number in range(9)),
    ]
    filters = Filters(
        scopes=frozenset({Scope.PROJECT}), created_after=NOW - timedelta(days=1), limit=3
    )
    assert ids(library_of(returning(answers)).search(Query(), filters)) == ["cl_0", "cl_1", "cl_2"]


NONSENSE = [None, [hit(a_learning("no id!"))], [hit(a_learning(timestamp=datetime(2026, 2, 6)))]]


@pytest.mark.parametrize("answer", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_is_reported_and_the_other_backends_are_searched(library_of, answer):
    good = Store("good")
    good.project.write(a_learning("cl_good"))
    library = library_of(returning(answer), good)
    assert ids(library.search(Query(), Filters())) == ["cl_good"]
    (problem,) = library.problems
    assert problem.source.distribution == "acme"


def test_a_learning_is_got_from_whichever_backend_has_it(library_of):
    deaf = Store("deaf", capabilities=frozenset())
    first, files = Store("first"), Store("files")
    for store in (deaf, first):
        store.project.write(a_learning("cl_deaf"))
    files.personal.write(a_learning("cl_mine", status=LearningStatus.ARCHIVED))
    library = library_of(deaf, first, files)
    library.set_status("cl_mine", LearningStatus.SUPERSEDED, "by cl_2")
    assert files.personal.get("cl_mine").status is LearningStatus.SUPERSEDED
    with pytest.raises(LearningNotFoundError, match="cl_none"):
        library.set_status("cl_none", LearningStatus.ACTIVE)
    assert library.get("cl_deaf").backend == "first"
    mine = library.get("cl_mine")
    assert (mine.backend, mine.area) == ("files", Area.PERSONAL)
    assert library.get("cl_none") is None
    assert library.problems == []


def test_a_status_that_cannot_be_changed_is_an_error_with_words(library_of):
    fixed = Store("fixed", capabilities=frozenset({Capability.GET}))
    fixed.project.write(a_learning())
    with pytest.raises(UnsupportedError, match="fixed cannot change the status of cl_1"):
        library_of(fixed).set_status("cl_1", LearningStatus.ARCHIVED)
    for set_status, why in (explode, "boom"), (lambda *_: "junk", "returned str"):
        library = library_of(
            returning([], "odd", get=lambda _: a_learning(), set_status=set_status)
        )
        with pytest.raises(BackendError, match=f"odd could not change cl_1: .*{why}"):
            library.set_status("cl_1", LearningStatus.ARCHIVED)
        assert [one.what for one in library.problems] == ["set_status of odd"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (returning([], ping=explode), "did not answer: RuntimeError: boom"),
        (returning([], ping=lambda: "fine"), "did not answer: returned str"),
        (Store("odd", open=explode).spec, "could not be opened: RuntimeError: boom"),
    ],
)
def test_a_health_names_the_fault(library_of, spec, said):
    library = library_of(spec)
    assert library.healths()["odd"].detail == said
    assert len(library.problems) == 1
