"""What the client sends: recorded payloads, wrong values in any field, and what is no payload."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
FILES = sorted(path.stem for path in PAYLOADS.glob("*.json"))
HANDLED = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "TaskCompleted", "Stop", "SessionEnd",
)  # fmt: skip
USABLE = {"session_id": "session-1", "hook_event_name": "Stop"}
MOST_STATE = 300_000


def event_of(name):
    return name.partition("-")[0]


def recorded(world, name):
    """A recorded payload, moved into a world: the event, the payload, the client's variables."""
    text = (PAYLOADS / f"{name}.json").read_text().replace("/home/dev/project", str(world.project))
    case = json.loads(text.replace("/home/dev", str(world.home)))
    return case["event"], case["stdin"], case.get("env", {})


def test_an_initialised_project_answers_every_recorded_payload(world):
    assert {event_of(name) for name in FILES} > set(HANDLED)
    world.initialise()
    for name in FILES:
        event, payload, variables = recorded(world, name)
        if event in HANDLED:
            done = world.hook(event, payload, **variables)
            assert (done.code, done.stderr) == (0, ""), name
    assert world.log() == world.log("crash.log") == ""


FIELDS = (
    "transcript_path", "cwd", "prompt_id", "permission_mode", "prompt", "source", "tool_name",
    "tool_input", "tool_use_id", "tool_response", "error", "reason", "task_id", "task_subject",
    "stop_hook_active", "background_tasks", "agent_id",
)  # fmt: skip
WRONG = [None, 5, "text", [1, [2]], {"a": {"b": 1}}, True, "x" * 10_000, "a\ud800b", "/a\0b"]


@pytest.mark.parametrize("event", HANDLED)
def test_every_field_but_the_session_id_may_be_missing_or_wrong(beads, event):
    """The plugin was installed in mid-session, or the client is of another version."""
    for payload in ({}, *(dict.fromkeys(FIELDS, value) for value in WRONG)):
        done = beads.hook(event, {"session_id": "session-1", **payload, "unknown": {}})
        assert (done.code, done.stdout, done.stderr) == (0, "", ""), payload
    assert beads.log() == beads.log("crash.log") == ""


TEXTS = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=8)
VALUES = st.sampled_from(WRONG) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from([one for one in FILES if event_of(one) in HANDLED]), data=st.data())
def test_no_wrong_value_in_any_field_is_a_fault(beads, name, data):
    """Several fields at once, or what stands in one of them, with values that nobody thought of."""
    event, payload, _ = recorded(beads, name)
    for field in data.draw(st.sets(st.sampled_from(sorted(payload)), min_size=1, max_size=4)):
        if isinstance(payload[field], dict) and payload[field] and data.draw(st.booleans()):
            inner = data.draw(st.sampled_from(sorted(payload[field])))
            payload[field][inner] = data.draw(VALUES)
        else:
            payload[field] = data.draw(VALUES)
    done = beads.hook(event, payload)
    assert done.code == 0 or (event == "Stop" and done.stderr.startswith("grove: "))
    assert beads.log("crash.log") == ""
    lines = beads.log().splitlines()
    session_id = payload["session_id"]
    usable = isinstance(session_id, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,128}", session_id)
    assert usable or len(lines) == 1
    (beads.grove_home / "grove.log").unlink(missing_ok=True)
    sizes = [path.stat().st_size for path in beads.grove_home.glob("sessions/*")]
    assert max(sizes, default=0) < MOST_STATE


GARBAGE = [
    (b"", "not JSON"),
    (json.dumps(USABLE).encode()[:-3], "not JSON"),
    (json.dumps(USABLE).encode() * 2, "not JSON"),
    (bytes(range(256)) * 16, "not JSON"),
    (b'{"session_id": "session-1", "prompt": "\xff"}', "not JSON"),
    (b'{"a":' * 100_000, "not JSON"),
    (b'{"session_id": ' + b"9" * 10_000 + b"}", "not JSON"),
    (b"null", "not an object"),
    (b'"session-1"', "not an object"),
    (b"{}", "no usable session_id"),
    (json.dumps({**USABLE, "x": "bd close " + "x" * (20 << 20)}).encode(), "16 MiB"),
]
# Each of them wants to be a path, a command, or more than one line.
HOSTILE_IDS = [
    "../../escape", "/etc/passwd", "..", "a.b", "a\0b", "session-1\n", "a b", "sesión", "١٢٣",
    "a\ud800", "x" * 129, "", "$(touch gone)", "\x1b[2J",
]  # fmt: skip


def assert_only_a_line(world, done, *words):
    """Nothing was said, nothing remembered; one line says what happened."""
    assert (done.code, done.stdout, done.stderr) == (0, "", "")
    (line,) = world.log().splitlines()
    for word in ("WARNING", "hook=", *words):
        assert word in line
    assert len(line) < 1_000
    assert line.isprintable()
    (world.grove_home / "grove.log").unlink()
    # What is installed, the adapter among it, may be noted.
    assert {path.name for path in world.grove_home.iterdir()} <= {"cache"}


def test_input_that_is_no_payload(world):
    for number, (data, words) in enumerate(GARBAGE):
        assert_only_a_line(world, world.hook(HANDLED[number % len(HANDLED)], data), words)
    for event in HANDLED:
        assert_only_a_line(world, world.hook(event, b"\n"), "not JSON")


def test_a_session_id_that_can_be_none(world):
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}}
    for number, session_id in enumerate(HOSTILE_IDS):
        event = HANDLED[number % len(HANDLED)]
        done = world.hook(event, {"session_id": session_id, **call})
        assert_only_a_line(world, done, "no usable session_id")
    for session_id in HOSTILE_IDS[:2]:
        done = world.grove("skip", "Nothing new here", CLAUDE_CODE_SESSION_ID=session_id)
        assert (done.code, done.stdout) == (1, "")
        assert "is no session id" in done.stderr


@pytest.mark.parametrize("session_id", ["-rf", "--", "x" * 128])
def test_an_odd_session_id_is_one(beads, session_id):
    agent = beads.agent(session_id)
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.grove("skip", "Only the build was changed here").code == 0
    assert beads.gate(session_id) == "skipped"


@pytest.mark.parametrize(
    "words",
    [
        ("hook", "stpo"),
        ("hook", "Stop"),
        ("hook",),
        ("hook", "stop it"),
        ("hook", "stop", "--nonsense", "further"),
        ("--nonsense", "hook", "stop"),
        ("-C", "/no/such/directory", "hook", "stop"),
        ("--no-plugins", "hook", "stpo"),
    ],
    ids=" ".join,
)
def test_no_word_on_the_command_line_of_a_hook_blocks(world, words):
    """The exit code of a usage error would block whatever the agent is about to do."""
    done = world.grove(*words, stdin=json.dumps(USABLE))
    assert (done.code, done.stdout) in {(0, ""), (3, "")}
    assert ("no such hook event" in done.stderr) is (done.code == 3)


def test_a_debt_outlives_input_that_is_no_payload_and_other_encodings_are_understood(beads):
    """A shell between client and hook may add a mark or recode; JSON allows for both."""
    agent = beads.agent()
    agent.closes("bd-1")
    for data, _ in GARBAGE[:3]:
        assert beads.hook("Stop", data).code == 0
    payload = json.dumps({"session_id": "session-1", "cwd": str(beads.project)})
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert beads.hook("Stop", payload.encode(encoding)).code == 2, encoding


def test_long_payloads_are_read(beads):
    """Fifteen MiB are; of more the short way of a hook looks for words only."""
    agent = beads.agent()
    agent.silent("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    agent.silent("PreToolUse", tool_name="Bash", tool_input={"command": "x" * (20 << 20)})
    assert beads.log() == ""
    agent.closes("bd-1")
    agent.is_blocked(last_assistant_message="x" * (15 << 20))
