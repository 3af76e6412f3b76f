"""Whoever asks for much gets it in pages, and may stop after any of them."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from scale import turned_up

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.faults import DatabaseUnreachableError
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.plugin import PostgresSettings
from grove_backend_postgres.store import Store
from grove_core import BackendContext, LearningStatus
from grove_core.testing.samples import example_learning

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
ACTIVE, ARCHIVED, _ = LearningStatus
LEARNINGS = [example_learning(number) for number in range(25)]
IDS = {one.id for one in LEARNINGS}
MOST = 4


def pages(store, mark="", most=MOST):
    """All pages from a mark on."""
    while True:
        page = store.changes_since(mark, most=most)
        yield page
        mark = page.mark
        if page.is_last:
            return


@pytest.fixture
def filled(database, open_store):
    """A store with learnings of many revisions: of one, of several, and of more than a page."""
    one = open_store(database)
    for some in (LEARNINGS[:1], LEARNINGS[1:10], LEARNINGS[10:13], LEARNINGS[13:]):
        one.add(some)
    return one


@pytest.mark.parametrize("most", [1, 4, 25, 1000])
def test_pages_have_everything_once(filled, most):
    told = [*pages(filled, most=most)]
    ids = [one.id for page in told for one in page.learnings]
    assert len(ids) == len(IDS)
    assert {*ids} == IDS
    assert all(len(page.learnings) == most for page in told[:-1])
    assert [page.whole for page in told] == [True] + [False] * (len(told) - 1)
    assert [page.total for page in told] == [None] * (len(told) - 1) + [25]
    assert filled.changes_since(told[-1].mark, most=most).learnings == ()
    filled.add([example_learning(99)])
    page = filled.changes_since(told[-1].mark, most=most)
    assert [one.id for one in page.learnings] == [example_learning(99).id]


@pytest.mark.parametrize("seed", range(turned_up(3, 50)))
def test_what_changes_between_pages_is_not_missed(filled, seed):
    chance = random.Random(seed)
    known, mark, at = {}, "", NOON
    for turn in range(60):
        page = filled.changes_since(mark, most=chance.choice((1, 3, 7)))
        assert page.whole == (mark == "")
        known |= {one.id: one.status for one in page.learnings}
        mark = page.mark
        if page.is_last and turn > 20:
            break
        if turn < 20:
            at += timedelta(minutes=1)
            status = chance.choice((ACTIVE, ARCHIVED))
            filled.set_status(
                chance.choice(LEARNINGS).id, StatusChange(status=status, at=at, was=status)
            )
            filled.add([example_learning(100 + chance.randrange(10))])
    assert page.is_last
    (whole,) = pages(filled, most=1000)
    assert known == {one.id: one.status for one in whole.learnings}


# --- what a machine makes of them ----------------------------------------------------------------


@pytest.fixture
def small_pages(monkeypatch):
    whole = Store.changes_since
    monkeypatch.setattr(Store, "changes_since", lambda one, mark: whole(one, mark, most=MOST))


@pytest.fixture
def machine(database, tmp_path, small_pages):
    project = f"pages-{uuid4().hex[:8]}"

    def one(name):
        settings = PostgresSettings(url=database.url, project=project)
        home = tmp_path / name
        return PostgresBackend(BackendContext(root=home, home=home, settings=settings))

    return one


def project_of(backend):
    return backend._paths.project


def synchronised(backend):
    done = backend.synchronise(60, asked=True)
    assert (done.fault, done.waiting) == ("", ())
    return done.received


def breaking_after(monkeypatch, count):
    """The database answers so many times more."""
    asked, left = Store.changes_since, [count]

    def changes_since(one, mark):
        if not left[0]:
            raise DatabaseUnreachableError("gone")
        left[0] -= 1
        return asked(one, mark)

    monkeypatch.setattr(Store, "changes_since", changes_since)


def test_a_pull_that_is_cut_short_goes_on_where_it_was(machine, database, open_store, monkeypatch):
    there = machine("there")
    open_store(database, project_of(there)).add(LEARNINGS)
    for turn in range(4):
        with monkeypatch.context() as patch:
            breaking_after(patch, 2)
            done = machine("there").synchronise(60, asked=True)
        known = {one.id for one in machine("there").iterate()}
        # Each page is there as a whole.
        assert len(known) == min(25, (turn + 1) * 2 * MOST)
        assert ("gone" in done.fault) == (len(known) < 25)
    assert synchronised(there) == 0
    assert {one.id: one for one in there.iterate()} == {one.id: one for one in LEARNINGS}
