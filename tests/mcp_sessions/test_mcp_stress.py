"""Many starts with a server of no use, and many learnings with one that comes and goes."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

pytestmark = pytest.mark.stress

STARTS = 200
LEARNINGS, WRITERS = 500, 4
CHAOS_SECONDS = 40
MOST_BYTES = 64 * 1024

# Writes learnings as core does, one after the other, and says which ones are safe. Its clock runs
# fast, so that a server that has failed is tried again while the test lasts.
WRITER = """
import json, os, sys, time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Category, Learning

project, home, settings, first, last = json.loads(sys.argv[1])
began = time.time()
def clock():
    return datetime.fromtimestamp(began + 1000 * (time.time() - began), UTC)
settings["args"] = tuple(settings["args"])
context = BackendContext(
    root=Path(project), home=Path(home), environment=dict(os.environ),
    settings=McpSettings(**settings),
)
backend = McpBackend(context, clock=clock)
for number in range(first, last):
    learning = Learning(
        id=f"cl_20300102_{number:06x}",
        category=Category.PITFALL,
        summary=f"Store.export_{number}() runs one query per order unless prefetched",
        detail=f"It took {number} s with 1,000 orders. Call prefetch_items() first.",
        session_id="earlier",
        timestamp=datetime(2030, 1, 2, tzinfo=UTC) + timedelta(seconds=number),
    )
    receipt = backend.write(learning)
    print(number, receipt.status.value, flush=True)
"""


class Writers:
    """Processes that write, each its own part; they are killed again and again."""

    def __init__(self, memory, chance):
        self.memory, self.chance = memory, chance
        size = LEARNINGS // WRITERS
        self.parts = [[number * size, (number + 1) * size] for number in range(WRITERS)]
        self.acknowledged = set()
        self.kills = 0

    def start(self, part):
        settings = {**self.memory.settings}
        settings["args"] = [str(one) for one in settings["args"]]
        world = self.memory.world
        arguments = json.dumps([str(world.project), str(world.grove_home), settings, *part])
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, arguments],
            cwd=world.project,
            env=world.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, part, chance, end):
        while part[0] < part[1]:
            process = self.start(part)
            # The last ones may take the time that they need.
            killer = None
            if time.monotonic() < end:
                killer = threading.Timer(chance.uniform(0.3, 2.0), process.kill)
                killer.start()
            out, err = process.communicate()
            if killer is not None:
                killer.cancel()
            for line in out.splitlines():
                number, _, status = line.partition(" ")
                assert status in {"stored", "queued", "duplicate"}
                self.acknowledged.add(int(number))
                part[0] = int(number) + 1
            self.kills += process.returncode == -signal.SIGKILL
            assert process.returncode in {0, -signal.SIGKILL}, err


def run_all(functions):
    faults = []

    def kept(function):
        try:
            function()
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=kept, args=(one,)) for one in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for fault in faults:
        raise fault


def held(memory):
    """How many times the server holds each learning."""
    document = json.loads(memory.store.read_text())
    if memory.kind == "append":
        return Counter(metadata["id"] for _, metadata in document["entries"])
    return Counter(document["entities"].keys())


@pytest.mark.parametrize("kind", ["append", "graph"])
def test_nothing_is_lost_or_doubled_while_everything_ends_at_random(memory, candidate, kind):
    world, chance = memory.world, random.Random(kind)
    memory.kind = kind
    memory.configure()
    over = threading.Event()
    writers = Writers(memory, chance)
    end = time.monotonic() + CHAOS_SECONDS
    reflected = []

    def come_and_go():
        while not over.wait(chance.uniform(0.1, 0.8)):
            memory.behaves(**({"down": True} if chance.random() < 0.5 else {}))

    def reflect():
        for number in range(5):
            agent = world.agent(f"session-{number}")
            start = world.start("hook", "session-start")
            payload = {
                "session_id": agent.session_id,
                "cwd": str(world.project),
                "hook_event_name": "SessionStart",
                "source": "startup",
            }
            start.communicate(json.dumps(payload).encode(), timeout=60)
            done = subprocess.run(
                [sys.executable, "-m", "grove_core._entry", "reflect", "--json"],
                input=json.dumps({"candidates": [candidate(number)]}),
                cwd=world.project,
                env={**world.environment, "CLAUDE_CODE_SESSION_ID": agent.session_id},
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            accepted = json.loads(done.stdout)["accepted"]
            reflected.extend(one["id"] for one in accepted if one["backend"] == "mcp")

    def write(part, seed):
        writers.run(part, random.Random(seed), end)

    going = threading.Thread(target=come_and_go)
    going.start()
    try:
        run_all(
            [
                reflect,
                *(
                    lambda part=part, seed=seed: write(part, seed)
                    for seed, part in enumerate(writers.parts)
                ),
            ]
        )
    finally:
        over.set()
        going.join()
    memory.behaves()
    memory.wait()
    assert writers.kills >= WRITERS
    assert writers.acknowledged == set(range(LEARNINGS))
    assert reflected

    for _ in range(5):
        done = world.grove("maintain", "flush", "--json")
        if not done.json["waiting"]:
            break
    assert (done.code, done.json["waiting"]) == (0, []), done.stderr
    wanted = {f"cl_20300102_{number:06x}" for number in range(LEARNINGS)} | set(reflected)
    there = held(memory)
    assert set(there) >= wanted
    assert {one: count for one, count in there.items() if count > 1} == {}
    # And on this side as well, once each.
    listed = Counter(one["id"] for one in world.grove("list", "--json").json["learnings"])
    assert {one: listed[one] for one in wanted} == dict.fromkeys(wanted, 1)
    # A flush that has nothing to do tells the server nothing.
    calls = len(memory.calls("qdrant-store", "create_entities", "delete_entities"))
    assert world.grove("maintain", "flush").stdout == "Nothing waits.\n"
    assert len(memory.calls("qdrant-store", "create_entities", "delete_entities")) == calls


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("trouble", ["down", "hangs"])
def test_200_starts_with_a_server_of_no_use(memory, trouble):
    """Every answer in time, no process left, and nothing that grows with the starts but sessions."""
    world = memory.world
    world.start_ticket("bd-1", title="OrderStore is slow", description="export_1() of many orders")
    (learning_id,) = memory.teach(1)
    world.grove("maintain", "archive", learning_id)  # what waits
    world.grove("maintain", "restore", learning_id)
    memory.teach(2)
    world.grove("maintain", "archive", learning_id)
    if trouble == "down":
        memory.behaves(down=True)
    else:
        memory.configure(call_seconds=1.0)
        memory.behaves(slow=600)
    kept = [world.grove_home / "mcp", world.grove_home / "cache" / "mcp"]
    before, children = [size_of(folder) for folder in kept], set()
    memory.pass_time(4000)
    for number in range(STARTS):
        if number % 20 == 0:
            # So that it is asked again; by then the last process is long over.
            memory.wait()
            memory.pass_time(400)
        # The deadline of the real client's hooks.
        agent = world.agent(f"session-{number}", GROVE_HOOKS_DEADLINE_MS=5000)
        shown = agent.starts()
        assert "export_2()" in shown
        assert "What the memory server" in shown
        running = memory.children()
        children |= set(running)
        assert len(running) <= 1
        agent.ends()
    memory.wait()
    if trouble == "hangs":
        # Each one took its seconds, so that those that are seen are all of them, or nearly.
        assert 2 <= len(children) <= STARTS // 20 + 1
    assert world.log("hook-errors.log") == ""
    assert "deadline" not in world.log()
    assert "ERROR" not in world.log()
    assert len(world.log().encode()) < MOST_BYTES
    grown = [size_of(folder) - size for folder, size in zip(kept, before, strict=True)]
    assert max(grown) < MOST_BYTES, grown
    assert not list(world.grove_home.rglob("*.part*"))
    # It is not lost, and gets there once the server is back.
    memory.configure()
    memory.behaves()
    done = world.grove("maintain", "flush", "--json")
    assert (done.code, done.json["waiting"]) == (0, [])
    assert os.listdir(world.folder / "tmp") == []
