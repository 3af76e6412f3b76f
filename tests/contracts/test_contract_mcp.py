"""The MCP backend keeps the contract of memory backends, whatever server there is, or none.

A server like the reference one answers over HTTP, in one process for all tests; real servers are used in
`tests/real/mcp`.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import (
    BackendContext,
    BackendError,
    Filters,
    Query,
)
from grove_core.testing import BackendContract
from grove_core.testing.rules.news import SynchronisingRules
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.sharing import ConcurrencyRules
from grove_core.testing.rules.storing import WritingRules
from grove_core.testing.samples import example_learning

FAKE = Path(__file__).parents[2] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
MOST_OPEN = 12


class Project:
    """A project on a machine, whose backend is opened again and again."""

    def __init__(self, folder, settings, **fields):
        root = folder / "project"
        root.mkdir(parents=True)
        environment = {"PATH": os.environ["PATH"], "HOME": f"{folder}"}
        self.context = BackendContext(
            root=root, home=folder / "home", environment=environment, settings=settings, **fields
        )
        self.opened = []

    def __call__(self):
        self.opened.append(McpBackend(self.context))
        if len(self.opened) > MOST_OPEN:
            hang_up(self.opened.pop(0))
        return self.opened[-1]


def hang_up(backend):
    """End its connection as the end of its process would."""
    if backend._remote is not None:
        backend._remote.connection.close()


@pytest.fixture
def project(tmp_path):
    made = []

    def make(settings, folder=tmp_path, **fields):
        made.append(Project(folder, settings, **fields))
        return made[-1]

    yield make
    for backend in (one for project in made for one in project.opened):
        hang_up(backend)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """The store of the server, and its port."""
    folder = tmp_path_factory.mktemp("server")
    command = (sys.executable, FAKE, "graph", folder / "store.json", "--http", folder / "port")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    yield folder / "store.json", int(process.stderr.readline())
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.fixture
def served(running):
    """How it is reached; its store is empty."""
    store, port = running
    store.unlink(missing_ok=True)
    return McpSettings(url=f"http://127.0.0.1:{port}/mcp")


class TestKeptHere(BackendContract):
    """A hook is answered from what is kept here; nobody serves at this address."""

    @pytest.fixture
    def open_backend(self, project):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        return project(McpSettings(url=f"http://127.0.0.1:{port}/mcp"), in_hook=True)

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path):
        """The record cannot be written: a folder is in its place."""
        (tmp_path / "project" / ".grove" / "mcp.jsonl").mkdir(parents=True)
        return open_backend


class TestNoServer(WritingRules, SynchronisingRules):
    @pytest.fixture
    def open_backend(self, project):
        return project(McpSettings())


class TestServer(WritingRules, SearchingRules, SynchronisingRules, ConcurrencyRules):
    """The rules that a server has a part in."""

    @pytest.fixture
    def open_backend(self, project, served):
        return project(served)


def test_a_search_says_that_the_server_is_down(project, tmp_path):
    (tmp_path / "control.json").write_text('{"down": true}')
    words = ("graph", f"{tmp_path / 'store.json'}", "--control", f"{tmp_path / 'control.json'}")
    open_backend = project(McpSettings(command=sys.executable, args=(f"{FAKE}", *words)))
    open_backend().write(example_learning())
    with pytest.raises(BackendError, match=r"backends\.mcp: .*cannot open the store"):
        open_backend().search(Query(text="books"), Filters())
    (hit,) = open_backend().search(Query(), Filters())
    assert hit.learning == example_learning()
