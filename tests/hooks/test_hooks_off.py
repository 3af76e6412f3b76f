"""`GROVE_NO_HOOKS=1`: hooks of a client that grove itself runs do nothing and leave nothing."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "plugin"
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "TaskCompleted", "Stop", "SessionEnd",
)  # fmt: skip
OFF = {"GROVE_NO_HOOKS": "1"}
CALL = {
    "tool_name": "Bash",
    "tool_input": {"command": "bd close bd-1"},
    "tool_use_id": "toolu_1",
    "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
}


def snapshot(world):
    """Every entry of grove's own and of the project, with its bytes and the time it was written."""
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for folder in (world.grove_home, world.project)
        for path in folder.rglob("*")
    }


def send(world, event, **variables):
    payload = {
        "session_id": "session-2",
        "cwd": str(world.project),
        "hook_event_name": event,
        "prompt": "Close bd-1",
        "source": "startup",
        "reason": "other",
        "stop_hook_active": False,
        **CALL,
    }
    return world.hook(event, payload, **variables)


def test_every_event_of_the_plugin_is_looked_at():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) <= set(EVENTS)


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_does_nothing(beads, event):
    beads.start_ticket("bd-1")
    beads.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order")
    beads.agent().starts()
    before = snapshot(beads)
    done = send(beads, event, **OFF)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert snapshot(beads) == before


@pytest.mark.parametrize("event", EVENTS)
def test_nothing_is_made_where_nothing_is(beads, event):
    assert send(beads, event, **OFF).code == 0
    assert not beads.grove_home.exists()


def test_a_gate_that_is_owed_stays_owed(beads):
    """It is the child that is let go, not the session that started it."""
    beads.start_ticket("bd-1")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    before = snapshot(beads)
    done = send(beads, "Stop", **OFF)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    agent.variables = dict(OFF)
    agent.is_let_go()
    assert snapshot(beads) == before
    agent.variables = {}
    assert "grove reflect" in agent.is_blocked()


@pytest.mark.parametrize("value", ["", "0"])
def test_hooks_that_are_not_off(beads, value):
    send(beads, "SessionStart", GROVE_NO_HOOKS=value)
    assert beads.gate("session-2") == "idle"


def test_the_payload_is_read_to_its_end(world):
    """Else the client would write into a pipe that is broken."""
    payload = json.dumps({"prompt": "x" * 4_000_000}).encode()
    process = world.start("hook", "user-prompt-submit", **OFF)
    process.stdin.write(payload)
    process.stdin.close()
    assert (process.wait(60), process.stdout.read(), process.stderr.read()) == (0, b"", b"")
    process.stdout.close()
    process.stderr.close()


def test_nothing_is_imported_for_it(world):
    program = (
        "import sys; sys.argv[1:] = ['hook', 'stop']\n"
        "from grove_core._entry import main\n"
        "code = main(); print(code, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="{}",
        env={**world.environment, **OFF},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, *modules = done.stdout.split()
    assert code == "0"
    own = [name for name in modules if name.startswith("grove_core")]
    assert sorted(own) == [
        "grove_core", "grove_core._entry", "grove_core.hooks", "grove_core.hooks.fast",
    ]  # fmt: skip
    assert not re.search(r"\b(json|re|pathlib|attrs)\b", " ".join(modules))


def test_help_is_for_people_all_the_same(world):
    done = world.grove("hook", "--help", **OFF)
    assert done.code == 0
    assert done.stdout.startswith("Usage: grove hook EVENT")
