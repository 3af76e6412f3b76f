"""`grove sessions`, `trace`, `debug` and `clean`: what grove keeps of sessions, and what may go."""

import fcntl
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest

from grove_core.codec import session_to_json
from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.quotation import NOTE

DAMAGE = {
    "binary": b"\x00\xff\xfe\x80",
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
    states = [(one["id"], one["state"]) for one in listed(beads)["sessions"]]
    assert states == [("live", "live"), ("ended", "ended"), ("died", "died"), ("idle", "died")]


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
    (pending,) = one["pending"]
    assert (pending["kind"], pending["tickets"], pending["blocks"]) == ("open", ["bd-1"], 1)
    assert pending["since"] <= one["updated_at"]
    human = beads.grove("sessions").stdout
    for words in ("gate blocked", "1 block, 1 note", "has a reflection pending (bd-1), since "):
        assert words in human


def test_damaged_state_hides_nothing(beads):
    beads.agent().starts()
    sessions = beads.grove_home / "sessions"
    for name, content in DAMAGE.items():
        (sessions / f"{name}.json").write_bytes(content)
    (sessions / "a-folder.json").mkdir()
    (sessions / "a-link.json").symlink_to(beads.others / "nowhere")
    os.mkfifo(sessions / "a-pipe.json")
    (sessions / "session-1.json.corrupt-1").write_text("{")
    (sessions / "note to myself.json").write_text("{")
    found = listed(beads)
    assert [one["id"] for one in found["sessions"]] == ["session-1"]
    reasons = {one["session_id"]: one["reason"] for one in found["unreadable"]}
    assert set(reasons) == {*DAMAGE, "a-folder", "a-link", "a-pipe"}
    assert "no regular file" in reasons["a-pipe"]
    (aside,) = found["set_aside"]
    assert aside["session_id"] == "session-1"
    assert aside["path"] == str(sessions / "session-1.json.corrupt-1")
    human = beads.grove("sessions")
    assert human.code == 0
    for path in [one["path"] for one in found["unreadable"]] + [aside["path"]]:
        assert path in human.stdout


@pytest.fixture
def blocked(blocked):
    """The world of a session that was stopped once."""
    return blocked.world


def test_oldest_first_in_full(blocked):
    stored = blocked.session()["trace"]
    done = blocked.grove("trace", "session-1", "--json")
    assert (done.code, done.stderr) == (0, "")
    assert done.json == {
        "session_id": "session-1",
        "count": len(stored["events"]),
        "total": len(stored["events"]),
        "dropped": 0,
        "events": stored["events"],
    }
    note, *lines = blocked.grove("trace", "session-1").stdout.splitlines()
    assert note == NOTE
    kinds = [line.split()[2] for line in lines]
    assert kinds == [one["event_type"] for one in stored["events"]]


def ago(**units):
    return datetime.now(UTC) - timedelta(**units)


def make(world, session_id, status=GateStatus.IDLE, closes=(), **units):
    """A session that ended so long ago, with what grove keeps of it."""
    moment = ago(**units).replace(microsecond=0)
    tickets = tuple(Ticket(ticket_id=one, source="beads") for one in closes)
    cycle = Cycle(tickets=tickets, opened_at=moment, before=GateStatus.IDLE) if closes else None
    session = Session(
        id=session_id,
        host="claude-code",
        cwd=str(world.project),
        project_root=str(world.project),
        created_at=moment,
        updated_at=moment,
        ended_at=moment,
        gate=Gate(status=status, cycle=cycle),
    )
    sessions, fast = world.grove_home / "sessions", world.grove_home / "cache" / "fast"
    for folder in (sessions, fast):
        folder.mkdir(parents=True, exist_ok=True)
    (sessions / f"{session_id}.json").write_bytes(session_to_json(session))
    (fast / session_id).write_text("0\nbd")


def files_named(world, session_id):
    return sorted(
        path.relative_to(world.grove_home)
        for path in world.grove_home.rglob("*")
        if path.is_file() and session_id in path.name
    )


def clean(world, *words, code=0):
    done = world.grove("clean", "--json", *words)
    assert done.code == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.json, done.stderr


def reasons(entries):
    return {one["session_id"]: one["reason"] for one in entries}


@pytest.fixture
def many(beads):
    """One session of each kind."""
    make(beads, "old", days=40)
    make(beads, "owing", GateStatus.PENDING, closes=["bd-1"], days=40)
    make(beads, "new", days=2)
    beads.agent("live").starts()
    return beads


def test_before_takes_everything_of_an_old_session(many):
    sessions = many.grove_home / "sessions"
    (sessions / ".old.json.12.34.tmp").write_text("torn")
    (sessions / "old.json.corrupt-1").write_text("{")
    (opened,) = (many.grove_home / "cache").glob("*/open-sessions")
    (opened / "old").touch()
    assert len(files_named(many, "old")) == 5
    found, warnings = clean(many, "--before", "30d")
    assert warnings == ""
    (deleted,) = found["deleted"]
    assert (deleted["session_id"], deleted["reason"], deleted["gate"]) == ("old", "old", "idle")
    assert deleted["project_root"] == str(many.project)
    assert len(deleted["files"]) == 5
    assert reasons(found["kept"]) == {"owing": "pending", "new": "recent", "live": "live"}
    assert files_named(many, "old") == []
    for session_id in ("owing", "new", "live"):
        assert len(files_named(many, session_id)) >= 2


def test_orphans_go_with_a_warning_and_a_line_in_the_log(many):
    found, warnings = clean(many, "--orphans")
    assert reasons(found["deleted"]) == {"owing": "orphan"}
    assert found["deleted"][0]["pending"][0]["tickets"] == ["bd-1"]
    assert reasons(found["kept"]) == {"old": "finished", "new": "finished", "live": "live"}
    line = f"session owing of {many.project} is deleted though it has a reflection pending (bd-1)"
    assert warnings == f"grove: {line}\n"
    assert f"{line}\n" in many.log()
    assert files_named(many, "owing") == []


def test_dry_run_tells_the_same_and_deletes_nothing(many):
    before = {path: path.read_bytes() for path in many.grove_home.rglob("*") if path.is_file()}
    words = ("--before", "30d", "--orphans")
    found, warnings = clean(many, *words, "--dry-run")
    assert found["dry_run"] is True
    assert "session owing of" in warnings
    assert "would be deleted though it has a reflection pending" in warnings
    human = many.grove("clean", *words, "--dry-run").stdout
    assert "2 sessions would be deleted, 2 kept" in human
    after = {path: path.read_bytes() for path in many.grove_home.rglob("*") if path.is_file()}
    assert after == before
    really = many.grove("clean", *words, "-q")
    assert sorted(really.stdout.split()) == sorted(one["session_id"] for one in found["deleted"])


def test_a_session_that_somebody_writes_just_now_is_kept(many):
    path = many.grove_home / "sessions" / "old.json"
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found, _ = clean(many, "--before", "30d", code=1)
    assert reasons(found["kept"])["old"] == "failed"
    assert path.exists()
    found, _ = clean(many, "--before", "30d")
    assert reasons(found["deleted"]) == {"old": "old"}


def test_ways_to_say_when(world):
    world.initialise()
    for session_id, hours in (("session-1", 6), ("session-2", 30), ("session-3", 720)):
        make(world, session_id, hours=hours)
    east = timezone(timedelta(hours=2))
    both = ["session-2", "session-3"]
    for text, gone in (
        ("12h", both),
        ("1d", both),
        ("1w", both[1:]),
        (ago(days=10).date().isoformat(), both[1:]),
        (ago(hours=12).astimezone(east).isoformat(), both),
    ):
        done = world.grove("clean", "-q", "--dry-run", "--before", text)
        assert (done.code, sorted(done.stdout.split())) == (0, gone)
    for wrong in ("2999-01-01", "30", "yesterday", "-1d", "9" * 30 + "d"):
        done = world.grove("clean", "--before", wrong)
        assert (done.code, done.stdout) == (2, ""), wrong
    assert files_named(world, "session-1")


def _indent(line):
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize("after", ["idle", "pending", "reflected"])
def test_debug_shows_everything_and_forces_the_gate(blocked, after):
    found = blocked.grove("debug", "session-1", "--json").json
    assert found["session"] == {**blocked.session(), "unknown": {}}
    assert (found["state"], found["max_blocks"], found["cooldown_seconds"]) == ("live", 3, 300)
    assert [one["kind"] for one in found["pending"]] == ["open"]
    assert found["file"] == str(state_file(blocked))
    outline = blocked.grove("debug", "session-1").stdout
    assert "    status: blocked\n" in outline
    assert f"  created_at: {found['session']['created_at']}\n" in outline
    lines = outline.splitlines()
    deeper = zip(lines, [*lines[1:], ""], strict=True)
    assert all(one[-1] != ":" or _indent(two) > _indent(one) for one, two in deeper)
    done = blocked.grove("debug", "--set-gate", after, "--json")
    assert done.json == {"session_id": "session-1", "before": "blocked", "gate": after}
    assert blocked.gate() == after
    events = blocked.session()["trace"]["events"]
    (forced,) = [one for one in events if one["event_type"] == "forced"]
    assert forced["details"] == {"status": after}
    if after == "pending":
        assert "bd-1" in blocked.agent().is_blocked()
    else:
        blocked.agent().is_let_go()


def test_status_says_whether_hooks_are_connected_and_what_to_do_next(beads):
    def says():
        lines = beads.grove("status").stdout.splitlines()
        rows = {line[:9].strip(): line[10:] for line in lines}
        return rows["Hooks"], rows.get("Next", "")

    assert says() == (
        "none are registered",
        "grove init --hooks, or start the client with grove's plugin",
    )
    beads.lent.append(beads.project / ".claude")
    beads.lent.append(beads.home / ".claude")
    assert beads.grove("init", "--hooks").code == 0
    assert says() == (".claude/settings.local.json", "")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    assert says()[1].endswith("grove skip REASON --session-id session-1 lets it go")
