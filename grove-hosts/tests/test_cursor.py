"""Cursor: payloads of its hooks' executor in, answers that it takes out, and its file as it was."""

import json
from pathlib import Path

import pytest

from grove_core import HookEvent
from grove_hosts.cursor import grove_hosts

RECORDED = Path(__file__).parents[2] / "tests" / "data" / "hosts" / "cursor"
(HOST,) = grove_hosts()


def call(step, environment=None, **more):
    payload = json.loads((RECORDED / f"step-{step}.json").read_text())["stdin"]
    return HOST.parse("", {**payload, **more}, environment or {})


@pytest.mark.parametrize(
    ("step", "event", "command", "succeeded"),
    [
        ("sessionStart", "SESSION_START", None, None),
        ("beforeSubmitPrompt", "USER_PROMPT_SUBMIT", None, None),
        ("preToolUse", "PRE_TOOL_USE", "echo hi", None),
        ("postToolUse", "POST_TOOL_USE", "echo hi", True),
        ("postToolUseFailure", "POST_TOOL_USE_FAILURE", "false", False),
        ("stop", "STOP", None, None),
        ("sessionEnd", "SESSION_END", None, None),
    ],
)
def test_steps_are_read(step, event, command, succeeded):
    found = call(step)
    assert found.event is HookEvent[event]
    assert found.session_id == "11111111-2222-3333-4444-555555555555"
    assert found.cwd == "/home/dev/project"
    assert (found.tool and found.tool.input["command"]) == command
    assert (found.result and found.result.succeeded) == succeeded
    assert step in HOST.events


@pytest.mark.parametrize(
    ("printed", "succeeded"),
    [
        ('{"output":"\\"exitCode\\":0","exitCode":1}', False),
        ('{"output":"moved to the background"}', None),
        ("no JSON", None),
    ],
)
def test_the_exit_code_is_in_the_output(printed, succeeded):
    assert call("postToolUse", tool_output=printed).result.succeeded is succeeded


def test_what_is_no_concern():
    assert call("afterFileEdit") is None
    assert call("stop", status="aborted") is None
    assert call("stop", loop_count=1).stop_hook_active
    assert call("stop", {"GROVE_HOOKS": "project"}).set_of_hooks == "project"
    assert call("preToolUse", tool_name="Read").tool is None
    assert call("preToolUse", tool_input={"command": "x", "cwd": "sub"}).tool.cwd.endswith("/sub")
    assert call("beforeSubmitPrompt", prompt="grove: one step left.").is_notification


@pytest.mark.parametrize(
    ("shared", "command", "place"),
    [
        (False, "'/opt/my bin/grove' hook cursor", "home"),
        (True, "GROVE_HOOKS=project grove hook cursor", "p"),
    ],
)
def test_the_file_is_one_that_the_client_takes(context, install, tmp_path, shared, command, place):
    given = context(shared=shared)
    file = install(HOST, given)
    assert file == tmp_path / place / ".cursor" / "hooks.json"
    document = json.loads(file.read_text())
    assert document["version"] == 1
    # A name that it does not know voids the file.
    assert set(document["hooks"]) == {
        "sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure",
        "stop", "sessionEnd",
    }  # fmt: skip
    assert {one["command"] for (one,) in document["hooks"].values()} == {command}
    assert document["hooks"]["preToolUse"][0]["matcher"] == "Shell"
    assert [one.event for one in HOST.registered(given)] == list(document["hooks"])
    assert HOST.setup(context(hooks=False)).files == ()
