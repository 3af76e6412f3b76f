"""A project whose learnings go to a memory server: a double of one, in a thread of the tests."""

import json
import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import define, field

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Category, Learning

SERVERS = Path(__file__).parents[2] / "grove-backend-mcp" / "tests" / "servers"
FAKE, BAD = SERVERS / "fake_memory.py", SERVERS / "bad_server.py"
PATIENCE_SECONDS = 60
sys.path.insert(0, str(SERVERS))
import fake_memory  # noqa: E402


def toml(value):
    """A value as a configuration writes it: JSON's texts, lists and numbers are TOML's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(value)


def _read(path):
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:  # it has ended
        return ""


def a_learning(number):
    """One of many, which the project's work may have taught."""
    return Learning(
        id=f"cl_20300102_{number:06x}",
        category=Category.PITFALL,
        summary=f"OrderStore.export_{number}() runs one query per order unless prefetched",
        detail=f"It took {number} s with 1,000 orders. Call prefetch_items() first.",
        session_id="earlier",
        timestamp=datetime(2030, 1, 2, 10, 0, 0, tzinfo=UTC) + timedelta(seconds=number),
        tags=("orders",),
    )


class InThread(fake_memory.Server):
    """A server that does not end the tests when it goes down."""

    def go_down_if_told(self):
        if self.control().get("down"):
            raise ConnectionAbortedError


@define
class Memory:
    """The memory server of a world, as its control file has it behave."""

    world: object
    store: Path
    url: str
    settings: dict = field(factory=dict)

    @property
    def control_file(self):
        return self.store.with_name("control.json")

    def configure(self, **settings):
        """Names the server in the user's configuration."""
        # Folders of one name are not taken for one project, unless the user says so.
        reached = {} if "command" in settings else {"url": self.url}
        self.settings = {"project": "shop", **reached, **settings}
        lines = [f"{key} = {toml(value)}" for key, value in self.settings.items()]
        self.world.grove_home.mkdir(exist_ok=True)
        (self.world.grove_home / "config.toml").write_text("\n".join(["[backends.mcp]", *lines]))

    def started_each_time(self, *words, **settings):
        """Has it started as a program, for each client anew; with words, another program."""
        own = [FAKE, "graph", self.store, "--control", self.control_file]
        self.configure(command=sys.executable, args=[*map(str, words or own)], **settings)

    def behaves(self, **control):
        part = self.control_file.with_suffix(".part")
        part.write_text(json.dumps(control))
        part.replace(self.control_file)

    def calls(self, *tools):
        """What was called, in order, by tool and arguments."""
        path = Path(f"{self.store}.calls")
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        return [one for one in found if not tools or one["tool"] in tools]

    @contextmanager
    def backend(self):
        """The backend of this world in the test's own process; its connection ends with it."""
        settings = {**self.settings, "args": tuple(self.settings.get("args", ()))}
        backend = McpBackend(
            BackendContext(
                root=self.world.project,
                home=self.world.grove_home,
                environment=self.world.environment,
                settings=McpSettings(**settings),
            )
        )
        try:
            yield backend
        finally:
            backend._remote.connection.close()

    def teach(self, *numbers):
        """Has learnings written, and brought to the server, as commands do it."""
        with self.backend() as backend:
            for number in numbers:
                backend.write(a_learning(number))
            done = backend.synchronise(PATIENCE_SECONDS, asked=True)
        assert (done.fault, done.waiting) == ("", ())
        return [a_learning(number).id for number in numbers]

    @property
    def entities(self):
        held = json.loads(self.store.read_text()) if self.store.exists() else {}
        return held.get("entities", {})

    def created(self):
        """Names of what was created, each as often as the server was told to."""
        calls = self.calls("create_entities")
        return [one["name"] for call in calls for one in call["arguments"]["entities"]]

    def processes(self, word=""):
        """The processes that belong to this world, by id: what they are called with."""
        own = str(self.world.folder)
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            words = _read(entry / "cmdline")
            if words and (own in words or f"GROVE_HOME={own}" in _read(entry / "environ")):
                found[int(entry.name)] = words
        return {number: words for number, words in found.items() if word in words}

    def children(self):
        """The processes that ask the server with nobody waiting."""
        return self.processes("--in-background")

    def wait(self):
        """Waits until nothing of this world runs any more."""
        end = time.monotonic() + PATIENCE_SECONDS
        quiet = 0
        while quiet < 3:  # a process that is just being started has no words for a moment
            assert time.monotonic() < end, self.processes()
            quiet = 0 if self.processes() else quiet + 1
            time.sleep(0.02)

    @property
    def begun(self):
        """The file whose time says when it began to be asked last, whether it is there or not."""
        (folder,) = (self.world.grove_home / "cache").glob("project-*")
        return folder / "synchronise.begun"

    def forget_failures(self):
        """As after a while in which the server was left alone."""
        for path in self.world.grove_home.glob("cache/mcp/**/breaker.json"):
            path.unlink()
        # Attempts that have failed were made an hour earlier.
        for path in self.world.grove_home.glob("mcp/*/journal.jsonl"):
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            old = [
                {**line, "at": "2026-01-02T10:00:00Z"} if line["state"] == "tried" else line
                for line in lines
            ]
            path.write_text("".join(json.dumps(line) + "\n" for line in old))

    def pass_time(self, seconds):
        """Lets what was written last have been written that much earlier."""
        cache = self.world.grove_home / "cache"
        for pattern in ("project-*/synchronise.begun", "mcp/**/synchronised"):
            for path in cache.glob(pattern):
                written = path.stat().st_mtime
                os.utime(path, (written - seconds, written - seconds))


@pytest.fixture
def memory(beads):
    """A server like the reference one, for a beads project that uses grove."""
    beads.others.mkdir(exist_ok=True)
    store = beads.others / "store.json"
    web = fake_memory.web_server(InThread("graph", store, store.with_name("control.json")))
    web.handle_error = lambda *_: None
    thread = threading.Thread(target=web.serve_forever, args=(0.02,))
    thread.start()
    one = Memory(beads, store, f"http://127.0.0.1:{web.server_port}/mcp")
    one.configure()
    yield one
    left = one.processes()
    for number in left:
        os.kill(number, 9)
    web.shutdown()
    thread.join()
    web.server_close()
    # A test that started something has to see to its end.
    assert not left


@pytest.fixture
def colleague(memory, tmp_path):
    """Another machine with the same project and the same server."""
    world = type(memory.world)(tmp_path.resolve() / "colleague")
    shutil.copytree(memory.world.project, world.project, dirs_exist_ok=True)
    world.others.mkdir()
    other = Memory(world, memory.store, memory.url)
    other.configure()
    return other


@pytest.fixture
def reflecting(memory):
    """An agent of the project that has closed a ticket, and owes a reflection."""
    agent = memory.world.agent()
    agent.closes("bd-1")
    agent.is_blocked()
    return agent
