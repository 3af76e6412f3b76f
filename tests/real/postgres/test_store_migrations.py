"""The tables are made and brought up to date, by several at once, or it is said why not."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from scale import turned_up

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.faults import DatabaseRefusedError
from grove_backend_postgres.migrations import MIGRATIONS
from grove_backend_postgres.store import Store
from grove_core.testing.samples import example_learning

TITLES = [f"{one.number} {one.name}" for one in MIGRATIONS]
MANY = turned_up(8, 20)


@pytest.fixture
def vectors(database):
    """The extension, which only a superuser may add."""
    offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    if not database.ask(offered):
        pytest.skip("no pgvector beside this server")
    database.ask("CREATE EXTENSION vector")


def tables(database):
    return {
        name
        for (name,) in database.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'grove'")
    }


def test_everything_is_made_once(database, open_store, vectors):
    store = open_store(database)
    assert list(store.migrate()) == TITLES
    assert list(store.migrate()) == list(store.migrate(dry_run=True)) == []
    about = store.about()
    assert about.is_current
    assert about.full_text_search
    assert about.row_level_security
    assert about.vectors


def test_several_make_them_at_the_same_instant(database):
    """`IF NOT EXISTS` does not help here: the loser of a race gets an error."""
    start = Barrier(MANY)

    def migrate(_):
        address = parse_address(database.url)
        with Store(address, "shop", deadline=time.monotonic() + 30) as store:
            assert not store.about().has_tables
            start.wait()
            store.migrate()
            return store.about()

    with ThreadPoolExecutor(MANY) as pool:
        told = list(pool.map(migrate, range(MANY)))
    assert {
        (one.is_current, one.row_level_security_applies, one.full_text_search) for one in told
    } == {(True, True, True)}


def test_what_was_cut_off_is_finished(database, open_store):
    open_store(database).migrate()
    database.ask(
        "DELETE FROM grove.migration; DROP INDEX grove.learning_by_words;DROP TABLE grove.revision"
    )
    lines = open_store(database).migrate()
    assert list(lines[:3]) == TITLES[:3]
    store = open_store(database)
    store.add([example_learning()])
    assert store.ids() == {example_learning().id}
    assert store.about().row_level_security_applies


def test_tables_of_a_newer_grove_are_refused(database, open_store):
    open_store(database).add([example_learning()])
    database.ask("INSERT INTO grove.migration VALUES (99, 'future', now())")
    for use in (
        lambda store: store.add([example_learning(2)]),
        lambda store: store.changes_since(""),
        lambda store: store.migrate(),
        lambda store: store.about(),
    ):
        with pytest.raises(DatabaseRefusedError, match=r"newer grove .*99.*upgrade grove-backend"):
            use(open_store(database))
    assert database.ask("SELECT count(*) FROM grove.learning") == [(1,)]


def test_who_may_not_make_them_is_told(server, database, open_store):
    guest = f"guest_of_{database.name}"
    server.role(guest)
    url = server.url(database.name, guest)
    with pytest.raises(DatabaseRefusedError, match=r"permission denied.*migrate") as refused:
        open_store(database, url=url).add([example_learning()])
    assert server.password not in str(refused.value)
    open_store(database).migrate()
    with pytest.raises(DatabaseRefusedError, match=r"permission denied.*grant"):
        open_store(database, url=url).add([example_learning()])
    database.ask(
        f"GRANT USAGE ON SCHEMA grove TO {guest};"
        f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA grove TO {guest}"
    )
    store = open_store(database, url=url)
    store.add([example_learning()])
    assert store.ids() == {example_learning().id}
