"""Our backends keep the contract of memory backends, in every layout and with whatever server there is."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from core_worlds import write_file

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_backend_totalrecall.backend import TotalRecallBackend
from grove_core import (
    Area,
    BackendContext,
    BackendError,
    Filters,
    Query,
    StorageError,
    StorageLayout,
)
from grove_core.testing import BackendContract
from grove_core.testing.rules.news import SynchronisingRules
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.sharing import ConcurrencyRules
from grove_core.testing.rules.storing import WritingRules
from grove_core.testing.samples import example_learning


def opener(tmp_path, **fields):
    root = tmp_path / "project"
    root.mkdir()
    context = BackendContext(root=root, home=tmp_path / "home", **fields)
    return lambda: MarkdownBackend(context)


# How it is opened, and what stands in the way of what it writes.
MARKDOWN = {
    "single": ({"layout": StorageLayout.SINGLE}, "project/.grove/learnings.md/folder"),
    "spread": ({"layout": StorageLayout.SPREAD}, "project/.grove/learnings"),
    "personal": ({"area": Area.PERSONAL}, "home"),
}


@pytest.mark.parametrize("kind", MARKDOWN)
class TestMarkdown(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path, kind):
        return opener(tmp_path, **MARKDOWN[kind][0])

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path, kind):
        write_file(tmp_path / MARKDOWN[kind][1], "in the way")
        return open_backend


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        (StorageLayout.SINGLE, ".grove"),
        (StorageLayout.SINGLE, ".grove/learnings.md"),
        (StorageLayout.SPREAD, ".grove"),
        (StorageLayout.SPREAD, ".grove/learnings"),
    ],
)
def test_nothing_is_written_through_links_out_of_the_project(layout, name, tmp_path):
    opened, outside = opener(tmp_path, layout=layout), tmp_path / "outside"
    link = tmp_path / "project" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    if not link.suffix:
        outside.mkdir()
    with pytest.raises(StorageError, match="outside of"):
        opened().write(example_learning())
    assert not (any(outside.iterdir()) if outside.is_dir() else outside.exists())


DAY = """# 2026-02-05

## Decisions

[09:12] We stay with the printed catalogue until autumn.

## Corrections

## Commitments

## Open Loops

## Notes

[17:40] [superseded] "the cellar floods each spring" - marked as no longer current
"""
REGISTER = """# Tech stack

## Pumps

- **claim**: The pump house has two engines
- **confidence**: high
- **last_verified**: 2026-02-01
"""


class TestTotalRecall(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        root = tmp_path / "project"
        memory = root / "memory"
        for folder in (memory / "daily", memory / "registers", root / ".claude" / "rules"):
            folder.mkdir(parents=True)
        (root / ".claude" / "rules" / "total-recall.md").write_text("# Total Recall\n")
        (memory / "daily" / "2026-02-05.md").write_text(DAY)
        (memory / "registers" / "tech-stack.md").write_text(REGISTER)
        context = BackendContext(root=root, home=tmp_path / "home")
        return lambda: TotalRecallBackend(context)

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path):
        """The record, which holds what the logs cannot."""
        (tmp_path / "project" / ".grove" / "total-recall.jsonl").mkdir(parents=True)
        return open_backend

    def test_notes_of_others_are_among_what_is_found(self, open_backend):
        for words in ("printed catalogue", "pump engines"):
            (hit,) = open_backend().search(Query(text=words), Filters())
            assert not hit.complete


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
