"""Whatever goes wrong, work goes on, and a line is left where a person will find it."""

import fcntl
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from grove_core.hooks import stop
from grove_core.storage import files

ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"


def state_file(world, session_id="session-1"):
    return world.grove_home / "sessions" / f"{session_id}.json"


def edited(content, **changes):
    return json.dumps({**json.loads(content), **changes}).encode()


UNREADABLE = {
    "cut in the middle": lambda content: content[: len(content) // 2],
    "random bytes": lambda content: bytes(range(256)) * 16,
    "not UTF-8": lambda content: content.replace(b"session-1", b"session-\xff", 1),
    "null": lambda content: b"null",
    "nested too deep": lambda content: b'{"a":' * 100_000,
    "a gate that is a list": lambda content: edited(content, gate=[]),
    "a time that is none": lambda content: edited(content, updated_at="yesterday"),
    "another session's": lambda content: edited(content, id="session-2"),
}


def test_unreadable_state_lets_go_and_is_named(beads, agent):
    """The agent is let go with a warning, and the bytes are kept."""
    agent.closes("bd-1")
    path = state_file(beads)
    content = path.read_bytes()
    for number, (case, damage) in enumerate(UNREADABLE.items(), start=1):
        path.write_bytes(damage(content))
        done = agent.stops()
        assert done.code == 0, case
        (warning,) = done.stderr.splitlines()
        assert "a reflection may be pending" in warning
        aside = path.with_name(f"session-1.json.corrupt-{number}")
        assert aside.read_bytes() == damage(content)
        assert str(aside) in beads.log().splitlines()[-1]
    assert beads.log("crash.log") == ""
    assert str(aside) in agent.starts("resume")
    agent.ends()
    assert str(aside) in beads.agent("session-2").starts()
    # A skip says that it has been thought of.
    assert agent.grove("skip", "it was about the build only").code == 0
    assert agent.starts("resume") == ""


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "SessionEnd"])
def test_unreadable_state_at_other_events(beads, agent, event):
    """Whichever hook meets it sets it aside or leaves it to the next one; a start names the debt."""
    agent.closes("bd-1")
    state_file(beads).write_bytes(b"{")
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-2"}, "tool_use_id": "t2"}
    assert agent.send(event, source="resume", prompt="Go on", **call).code == 0
    assert agent.stops().code == 0
    assert "set aside" in beads.log()
    assert beads.log("crash.log") == ""
    assert "may be pending" in agent.starts("resume")


def test_commands_with_unreadable_state_change_nothing(beads, agent):
    agent.closes("bd-1")
    state_file(beads).write_bytes(b"{")
    for words in (("skip", "Nothing new"), ("observe", "A note"), ("reflect", "--brief")):
        done = agent.grove(*words)
        assert done.code == 1
        assert "session-1" in done.stderr
    assert state_file(beads).read_bytes() == b"{"
    assert agent.grove("status").code == 0


def garble(path):
    path.write_bytes(bytes(range(256)) * 16)


def cut(path):
    path.write_bytes(path.read_bytes()[:2])


def into_folder(path):
    path.unlink()
    path.mkdir()


def into_loop(path):
    path.unlink()
    path.symlink_to(path.name)


@pytest.mark.parametrize("damage", [garble, cut, into_folder, into_loop])
def test_derived_files_may_be_anything(beads, damage):
    """A close is noticed and learnings are shown, whatever became of what is kept for speed."""
    beads.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    agent = beads.agent()
    assert ABOUT_ORDERS in agent.starts()
    assert ABOUT_ORDERS in beads.agent("session-2").starts()
    derived = [path for path in beads.grove_home.glob("cache/**/*") if path.is_file()]
    assert {"session-1", "cache.sqlite"} <= {path.name for path in derived}
    for path in derived:
        damage(path)
    agent.closes("bd-1")
    agent.is_blocked()
    assert ABOUT_ORDERS in beads.agent("session-3").starts()
    assert beads.log("crash.log") == ""


def test_a_cache_that_is_gone_or_busy_holds_up_nobody(beads, agent):
    beads.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    agent.starts()
    shutil.rmtree(beads.grove_home / "cache")
    agent.closes("bd-1")
    assert ABOUT_ORDERS in beads.agent("session-2").starts()
    (path,) = beads.grove_home.rglob("cache.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        beads.learning("cl_20300102_bbbbbb", "Orders are exported at night")
        assert "exported at night" in beads.agent("session-3").starts()
    agent.is_blocked()


def test_what_cannot_be_delivered_waits_and_is_delivered_once(beads, agent, candidate):
    others = [beads.agent("second"), beads.agent("third")]
    for other in others:
        other.starts()
    beads.learnings_file.unlink()
    beads.learnings_file.mkdir()
    agent.closes("bd-1")
    agent.is_blocked()
    (accepted,) = agent.reflects(candidate(1)).json["accepted"]
    assert accepted["status"] == "queued"
    agent.is_let_go()
    assert beads.grove("status", "--json").json["outbox"] == [accepted["id"]]
    beads.learnings_file.rmdir()
    beads.learnings_file.touch()
    (second,) = others[0].reflects(candidate(2)).json["accepted"]
    others[1].reflects(candidate(3))
    assert sorted(beads.learning_ids()[:2]) == sorted([accepted["id"], second["id"]])
    assert len(beads.learning_ids()) == 3
    assert beads.grove("status", "--json").json["outbox"] == []


def is_a_file(home):
    home.write_text("not a folder")


def is_a_loop(home):
    home.symlink_to(home)


def holds_folders_for_files(home):
    for name in ("sessions/session-1.json", "grove.log", "crash.log", "config.toml", "cache/fast"):
        (home / name / "folder").mkdir(parents=True)


def assert_says_why(done):
    """Nothing for the client; if it failed, one line for the person."""
    assert (done.code, done.stdout) in ((0, ""), (3, ""))
    if done.code:
        (line,) = done.stderr.splitlines()
        assert line.startswith("grove: ")
        assert line.isprintable()


@pytest.mark.parametrize("spoil", [is_a_file, is_a_loop, holds_folders_for_files])
def test_a_home_that_is_none(beads, agent, spoil):
    beads.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    spoil(beads.grove_home)
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-2"}, "tool_use_id": "t2"}
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"):
        done = agent.send(event, source="startup", prompt="Go on", **call)
        assert done.code in (0, 3)
        assert "Traceback" not in done.stderr
    assert_says_why(agent.stops())
    assert beads.grove("list", "-q").stdout == "cl_20300102_aaaaaa\n"
    done = beads.grove("skip", "Nothing new here", "--session-id", "session-1")
    assert done.code == 1
    assert done.stderr.startswith("grove: ")


def test_a_project_that_goes_away_in_mid_session(beads, agent):
    """Its session is still asked."""
    agent.closes("bd-1")
    shutil.rmtree(beads.project)
    payload = {"session_id": "session-1", "cwd": str(beads.project), "source": "resume"}
    for event, code in (("session-start", 0), ("stop", 2), ("session-end", 0)):
        done = beads.grove("hook", event, stdin=json.dumps(payload), cwd=beads.folder)
        assert done.code == code, done.stderr
    assert beads.log("crash.log") == ""
    assert not beads.project.exists()


def test_a_project_by_two_names(beads, agent):
    """One session, one state, one place for what is derived, however the way there is written."""
    alias = beads.others / "alias"
    alias.parent.mkdir()
    alias.symlink_to(beads.project)
    agent.starts(cwd=str(alias))
    agent.closes("bd-1")
    assert beads.session()["project_root"] == str(beads.project)
    agent.is_blocked(cwd=str(alias))
    by_alias, by_name = (
        beads.grove("status", "--json", "-C", one).json for one in (alias, beads.project)
    )
    assert by_alias["root"] == by_name["root"] == str(beads.project)
    assert by_alias["session"]["id"] == by_name["session"]["id"] == "session-1"
    beads.agent("session-2").starts()
    assert len([path for path in (beads.grove_home / "cache").glob("*-*") if path.is_dir()]) == 1


PROBES = "from grove_core import hookimpl\n@hookimpl\ndef grove_ticket_probes():\n    "
NOISE = """import os, sys
    print('{"hookSpecificOutput": {"permissionDecision": "allow"}}')
    os.system("echo '{\\"decision\\": \\"block\\"}'; echo noise >&2")
    sys.stderr.write("more noise")
    return []
"""
FAULTS = {
    "import": "raise RuntimeError('broken at import')",
    "exit": "raise SystemExit(2)",
    "syntax": "def (",
    "raises": f"{PROBES}1 / 0",
    "nonsense": f"{PROBES}return 5",
    "hangs": f"{PROBES}import threading; threading.Event().wait(60)",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_plugin_costs_nothing_but_itself(beads, agent, fault):
    """The others are still asked, and one that hangs is cut by what the hook has left."""
    if fault == "hangs":
        agent.closes("bd-1")
        agent.variables["GROVE_HOOKS_DEADLINE_MS"] = "2500"
    beads.install_plugin("stranger", FAULTS[fault], group="grove.tickets")
    if fault != "hangs":
        agent.closes("bd-1")
    agent.is_blocked()
    assert "stranger 1.0" in beads.log()
    assert beads.log("crash.log") == ""


def test_what_a_plugin_prints_never_reaches_the_client(beads, agent):
    beads.install_plugin("noise", PROBES + NOISE, group="grove.tickets")
    assert agent.starts() == ""
    agent.closes("bd-1")
    assert agent.is_blocked().startswith("grove: ")


def test_the_lock_of_a_session_is_not_waited_for_for_ever(beads, agent, monkeypatch):
    """A process that hangs while it holds a session's lock costs one answer, not the session."""
    agent.closes("bd-1")
    monkeypatch.setattr(files, "LOCK_TIMEOUT_SECONDS", 0.3)
    with state_file(beads).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = agent.stops()
        assert (done.code, done.stdout) == (3, "")
        assert "session-1.json" in beads.log("crash.log")
    agent.is_blocked()


def test_a_stop_that_was_cut_off_leaves_the_reflection_pending(beads, agent, monkeypatch):
    agent.closes("bd-1")
    monkeypatch.setattr(stop, "handle", lambda *_: [None for _ in iter(int, 1)])
    agent.is_let_go(variables={"GROVE_HOOKS_DEADLINE_MS": "100"})
    assert "deadline" in beads.log()
    monkeypatch.undo()
    agent.is_blocked()
