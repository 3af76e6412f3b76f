"""A database that does not answer, or says no: in time, in words, and without a password."""

import time

import pytest
from cutting_proxy import proxy_before, silent_server

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


def test_a_server_that_says_nothing(server, open_store):
    with silent_server() as port:
        store = open_store(None, url=server.url(port=port), seconds=2)
        _, seconds = failing(DatabaseUnreachableError, store, server)
    assert seconds < 60


def test_a_server_that_falls_silent(database, open_store):
    """Such as one whose network has gone: nothing tells the client."""
    with proxy_before(database.server.port) as proxy:
        url = database.server.url(database.name, database.name, proxy.port)
        store = open_store(database, url=url, seconds=2)
        store.about()
        proxy.stalled.set()
        said, seconds = failing(DatabaseUnreachableError, store, database.server)
    assert proxy.opened == 1
    assert seconds < 60
    assert "cannot reach" in said


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
