"""Writers and a memory server that end at any moment; and many starts with one of no use."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from scale import turned_up

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, Category, Learning

FAKE = Path(__file__).parents[3] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
LEARNINGS, WRITERS = turned_up(40, 500), turned_up(2, 4)
KILLS = turned_up(2, 20)  # of each writer


def a_learning(number):
    return Learning(
        id=f"cl_20300102_{number:06x}",
        category=Category.PITFALL,
        summary=f"Store.export_{number}() runs one query per order unless prefetched",
        detail=f"It took {number} s with 1,000 orders. Call prefetch_items() first.",
        session_id="earlier",
        timestamp=datetime(2030, 1, 2, tzinfo=UTC) + timedelta(seconds=number),
    )


def backend_in(folder, kind):
    """Its clock runs fast, so that a server that has failed is tried again while the test lasts."""
    began = time.time()
    words = (str(FAKE), kind, str(folder / "store.json"))
    settings = McpSettings(
        command=sys.executable,
        args=(*words, "--control", str(folder / "control.json")),
        project="shop",
    )
    return McpBackend(
        BackendContext(
            root=folder / "project",
            home=folder / "home",
            environment={"PATH": os.environ["PATH"], "HOME": str(folder)},
            settings=settings,
        ),
        clock=lambda: datetime.fromtimestamp(began + 1000 * (time.time() - began), UTC),
    )


def write_all(folder, kind, first, last):
    """What a writer does: it writes one after the other, and says which ones are safe."""
    backend = backend_in(Path(folder), kind)
    for number in range(int(first), int(last)):
        print(number, backend.write(a_learning(number)).status.value, flush=True)


class Writer(threading.Thread):
    """Processes that write a part, one after the other; each of the first ones is killed at it."""

    def __init__(self, folder, kind, part, chance):
        super().__init__()
        self.words, self.part, self.chance = (str(folder), kind), part, chance
        self.faults, self.kills = [], 0

    def run(self):
        first, last = self.part
        while first < last and not self.faults:
            command = [sys.executable, __file__, *self.words, str(first), str(last)]
            pipe = subprocess.PIPE
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            process = subprocess.Popen(
                command, env=environment, stdout=pipe, stderr=pipe, text=True
            )
            left = self.chance.randint(1, 4) if self.kills < KILLS else 0
            for line in process.stdout:
                number, status = line.split()
                assert status in {"stored", "queued", "duplicate"}
                first = int(number) + 1
                left -= 1
                if left == 0:
                    process.kill()
            _, err = process.communicate()
            self.kills += process.returncode == -signal.SIGKILL
            if process.returncode not in {0, -signal.SIGKILL}:
                self.faults.append(err)


def held(store, kind):
    """How many times the server holds each learning."""
    document = json.loads(store.read_text())
    if kind == "append":
        return Counter(metadata["id"] for _, metadata in document["entries"])
    return Counter(document["entities"].keys())


@pytest.mark.parametrize("kind", ["append", "graph"])
def test_nothing_is_lost_or_doubled_while_everything_ends_at_random(tmp_path, kind):
    chance = random.Random(kind)
    (tmp_path / "project").mkdir()
    size = LEARNINGS // WRITERS
    parts = [(number * size, (number + 1) * size) for number in range(WRITERS)]
    writers = [Writer(tmp_path, kind, part, chance) for part in parts]
    for one in writers:
        one.start()
    control = tmp_path / "control.json"
    while any(one.is_alive() for one in writers):
        is_down = any(one.kills < KILLS for one in writers) and chance.random() < 0.5
        control.with_suffix(".part").write_text(json.dumps({"down": is_down}))
        control.with_suffix(".part").replace(control)
        time.sleep(chance.uniform(0.1, 0.8))
    assert [fault for one in writers for fault in one.faults] == []
    assert all(one.kills == KILLS for one in writers)
    backend = backend_in(tmp_path, kind)
    for _ in range(20):
        done = backend.synchronise(60, asked=True)
        if not done.waiting:
            break
    assert (done.fault, done.waiting) == ("", ())
    backend._remote.connection.close()
    wanted = Counter(a_learning(number).id for number in range(size * WRITERS))
    assert Counter(one.id for one in backend.iterate()) == wanted
    assert held(tmp_path / "store.json", kind) == wanted


if __name__ == "__main__":
    write_all(*sys.argv[1:])
