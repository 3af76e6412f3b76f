"""Hooks of clients whose payloads name the event: `grove hook CLIENT`."""

import json

import pytest

LEARNING = "cl_20300102_aaaaaa"
SUMMARY = "Orders are exported in one query"


@pytest.fixture
def call(beads):
    """Calls a client's hook in the project, and returns what it prints."""

    def hook(client, event, **payload):
        given = {"hook_event_name": event, "session_id": "ses_1", "cwd": str(beads.project)}
        done = beads.grove("hook", client, stdin=json.dumps({**given, **payload}))
        assert (done.code, done.stderr) == (0, "")
        return json.loads(done.stdout or "{}")

    return hook


def close(beads, call):
    tool = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "c"}
    call("opencode", "SessionStart")
    call("opencode", "PreToolUse", **tool)
    beads.close_ticket("bd-1")
    call("opencode", "PostToolUse", **tool, tool_response={"exit": 0})


def test_a_tentative_block_does_not_count(call, beads):
    close(beads, call)
    for _ in range(5):
        assert "this is 1 of 3" in call("opencode", "Stop", tentative=True)["block"]
    blocks = [call("opencode", "Stop").get("block", "") for _ in range(4)]
    assert ["of 3" in one for one in blocks] == [True, True, False, False]
    assert [bool(one) for one in blocks] == [True, True, True, False]
    assert "warning" not in call("opencode", "Stop", tentative=True)


def test_a_tentative_stop_that_is_let_go_is_one(call, beads):
    close(beads, call)
    for _ in range(3):
        call("opencode", "Stop")
    assert "3 times" in call("opencode", "Stop", tentative=True)["warning"]
    assert call("opencode", "Stop") == {}


def test_a_start_that_reaches_nobody_speaks_with_the_first_prompt(call, beads):
    beads.learning(LEARNING, SUMMARY)
    told = []
    for event, fields in (
        ("SessionStart", {"source": "startup"}),
        ("BeforeAgent", {"prompt": "Export the orders."}),
        ("BeforeAgent", {"prompt": "Export the orders."}),
        ("SessionStart", {"source": "resume"}),
        ("BeforeAgent", {"prompt": "Go on."}),
    ):
        told.append(SUMMARY in json.dumps(call("gemini", event, **fields)))
    assert told == [False, True, False, False, False]


@pytest.mark.parametrize("order", [("start", "prompt"), ("prompt", "start")])
def test_a_start_and_its_prompt_may_come_in_either_order(call, beads, order):
    beads.learning(LEARNING, SUMMARY)
    hooks = {
        "start": lambda: call("copilot", "SessionStart", source="new"),
        "prompt": lambda: call("copilot", "UserPromptSubmit", prompt="Export the orders."),
    }
    told = [SUMMARY in hooks[one]().get("additionalContext", "") for one in order]
    assert told == [True, False]


def test_a_session_that_goes_on_without_its_start_is_told_again(call, beads):
    beads.learning(LEARNING, SUMMARY)
    sources = ("startup", "resume", "resume")
    told = [SUMMARY in json.dumps(call("qwen", "SessionStart", source=one)) for one in sources]
    assert told == [True, True, True]


def test_a_client_may_name_the_directory_in_its_own_way(call, beads):
    beads.learning(LEARNING, SUMMARY)
    roots = {"workspace_roots": [str(beads.project)], "cwd": ""}
    assert SUMMARY in call("cursor", "sessionStart", **roots)["additional_context"]


@pytest.mark.parametrize("client", ["copilot", "opencode", "qwen", "gemini", "cursor", "nobody"])
@pytest.mark.parametrize("payload", [b"", b"no JSON", b"[]", b'{"hook_event_name": "Stop"}'])
def test_a_payload_without_sense_is_answered_with_nothing(beads, client, payload):
    done = beads.grove("hook", client, stdin=payload)
    assert (done.code, done.stdout) == (0, "")
