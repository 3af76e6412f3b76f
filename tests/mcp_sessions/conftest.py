"""A project whose learnings go to a memory server: a double of one, as a process that grove starts."""

import json
import os
import shutil
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import define, evolve, field

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Category, Learning, LearningStatus

SERVERS = Path(__file__).parents[2] / "grove-backend-mcp" / "tests" / "servers"
FAKE, BAD = SERVERS / "fake_memory.py", SERVERS / "bad_server.py"
PATIENCE_SECONDS = 60


def until(ready, what):
    """Waits until something is so, which a machine that is busy may take its time for."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (answer := ready()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)
    return answer


def toml(value):
    """A value as a configuration writes it: JSON's texts, lists and numbers are TOML's."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    return json.dumps([str(one) for one in value] if isinstance(value, list | tuple) else value)


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


@define
class Memory:
    """The memory server of a world, as its control file has it behave."""

    world: object
    kind: str
    store: Path
    settings: dict = field(factory=dict)

    @property
    def control_file(self):
        return self.store.with_name("control.json")

    def configure(self, *, more="", **settings):
        """Names the server in the user's configuration."""
        args = [FAKE, self.kind, self.store, "--control", self.control_file]
        # Folders of one name are not taken for one project, unless the user says so.
        settings = {"project": "shop", "command": sys.executable, "args": args, **settings}
        if "url" in settings:
            del settings["command"], settings["args"]
        self.settings = settings
        lines = [f"{key} = {toml(value)}" for key, value in settings.items()]
        self.world.grove_home.mkdir(exist_ok=True)
        text = "\n".join(["[backends.mcp]", *lines, more, ""])
        (self.world.grove_home / "config.toml").write_text(text)

    def misbehaves(self, mode, **settings):
        """Puts a server in its place that breaks what clients count on."""
        self.configure(args=[BAD, mode, self.store], **settings)

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
        args = tuple(str(one) for one in self.settings["args"])
        world = self.world
        context = BackendContext(
            root=world.project,
            home=world.grove_home,
            environment=world.environment,
            settings=McpSettings(**{**self.settings, "args": args}),
        )
        backend = McpBackend(context)
        try:
            yield backend
        finally:
            backend._remote.link.close()

    def teach(self, *numbers):
        """Has learnings written, and brought to the server, as commands do it."""
        with self.backend() as backend:
            for number in numbers:
                backend.write(a_learning(number))
            done = backend.synchronise(PATIENCE_SECONDS, asked=True)
        assert (done.fault, done.waiting) == ("", ())
        return [a_learning(number).id for number in numbers]

    def change(self, learning_id, status):
        """Gives what the server holds another status, as another client of it would."""
        with self.backend() as backend, backend._remote.link.server(PATIENCE_SECONDS) as server:
            found = server.holds(learning_id, learning_id)
            changed = evolve(found.learning, status=LearningStatus(status))
            assert server.update(changed, learning_id)

    # --- what the reference server holds --------------------------------------------------------

    @property
    def entities(self):
        held = json.loads(self.store.read_text()) if self.store.exists() else {}
        return held.get("entities", {})

    def put(self, **entities):
        """Changes what the server holds, as another client of it would; ``None`` removes."""
        held = {**self.entities, **entities}
        held = {name: one for name, one in held.items() if one is not None}
        self.store.write_text(json.dumps({"entities": held}))

    def add_note(self, name, *observations):
        """A note of somebody who does not use grove."""
        self.put(**{name: {"name": name, "entityType": "note", "observations": [*observations]}})

    def created(self):
        """Names of what was created, each as often as the server was told to."""
        calls = self.calls("create_entities")
        return [one["name"] for call in calls for one in call["arguments"]["entities"]]

    # --- processes --------------------------------------------------------------------------------

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
        until(lambda: not self.processes(), "the end of all processes")

    # --- files --------------------------------------------------------------------------------------

    def _one(self, pattern):
        (folder,) = (self.world.grove_home / "cache").glob(pattern)
        return folder

    @property
    def mark(self):
        """The file whose time says when the server was in line last."""
        return self._one("mcp/**/synchronised")

    @property
    def begun(self):
        """The file whose time says when it began to be asked last, whether it is there or not."""
        return self._one("project-*") / "synchronise.begun"

    def forget_failures(self):
        """As after a while in which the server was left alone."""
        for path in self.world.grove_home.glob("cache/mcp/**/breaker.json"):
            path.unlink()

    def pass_time(self, seconds):
        """Lets what was written last have been written that much earlier."""
        cache = self.world.grove_home / "cache"
        for path in (
            *cache.glob("project-*/synchronise.begun"),
            *cache.glob("mcp/**/synchronised"),
        ):
            written = path.stat().st_mtime
            os.utime(path, (written - seconds, written - seconds))


def _memory_of(world, kind, store):
    world.others.mkdir(exist_ok=True)
    memory = Memory(world, kind, store)
    memory.configure()
    return memory


@pytest.fixture
def memory(beads):
    """A server like the reference one, for a beads project that uses grove."""
    yield (one := _memory_of(beads, "graph", beads.others / "store.json"))
    left = one.processes()
    for number in left:
        os.kill(number, 9)
    # A test that started something has to see to its end.
    assert not left


@pytest.fixture
def colleague(memory, tmp_path):
    """Another machine with the same project and the same server."""
    world = type(memory.world)(tmp_path.resolve() / "colleague")
    shutil.copytree(memory.world.project, world.project, dirs_exist_ok=True)
    return _memory_of(world, "graph", memory.store)


@pytest.fixture
def reflecting(memory):
    """An agent of the project that has closed a ticket, and owes a reflection."""
    agent = memory.world.agent()
    agent.starts()
    memory.wait()
    agent.closes("bd-1")
    agent.is_blocked()
    return agent
