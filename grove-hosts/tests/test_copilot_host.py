"""Copilot CLI: recorded payloads in, answers out, and its files as they were."""

import json
from pathlib import Path

import pytest

from grove_core import HookEvent, HookInput, HookReply, StartSource, Status
from grove_hosts.copilot import grove_hosts

RECORDED = Path(__file__).parents[2] / "tests" / "data" / "hosts" / "copilot"
(HOST,) = grove_hosts()
SHELL = {
    "hook_event_name": "PostToolUse",
    "session_id": "s-1",
    "cwd": "/p",
    "tool_name": "Bash",
    "tool_input": {"command": "bd close b-1"},
}


def payloads(name, event=None):
    """Those of a recording under Claude Code's names, or of one event."""
    events = json.loads((RECORDED / f"{name}.json").read_text())["events"]
    found = [one["stdin"] for one in events if one["event"][0].isupper()]
    return [one for one in found if event in (None, one.get("hook_event_name"))]


def calls(name, event=None):
    parsed = (HOST.parse("", one, {}) for one in payloads(name, event))
    return [one for one in parsed if one is not None]


def test_a_session_is_read():
    start, prompt = (calls("resume-2-by-id", one)[0] for one in HOST.events[:2])
    assert (start.event, start.source) == (HookEvent.SESSION_START, StartSource.COMPACT)
    assert (prompt.prompt, prompt.cwd) == ("Two.", "/home/dev/project")
    assert prompt.session_id == start.session_id
    stops = calls("stop-json", "Stop")
    assert [one.stop_hook_active for one in stops] == [False, True]
    assert all(one.transcript_path.endswith("/events.jsonl") for one in stops)


def test_each_call_meets_its_result():
    made = [one for one in calls("session-both-styles") if one.tool]
    before = [one.tool.use_id for one in made if one.event is HookEvent.PRE_TOOL_USE]
    after = [one for one in made if one.event is not HookEvent.PRE_TOOL_USE]
    assert [one.tool.use_id for one in after] == before
    assert len(set(before)) == len(before)
    results = [(one.tool.name, one.result.succeeded) for one in after]
    assert results == [
        ("Bash", True), ("Bash", False), ("Write", True), ("Edit", True), ("Edit", False),
        ("Read", True), ("nosuchtool", False), ("Bash", False), ("sql", True),
    ]  # fmt: skip
    touched = [one.touched_file for one in after if one.touched_file]
    assert touched == ["/home/dev/project/a.txt"] * 3


def test_tools_of_servers_have_groves_names():
    closed, failed = [one for one in calls("mcp") if one.result]
    assert {one.tool.name for one in (closed, failed)} == {"mcp__tick__close_ticket"}
    assert (closed.result.succeeded, failed.result.succeeded) == (True, False)
    assert (closed.result.response, closed.tool.input) == ("closed {'id': 'T-1'}", {"id": "T-1"})
    named = HOST.parse("", {**SHELL, "tool_name": "github-mcp-server-issue_write"}, {})
    assert named.tool.name == "mcp__github-mcp-server__issue_write"


@pytest.mark.parametrize(
    ("text", "succeeded", "task"),
    [
        ("closed b-1\n<shellId: 0 completed with exit code 0>", True, None),
        ("no\n<shellId: 12 completed with exit code 5>", False, None),
        ("<shellId: 0 completed with exit code 0>\n<shellId: 1 completed with exit code 1>", False, None),
        ("<detached command with shellId: 1 completed with exit code -9>", False, None),
        ("<command started in background with shellId: 0>", None, "0"),
        ("<command started in detached background with shellId: 7>", None, "7"),
        ("a\n<command with shellId: 3 is still running after 30 seconds. Use stop_bash.>", None, "3"),
        ("<shellId: 0 completed with exit code 0>\nprinted by the command", None, None),
        ("", None, None),
    ],
)  # fmt: skip
def test_the_last_line_tells_how_a_command_ended(text, succeeded, task):
    given = {"result_type": "success", "text_result_for_llm": text}
    result = HOST.parse("", {**SHELL, "tool_result": given}, {}).result
    assert (result.succeeded, result.background_task_id) == (succeeded, task)
    assert (result.error or result.response) == text
    given["result_type"] = "failure"
    assert HOST.parse("", {**SHELL, "tool_result": given}, {}).result.succeeded is False


def test_what_a_subagent_does_belongs_to_the_session():
    (prompt,) = calls("subagent-stop-block", "UserPromptSubmit")
    made = calls("subagent-stop-block")
    assert {one.session_id for one in made} == {prompt.session_id}
    assert prompt.agent_id is None
    inside = [one for one in made if one.agent_id]
    assert {one.event for one in inside} == {
        HookEvent.PRE_TOOL_USE, HookEvent.POST_TOOL_USE, HookEvent.SUBAGENT_STOP
    }  # fmt: skip
    assert len([one for one in made if one.event is HookEvent.STOP]) == 1


def test_what_no_person_has_asked_is_no_prompt():
    assert [one.prompt for one in calls("background-shell", "UserPromptSubmit")] == ["Do the task."]
    reason = {**SHELL, "hook_event_name": "UserPromptSubmit", "prompt": "grove: one thing more"}
    assert HOST.parse("", reason, {}).is_notification


def test_two_files_of_hooks_are_told_apart():
    stop = payloads("stop-json", "Stop")[0]
    folders = [HOST.parse("", stop, {"COPILOT_HOOK_DIR": one}).set_of_hooks for one in ("a", "b")]
    assert folders == ["a", "b"]


def test_a_person_is_warned_at_a_stop():
    answer = HOST.answer(
        HookInput(event=HookEvent.STOP, session_id="s"), HookReply(warning="Mind.")
    )
    assert (answer.exit_code, answer.stdout, answer.stderr) == (2, "", "Mind.\n")


def test_edits_are_found_in_the_transcript(tmp_path):
    def line(name, **arguments):
        data = {"toolName": name, "arguments": arguments}
        return json.dumps({"type": "tool.execution_start", "data": data}) + "\n"

    file = tmp_path / "events.jsonl"
    first = line("edit", path="/p/a") + line("bash", command="edit")
    file.write_text(first + '{"tool.execution_start"\n' + line("create", path="/p/b"))
    assert list(HOST.edited_files(str(file), 0)) == ["/p/a", "/p/b"]
    assert list(HOST.edited_files(str(file), len(first))) == ["/p/b"]
    assert not list(HOST.edited_files(str(tmp_path / "none"), 0))


# --- its files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shared", "program", "place"),
    [(False, "'/opt/my bin/grove'", "home/.copilot/hooks"), (True, "grove", "p/.github/hooks")],
)
def test_hooks_are_in_a_file_of_their_own(context, install, tmp_path, shared, program, place):
    given = context(shared=shared, tools=("Edit",), agents=("reviewer",))
    file = install(HOST, given)
    assert file == tmp_path / place / "grove.json"
    hooks = json.loads(file.read_text())["hooks"]
    assert set(hooks) == {*HOST.events, "SubagentStop"}
    commands = {event: one["hooks"][0]["command"] for event, (one,) in hooks.items()}
    assert commands.pop("PreToolUse") == f"{program} hook copilot || true"
    assert set(commands.values()) == {f"{program} hook copilot"}
    assert hooks["PreToolUse"][0]["matcher"] == "Bash|.+-.+|Edit"
    found = HOST.registered(given)
    assert [one.event for one in found] == list(hooks)
    assert {(one.source, one.kind) for one in found} == {(file, "project" if shared else "user")}
    assert {one.program for one in found} == {program.strip("'")}


def test_the_home_can_be_elsewhere(context, tmp_path):
    given = context(environment={"HOME": "/h", "COPILOT_HOME": str(tmp_path)})
    assert HOST.setup(given).files[0].path == tmp_path / "hooks" / "grove.json"
    assert HOST.setup(context(hooks=False)).files == ()


def test_shared_hooks_need_trust_as_far_as_can_be_seen(context, install, tmp_path):
    given = context(shared=True)
    file = install(HOST, given)
    assert "--trust-folder" in HOST.setup(given).notes[0]
    (found,) = HOST.check(given)
    assert (found.status, "trusted" in found.detail) == (Status.WARNING, True)
    home = tmp_path / "home" / ".copilot"
    home.mkdir(parents=True)
    trusted = json.dumps({"trustedFolders": [str(tmp_path / "p")]})
    (home / "config.json").write_text(f"// This file is managed automatically.\n{trusted}")
    assert list(HOST.check(given)) == []
    off = {**json.loads(file.read_text()), "disableAllHooks": True}
    file.write_text(json.dumps(off))
    assert [one.status for one in HOST.check(given)] == [Status.BROKEN]
