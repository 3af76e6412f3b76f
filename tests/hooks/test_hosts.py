"""Hooks that name their client: the gate is the same, whatever the client says and takes."""

import json

import pytest
from attacks import gate_sequences
from host_world import WORDS

from grove_core.errors import StorageError
from grove_core.storage import files

ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
LEARNING = "cl_20300102_aaaaaa"
TICKET = "---\nid: ab-1\nstatus: {}\n---\n# The report of orders is slow\n"
CLOSE = {"tool_name": "Bash", "tool_input": {"command": "tk close ab-1"}, "tool_use_id": "call_1"}
SHELL = {"tool_name": "run_shell_command", "tool_input": {"command": "tk close ab-1"}}


@pytest.fixture
def shop(world):
    """A project with a ticket and a learning."""
    (world.project / ".tickets").mkdir()
    (world.project / ".grove").mkdir()
    world.learning(LEARNING, ABOUT_ORDERS)
    write(world, "in_progress")
    return world


def write(world, status):
    (world.project / ".tickets" / "ab-1.md").write_text(TICKET.format(status))


def call(world, host, event, **fields):
    payload = {"session_id": "s-1", "cwd": str(world.project), "hook_event_name": event, **fields}
    done = world.grove("hook", host, stdin=json.dumps(payload))
    assert (done.code, done.stderr) == (0, "")
    return json.loads(done.stdout) if done.stdout else {}


@pytest.mark.parametrize(
    ("status", "blocks"), [("closed", 3), ("in_progress", 0)], ids=["closed", "still open"]
)
def test_where_a_result_is_unknown_the_tracker_is_asked(shop, status, blocks):
    call(shop, "codex", "SessionStart", source="startup")
    call(shop, "codex", "UserPromptSubmit", prompt="Close it.", turn_id="t-1")
    call(shop, "codex", "PreToolUse", **CLOSE)
    write(shop, status)
    # No transcript says how the command has ended.
    call(shop, "codex", "PostToolUse", **CLOSE, tool_response="closed")
    answers = [call(shop, "codex", "Stop", stop_hook_active=False) for _ in range(20)]
    held = [one for one in answers if one.get("decision") == "block"]
    # However often the client asks: it has no cap of its own.
    assert len(held) == blocks
    assert all(set(one) == {"decision", "reason"} for one in held)
    assert all(not {"<", ">"} & {*one["reason"]} for one in held)


def test_what_neither_client_nor_tracker_can_say_is_no_close(beads):
    close = {**CLOSE, "tool_input": {"command": "bd close bd-1"}}
    call(beads, "codex", "SessionStart", source="startup")
    call(beads, "codex", "PreToolUse", **close)
    call(beads, "codex", "PostToolUse", **close, tool_response="closed")
    assert call(beads, "codex", "Stop") == {}


def test_a_block_that_cannot_be_counted_is_none(shop, monkeypatch):
    call(shop, "codex", "SessionStart", source="startup")
    call(shop, "codex", "PreToolUse", **CLOSE)
    write(shop, "closed")
    call(shop, "codex", "PostToolUse", **CLOSE, tool_response="closed")
    replace = files.replace

    def refuse(path, *rest, **more):
        if "sessions" in str(path):
            raise StorageError("the disk is read-only")
        return replace(path, *rest, **more)

    monkeypatch.setattr(files, "replace", refuse)
    assert call(shop, "codex", "Stop") == {}
    monkeypatch.undo()
    assert call(shop, "codex", "Stop")["decision"] == "block"


def test_a_tentative_block_does_not_count(shop):
    """OpenCode asks where a text ends, and again if the agent has called no tool behind it."""
    call(shop, "opencode", "SessionStart", source="startup")
    call(shop, "opencode", "PreToolUse", **CLOSE)
    write(shop, "closed")
    call(shop, "opencode", "PostToolUse", **CLOSE, tool_response={"exit": 0})
    for _ in range(5):
        assert "this is 1 of 3" in call(shop, "opencode", "Stop", tentative=True)["block"]
    assert all("block" in call(shop, "opencode", "Stop") for _ in range(3))
    # What is let go counts at once.
    assert "3 times" in call(shop, "opencode", "Stop", tentative=True)["warning"]
    assert call(shop, "opencode", "Stop") == {}


def test_a_client_may_name_the_directory_in_its_own_way(shop):
    roots = {"workspace_roots": [str(shop.project)], "cwd": ""}
    start = json.dumps({"hook_event_name": "sessionStart", "session_id": "s-1", **roots})
    done = shop.grove("hook", "cursor", stdin=start, cwd=shop.home)
    assert ABOUT_ORDERS in json.loads(done.stdout)["additional_context"]


def test_what_cannot_follow_a_start_comes_with_the_first_prompt(shop):
    assert call(shop, "gemini", "SessionStart", source="startup") == {}
    first = call(shop, "gemini", "BeforeAgent", prompt="Hello.")
    assert ABOUT_ORDERS in first["hookSpecificOutput"]["additionalContext"]
    assert call(shop, "gemini", "BeforeAgent", prompt="Hello again.") == {}
    # A session that is taken up again still has it.
    call(shop, "gemini", "SessionStart", source="resume")
    assert call(shop, "gemini", "BeforeAgent", prompt="Hello.") == {}


def test_an_end_that_is_none_ends_nothing(shop):
    """Copilot says after each turn that the session has ended."""
    call(shop, "copilot", "SessionStart", source="new")
    call(shop, "copilot", "UserPromptSubmit", prompt="Close it.")
    call(shop, "copilot", "SessionEnd", reason="complete")
    call(shop, "copilot", "UserPromptSubmit", prompt="Go on.")
    result = {
        "result_type": "success",
        "text_result_for_llm": "<shellId: 1 completed with exit code 0>",
    }
    call(shop, "copilot", "PreToolUse", **CLOSE)
    write(shop, "closed")
    call(shop, "copilot", "PostToolUse", **CLOSE, tool_result=result)
    assert call(shop, "copilot", "Stop")["decision"] == "block"
    assert shop.session("s-1")["ended_at"] is None


def test_a_gate_sees_the_tools_that_another_client_names_otherwise(shop):
    shop.grove("config", "set", "gates.review.tools", '["Edit"]', "--user")
    call(shop, "qwen", "SessionStart", source="startup")
    call(shop, "qwen", "UserPromptSubmit", prompt="Mend it.")
    edit = {"tool_name": "edit", "tool_input": {"file_path": "a.py"}, "tool_use_id": "call_2"}
    denied = call(shop, "qwen", "PreToolUse", **edit)
    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"hook_event_name": "PreToolUse"}', b'{"session_id": "../x"}']
)
@pytest.mark.parametrize("host", ["codex", "gemini", "opencode", "cursor", "nobody"])
def test_whatever_goes_wrong_nothing_is_said(shop, host, data):
    done = shop.grove("hook", host, stdin=data)
    assert (done.code, done.stdout) == (0, "")
    assert ("no client nobody" in done.stderr) or not done.stderr
    assert shop.log("crash.log") == ""


def test_a_call_of_a_shell_by_another_name_is_seen(shop):
    call(shop, "gemini", "SessionStart", source="startup")
    call(shop, "gemini", "BeforeTool", **SHELL)
    write(shop, "closed")
    printed = "<untrusted_context>\nOutput: closed\n</untrusted_context>"
    call(shop, "gemini", "AfterTool", **SHELL, tool_response={"llmContent": printed})
    answer = call(shop, "gemini", "AfterAgent", prompt="x", prompt_response="y")
    assert answer["decision"] in ("deny", "block")


@pytest.mark.parametrize("host", WORDS)
def test_the_gate_is_the_same_in_every_client(tmp_path, host):
    found = gate_sequences(tmp_path, 5, host=host)
    assert found.failed == 0, found.said
