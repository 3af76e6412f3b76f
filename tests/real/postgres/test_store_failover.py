"""Connections break anywhere, servers crash, many write at once: nothing is lost, nothing twice."""

import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cutting_proxy import proxy_before
from scale import turned_up

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.plugin import PostgresSettings
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


# --- many machines ------------------------------------------------------------------------------


def machine(home, url):
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
        done = machine(home, database.url).synchronise(60, asked=True)
        assert (done.waiting, done.fault) == ((), "")
    rows = database.ask("SELECT id FROM grove.learning")
    assert sorted(row[0] for row in rows) == WANTED
    for home in (homes[0], homes[-1]):
        backend = machine(home, database.url)
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
