"""A database that does not answer, or says no: in time, in words, and without a password."""

import time

import psycopg
import pytest
from cutting_proxy import proxy_before, silent_server
from throwaway_server import free_port

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.connecting import Connection
from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_core.testing.samples import example_learning


def failing(kind, store, server):
    """What it says, and how many seconds it took."""
    began = time.monotonic()
    with pytest.raises(kind) as failed:
        store.add([example_learning()])
    said = str(failed.value)
    assert server.password not in said
    assert store is not None
    return said, time.monotonic() - began


def test_a_closed_port_is_told_at_once(server, open_store):
    url = server.url(port=free_port())
    said, seconds = failing(DatabaseUnreachableError, open_store(None, url=url), server)
    assert "cannot reach the database postgres at 127.0.0.1:" in said
    assert "delivered later" in said
    assert seconds < 2


def test_a_name_without_address(server, open_store):
    url = "postgresql://alice:hush@no-such-host.invalid/team"
    said, _ = failing(DatabaseUnreachableError, open_store(None, url=url), server)
    assert "team at no-such-host.invalid" in said
    assert "hush" not in said


def test_a_server_that_says_nothing(server, open_store):
    with silent_server() as port:
        store = open_store(None, url=server.url(port=port), seconds=2)
        _, seconds = failing(DatabaseUnreachableError, store, server)
    assert seconds < 10


def test_a_server_that_falls_silent(database, open_store):
    """Such as one whose network has gone: nothing tells the client."""
    with proxy_before(database.server.port) as proxy:
        url = database.server.url(database.name, database.name, proxy.port)
        store = open_store(database, url=url, seconds=2)
        store.count()
        proxy.stalled.set()
        said, seconds = failing(DatabaseUnreachableError, store, database.server)
    assert proxy.opened == 1
    assert seconds < 10
    assert "cannot reach" in said


def test_others_that_hold_a_row_for_long(database, open_store):
    open_store(database).add([example_learning(9)])
    with psycopg.connect(database.url) as other:
        other.execute("SELECT set_config('grove.project', 'shop', true)")
        other.execute("UPDATE grove.project SET revision = revision")
        store = open_store(database, seconds=1)
        said, seconds = failing(DatabaseUnreachableError, store, database.server)
    assert seconds < 10
    assert "did not answer in time" in said
    assert open_store(database).add([example_learning()]) == {example_learning().id}


def test_no_time_at_all(database, open_store):
    said, _ = failing(DatabaseUnreachableError, open_store(database, seconds=-1), database.server)
    assert "did not answer in time" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda url: url.replace("team", "team_"), "pg_hba|password authentication failed"),
        (lambda url: url.replace("%40", "%41"), "password authentication failed.*PGPASSWORD"),
        (lambda url: url + "_none", "does not exist.*create the database"),
    ],
    ids=["user", "password", "database"],
)
def test_what_a_server_refuses_is_told_with_its_mend(database, open_store, change, words):
    store = open_store(None, url=change(database.url))
    with pytest.raises(DatabaseRefusedError, match=words) as refused:
        store.add([example_learning()])
    assert database.server.password not in str(refused.value)


def test_a_server_that_takes_no_changes_is_waited_for(database, open_store):
    """A standby, for as long as it is one."""
    store = open_store(database)
    store.add([example_learning(9)])
    url = f"{database.url}?options=-c%20default_transaction_read_only%3Don"
    waiting = open_store(database, url=url, seconds=1)
    assert waiting.count() == 1
    said, _ = failing(DatabaseUnreachableError, waiting, database.server)
    assert "read-only" in said


def test_what_no_database_takes_is_refused(database, open_store):
    with pytest.raises(DatabaseRefusedError, match="NUL"):
        open_store(database, "sh\0op").add([example_learning()])


def test_the_server_knows_how_long_to_wait(database, open_store):
    """For a statement, and for a client that falls silent in the middle of a transaction."""
    address = parse_address(f"{database.url}?application_name=test")
    connection = Connection(address, "shop", "grove", time.monotonic() + 30)
    asked = "SELECT name, setting::integer AS number FROM pg_settings WHERE name LIKE '%%timeout'"
    shown = {row["name"]: row["number"] for row in connection.run(lambda sent: sent.send(asked))}
    connection.close()
    assert 20_000 < shown["statement_timeout"] <= 30_000
    assert shown["idle_in_transaction_session_timeout"] == 30_000


def test_nothing_is_left_open(database, open_store):
    store = open_store(database)
    store.add([example_learning()])
    clients = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{database.name}'"
    with store:
        store.count()
    for _ in range(50):
        if database.ask(clients) == [(0,)]:
            break
        time.sleep(0.1)
    assert database.ask(clients) == [(0,)]
