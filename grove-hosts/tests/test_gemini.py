"""Gemini CLI: recorded payloads in, answers out, and its settings as they were."""

import json
import shutil
from pathlib import Path

import pytest
from core_worlds import run_program, write_program

from grove_core import HookEvent, StartSource, Status
from grove_hosts.gemini import grove_hosts

RECORDED = Path(__file__).parents[2] / "tests" / "data" / "hosts" / "gemini"
(HOST,) = grove_hosts()


def payload(name):
    return json.loads((RECORDED / f"{name}.json").read_text())["stdin"]


def call(name, environment=None, **more):
    return HOST.parse("", {**payload(name), **more}, environment or {})


@pytest.mark.parametrize(
    ("name", "event", "said"),
    [
        ("SessionStart-startup", "SESSION_START", StartSource.STARTUP),
        ("SessionStart-resume", "SESSION_START", StartSource.RESUME),
        ("SessionStart-clear", "SESSION_START", StartSource.CLEAR),
        ("BeforeAgent", "USER_PROMPT_SUBMIT", "Do the task."),
        ("BeforeAgent-with-session-context", "USER_PROMPT_SUBMIT", "Do the task."),
        ("AfterAgent-first", "STOP", False),
        ("AfterAgent-after-block", "STOP", True),
        ("AfterAgent-after-block-and-tool", "STOP", False),
        ("SessionEnd-exit", "SESSION_END", ""),
    ],
)
def test_a_session_is_read(name, event, said):
    found = call(name)
    fields = {HookEvent.SESSION_START: "source", HookEvent.STOP: "stop_hook_active"}
    read = getattr(found, fields.get(found.event, "prompt"))
    assert (found.event, read) == (HookEvent[event], said)
    assert (found.session_id, found.cwd) == (payload(name)["session_id"], "/home/dev/project")


@pytest.mark.parametrize(
    ("name", "tool", "succeeded"),
    [
        ("BeforeTool-shell", "Bash", "unasked"),
        ("BeforeTool-in-subagent", "Bash", "unasked"),
        ("BeforeTool-mcp", "mcp__tix__close", "unasked"),
        ("AfterTool-shell", "Bash", True),
        ("AfterTool-shell-exit3", "Bash", False),
        ("AfterTool-shell-notfound", "Bash", False),
        ("AfterTool-shell-piped-failure", "Bash", True),
        ("AfterTool-shell-background", "Bash", None),
        ("AfterTool-mcp", "mcp__tix__close", True),
        ("AfterTool-mcp-failed", "mcp__tix__close", False),
        ("AfterTool-write_file", "Write", True),
        ("AfterTool-replace-failed", "Edit", False),
    ],
)
def test_calls_and_results(name, tool, succeeded):
    found = call(name)
    result = found.result.succeeded if found.result else "unasked"
    assert (found.tool.name, result) == (tool, succeeded)
    assert found.tool.input == {
        key: value
        for key, value in payload(name)["tool_input"].items()
        if tool != "Bash" or key == "command"
    }


@pytest.mark.parametrize(
    ("said", "succeeded"),
    [
        ("Output: Exit Code: 3\nProcess Group PGID: 1", True),
        ("Output: a\nExit Code: 3\nok\nProcess Group PGID: 1", True),
        ("Output: a\nExit Code: 3\nBackground PIDs: 7\nProcess Group PGID: 1", False),
        ("Output: a\nSignal: 9\nProcess Group PGID: 1", False),
        ("Command was cancelled by user before it could complete.", None),
        ("", None),
    ],
)
def test_the_lines_after_the_output_tell_how_a_command_ended(said, succeeded):
    text = f"<untrusted_context>\n{said}\n</untrusted_context>"
    assert call("AfterTool-shell", tool_response={"llmContent": text}).result.succeeded is succeeded


def test_a_call_is_where_its_shell_is():
    found = call("BeforeTool-shell", tool_input={"command": "bd close 1", "dir_path": "sub"})
    assert (found.tool.cwd, found.tool.use_id) == ("/home/dev/project/sub", None)


def test_what_is_no_concern():
    assert call("PreCompress-auto") is None
    assert call("AfterAgent-first", {"GROVE_HOOKS": "project"}).set_of_hooks == "project"
    assert call("BeforeAgent", prompt="grove: one step left.").is_notification


# --- its settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shared", "program", "place"),
    [(False, "/opt/my bin/grove", "home"), (True, "grove", "p")],
)
def test_hooks_are_put_into_settings(context, install, tmp_path, shared, program, place):
    given = context(shared=shared, tools=("Edit", "web.fetch"))
    file = install(HOST, given)
    hooks = json.loads(file.read_text())["hooks"]
    assert tuple(hooks) == HOST.events
    assert hooks["BeforeTool"][0]["matcher"] == r"^(run_shell_command|mcp_.*|replace|web\.fetch)$"
    timeouts = [one["hooks"][0]["timeout"] for (one,) in hooks.values()]
    assert min(timeouts) == 3_000
    assert file == tmp_path / place / ".gemini" / "settings.json"
    found = HOST.registered(given)
    assert [one.event for one in found] == list(hooks)
    assert {(one.source, one.program) for one in found} == {(file, program)}


@pytest.mark.parametrize("program", ["grove", None])
def test_a_program_that_is_gone_or_complains_denies_nothing(context, install, tmp_path, program):
    file = install(HOST, context(shared=True))
    command = json.loads(file.read_text())["hooks"]["AfterAgent"][0]["hooks"][0]["command"]
    (tmp_path / "bin").mkdir()
    if program:
        write_program(tmp_path / "bin" / program, "echo complaint >&2\necho '{}'")
    run = run_program(
        [shutil.which("bash"), "-c", command], env={"PATH": str(tmp_path / "bin")}, check=True
    )
    assert (run.stdout, run.stderr) == ("{}\n" if program else "", "")


def test_switches_are_seen(context, install):
    given = context(shared=True)
    settings = install(HOST, given)
    assert list(HOST.check(given)) == []
    for switches in ({"enabled": False}, {"disabled": ["grove"]}):
        settings.write_text(json.dumps({"hooksConfig": switches}))
        assert [one.status for one in HOST.check(given)] == [Status.BROKEN]
    assert HOST.setup(context(hooks=False)).files == ()
