"""Every field of every recorded payload with every kind of wrong value."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
FILES = sorted(path.stem for path in PAYLOADS.glob("*.json"))
SERVER = Path(__file__).with_name("one_by_one.py")
HANDLED = {
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "TaskCompleted",
    "Stop",
    "SessionEnd",
}
MOST_STATE = 300_000
# The same in every payload: tried with one payload of each event, the others with one of each tool.
COMMON = {
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "effort",
    "hook_event_name",
    "agent_id",
    "agent_type",
}
WRONG = {
    "null": None,
    "number": 5,
    "text": "text",
    "list": [1, [2]],
    "object": {"a": {"b": 1}},
    "true": True,
    "long": "x" * 100_000,
    "surrogate": "a\ud800b",
    "zero byte": "/a\0b",
}


def wrong_payloads(payload, skipped):
    """Every payload that is wrong in one place, with the name of place and fault."""
    for path in places(payload):
        if path in skipped:
            continue
        for fault, value in WRONG.items():
            yield ".".join(map(str, path)), fault, replaced(payload, path, value)


def places(payload):
    """The ways to every field, and to those one level down."""
    for name, value in payload.items():
        yield (name,)
        inner = value.items() if isinstance(value, dict) else ()
        yield from ((name, key) for key, _ in inner)
        if isinstance(value, list):
            for number, item in enumerate(value):
                yield name, number
                yield from ((name, number, key) for key in item if isinstance(item, dict))


def replaced(document, path, value):
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = replaced(document[path[0]], path[1:], value)
    return copy


def kebab_case(event):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", event).lower()


def event_of(name):
    return name.partition("-")[0]


GROUPS = {event: [name for name in FILES if event_of(name) == event] for event in sorted(HANDLED)}
GROUPS["others"] = [name for name in FILES if event_of(name) not in HANDLED]
# The largest group is shared out.
AFTER_TOOLS = GROUPS.pop("PostToolUse")
GROUPS |= {
    f"PostToolUse {start}": AFTER_TOOLS[start : start + 5]
    for start in range(0, len(AFTER_TOOLS), 5)
}


@pytest.fixture
def template(beads):
    """A grove home in which a session has announced a close that has happened meanwhile.

    The hooks find it anew for every payload.
    """
    agent = beads.agent("session-1")
    agent.starts()
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}}
    agent.silent("PreToolUse", **call, tool_use_id="toolu_1")
    beads.close_ticket("bd-1")
    kept = beads.others / "template"
    shutil.copytree(beads.grove_home, kept)
    return kept


@pytest.fixture
def payload(beads, recorded):
    """A recorded payload by name, made one of the template's session."""
    ours = {"session_id": "session-1", "tool_use_id": "toolu_1"}

    def load(name):
        found = recorded(name, beads)["stdin"]
        return {**found, **{key: ours[key] for key in ours if key in found}}

    return load


@pytest.mark.parametrize("group", GROUPS)
def test_no_wrong_value_in_any_field_is_a_fault(beads, template, payload, group):
    cases = []
    tried = {}
    for name in GROUPS[group]:
        event, sent = event_of(name), payload(name)
        seen = tried.setdefault((event, sent.get("tool_name", name)), set())
        common = tried.setdefault(event, set())
        for place, fault, wrong in wrong_payloads(sent, seen | common):
            cases.append((event, f"{name}: {place} = {fault}", wrong))
        seen |= set(places(sent))
        common |= {path for path in places(sent) if path[0] in COMMON}
    answers = answer_all(beads, template, [(event, wrong) for event, _, wrong in cases])
    assert len(answers) == len(cases) > 50
    if group == "Stop":
        assert 2 in {code for code, *_ in answers}
    for (event, name, wrong), answer in zip(cases, answers, strict=True):
        assert fault_of(event, wrong, answer) is None, name


def answer_all(world, home, calls):
    """Sends payloads, each to hooks that find the same home."""
    lines = [json.dumps([kebab_case(event), json.dumps(payload)]) for event, payload in calls]
    with world.watched():
        done = subprocess.run(
            [sys.executable, SERVER, home],
            cwd=world.project,
            env=world.environment,
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def fault_of(event, payload, answer):
    """What is wrong about an answer; `None` for nothing."""
    code, out, err, log, crash_log, largest_state = answer
    if crash_log:
        return crash_log
    if event == "Stop" and code == 2:
        return None if out == "" and err.startswith("grove: ") else "not a block"
    if (code, err) != (0, ""):
        return f"exit code {code}: {err}"
    if out and set(json.loads(out)) != {"hookSpecificOutput"}:
        return out
    if largest_state > MOST_STATE:
        return f"a state of {largest_state} bytes"
    return fault_of_log(event, payload, log.splitlines())


def fault_of_log(event, payload, lines):
    """A line where the payload cannot be used at all, else none."""
    session_id, name = payload["session_id"], payload["hook_event_name"]
    usable = isinstance(session_id, str) and re.fullmatch(r"[A-Za-z0-9_-]{1,128}", session_id)
    if event not in HANDLED:
        wanted = "" if name == event else "there is no such event"
    else:
        wanted = "" if usable else "no usable session_id"
    if len(lines) != bool(wanted) or wanted not in "".join(lines):
        return f"log: {lines}"
    return None


NAMES = st.sampled_from([name for name in FILES if event_of(name) in HANDLED])
TEXTS = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=NAMES, data=st.data())
def test_a_real_process_bears_any_values(beads, recorded, name, data):
    """Several fields at once, with values that nobody thought of."""
    payload = recorded(name, beads)["stdin"]
    fields = data.draw(st.sets(st.sampled_from(sorted(payload)), min_size=1, max_size=4))
    wrong = {**payload, **{field: data.draw(VALUES) for field in sorted(fields)}}
    done = beads.hook(event_of(name), wrong)
    assert (done.code, done.stderr) == (0, "")
    assert beads.log("crash.log") == ""
    assert fault_of_log(event_of(name), wrong, beads.log().splitlines()) is None
    (beads.grove_home / "grove.log").unlink(missing_ok=True)
