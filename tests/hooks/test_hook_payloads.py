"""Every recorded payload of the client through the real hook process."""

import json
from pathlib import Path

import pytest

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
FILES = sorted(path.stem for path in PAYLOADS.glob("*.json"))
HANDLED = {
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "TaskCompleted",
    "Stop",
    "SessionEnd",
}


def moved(value, world):
    """The payload with the recorded machine's paths replaced by those of this world."""
    text = json.dumps(value).replace("/home/dev/project", str(world.project))
    return json.loads(text.replace("/home/dev", str(world.home)))


def send(world, name):
    """Sends a recorded payload; gives its event and what came of it."""
    case = moved(json.loads((PAYLOADS / f"{name}.json").read_text()), world)
    return case["event"], world.hook(case["event"], case["stdin"], **case.get("env", {}))


def is_handled(name):
    """Whether a file holds an event that grove does anything about."""
    return name.partition("-")[0] in HANDLED


def test_payloads_are_there():
    assert len(FILES) > 60
    assert {name.partition("-")[0] for name in FILES} > HANDLED


@pytest.mark.parametrize("name", [name for name in FILES if is_handled(name)])
def test_an_initialised_project_answers_every_payload(world, name):
    world.initialise()
    _, done = send(world, name)
    assert (done.code, done.stderr) == (0, "")
    assert world.log() == world.log("crash.log") == ""


@pytest.mark.parametrize("name", FILES)
def test_an_untouched_project_stays_as_it_is(world, name):
    (world.project / "a.py").write_text("print()\n")
    _, done = send(world, name)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert [path.name for path in world.project.iterdir()] == ["a.py"]
    if is_handled(name):
        assert world.log() == world.log("crash.log") == ""
    else:
        assert not world.grove_home.exists()


def test_the_recorded_close_arms_nothing_in_an_untouched_project(world):
    """Announced and confirmed under one id, but no ticket system is used here."""
    close = json.loads((PAYLOADS / "PreToolUse-Bash.json").read_text())
    payload = moved(close, world)["stdin"]
    assert "bd close bd-1" in payload["tool_input"]["command"]
    world.hook("PreToolUse", payload)
    world.hook("PostToolUse", {**payload, "tool_response": {"stdout": "", "stderr": ""}})
    assert world.hook("Stop", {**payload, "hook_event_name": "Stop"}).code == 0
    assert list(world.project.iterdir()) == []
