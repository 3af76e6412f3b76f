"""The plugin in the real client, with a program in grove's place that records its calls."""

import json
import os
import re
import sys
from pathlib import Path

import pytest
from core_worlds import run_program, write_file, write_program
from hosts import Call
from scenario import FINISHED, bash

from grove_core.services.messages import reflect_command

PLUGIN = Path(__file__).parents[3] / "plugin"

RECORDING_GROVE = """\
import json, os, sys
from pathlib import Path

def record(call):
    with Path(os.environ["HOME"], "calls.jsonl").open("a") as file:
        file.write(json.dumps(call) + "\\n")

def answer(message):
    if message["method"] == "server/discover":
        return {"error": {"code": -32601, "message": "no"}}
    if message["method"] == "initialize":
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "grove", "version": "0"}}}
    if message["method"] == "tools/list":
        return {"result": {"tools": []}}
    fields = message["params"]["arguments"]
    record({"arguments": ["server"], "stdin": json.dumps({**fields, "hook_event_name": fields["event"]})})
    return {"result": {"content": [{"type": "text", "text": "{}"}]}}

if sys.argv[1:] == ["serve"]:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message)}), flush=True)
else:
    record({"arguments": sys.argv[1:], "stdin": sys.stdin.read()})
"""


@pytest.fixture
def recording(bare_project):
    """A project whose grove is the recording program, where `grove init` would have put it."""
    script = write_file(bare_project.home / "programs of mine" / "grove.py", RECORDING_GROVE)
    words = f'# in place of grove_core\nexec "{sys.executable}" "{script}" "$@"'
    program = write_program(script.with_name("grove"), words)
    home = bare_project.home / ".grove"
    home.mkdir()
    (home / "program").write_text(f"{program}\n")
    return bare_project


def calls(project):
    """What the recording program was called with, in order."""
    path = project.home / "calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def hook_calls(project):
    """(argument or server, event, tool) of every hook call; those of a stop come side by side."""
    found = []
    for call in calls(project):
        if call["arguments"][0] in ("hook", "server"):
            payload = json.loads(call["stdin"])
            event = payload["hook_event_name"]
            found.append((call["arguments"][-1], event, payload.get("tool_name")))
    return found


def test_the_client_finds_the_plugin_in_order(claude, bare_project):
    environment = {"PATH": os.environ["PATH"], "HOME": str(bare_project.home)}
    answer = run_program([claude, "plugin", "validate", "--strict", PLUGIN], env=environment)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_hook_reaches_grove_with_its_event(recording):
    transcript = recording.play(
        [
            bash("echo hello"),
            bash("false"),
            Call("Read", {"file_path": str(recording.root / "reports/orders.py")}),
            Call("TaskCreate", {"subject": "Fix it", "description": "All of it"}),
            Call("TaskUpdate", {"taskId": "1", "status": "completed"}),
            FINISHED,
        ]
    )
    assert transcript["exit_code"] == 0
    assert transcript["plugins"] == ["grove"]
    assert not transcript["plugin_errors"]
    found = hook_calls(recording)
    assert sorted(found[-3:-1]) == [("server", "Stop", None), ("stop", "Stop", None)]
    del found[-2]
    assert [(who, event, tool) for who, event, tool in found if event != "Stop"] == [
        ("session-start", "SessionStart", None),
        ("server", "UserPromptSubmit", None),
        ("server", "PreToolUse", "Bash"),
        ("server", "PostToolUse", "Bash"),
        ("server", "PreToolUse", "Bash"),
        ("server", "PostToolUseFailure", "Bash"),
        ("server", "PostToolUse", "Read"),
        ("server", "PreToolUse", "TaskUpdate"),
        ("server", "TaskCompleted", None),
        ("server", "PostToolUse", "TaskUpdate"),
        ("session-end", "SessionEnd", None),
    ]
    assert {hook["exit_code"] for hook in transcript["hooks"]} == {0}


def test_the_client_offers_the_skills(recording):
    transcript = recording.play([FINISHED])
    names = ("reflect", "search", "skip", "status", "review", "ref", "observe", "add")
    assert {f"grove:{name}" for name in names} <= set(transcript["skills"])


def reflections():
    """Every `grove reflect` that a skill or the gate shows, ready for a shell."""
    shown = re.compile(
        r"^grove reflect (?:<<.*?^EOF\n\)\"$|--category.*?$)", re.DOTALL | re.MULTILINE
    )
    texts = (path.read_text() for path in sorted(PLUGIN.glob("skills/*/SKILL.md")))
    found = [match.group() for text in texts for match in shown.finditer(text)]
    return [reflect_command("session-1"), *found]


@pytest.mark.parametrize("with_skill", [True, False])
def test_a_skill_permits_the_commands_that_it_shows(recording, with_skill):
    """Only `Skill` is allowed from outside: that `grove reflect` may run is the skill's doing."""
    skill = Call("Skill", {"skill": "grove:reflect"})
    commands = [*map(bash, reflections())]
    transcript = recording.play(
        [*([skill] if with_skill else []), *commands, FINISHED],
        path=f"{recording.home / 'programs of mine'}:{recording.path}",
        args=["--allowedTools", "Skill"],
    )
    handed_in = [call for call in calls(recording) if call["arguments"][0] == "reflect"]
    for call in handed_in:
        by_options = "--summary" in call["arguments"]
        assert by_options or isinstance(json.loads(call["stdin"]), dict)
    assert len(handed_in) == (len(commands) if with_skill else 0)
    assert len(transcript["permission_denials"]) == (0 if with_skill else len(commands))


def test_without_grove_the_user_is_told_once_and_work_goes_on(bare_project):
    system = "/usr/bin:/bin"
    transcript = bare_project.play([bash("echo hello"), FINISHED], path=system)
    assert transcript["exit_code"] == 0
    assert transcript["final_text"] == "Finished."
    said = [
        hook for hook in transcript["hooks"] if hook["stdout"] not in ("", "{}") or hook["stderr"]
    ]
    assert [hook["hook_event"] for hook in said] == ["SessionStart"]
    assert said[0]["stdout"].startswith("grove is not installed")
    assert any("grove is not installed" in each["text"] for each in transcript["injected"])
    assert bare_project.changed() == set()
