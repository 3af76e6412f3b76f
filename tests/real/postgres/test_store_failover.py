"""Connections break anywhere, servers crash, many write at once, pages are cut: nothing is lost, nothing twice."""

import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from cutting_proxy import proxy_before
from scale import turned_up

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.faults import DatabaseUnreachableError
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.plugin import PostgresSettings
from grove_backend_postgres.store import Store
from grove_core import BackendContext, LearningStatus
from grove_core.testing.samples import example_learning, learning_id

MACHINE = Path(__file__).parent / "harness" / "machine.py"
NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
ACTIVE, ARCHIVED, _ = LearningStatus
MACHINES, EACH = turned_up(5, 20), turned_up(4, 8)
WANTED = sorted(learning_id(number) for number in range(MACHINES * EACH))


def revisions(database):
    rows = database.ask("SELECT number FROM grove.revision ORDER BY number")
    return [number for (number,) in rows]


@pytest.mark.parametrize("seed", range(turned_up(6, 200)))
def test_a_connection_that_breaks_anywhere(database, open_store, seed):
    chance = random.Random(seed)
    open_store(database).migrate()
    learnings = [example_learning(n) for n in range(chance.choice((1, 3, 40)))]
    with proxy_before(database.server.port) as proxy:
        # What is said before the first statement takes some 400 bytes, and 900 the other way.
        longest = 3_000 + 1_200 * len(learnings)
        proxy.limits = [
            (chance.randrange(400, longest), None)
            if chance.random() < 0.5
            else (None, chance.randrange(900, 2_500))
            for _ in range(chance.choice((1, 2, 3)))
        ]
        store = open_store(
            database, url=database.server.url(database.name, database.name, proxy.port)
        )
        store.add(learnings)
        assert store.set_status(learnings[0].id, StatusChange(status=ARCHIVED, at=NOON, was=ACTIVE))
        pulled = store.changes_since("")
    assert proxy.cut
    assert {one.id for one in pulled.learnings} == {one.id for one in learnings}
    assert pulled.status_times[learnings[0].id] == NOON
    assert database.ask("SELECT count(*) FROM grove.learning") == [(len(learnings),)]
    assert revisions(database) == [1, 2]


def backend_of(home, url):
    settings = PostgresSettings(url=url, project="shop")
    return PostgresBackend(BackendContext(root=home, home=home, settings=settings))


def started(url, home, number):
    words = [sys.executable, MACHINE, url, home, str(number), str(EACH)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def all_at_once(database, homes, meanwhile):
    """Has each machine write; gives what they were told is kept."""
    running = [started(database.url, home, number) for number, home in enumerate(homes)]
    # All but the slowest have begun.
    first = running[0].stdout.readline()
    meanwhile()
    told = [first]
    for one in running:
        out, err = one.communicate(timeout=120)
        assert (one.returncode, err) == (0, "")
        told += out.splitlines()
    return sorted(line.strip() for line in told)


def agree(database, homes):
    """Asserts that all machines and the database have everything once everybody has asked."""
    for home in homes:
        done = backend_of(home, database.url).synchronise(60, asked=True)
        assert (done.waiting, done.fault) == ((), "")
    rows = database.ask("SELECT id FROM grove.learning")
    assert sorted(row[0] for row in rows) == WANTED
    for home in (homes[0], homes[-1]):
        backend = backend_of(home, database.url)
        backend.synchronise(60, asked=True)
        assert sorted(one.id for one in backend.iterate()) == WANTED


def test_machines_write_while_the_server_crashes(own_server, tmp_path):
    database = own_server.database()
    homes = [tmp_path / f"machine-{number}" for number in range(MACHINES)]

    def crash():
        own_server.stop("immediate")
        own_server.start()

    assert all_at_once(database, homes, crash) == WANTED
    agree(database, homes)


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
