"""Other clients read Claude Code's settings and plugins, and run the hooks in them their own way."""

import json

import pytest

CLOSE = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "t-1"}


@pytest.fixture
def payload(beads):
    """What a client writes for a hook, before a tool call that closes a ticket."""
    return json.dumps({"session_id": "session-1", "cwd": str(beads.project), **CLOSE})


@pytest.mark.parametrize(
    "variables",
    [
        {"COPILOT_CLI": "1"},
        {"CURSOR_VERSION": "3.1"},
        {"QWEN_CODE": "1"},
        # Started from a shell of Claude Code, whose session is another one.
        {"COPILOT_CLI": "1", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "session-0"},
    ],
)
def test_hooks_pass_in_silence_under_another_client(beads, payload, variables):
    for event in ("session-start", "pre-tool-use", "stop"):
        done = beads.grove("hook", event, stdin=payload, **variables)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert beads.session() is None


def test_claude_code_in_a_shell_of_another_client_is_hooked(beads, payload):
    variables = {"COPILOT_CLI": "1", "CLAUDE_CODE_SESSION_ID": "session-1"}
    beads.grove("hook", "pre-tool-use", stdin=payload, **variables)
    assert beads.session()["intents"]


@pytest.mark.parametrize("real", [False, True], ids=["called", "as a program"])
def test_a_hook_whose_arguments_are_dropped_refuses_nothing(beads, payload, real):
    """Any exit code but 0 would deny the call."""
    done = beads.grove(stdin=payload, real=real)
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    help_text = beads.grove(stdin="no payload")
    assert "Usage: grove" in help_text.stdout + help_text.stderr
