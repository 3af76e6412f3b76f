"""What a hook is given: garbage, nothing, too much, and ids that want to be paths."""

import json

import pytest

EVENTS = [
    "session-start",
    "user-prompt-submit",
    "pre-tool-use",
    "post-tool-use",
    "post-tool-use-failure",
    "task-completed",
    "stop",
    "session-end",
]
USABLE = {"session_id": "session-1", "hook_event_name": "Stop"}
GARBAGE = {
    "nothing": (b"", "not JSON"),
    "a line break": (b"\n", "not JSON"),
    "half a payload": (json.dumps(USABLE).encode()[:-3], "not JSON"),
    "two payloads": (json.dumps(USABLE).encode() * 2, "not JSON"),
    "zero bytes": (b"\0" * 4096, "not JSON"),
    "random bytes": (bytes(range(256)) * 16, "not JSON"),
    "not UTF-8": (b'{"session_id": "session-1", "prompt": "\xff"}', "not JSON"),
    "half a surrogate pair, cut": (b'{"session_id": "\\ud8', "not JSON"),
    "nested too deep": (b"[" * 100_000, "not JSON"),
    "an object nested too deep": (b'{"a":' * 100_000, "not JSON"),
    "a number too long": (b'{"session_id": ' + b"9" * 10_000 + b"}", "not JSON"),
    "a list": (b"[1]", "not an object"),
    "null": (b"null", "not an object"),
    "text": (b'"session-1"', "not an object"),
    "no session": (b'{"prompt": "no session"}', "no usable session_id"),
    "an empty object": (b"{}", "no usable session_id"),
}
HOSTILE_IDS = {
    "upwards": "../../escape",
    "a slash": "a/b",
    "absolute": "/etc/passwd",
    "dots": "..",
    "a dot": "a.b",
    "a zero byte": "a\0b",
    "a line break": "a\nb",
    "a line break at its end": "session-1\n",
    "a blank": "a b",
    "letters that are no ASCII": "sesión",
    "digits that are no ASCII": "١٢٣",
    "a surrogate": "a\ud800",
    "129 characters": "x" * 129,
    "a megabyte": "x" * 1_000_000,
    "nothing": "",
    "a shell's command": "$(touch gone)",
    "a terminal's command": "\x1b[2J",
}
ODD_IDS = {"a leading dash": "-rf", "dashes": "--", "128 characters": "x" * 128, "one": "_"}


def in_turn(cases, case):
    """Every event gets its share of the cases."""
    return EVENTS[list(cases).index(case) % len(EVENTS)]


def assert_only_a_line(surroundings, done, *words):
    """Nothing was said, nothing remembered; one line says what happened."""
    world = surroundings.world
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    (line,) = surroundings.lines()
    for word in ("WARNING", "hook=", *words):
        assert word in line
    assert len(line) < 1_000
    assert line.isprintable()
    assert list(world.grove_home.iterdir()) == []


@pytest.mark.parametrize("case", GARBAGE)
def test_input_that_is_no_payload(surroundings, case):
    data, words = GARBAGE[case]
    event = in_turn(GARBAGE, case)
    done = surroundings.hook(event, data)
    assert_only_a_line(surroundings, done, words, f"hook={event}")


@pytest.mark.parametrize("event", EVENTS)
def test_empty_input_at_every_event(surroundings, event):
    assert_only_a_line(surroundings, surroundings.hook(event, b""), "not JSON", f"hook={event}")


def test_a_debt_outlives_input_that_is_no_payload(armed):
    """Garbage lets the agent go once, and takes nothing from what is owed."""
    for case in ("nothing", "half a payload", "random bytes", "an empty object"):
        assert armed.world.hook("Stop", GARBAGE[case][0]).code == 0
    armed.is_blocked()


def test_other_encodings_of_json_are_understood(armed):
    """A shell between client and hook may add a mark or recode; JSON allows for both."""
    payload = {"session_id": "session-1", "cwd": str(armed.world.project)}
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert armed.world.hook("Stop", json.dumps(payload).encode(encoding)).code == 2, encoding


@pytest.mark.parametrize("event", EVENTS)
def test_20_mebibytes(surroundings, event):
    """The hook reads no more than it takes, and the client may find the pipe closed."""
    data = json.dumps({**USABLE, "tool_input": {"command": "bd close " + "x" * (20 << 20)}})
    done = surroundings.hook(event, data.encode())
    assert_only_a_line(surroundings, done, "16 MiB", f"hook={event}")


def test_15_mebibytes_are_read(armed):
    armed.is_blocked(last_assistant_message="x" * (15 << 20))


def test_20_mebibytes_that_close_nothing_cost_nothing(armed):
    """The short way of a hook looks for words only, however long the call is."""
    armed.silent("PreToolUse", tool_name="Bash", tool_input={"command": "x" * (20 << 20)})
    assert armed.world.log() == ""


@pytest.mark.parametrize("case", HOSTILE_IDS)
def test_a_session_id_that_can_be_none(surroundings, case):
    event = in_turn(HOSTILE_IDS, case)
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}}
    done = surroundings.hook(event, {"session_id": HOSTILE_IDS[case], **call})
    assert_only_a_line(surroundings, done, "no usable session_id", f"hook={event}")


@pytest.mark.parametrize("case", ODD_IDS)
def test_an_odd_session_id_is_one(beads, case):
    agent = beads.agent(ODD_IDS[case])
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.grove("skip", "Only the build was changed here").code == 0
    assert beads.gate(ODD_IDS[case]) == "skipped"


@pytest.mark.parametrize("case", ["upwards", "absolute", "a line break", "129 characters"])
@pytest.mark.parametrize("given", ["as an option", "in the environment"])
def test_a_session_id_that_can_be_none_in_a_command(surroundings, case, given):
    words, variables = ("skip", "Nothing new here"), {}
    if given == "as an option":
        words += ("--session-id", HOSTILE_IDS[case])
    else:
        variables = {"CLAUDE_CODE_SESSION_ID": HOSTILE_IDS[case]}
    done = surroundings.run(*words, **variables)
    assert (done.code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("grove: ")
    assert "is no session id" in line
    assert len(line) < 500
    assert line.isprintable()
    assert list(surroundings.world.grove_home.rglob("*.json")) == []


def test_a_session_id_that_can_be_none_in_a_submission(armed):
    """The submission is the agent's own text: what cannot be meant there does not count."""
    done = armed.reflects(nothing_learned="Nothing that was not known", session_id="../../escape")
    assert done.code == 0
    assert armed.world.gate() == "skipped"
