"""Twenty machines write at once while the server crashes: nothing is lost, nothing is twice."""

import subprocess
import sys
from pathlib import Path

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.settings import PostgresSettings
from grove_core import BackendContext
from grove_core.testing.samples import learning_id

MACHINE = Path(__file__).parent / "harness" / "machine.py"
MACHINES, EACH = 20, 8
WANTED = sorted(learning_id(number) for number in range(MACHINES * EACH))


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


def test_twenty_machines_while_the_server_crashes(own_server, tmp_path):
    database = own_server.database()
    homes = [tmp_path / f"machine-{number}" for number in range(MACHINES)]

    def crash():
        own_server.stop("immediate")
        own_server.start()

    assert all_at_once(database, homes, crash) == WANTED
    agree(database, homes)


def test_twenty_processes_of_one_machine(database, tmp_path):
    homes = [tmp_path / "machine"] * MACHINES
    assert all_at_once(database, homes, lambda: None) == WANTED
    agree(database, homes[:1])
