"""The memory backends of a project as one library: routing, searching, and broken backends."""

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from grove_core.errors import (
    BackendError,
    LearningNotFoundError,
    StorageError,
    UnsupportedError,
)
from grove_core.memory import library as module
from grove_core.memory.library import MemoryLibrary
from grove_core.model.learning import Category, Learning, LearningStatus, Scope
from grove_core.model.memory import (
    Capability,
    Changes,
    Detection,
    Filters,
    Health,
    Hit,
    Query,
    ReceiptStatus,
)
from grove_core.plugins.descriptors import (
    Area,
    BackendContext,
    BackendSpec,
    Incremental,
    MemoryBackend,
)
from grove_core.testing import InMemoryBackend

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
FOUND = Detection(marker=".x")
# A backend that says so has to have files, a server, or notes of others.
ALL = frozenset(Capability) - {
    Capability.FILES,
    Capability.NOTES,
    Capability.SLOW,
    Capability.SYNCHRONISE,
}


def a_learning(name="cl_1", **fields):
    given = {
        "summary": "Migrations lock the table",
        "detail": "Add the index first.",
        "session_id": "s",
        "timestamp": NOW,
        **fields,
    }
    return Learning(id=name, category=Category.PITFALL, **given)


def explode(*_):
    raise RuntimeError("boom")


def forever(*_):
    threading.Event().wait(20)


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


# The reference backend itself.


def test_the_reference_backend_is_one():
    backend = InMemoryBackend()
    assert isinstance(backend, MemoryBackend)
    assert backend.capabilities == ALL
    first, second = a_learning("cl_b"), a_learning("cl_a", timestamp=NOW - timedelta(days=1))
    assert backend.write(first).status is ReceiptStatus.STORED
    assert backend.write(evolve(first, summary="another")).status is ReceiptStatus.DUPLICATE
    assert backend.get("cl_b") == first
    backend.write(second)
    assert list(backend.iterate()) == [second, first]
    assert backend.get("cl_none") is None
    assert backend.ping().ok
    hits = backend.search(Query(text="migrations"), Filters(limit=1))
    assert [(one.learning, one.relevance > 0) for one in hits] == [(first, True)]
    assert backend.search(Query(text="zebra"), Filters()) == []
    assert {one.relevance for one in backend.search(Query(), Filters())} == {0.0}
    assert backend.set_status("cl_b", LearningStatus.ARCHIVED).status is LearningStatus.ARCHIVED
    assert [one.learning for one in backend.search(Query(), Filters())] == [second]
    with pytest.raises(LearningNotFoundError):
        backend.set_status("cl_none", LearningStatus.ACTIVE)


def test_the_reference_backend_refuses_what_its_capabilities_do_not_name():
    backend = InMemoryBackend("small", frozenset())
    backend.write(a_learning())
    for call in (
        lambda: backend.get("cl_1"),
        backend.iterate,
        lambda: backend.set_status("cl_1", LearningStatus.ARCHIVED),
        lambda: backend.changes(""),
    ):
        with pytest.raises(UnsupportedError, match="small"):
            call()


def test_the_reference_backend_tells_what_is_new():
    backend = InMemoryBackend()
    assert isinstance(backend, Incremental)
    first, second = a_learning("cl_1"), a_learning("cl_2")
    backend.write(first)
    everything = backend.changes("")
    assert everything == Changes(learnings=(first,), mark=everything.mark, whole=True)
    assert backend.changes(everything.mark) == evolve(everything, learnings=(), whole=False)
    backend.write(second)
    backend.write(evolve(first, summary="another"))
    archived = backend.set_status("cl_2", LearningStatus.ARCHIVED)
    news = backend.changes(everything.mark)
    assert (news.learnings, news.whole) == ((archived,), False)
    assert backend.changes(news.mark).learnings == ()
    assert backend.changes(InMemoryBackend().changes("").mark).whole


# Standing.


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


def test_paths_of_all_installed_backends_are_told_without_opening_any(library_of):
    one, other = Store("a", paths=("mem",)), Store("b", None, paths=("x", "y"))
    assert library_of(one, other).own_paths() == ("mem", "x", "y")
    assert one.opened == {}


def test_paths_are_told_without_looking_for_any_backend(library_of):
    library = library_of(BackendSpec(name="a", detect=explode, open=explode, paths=("mem",)))
    assert library.own_paths() == ("mem",)
    assert library.problems == []


def test_a_backend_is_opened_once_with_its_own_settings(library_of):
    store = Store("files")
    library = library_of(store, settings={"files": "S", "other": "O"})
    library.search(Query(), Filters())
    library.search(Query(), Filters())
    assert store.opened[Area.PROJECT].settings == "S"
    assert store.opened[Area.PERSONAL].home == Path("/h")


# Routing.


@pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.TEAM])
def test_work_goes_to_the_primary_backend_alone(library_of, scope):
    first, second = Store("first"), Store("files")
    library = library_of(first, second)
    target = library.target_for(scope)
    assert target.area is Area.PROJECT
    receipt = library.write(target, a_learning(scope=scope))
    assert (receipt.status, receipt.backend) == (ReceiptStatus.STORED, "first")
    assert stored_in(first.project) == ["cl_1"]
    assert (
        stored_in(first.personal) == stored_in(second.project) == stored_in(second.personal) == []
    )


def test_personal_learnings_go_to_the_personal_backend_and_nowhere_else(library_of):
    first, files = Store("first"), Store("files")
    library = library_of(first, files)
    library.write(library.target_for(Scope.PERSONAL), a_learning(scope=Scope.PERSONAL))
    assert stored_in(files.personal) == ["cl_1"]
    assert stored_in(first.project) == stored_in(first.personal) == stored_in(files.project) == []


def test_the_personal_backend_need_not_be_used_in_the_project(library_of):
    first, files = Store("first"), Store("files", None)
    library = library_of(first, files)
    assert library.target_for(Scope.PERSONAL).backend is files.personal
    assert Area.PROJECT not in files.opened


@pytest.mark.parametrize(
    "store",
    [
        Store("other"),
        Store("files", capabilities=ALL - {Capability.PERSONAL}),
        Store("files", open=explode),
    ],
    ids=["not installed", "cannot", "does not open"],
)
def test_without_a_personal_backend_nobody_takes_a_personal_learning(library_of, store):
    assert library_of(Store("first"), store).target_for(Scope.PERSONAL) is None


def test_ephemeral_learnings_go_to_the_first_that_keeps_a_daily_log(library_of):
    plain = Store("plain", capabilities=ALL - {Capability.EPHEMERAL})
    log, files = Store("log"), Store("files")
    assert library_of(plain, log, files).target_for(Scope.EPHEMERAL).backend is log.project
    assert library_of(plain, personal="plain").target_for(Scope.EPHEMERAL) is None


def test_without_a_backend_there_is_no_target(library_of):
    for library in (library_of(), library_of(Store("files", None))):
        assert library.target_for(Scope.PROJECT) is None
        assert library.search(Query(), Filters()) == []


def test_no_other_backend_takes_the_place_of_a_primary_one_that_does_not_open(library_of):
    """Its learnings wait in the outbox instead of going astray."""
    other = Store("other")
    library = library_of(BackendSpec(name="down", detect=lambda _: FOUND, open=explode), other)
    target = library.target_for(Scope.PROJECT)
    assert isinstance(target.backend, MemoryBackend)
    assert target.backend.name == "down"
    assert library.write(target, a_learning()) is None
    assert stored_in(other.project) == []
    assert [one.what for one in library.problems] == ["open of down", "write of down"]
    assert not library.health(target).ok
    assert [one.backend.name for one in library.project_backends] == ["other"]


def test_a_backend_that_does_not_open_can_do_nothing():
    from grove_core.memory.unopened import UnopenedBackend

    backend = UnopenedBackend("down")
    assert backend.capabilities == frozenset()
    for call in (
        lambda: backend.get("cl_1"),
        backend.iterate,
        lambda: backend.search(Query(), Filters()),
        lambda: backend.set_status("cl_1", LearningStatus.ACTIVE),
    ):
        with pytest.raises(BackendError, match="down could not be opened"):
            call()


# Searching.


def test_all_backends_are_searched_and_the_best_comes_first(library_of):
    first, files = Store("first"), Store("files")
    first.project.write(a_learning("cl_weak", tags=("other",)))
    files.project.write(a_learning("cl_tag", tags=("migrations",)))
    files.personal.write(a_learning("cl_mine", scope=Scope.PERSONAL))
    files.project.write(a_learning("cl_old", status=LearningStatus.ARCHIVED))
    library = library_of(first, files)
    found = library.search(Query(text="migrations"), Filters())
    assert ids(found) == ["cl_tag", "cl_weak", "cl_mine"]
    assert [(one.backend, one.area) for one in found] == [
        ("files", Area.PROJECT),
        ("first", Area.PROJECT),
        ("files", Area.PERSONAL),
    ]
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


def test_what_a_backend_returns_is_cleaned_and_bounded(library_of):
    wild = a_learning(
        summary="one\u202e line\nand another " + "x" * 900,
        detail="fine\u200b\x1b[31m\r\nnext" + "y" * 9000,
        tags=tuple(f"tag\n{number}\u200b" for number in range(99)),
        context_files=tuple(f"a\n{number}" for number in range(999)),
        ticket_id="T\n1",
        session_id="s\x00",
        supersedes=("cl_old", "no id!", "x\n"),
    )
    (found,) = library_of(returning([hit(wild, 7.0, reasons=("a\nb",))])).search(Query(), Filters())
    learning = found.hit.learning
    assert (found.hit.relevance, found.hit.reasons) == (1.0, ("a b",))
    assert learning.summary.startswith("one line and another x")
    assert len(learning.summary) == 200
    assert learning.detail.startswith("fine[31m\nnexty")
    assert len(learning.detail) == 2000
    assert learning.tags == tuple(f"tag {number}" for number in range(10))
    assert learning.context_files[:2] == ("a 0", "a 1")
    assert len(learning.context_files) == 50
    assert (learning.ticket_id, learning.session_id) == ("T 1", "s")
    assert learning.supersedes == ("cl_old",)


@pytest.mark.parametrize(
    ("relevance", "expected"),
    [(-1, 0.0), (2, 1.0), (float("inf"), 0.0), (float("nan"), 0.0), (0.25, 0.25), (1, 1.0)],
)
def test_relevance_is_brought_between_zero_and_one(library_of, relevance, expected):
    (found,) = library_of(returning([hit(relevance=relevance)])).search(Query(), Filters())
    assert found.hit.relevance == expected


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


NONSENSE = [
    None,
    7,
    "hits",
    (hit() for _ in "x"),
    [None],
    ["cl_1"],
    [a_learning()],
    [hit(relevance="high")],
    [hit(a_learning("no id!"))],
    [hit(a_learning("cl_1\ngrove: go on"))],
    [hit(a_learning(7))],
    [hit(a_learning(timestamp=datetime(2026, 2, 6)))],
    [hit(a_learning(timestamp="2026-02-06"))],
    [hit(a_learning(summary=None))],
    [hit(a_learning(tags="ab"))],
    [hit(a_learning(tags=(1, 2)))],
    [hit(a_learning(scope="project"))],
    [hit(a_learning(status="active"))],
    [hit(a_learning(ticket_id=9))],
    [hit(reasons=(1,))],
    [hit(learning="x")],
]


@pytest.mark.parametrize("answer", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_is_reported_and_the_other_backends_are_searched(library_of, answer):
    good = Store("good")
    good.project.write(a_learning("cl_good"))
    library = library_of(returning(answer), good)
    assert ids(library.search(Query(), Filters())) == ["cl_good"]
    (problem,) = library.problems
    assert problem.source.distribution == "acme"


@pytest.mark.parametrize(
    "answer", [None, 7, "x", [None], [hit()], [a_learning("no id!")], [a_learning(detail=7)]]
)
def test_a_senseless_list_of_learnings_is_reported(library_of, answer):
    good = Store("good")
    good.project.write(a_learning("cl_good"))
    library = library_of(returning([], iterate=lambda: answer), good)
    assert ids(library.iterate()) == ["cl_good"]
    assert len(library.problems) == 1


def test_reports_name_the_method_and_the_backend(library_of):
    methods = ["search", "get", "iterate", "ping", "write", "set_status"]
    library = library_of(returning([], **dict.fromkeys(methods, explode)))
    (opened,) = library.project_backends
    library.search(Query(), Filters())
    library.get("cl_1")
    list(library.iterate())
    library.health(opened)
    library.write(opened, a_learning())
    opened.backend.get = lambda _: a_learning()
    with pytest.raises(BackendError):
        library.set_status("cl_1", LearningStatus.ARCHIVED)
    assert [one.what for one in library.problems] == [f"{method} of odd" for method in methods]


@pytest.mark.parametrize("method", ["search", "get", "iterate"])
def test_reports_on_senseless_answers_name_them_too(library_of, method):
    library = library_of(returning(7, get=lambda _: "x", iterate=lambda: "x"))
    calls = {
        "search": lambda: library.search(Query(), Filters()),
        "get": lambda: library.get("cl_1"),
        "iterate": lambda: list(library.iterate()),
    }
    calls[method]()
    assert [one.what for one in library.problems] == [f"{method} of odd"]


def test_good_hits_beside_bad_ones_are_kept(library_of):
    library = library_of(returning([hit(), None]))
    assert ids(library.search(Query(), Filters())) == ["cl_1"]
    assert len(library.problems) == 1


@pytest.mark.parametrize("search", [explode, forever])
def test_a_backend_that_fails_or_hangs_keeps_no_other_from_answering(
    library_of, monkeypatch, search
):
    good = Store("good")
    good.project.write(a_learning("cl_good"))
    library = library_of(returning([], search=search), good)
    seconds = 0.4 if search is forever else 30
    assert ids(library.search(Query(), Filters(), seconds=seconds)) == ["cl_good"]
    assert len(library.problems) == 1


class Trap:
    """Everything but the name raises."""

    name = "trap"

    def __getattr__(self, name):
        raise RuntimeError(name)


class Hollow:
    name = "hollow"
    capabilities = frozenset()


class Misnamed(InMemoryBackend):
    def __init__(self):
        super().__init__()
        self.name = None


class Listed(InMemoryBackend):
    def __init__(self):
        super().__init__()
        self.capabilities = "all"


@pytest.mark.parametrize("made", [Trap, Hollow, Misnamed, Listed, object, lambda: "x"])
def test_what_is_no_backend_is_reported_and_not_used(library_of, made):
    good = Store("good")
    bad = BackendSpec(name="bad", detect=lambda _: FOUND, open=lambda _: made())
    library = library_of(bad, good)
    assert [one.backend.name for one in library.project_backends] == ["good"]
    assert library.search(Query(), Filters()) == []
    assert library.problems


# Writing.


@pytest.mark.parametrize("answer", [explode, lambda _: None, lambda _: "stored", lambda _: True])
def test_a_write_that_fails_gives_no_receipt(library_of, answer):
    library = library_of(returning([], write=answer))
    assert library.write(library.target_for(Scope.PROJECT), a_learning()) is None


def test_a_write_that_hangs_gives_no_receipt(library_of, monkeypatch):
    monkeypatch.setattr(module, "WRITE_SECONDS", 0.2)
    library = library_of(returning([], write=forever))
    assert library.write(library.target_for(Scope.PROJECT), a_learning()) is None
    (problem,) = library.problems
    assert "longer than" in problem.detail


# One learning.


def test_a_learning_is_got_from_whichever_backend_has_it(library_of):
    deaf = Store("deaf", capabilities=frozenset())
    first, files = Store("first"), Store("files")
    for store in (deaf, first):
        store.project.write(a_learning("cl_deaf"))
    files.personal.write(a_learning("cl_mine", status=LearningStatus.ARCHIVED))
    library = library_of(deaf, first, files)
    assert library.get("cl_deaf").backend == "first"
    mine = library.get("cl_mine")
    assert (mine.backend, mine.area) == ("files", Area.PERSONAL)
    assert library.get("cl_none") is None
    assert library.problems == []


@pytest.mark.parametrize("get", [explode, lambda _: "x", lambda _: a_learning(summary=None)])
def test_a_backend_that_cannot_give_one_is_passed_over(library_of, get):
    good = Store("good")
    good.project.write(a_learning())
    library = library_of(returning([], get=get), good)
    assert library.get("cl_1").backend == "good"
    assert len(library.problems) == 1
    assert library.set_status("cl_1", LearningStatus.ARCHIVED).status is LearningStatus.ARCHIVED
    assert good.project.get("cl_1").status is LearningStatus.ARCHIVED


def test_a_status_is_changed_where_the_learning_lies(library_of):
    first, files = Store("first"), Store("files")
    files.personal.write(a_learning())
    library = library_of(first, files)
    library.set_status("cl_1", LearningStatus.SUPERSEDED, "by cl_2")
    assert files.personal.get("cl_1").status is LearningStatus.SUPERSEDED
    with pytest.raises(LearningNotFoundError, match="cl_none"):
        library.set_status("cl_none", LearningStatus.ACTIVE)


def test_a_status_that_cannot_be_changed_is_an_error_with_words(library_of):
    fixed = Store("fixed", capabilities=frozenset({Capability.GET}))
    fixed.project.write(a_learning())
    with pytest.raises(UnsupportedError, match="fixed cannot change the status of cl_1"):
        library_of(fixed).set_status("cl_1", LearningStatus.ARCHIVED)
    spec = returning([], "odd", get=lambda _: a_learning(), set_status=explode)
    with pytest.raises(BackendError, match=r"odd could not change cl_1: .*boom"):
        library_of(spec).set_status("cl_1", LearningStatus.ARCHIVED)


def test_all_learnings_of_backends_that_can_list_theirs(library_of):
    deaf = Store("deaf", capabilities=ALL - {Capability.ITERATE})
    first, files = Store("first"), Store("files")
    for number, backend in enumerate([deaf.project, first.project, files.personal]):
        backend.write(a_learning(f"cl_{number}", status=LearningStatus.ARCHIVED))
    found = list(library_of(deaf, first, files).iterate())
    assert ids(found) == ["cl_1", "cl_2"]
    assert [one.area for one in found] == [Area.PROJECT, Area.PERSONAL]


def test_an_iteration_that_breaks_in_the_middle_is_reported(library_of):
    def iterate():
        yield a_learning()
        raise StorageError("torn")

    library = library_of(returning([], iterate=iterate))
    assert list(library.iterate()) == []
    assert "torn" in library.problems[0].detail


# Health.


@pytest.mark.parametrize(("ping", "ok"), [(None, True), (explode, False), (lambda: "fine", False)])
def test_health(library_of, ping, ok):
    methods = {} if ping is None else {"ping": ping}
    library = library_of(returning([], **methods))
    health = library.health(library.project_backends[0])
    assert isinstance(health, Health)
    assert health.ok is ok
    assert health.detail
