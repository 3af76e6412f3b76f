"""A real PostgreSQL server, wherever `make postgres-server` could get one."""

import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "harness"))
sys.path.insert(0, str(Path(__file__).parent / "tools"))
from list_statements import all_statements, plain
from throwaway_server import installations, running_server, why_none

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.store import Store

CONTROL = {"BEGIN", "COMMIT", "ROLLBACK"}


@pytest.fixture(scope="session")
def server():
    """A server with pgvector where there is one, that tests share."""
    if not (found := installations()):
        pytest.skip(f"no postgresql: {why_none()}")
    with running_server(found[0]) as one:
        yield one
        # Whatever was tried, the contract of backends among it: nothing but what is documented.
        listed = {plain(text) for text in all_statements().values()} | CONTROL
        assert {plain(text) for text in {*one.statements()}} <= listed


@pytest.fixture(scope="session")
def server_to_stop():
    """Another server, which tests may stop."""
    if not (found := installations()):
        pytest.skip(f"no postgresql: {why_none()}")
    with running_server(found[0]) as one:
        yield one


@pytest.fixture
def own_server(server_to_stop):
    """A running server that the test may stop."""
    if not server_to_stop.is_running():
        server_to_stop.start()
    return server_to_stop


@pytest.fixture
def database(server):
    """An empty database, and a role that owns it."""
    return server.database()


@pytest.fixture
def open_store():
    """Opens stores on a database, which are closed afterwards."""
    with ExitStack() as stack:

        def store(database, project="shop", *, seconds=30.0, url=None, **options):
            address = parse_address(url or database.url)
            deadline = time.monotonic() + seconds
            return stack.enter_context(Store(address, project, deadline=deadline, **options))

        yield store
