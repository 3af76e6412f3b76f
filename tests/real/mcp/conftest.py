"""Real memory servers, wherever `make real-tools` could get them."""

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "harness"))
# Which processes are left is told as with ticket tools, and databases are those of PostgreSQL's tests.
sys.path.insert(0, str(Path(__file__).parents[1] / "tickets" / "harness"))
sys.path.insert(0, str(Path(__file__).parents[1] / "postgres" / "harness"))
from real_servers import SERVERS
from running_servers import running


def pytest_generate_tests(metafunc):
    if "server" in metafunc.fixturenames and metafunc.cls is None:
        metafunc.parametrize("server", SERVERS, ids=lambda one: one.label.replace(" ", "-"))


@pytest.fixture(scope="session")
def shared_servers(tmp_path_factory):
    """Gives servers over HTTP, each started once; nothing of them may be left in the end."""
    started = {}
    with ExitStack() as stack:

        def get(server):
            if server not in started:
                folder = tmp_path_factory.mktemp("shared") / "server"
                started[server] = stack.enter_context(running(server, folder))
            return started[server]

        yield get


@pytest.fixture
def running_server(server, shared_servers, tmp_path):
    """A server: its store is empty where each client starts its own, else tests share it."""
    if server.over_http:
        yield shared_servers(server)
    else:
        with running(server, tmp_path / "server") as one:
            yield one
