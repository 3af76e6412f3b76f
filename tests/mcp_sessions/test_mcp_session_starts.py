"""Starts of sessions where learnings lie on a memory server, seen from outside."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from core_worlds import run_program

BAD = Path(__file__).parents[2] / "grove-backend-mcp" / "tests" / "servers" / "bad_server.py"
ORDERS = "OrderStore.export_1()"
# And some minutes: what is said must not hang on the second.
AN_HOUR = 4000


def minutes_since(world):
    """How long ago the project and its server were in line."""
    (server,) = world.grove("status", "--json").json["servers"]
    at = datetime.fromisoformat(server["synchronised_at"])
    return (datetime.now(UTC) - at).total_seconds() // 60


def test_a_start_asks_the_server_in_one_process_that_nobody_waits_for(memory):
    """A client reads the hook's output to its end; a child that held it open would hold that up."""
    world = memory.world
    memory.teach(1)
    memory.pass_time(AN_HOUR)
    memory.behaves(held=True)
    payload = {
        "session_id": "session-2",
        "cwd": str(world.project),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    process = world.start("hook", "session-start")
    out, err = process.communicate(json.dumps(payload).encode(), timeout=60)
    assert (process.returncode, err) == (0, b"")
    shown = json.loads(out)["hookSpecificOutput"]["additionalContext"]
    assert ORDERS in shown
    ((child, words),) = memory.children().items()
    assert words.endswith(f" {world.project} maintain flush --in-background -q ")
    # It is on its own: not even a signal to the hook's process group or terminal reaches it.
    assert os.getpgid(child) == os.getsid(child) == child
    links = [os.readlink(f"/proc/{child}/fd/{number}") for number in (0, 1, 2)]
    assert links == ["/dev/null"] * 3
    memory.behaves()
    memory.wait()
    world.agent("session-3").starts()
    assert minutes_since(world) == 0
    assert memory.processes() == {}
    assert world.log() == ""


def test_the_server_is_asked_again_when_it_is_time_and_not_before(memory):
    world = memory.world
    memory.teach(1)
    memory.pass_time(AN_HOUR)
    memory.behaves(down=True)
    world.agent("session-2").starts()
    memory.wait()
    memory.behaves(held=True)  # a child could be seen
    memory.forget_failures()
    begun = memory.begun.stat().st_mtime_ns
    memory.pass_time(270)
    world.agent("session-3").starts()
    assert memory.processes() == {}
    memory.pass_time(60)
    world.agent("session-3").starts("resume")
    assert len(memory.children()) == 1
    memory.behaves()
    memory.wait()
    assert memory.begun.stat().st_mtime_ns > begun - 330 * 10**9
    # What is known is fresh.
    calls = memory.calls()
    memory.pass_time(500)
    world.agent("session-4").starts()
    assert minutes_since(world) == 8
    assert memory.processes() == {}
    assert memory.calls() == calls


TROUBLE = {
    "down": lambda memory: memory.behaves(down=True),
    "hangs at its start": lambda memory: memory.started_each_time(BAD, "hang", connect_seconds=0.3),
    "is no more": lambda memory: memory.configure(command="/nowhere/server", args=[]),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_server_of_no_use_costs_a_start_nothing(memory, trouble):
    world = memory.world
    (learning_id,) = memory.teach(1)
    TROUBLE[trouble](memory)
    memory.pass_time(AN_HOUR)
    shown = world.agent("session-2").starts()
    assert learning_id in shown
    memory.wait()
    assert learning_id in world.agent("session-3").starts()
    assert "deadline" not in world.log() + world.log("hook-errors.log")
    assert world.log("hook-errors.log") == ""


def test_no_hook_of_a_session_asks_the_server(memory):
    world = memory.world
    memory.started_each_time()
    memory.teach(1)
    world.start_ticket("bd-9", title="OrderStore is slow", description="export and import")
    calls = memory.calls()
    agent = world.agent("session-2")
    agent.starts()
    assert ORDERS in world.session("session-2")["injected"][0]["summary"]
    agent.asks("Why does OrderStore.export_1() run one query per order?")
    agent.succeeds(agent.announces(command="ls"))
    agent.closes("bd-9")
    agent.is_blocked()
    agent.ends()
    assert memory.processes() == {}
    assert memory.calls() == calls


def test_a_start_loads_nothing_that_talks_to_a_server(memory):
    world = memory.world
    memory.started_each_time()
    world.agent().starts()
    memory.wait()
    memory.teach(1)
    program = (
        "import sys\nfrom grove_core._entry import main\n"
        "code = main()\nprint(*sys.modules, file=sys.stderr)\nraise SystemExit(code)"
    )
    payload = {"session_id": "session-1", "cwd": str(world.project), "source": "startup"}
    done = run_program(
        [sys.executable, "-c", program, "hook", "session-start"],
        input=json.dumps(payload),
        cwd=world.project,
        env=world.environment,
        check=True,
    )
    assert ORDERS in done.stdout
    loaded = done.stderr.split()
    assert "grove_backend_mcp.backend" in loaded
    talking = {"grove_backend_mcp.client", "grove_backend_mcp.mappings.mapping", "ssl", "socket"}
    assert sorted(talking & set(loaded)) == []
