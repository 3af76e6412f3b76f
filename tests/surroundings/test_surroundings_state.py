"""grove's own files, damaged in every way, and a clock that was turned back."""

import json
import os
import re
from datetime import datetime, timedelta

import pytest

DAYS = timedelta(days=5)
INSTANT = re.compile(r'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')


def state_file(world, session_id="session-1"):
    return world.grove_home / "sessions" / f"{session_id}.json"


def edited(content, **changes):
    return json.dumps({**json.loads(content), **changes}).encode()


def later_by(days, text):
    """A text with all its times later."""

    def later(match):
        return f'"{datetime.fromisoformat(match[1]) + days:%Y-%m-%dT%H:%M:%SZ}"'

    return INSTANT.sub(later, text)


def with_gate(content, **changes):
    return edited(content, gate={**json.loads(content)["gate"], **changes})


UNREADABLE = {
    "cut in the middle": lambda content: content[: len(content) // 2],
    "cut by one byte": lambda content: content[:-1],
    "zero bytes": lambda content: b"\0" * len(content),
    "random bytes": lambda content: bytes(range(256)) * 16,
    "another line after it": lambda content: content + b"\n" + content,
    "not UTF-8": lambda content: content.replace(b"session-1", b"session-\xff", 1),
    "a list": lambda content: b"[" + content + b"]",
    "null": lambda content: b"null",
    "nested too deep": lambda content: b'{"a":' * 100_000,
    "20 MiB of it": lambda content: b'{"id": "session-1", "cwd": "' + b"x" * (20 << 20),
    "no gate's state": lambda content: with_gate(content, status="ajar"),
    "a gate that is a list": lambda content: edited(content, gate=[]),
    "no id": lambda content: content.replace(b'"id":', b'"di":', 1),
    "a schema's version that is text": lambda content: edited(content, schema_version="1"),
    "a time that is none": lambda content: edited(content, updated_at="yesterday"),
    "a number for a text": lambda content: edited(content, project_root=5),
    "another session's content": lambda content: edited(content, id="session-2"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_state_that_cannot_be_read_at_a_stop(armed, case):
    """The agent is let go with a warning, and the bytes are kept."""
    world, path = armed.world, state_file(armed.world)
    damaged = UNREADABLE[case](path.read_bytes())
    path.write_bytes(damaged)
    done = armed.stops()
    assert done.code == 0
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("grove: ")
    assert "a reflection may be owed" in warning
    assert len(warning) < 500
    aside = path.with_name(f"{path.name}.corrupt-1")
    assert aside.read_bytes() == damaged
    (line,) = world.log().splitlines()
    assert str(aside) in line
    assert "ERROR session=session-1" in line
    assert len(line) < 1_000
    assert world.log("crash.log") == ""


@pytest.mark.parametrize(
    "event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "TaskCompleted", "SessionEnd"]
)
def test_state_that_cannot_be_read_at_other_events(armed, event):
    """Whichever hook meets it sets it aside or leaves it to the next one; a start names the debt."""
    world, path = armed.world, state_file(armed.world)
    path.write_bytes(b"{")
    armed.calls = 100
    fields = {"source": "resume", "prompt": "Go on", "task_id": "1"}
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-2"}, "tool_use_id": "t2"}
    assert armed.send(event, **fields, **call).code == 0
    assert armed.stops().code == 0
    assert path.with_name(f"{path.name}.corrupt-1").read_bytes() == b"{"
    assert "set aside" in world.log()
    assert world.log("crash.log") == ""
    assert "may still owe" in armed.starts("resume")


def test_an_empty_state_is_no_session_that_never_was(armed):
    """What was known is gone: the log says so, and the next start names the possible debt."""
    world, path = armed.world, state_file(armed.world)
    path.write_bytes(b"")
    os.utime(path, (1_000_000_000, 1_000_000_000))  # a new one is about to be written by its maker
    assert armed.stops().code == 0
    assert "ERROR session=session-1" in world.log()
    assert "may still owe" in armed.starts("resume")


def test_state_of_a_newer_grove_is_read_as_far_as_it_goes(armed):
    path = state_file(armed.world)
    path.write_bytes(edited(path.read_bytes(), schema_version=99, horizon={"a": 1}))
    armed.is_blocked()
    state = armed.world.session()
    assert (state["schema_version"], state["horizon"]) == (99, {"a": 1})
    assert armed.world.log() == ""


def test_state_of_20_mebibytes_holds(armed):
    path = state_file(armed.world)
    path.write_bytes(edited(path.read_bytes(), horizon="x" * (20 << 20)))
    armed.is_blocked()


def test_commands_with_state_that_cannot_be_read(armed, candidate):
    """They say which file it is and change nothing; what does not need it works."""
    path = state_file(armed.world)
    path.write_bytes(b"{")
    for words in (("skip", "Nothing new"), ("observe", "A note"), ("reflect", "--brief")):
        done = armed.grove(*words)
        assert done.code == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith("grove: ")
        assert "session-1" in line
    assert path.read_bytes() == b"{"
    done = armed.grove("status")
    assert done.code == 0
    assert "Traceback" not in done.stderr


# --- what is derived -----------------------------------------------------------------------------


def cut(content):
    return content[: len(content) // 2]


def into_folder(path):
    path.unlink()
    path.mkdir()


def into_loop(path):
    path.unlink()
    path.symlink_to(path.name)


def by(change):
    return lambda path: path.write_bytes(change(path.read_bytes()))


EITHER = {
    "empty": by(lambda content: b""),
    "cut in the middle": by(cut),
    "zero bytes": by(lambda content: b"\0" * len(content)),
    "random bytes": by(lambda content: bytes(range(256)) * 16),
    "megabytes": by(lambda content: content + b"\n" + b"x" * (5 << 20)),
    "a folder": into_folder,
    "a link to itself": into_loop,
}
# What the words of one session are kept as, and what the list of plugins is kept as.
WORDS_FILE, PLUGINS_FILE = "cache/fast/session-1", "cache/plugins-*.json"
DAMAGED = {
    **{f"words: {case}": (WORDS_FILE, damage) for case, damage in EITHER.items()},
    "words: cut after the flag": (WORDS_FILE, by(lambda content: content[:2])),
    "words: another flag": (WORDS_FILE, by(lambda content: b"2" + content[1:])),
    **{f"plugins: {case}": (PLUGINS_FILE, damage) for case, damage in EITHER.items()},
    "plugins: a list": (PLUGINS_FILE, by(lambda content: b"[]")),
    "plugins: nested too deep": (PLUGINS_FILE, by(lambda content: b"[" * 100_000)),
    "plugins: another format": (
        PLUGINS_FILE,
        by(lambda content: content.replace(b'"format": 1', b'"format": 9')),
    ),
    "plugins: rows of other types": (
        PLUGINS_FILE,
        by(lambda content: content.replace(b'"grove.tickets"', b"5")),
    ),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_derived_files_may_be_anything(beads, case):
    """A close is noticed, whatever became of what was only kept for speed."""
    beads.grove_home.mkdir()
    agent = beads.agent()
    agent.announces(command="ls")
    pattern, damage = DAMAGED[case]
    (path,) = beads.grove_home.glob(pattern)
    damage(path)
    agent.closes("bd-1")
    assert beads.gate() == "pending"
    assert beads.log("crash.log") == ""


def test_no_cache_at_all(armed):
    for path in sorted(armed.world.grove_home.glob("cache/**/*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    armed.is_blocked()
    armed.closes("bd-2")
    assert "bd-2" in armed.is_blocked()


@pytest.mark.parametrize("event", ["pre-tool-use", "stop"])
def test_a_file_that_never_answers_is_not_waited_for(armed, event):
    """A pipe in the place of a file holds no hook up, whichever way it goes."""
    world = armed.world
    payload = {"session_id": "session-1", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    words = world.grove_home / "cache" / "fast" / "session-1"
    path = state_file(world) if event == "stop" else words
    path.unlink()
    os.mkfifo(path)
    process = world.start("hook", event, GROVE_HOOKS_DEADLINE_MS=400)
    try:
        out, err = process.communicate(json.dumps(payload).encode(), timeout=10)
    finally:
        process.kill()
        path.unlink()
    assert out == b""
    # Of the state of a session it is said where to look; the rest is nobody's concern.
    assert err == b"" if event == "pre-tool-use" else b"work goes on" in err
    assert process.returncode != 2


# --- the clock -----------------------------------------------------------------------------------


def turn_back_the_clock(world, session_id="session-1"):
    """Lets everything so far have happened days from now."""
    path = state_file(world, session_id)
    path.write_text(later_by(DAYS, path.read_text()))
    stamp = (datetime.now() + DAYS).timestamp()
    for file in world.grove_home.rglob("*"):
        os.utime(file, (stamp, stamp), follow_symlinks=False)


def test_blocks_of_the_future_count_and_trap_nobody(armed):
    """Three blocks are given in all, and the breaker opens, although no time seems to pass."""
    armed.is_blocked()
    turn_back_the_clock(armed.world)
    armed.is_blocked()
    armed.is_blocked()
    done = armed.stops()
    assert done.code == 0
    assert "lets the agent go" in done.stderr.replace("\n", " ").replace("  ", " ")
    (cycle,) = armed.world.events("gate")
    assert cycle["outcome"] == "breaker"
    assert cycle.get("seconds", 0) >= 0


def test_a_debt_of_the_future_is_paid(armed, candidate):
    turn_back_the_clock(armed.world)
    armed.is_blocked()
    assert armed.reflects(candidate(1)).code == 0
    armed.is_let_go()
    (cycle,) = armed.world.events("gate")
    assert cycle.get("seconds", 0) >= 0
    armed.closes("bd-2")
    armed.is_blocked()


def test_a_reflection_before_the_close_is_credited(beads, candidate):
    """The ticket was begun days from now, and the reflection is older than it."""
    beads.start_ticket("bd-1")
    agent = beads.agent()
    agent.starts()
    turn_back_the_clock(beads)
    assert agent.reflects(candidate(1)).code == 0
    agent.closes("bd-1")
    done = agent.stops()
    assert done.code in (0, 2)
    if done.code == 2:
        assert agent.grove("skip", "It was written down before").code == 0
    agent.is_let_go()


def test_a_session_of_the_future_is_found_and_ends(armed):
    world = armed.world
    armed.starts("resume")
    turn_back_the_clock(world)
    assert world.grove("status", "--json").json["session"]["id"] == "session-1"
    assert world.grove("observe", "A note").code == 0
    armed.ends()
    assert "bd-1" in world.agent("session-2").starts()


def test_changes_since_a_baseline_of_the_future(world):
    world.initialise()
    (world.project / "app.py").write_text("print()\n")
    world.make_git()
    agent = world.agent()
    agent.starts()
    turn_back_the_clock(world)
    agent.is_let_go()
    (world.project / "app.py").write_text("line\n" * 50)
    agent.is_blocked()
    assert world.log() == ""


def test_learnings_and_events_of_the_future_are_shown(beads, candidate):
    learning = beads.learning(
        "cl_29990102_aaaaaa", "Orders are exported twice", created="2999-01-02T10:00:00Z"
    )
    event = {"v": 1, "ts": "2999-01-02T10:00:00Z", "event": "referenced", "grove": "0.1.0"}
    log = beads.project / ".grove" / "stats.log"
    log.write_text(json.dumps({**event, "learning_id": learning, "session_id": "x"}) + "\n")
    agent = beads.agent()
    assert learning in agent.starts()
    for words in (("status",), ("list",), ("show", learning), ("search", "orders")):
        done = agent.grove(*words)
        assert (done.code, done.stderr) == (0, ""), words
