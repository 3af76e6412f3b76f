"""The MCP backend keeps the contract of memory backends, whatever server there is, or none.

Servers of the other kinds are asked over HTTP, each by one process for all tests: a program that is
started for each of a thousand backends would take minutes.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, LearningStatus
from grove_core.testing import BackendContract
from grove_core.testing.rules.concurrency import ConcurrencyRules
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.synchronising import SynchronisingRules
from grove_core.testing.rules.writing import WritingRules
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning, learning_id

FAKE = Path(__file__).parents[1] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
MOST_OPEN = 12


class Project:
    """A project on a machine, whose backend is opened again and again."""

    def __init__(self, folder, settings):
        root = folder / "project"
        root.mkdir(parents=True)
        environment = {"PATH": os.environ["PATH"], "HOME": f"{folder}"}
        self.context = BackendContext(
            root=root, home=folder / "home", environment=environment, settings=settings
        )
        self.opened = []

    def __call__(self):
        backend = McpBackend(self.context)
        self.opened.append(backend)
        if len(self.opened) > MOST_OPEN:
            hang_up(self.opened.pop(0))
        return backend


def hang_up(backend):
    """End its connection as the end of its process would; it connects again when it is used."""
    if backend._remote is not None:
        backend._remote.link.close()


@pytest.fixture
def project(tmp_path):
    """Makes projects, and ends what was started for them."""
    made = []

    def make(settings, folder=tmp_path):
        made.append(Project(folder, settings))
        return made[-1]

    yield make
    for backend in (one for project in made for one in project.opened):
        hang_up(backend)


class Running:
    """A server of some kind that serves HTTP."""

    def __init__(self, kind, folder):
        self.store, port = folder / "store.json", folder / "port"
        command = (sys.executable, FAKE, kind, self.store, "--http", port)
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.process.stderr.readline()
        self.settings = McpSettings(url=f"http://127.0.0.1:{port.read_text()}/mcp")

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    """Starts a server of each kind when it is first asked for, and empties it each time."""
    running = {}

    def serve(kind):
        if kind not in running:
            running[kind] = Running(kind, tmp_path_factory.mktemp(kind))
        running[kind].store.unlink(missing_ok=True)
        return running[kind].settings

    yield serve
    for one in running.values():
        one.end()


def started_each_time(kind, folder):
    """A server that speaks over stdin and stdout, for settings."""
    words = (kind, f"{folder / 'store.json'}", "--control", f"{folder / 'control.json'}")
    return McpSettings(command=sys.executable, args=(f"{FAKE}", *words))


class Broken:
    """The record cannot be written: a folder is in its place."""

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path):
        (tmp_path / "project" / ".grove" / "mcp.jsonl").mkdir(parents=True)
        return open_backend


class TestNoServer(Broken, BackendContract):
    @pytest.fixture
    def open_backend(self, project):
        return project(McpSettings())


class TestServerDown(Broken, BackendContract):
    @pytest.fixture
    def open_backend(self, project):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        return project(McpSettings(url=f"http://127.0.0.1:{port}/mcp"))


class TestGraph(Broken, BackendContract):
    """Found by words, whole, under names of our own."""

    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("graph"))


class TestColumns(Broken, BackendContract):
    """Found by likeness, with metadata and distances."""

    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("columns"))


class TestProse(Broken, BackendContract):
    """No profile; numbered texts, and nothing besides."""

    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("prose"))


class Talking(WritingRules, SearchingRules, SynchronisingRules, ConcurrencyRules):
    """The rules that a server has a part in; the others are about what is kept here."""


class TestStarted(Talking):
    @pytest.fixture
    def open_backend(self, project, tmp_path):
        return project(started_each_time("graph", tmp_path))


class TestEndsAtOnce(Talking):
    @pytest.fixture
    def open_backend(self, project, tmp_path):
        (tmp_path / "control.json").write_text('{"down": true}')
        return project(started_each_time("graph", tmp_path))


class TestWords(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("words"))


class TestText(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("text"))


class TestAppend(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("append"))


class TestTags(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("tags"))


class TestNotes(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("notes"))


class TestBank(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("bank"))


class TestThoughts(Talking):
    @pytest.fixture
    def open_backend(self, project, serving):
        return project(serving("thoughts"))


SAMPLES = [
    *VARIANTS.values(),
    *(example_learning(detail=text) for text in TEXTS.values()),
    *(example_learning(summary=text) for text in SUMMARIES.values()),
]


@pytest.mark.parametrize(
    "kind", ["graph", "words", "text", "append", "columns", "tags", "notes", "bank", "thoughts", "prose"]
)
def test_another_clone_gets_from_the_server_what_was_written(kind, project, serving, tmp_path):
    settings = evolve(serving(kind), project="shelf")
    here = project(settings, tmp_path / "here")()
    there = project(settings, tmp_path / "there")()
    learnings = [evolve(one, id=learning_id(number)) for number, one in enumerate(SAMPLES)]
    for learning in learnings:
        here.write(learning)
    print(here.synchronise(60, asked=True).fault)
    print("waiting", here.freshness().waiting)
    print(there.synchronise(60, asked=True))
    known = {one.id: one for one in there.iterate()}
    print(len(known), len(learnings))
    diffs = [(k, v, learnings) for k, v in known.items() if v not in learnings]
    print([ (d[1].summary[:40], d[1].detail[:40]) for d in diffs])
    missing = [one for one in learnings if one.id not in known]
    print([ (d.summary[:40], d.detail[:40], d.id) for d in missing])
    assert 0
