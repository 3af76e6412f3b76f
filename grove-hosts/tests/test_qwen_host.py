"""Qwen Code: recorded payloads in, answers out, and its settings as they were."""

import json
from pathlib import Path

import pytest

from grove_core import HookEvent, StartSource
from grove_hosts.qwen import grove_hosts

RECORDED = Path(__file__).parents[2] / "tests" / "data" / "hosts" / "qwen"
(HOST,) = grove_hosts()


def calls(name, event=None, **environment):
    payloads = json.loads((RECORDED / f"{name}.json").read_text())
    parsed = [HOST.parse("", one, environment) for one in payloads]
    return [one for one in parsed if one is not None and event in (None, one.event)]


def test_a_session_is_read():
    assert [one.source for one in calls("resumed")] == [StartSource.COMPACT]
    made = calls("session")
    assert (made[0].event, made[0].source) == (HookEvent.SESSION_START, StartSource.STARTUP)
    assert len({one.session_id for one in made}) == 1
    prompts = [one for one in made if one.event is HookEvent.USER_PROMPT_SUBMIT]
    told = [(one.prompt, one.is_notification) for one in prompts]
    assert told == [("Do the task.", False), ("grove: one more thing", True)]
    assert all(one.prompt_id for one in made[1:])


def test_each_call_has_groves_name_and_its_result():
    made = [one for one in calls("session") if one.tool]
    before = [one.tool.use_id for one in made if one.event is HookEvent.PRE_TOOL_USE]
    after = [one for one in made if one.result]
    assert [one.tool.use_id for one in after] == before
    results = [(one.tool.name, one.result.succeeded) for one in after]
    assert results == [
        ("Bash", True), ("Bash", False), ("Write", True), ("Read", True),
        ("mcp__tick__close_ticket", True), ("mcp__tick__close_ticket", False),
        ("Bash", True), ("Agent", True), ("Bash", True),
    ]  # fmt: skip
    assert [one.touched_file for one in after if one.touched_file] == [
        "/home/dev/project/a.txt"
    ] * 2
    assert "Exit Code: 5" in after[1].result.error
    assert [one.result.background_task_id for one in after if one.result.background_task_id] == [
        "bg_edb9ef49"
    ]
    assert after[-1].agent_id


def test_a_stop_waits_for_subagents():
    stops = calls("session", HookEvent.STOP)
    assert [[one.kind for one in stop.background] for stop in stops] == [["subagent"], [], []]
    assert [one.stop_hook_active for one in stops] == [False, True, False]
    (ended,) = calls("session", HookEvent.SUBAGENT_STOP, GROVE_HOOKS="project")
    assert (stops[0].set_of_hooks, ended.set_of_hooks) == ("", "project")
    assert ended.agent_type == "general-purpose"


@pytest.mark.parametrize(
    ("shared", "program", "place"),
    [(False, "/opt/my bin/grove", "home/.qwen"), (True, "grove", "p/.qwen")],
)
def test_hooks_go_into_the_settings(context, install, tmp_path, shared, program, place):
    given = context(tools=("Edit", "other"), agents=("reviewer",), shared=shared)
    assert install(HOST, given) == tmp_path / place / "settings.json"
    found = {one.event: one for one in HOST.registered(given)}
    assert set(found) == {*HOST.events, "SubagentStop"}
    assert {(one.program, *one.arguments[:2]) for one in found.values()} == {
        (program, "hook", "qwen")
    }
    assert found["PreToolUse"].matcher == "^(run_shell_command|mcp__.*|edit|other)$"
    assert found["SubagentStop"].matcher == "^(reviewer)$"
    assert HOST.setup(context(hooks=False)).files == ()
