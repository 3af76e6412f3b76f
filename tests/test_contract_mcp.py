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
from grove_core import (
    BackendContext,
    BackendError,
    Filters,
    LearningStatus,
    Query,
    ReceiptStatus,
    Synchronised,
)
from grove_core.reflection.limits import DETAIL_LENGTH_MAX, SUMMARY_LENGTH_MAX
from grove_core.testing import BackendContract
from grove_core.testing.rules.concurrency import ConcurrencyRules
from grove_core.testing.rules.listing import ListingRules
from grove_core.testing.rules.reading_back import EVERYTHING
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.synchronising import SynchronisingRules
from grove_core.testing.rules.writing import WritingRules
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning, learning_id

FAKE = Path(__file__).parents[1] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
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

    def make(settings, folder=tmp_path, **fields):
        made.append(Project(folder, settings, **fields))
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


class TestInHook(Broken, BackendContract):
    """A hook is answered from what is kept here; nobody serves at this address."""

    @pytest.fixture
    def open_backend(self, project):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        return project(McpSettings(url=f"http://127.0.0.1:{port}/mcp"), in_hook=True)


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


class TestStarted(WritingRules, SynchronisingRules, ConcurrencyRules):
    """A program that is started each time."""

    @pytest.fixture
    def open_backend(self, project, tmp_path):
        return project(started_each_time("graph", tmp_path))


class TestDown(WritingRules, ListingRules, SynchronisingRules):
    """A program that ends at once; a search says so, and what is kept here is found in the index."""

    @pytest.fixture
    def open_backend(self, project, tmp_path):
        (tmp_path / "control.json").write_text('{"down": true}')
        return project(started_each_time("graph", tmp_path))

    def test_a_search_says_that_the_server_is_down(self, open_backend):
        open_backend().write(example_learning())
        for _ in range(2):
            with pytest.raises(BackendError, match=r"backends\.mcp: .*cannot open the store"):
                open_backend().search(Query(text="books"), Filters())
        (hit,) = open_backend().search(Query(), Filters())
        assert hit.learning == example_learning()


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


def named(number, learning, part):
    """The learning with an id and a word of its own."""
    longest = SUMMARY_LENGTH_MAX if part == "summary" else DETAIL_LENGTH_MAX
    text = f"lesson{number:03} {getattr(learning, part)}"[:longest].strip()
    return evolve(learning, id=learning_id(number), **{part: text})


SAMPLES = [
    *((each, "summary") for each in VARIANTS.values()),
    *((example_learning(detail=each), "summary") for each in TEXTS.values()),
    *((example_learning(summary=each), "detail") for each in SUMMARIES.values()),
]
LEARNINGS = [named(number, *sample) for number, sample in enumerate(SAMPLES)]
LISTING = ("graph", "text", "columns", "tags")
SEARCHING = (*LISTING, "words", "append", "notes", "thoughts", "prose")


def clones(project, settings, tmp_path):
    """Two clones of a project, one of which has written everything."""
    same = evolve(settings, project="shelf")
    here, there = (project(same, tmp_path / name)() for name in ("here", "there"))
    for learning in LEARNINGS:
        assert here.write(learning).status is ReceiptStatus.STORED
    return here, there


@pytest.mark.parametrize("kind", LISTING)
def test_another_clone_takes_in_what_was_written(kind, project, serving, tmp_path):
    here, there = clones(project, serving(kind), tmp_path)
    assert there.synchronise(60, asked=True) == Synchronised(received=len(LEARNINGS))
    assert {one.id: one for one in there.iterate()} == {one.id: one for one in LEARNINGS}
    assert here.synchronise(60, asked=True) == Synchronised()
    here.set_status(LEARNINGS[0].id, LearningStatus.ARCHIVED)
    (receipt,) = here.synchronise(60, asked=True).delivered
    assert receipt.learning_id == LEARNINGS[0].id
    assert there.synchronise(60, asked=True) == Synchronised(received=1)
    assert there.get(LEARNINGS[0].id) == here.get(LEARNINGS[0].id)


@pytest.mark.parametrize("kind", SEARCHING)
def test_another_clone_finds_what_was_written(kind, project, serving, tmp_path):
    _, there = clones(project, serving(kind), tmp_path)
    for number, learning in enumerate(LEARNINGS):
        hits = there.search(Query(text=f"lesson{number:03}"), EVERYTHING)
        assert [hit.learning for hit in hits if hit.learning.id == learning.id] == [learning]
        assert there.get(learning.id) == learning
