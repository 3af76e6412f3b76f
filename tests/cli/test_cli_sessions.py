"""`grove sessions`: every session with what it owes, and damaged state beside the others."""

import json
import os
import subprocess
import sys

import pytest

DAMAGE = {
    "garbage": b"{",
    "binary": b"\x00\xff\xfe\x80",
    "a-list": b"[]",
    "no-fields": b"{}",
    "nested-too-deep": b"[" * 100_000,
    "long-number": b'{"schema_version": ' + b"9" * 10_000 + b"}",
    "empty": b"",
}


def state_file(world, session_id="session-1"):
    return world.grove_home / "sessions" / f"{session_id}.json"


def rewrite(world, session_id="session-1", **fields):
    """Changes fields of a session's state, as if grove had written them."""
    path = state_file(world, session_id)
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def listed(world, *words):
    done = world.grove("sessions", "--json", *words)
    assert (done.code, done.stderr) == (0, "")
    return done.json


@pytest.fixture
def dead_process():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_newest_first_with_what_became_of_them(beads, dead_process):
    beads.agent("died", CLAUDE_PID=dead_process).starts()
    beads.agent("ended").starts()
    beads.agent("ended").ends()
    beads.agent("idle").starts()
    beads.agent("live", CLAUDE_PID=os.getpid()).starts()
    rewrite(beads, "idle", updated_at="2020-01-01T00:00:00Z")
    found = listed(beads)["sessions"]
    states = [(one["id"], one["state"]) for one in found]
    assert states == [("live", "live"), ("ended", "ended"), ("died", "died"), ("idle", "died")]
    assert [one["ended_at"] is None for one in found] == [True, False, True, True]
    human = beads.grove("sessions").stdout
    assert [line.split()[:2] for line in human.splitlines() if line[0] != " "] == [
        list(one) for one in states
    ]


def test_what_a_session_has_and_owes(beads):
    beads.start_ticket("bd-2", title="Export :bug: is slow")
    agent = beads.agent()
    agent.starts()
    agent.grove("observe", "rows() is called twice")
    agent.closes("bd-1")
    agent.is_blocked()
    (one,) = listed(beads)["sessions"]
    assert (one["gate"], one["blocks"], one["notes"], one["injected"]) == ("blocked", 1, 1, 0)
    assert [ticket["ticket_id"] for ticket in one["closed"]] == ["bd-1"]
    (debt,) = one["debts"]
    assert (debt["kind"], debt["tickets"], debt["blocks"]) == ("open", ["bd-1"], 1)
    assert debt["since"] <= one["updated_at"]
    human = beads.grove("sessions").stdout
    assert "gate blocked" in human
    assert "1 block, 1 note" in human
    assert "owes a reflection (bd-1), since " in human


def test_a_broken_cycle_stays_visible_until_it_is_paid(beads):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    while agent.stops().code:
        pass
    agent.ends()
    (one,) = listed(beads)["sessions"]
    (debt,) = one["debts"]
    assert (one["gate"], debt["kind"], debt["tickets"]) == ("idle", "breaker", ["bd-1"])
    assert debt["blocks"] == 3
    assert "was let go without its reflection (bd-1)" in beads.grove("sessions").stdout
    agent.grove("skip", "nothing new in it", "--session-id", "session-1")
    assert listed(beads)["sessions"][0]["debts"] == []


def test_damaged_state_hides_nothing(beads):
    beads.agent().starts()
    sessions = beads.grove_home / "sessions"
    for name, content in DAMAGE.items():
        (sessions / f"{name}.json").write_bytes(content)
    (sessions / "a-folder.json").mkdir()
    (sessions / "a-link.json").symlink_to(beads.others / "nowhere")
    os.mkfifo(sessions / "a-pipe.json")
    (sessions / "another.json").write_bytes(state_file(beads).read_bytes())
    (sessions / "session-1.json.corrupt-1").write_text("{")
    (sessions / "note to myself.json").write_text("{")
    found = listed(beads)
    assert [one["id"] for one in found["sessions"]] == ["session-1"]
    reasons = {one["session_id"]: one["reason"] for one in found["unreadable"]}
    assert set(reasons) == {*DAMAGE, "a-folder", "a-link", "a-pipe", "another"}
    assert all(reasons.values())
    assert "no plain file" in reasons["a-pipe"]
    assert "it is empty" in reasons["empty"]
    assert reasons["another"] == "it holds the state of session 'session-1'"
    (aside,) = found["set_aside"]
    assert aside["session_id"] == "session-1"
    assert aside["path"] == str(sessions / "session-1.json.corrupt-1")
    human = beads.grove("sessions")
    assert human.code == 0
    for path in [one["path"] for one in found["unreadable"]] + [aside["path"]]:
        assert path in human.stdout


def test_state_that_was_set_aside_counts_as_a_debt(beads):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    state_file(beads).write_text("{")
    agent.announces(command="bd close bd-2")
    (one,) = listed(beads)["sessions"]
    (debt,) = one["debts"]
    assert debt["kind"] == "unreadable"
    assert debt["path"] == listed(beads)["set_aside"][0]["path"]
    assert debt["path"] in beads.grove("sessions").stdout


def test_all_limit_and_quiet(beads):
    for session_id in ("one", "two"):
        beads.agent(session_id).starts()
    rewrite(beads, "two", project_root="/else\x1b[31mwhere")
    beads.agent("three").starts()
    assert beads.grove("sessions", "-q").stdout.split() == ["three", "one"]
    assert beads.grove("sessions", "-q", "--all").stdout.split() == ["three", "two", "one"]
    assert beads.grove("sessions", "-q", "--limit", "1").stdout.split() == ["three"]
    found = listed(beads, "--all", "--limit", "2")
    assert (found["count"], found["total"], len(found["sessions"])) == (2, 3, 2)
    human = beads.grove("sessions", "--all", "--limit", "2").stdout
    assert "2 of 3 shown." in human
    assert "where" in human
    assert "\x1b" not in human
    assert beads.grove("sessions", "--limit", "0").code == 2


def test_without_sessions(world):
    assert listed(world)["sessions"] == []
    assert "knows no session of this project" in world.grove("sessions").stdout
    assert world.grove("sessions", "--all").stdout == "grove knows no session.\n"
    assert not (world.grove_home / "sessions").exists()


def test_a_directory_that_cannot_be_read_is_named(world):
    world.grove_home.mkdir()
    (world.grove_home / "sessions").write_text("")
    done = world.grove("sessions", "--json")
    assert done.code == 1
    assert str(world.grove_home / "sessions") in done.json["error"]
    assert done.json["error"] in done.stderr
