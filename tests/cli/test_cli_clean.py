"""`grove clean`: what may go, what stays, and that nothing else is touched."""

import fcntl
import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from grove_core.codec import session_to_json
from grove_core.flow.session_cleaning import CleaningLimits, Reason, choose
from grove_core.flow.session_debts import Life
from grove_core.flow.session_files import SessionFiles
from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket

NOW = datetime(2030, 3, 1, tzinfo=UTC)
OVER = (Life.ENDED, Life.DIED)
UNFINISHED = (GateStatus.ACTIVE, GateStatus.PENDING, GateStatus.BLOCKED)

# --- the choice ---------------------------------------------------------------------------------


def kept(days, status=GateStatus.IDLE, fault=""):
    written_at = NOW - timedelta(days=days)
    session = Session(
        id="one",
        host="claude-code",
        cwd="/p",
        project_root="/p",
        created_at=written_at,
        updated_at=written_at,
        gate=Gate(status=status),
    )
    readable = None if fault else session
    return SessionFiles(session_id="one", written_at=written_at, session=readable, fault=fault)


BEFORE = CleaningLimits(before=NOW - timedelta(days=30))
ORPHANS = CleaningLimits(orphans=True)
BOTH = CleaningLimits(before=NOW - timedelta(days=30), orphans=True)


def reason(limits, days, status=GateStatus.IDLE, life=Life.ENDED):
    return choose(kept(days, status), life, limits, NOW).reason


@pytest.mark.parametrize("limits", [BEFORE, ORPHANS, BOTH])
@pytest.mark.parametrize("status", GateStatus)
@pytest.mark.parametrize("days", [0, 2, 29, 31, 4000])
def test_a_live_session_is_never_deleted(limits, status, days):
    assert reason(limits, days, status, Life.LIVE) is Reason.LIVE


@pytest.mark.parametrize("life", OVER)
@pytest.mark.parametrize("status", GateStatus)
def test_before_deletes_what_is_over_and_owes_nothing(status, life):
    expected = Reason.OWES if status.owes_reflection else Reason.OLD
    assert reason(BEFORE, 31, status, life) is expected
    assert reason(BEFORE, 30, status, life) is Reason.RECENT
    assert reason(BEFORE, 29, status, life) is Reason.RECENT


@pytest.mark.parametrize("life", OVER)
@pytest.mark.parametrize("status", GateStatus)
def test_orphans_are_unfinished_and_not_written_for_a_day(status, life):
    expected = Reason.ORPHAN if status in UNFINISHED else Reason.FINISHED
    assert reason(ORPHANS, 1.1, status, life) is expected
    assert reason(ORPHANS, 400, status, life) is expected
    young = Reason.OWES if status.owes_reflection else Reason.FINISHED
    assert reason(ORPHANS, 1, status, life) is young


@pytest.mark.parametrize("status", GateStatus)
def test_each_option_chooses_by_itself(status):
    assert reason(BOTH, 31, status).deletes
    assert (reason(BOTH, 2, status) is Reason.ORPHAN) == (status in UNFINISHED)


@pytest.mark.parametrize(
    ("limits", "days", "expected"),
    [
        (BEFORE, 31, Reason.UNREADABLE),
        (BEFORE, 29, Reason.RECENT),
        (ORPHANS, 1.1, Reason.ORPHAN),
        (ORPHANS, 0.9, Reason.RECENT),
        (BOTH, 31, Reason.ORPHAN),
    ],
)
def test_what_cannot_be_read_may_hold_a_debt(limits, days, expected):
    assert choose(kept(days, fault="odd"), None, limits, NOW).reason is expected


# --- real files ---------------------------------------------------------------------------------


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


def test_something_must_be_said(world):
    for words in ((), ("--dry-run",), ("--json",), ("-q",)):
        done = world.grove("clean", *words)
        assert (done.code, done.stdout) == (2, "")
        assert "--before 30d" in done.stderr
        assert "--orphans" in done.stderr
    for wrong in ("30", "yesterday", "-1d", "", "30y", "9" * 30 + "d"):
        done = world.grove("clean", "--before", wrong)
        assert (done.code, done.stdout) == (2, ""), wrong
        assert "30d" in done.stderr
    assert not world.grove_home.exists()


def test_a_session_whose_client_still_runs_is_live_after_a_weekend(many):
    path = many.grove_home / "sessions" / "owing.json"
    session = json.loads(path.read_text())
    path.write_text(json.dumps(session | {"ended_at": None, "process_id": os.getpid()}))
    done, _ = clean(many, "--orphans", "--before", "1d")
    assert reasons(done["kept"])["owing"] == "live"
    assert path.exists()


def test_before_takes_everything_of_an_old_session(many):
    sessions = many.grove_home / "sessions"
    (sessions / ".old.json.12.34.tmp").write_text("torn")
    (sessions / "old.json.corrupt-1").write_text("{")
    (sessions / "old.json.corrupt-2").write_text("{")
    os.utime(sessions / "old.json.corrupt-1", (ago(days=41).timestamp(),) * 2)
    (many.grove_home / "cache" / "fast" / ".old.12.34.tmp").write_text("torn")
    (opened,) = (many.grove_home / "cache").glob("*/open-sessions")
    (opened / "old").touch()
    assert len(files_named(many, "old")) == 7
    found, warnings = clean(many, "--before", "30d")
    assert warnings == ""
    (deleted,) = found["deleted"]
    assert (deleted["session_id"], deleted["reason"], deleted["gate"]) == ("old", "old", "idle")
    assert deleted["project_root"] == str(many.project)
    assert len(deleted["files"]) == 6
    assert reasons(found["kept"]) == {"owing": "owes", "new": "recent", "live": "live"}
    # What was set aside is thrown away by its own age.
    assert files_named(many, "old") == [
        (sessions / "old.json.corrupt-2").relative_to(many.grove_home)
    ]
    for session_id in ("owing", "new", "live"):
        assert len(files_named(many, session_id)) >= 2


def test_before_says_what_still_owes(many):
    done = many.grove("clean", "--before", "30d")
    assert done.code == 0
    assert "deleted  old  it is over, last written " in done.stdout
    assert "kept  owing  it owes a reflection (bd-1); only --orphans deletes it" in done.stdout
    assert "1 session deleted, 3 kept (1 live, 1 too new, 1 named above)." in done.stdout


def test_orphans_go_with_a_warning_and_a_line_in_the_log(many):
    found, warnings = clean(many, "--orphans")
    assert reasons(found["deleted"]) == {"owing": "orphan"}
    assert found["deleted"][0]["debts"][0]["tickets"] == ["bd-1"]
    assert reasons(found["kept"]) == {"old": "finished", "new": "finished", "live": "live"}
    line = f"session owing of {many.project} is deleted though it owes a reflection (bd-1)"
    assert warnings == f"grove: {line}\n"
    assert f"WARNING session=owing {line}\n" in many.log()
    assert files_named(many, "owing") == []


def test_dry_run_tells_the_same_and_deletes_nothing(many):
    before = {path: path.read_bytes() for path in many.grove_home.rglob("*") if path.is_file()}
    words = ("--before", "30d", "--orphans")
    found, warnings = clean(many, *words, "--dry-run")
    assert found["dry_run"] is True
    assert "session owing of" in warnings
    assert "would be deleted though it owes" in warnings
    human = many.grove("clean", *words, "--dry-run").stdout
    assert "would be deleted  old  it is over" in human
    assert "2 sessions would be deleted, 2 kept" in human
    after = {path: path.read_bytes() for path in many.grove_home.rglob("*") if path.is_file()}
    assert after == before
    really = many.grove("clean", *words, "-q")
    assert sorted(really.stdout.split()) == sorted(one["session_id"] for one in found["deleted"])


def test_a_debt_that_the_breaker_let_go_is_named_when_it_goes(beads):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    while agent.stops().code:
        pass
    agent.ends()
    path = beads.grove_home / "sessions" / "session-1.json"
    written = ago(days=3).isoformat()
    path.write_text(json.dumps({**json.loads(path.read_text()), "updated_at": written}))
    found, warnings = clean(beads, "--before", "2d")
    assert reasons(found["deleted"]) == {"session-1": "old"}
    assert "though it was let go without its reflection (bd-1)" in warnings


@pytest.mark.parametrize("text", ["12h", "1d", "1w", "date", "time"])
def test_ways_to_say_when(world, text):
    world.initialise()
    make(world, "session-1", hours=6)
    make(world, "session-2", hours=30)
    make(world, "session-3", days=30)
    east = timezone(timedelta(hours=2))
    said = {
        "date": ago(days=10).date().isoformat(),
        "time": ago(hours=12).astimezone(east).isoformat(),
    }
    both = ["session-2", "session-3"]
    gone = {"12h": both, "1d": both, "time": both}.get(text, ["session-3"])
    done = world.grove("clean", "-q", "--before", said.get(text, text))
    assert (done.code, sorted(done.stdout.split())) == (0, gone)


@pytest.mark.parametrize("text", ["2999-01-01", "2999-01-01T10:00:00+02:00"])
def test_what_is_still_to_come_is_a_usage_error(world, text):
    world.initialise()
    make(world, "session-1", days=30)
    for words in ((), ("--dry-run",)):
        done = world.grove("clean", "--before", text, *words)
        assert (done.code, done.stdout) == (2, "")
        assert "in the future" in " ".join(done.stderr.split())
    assert files_named(world, "session-1")


def test_help_says_only_what_is_understood(world):
    words = " ".join(world.grove("clean", "--help").stdout.replace("│", " ").split())
    assert "2w ago" not in words
    assert "longer ago than 30d, 12h or 2w" in words


def test_leftovers_without_a_session(beads):
    beads.agent("live").starts()
    fast = beads.grove_home / "cache" / "fast"
    sessions = beads.grove_home / "sessions"
    leftovers = [fast / "gone", sessions / "lost.json.corrupt-1", sessions / "empty.json"]
    for path in leftovers:
        path.write_text("")
        os.utime(path, (ago(days=40).timestamp(),) * 2)
    (fast / "young").write_text("")
    (sessions / "a note.txt").write_text("mine")
    found, warnings = clean(beads, "--before", "30d")
    expected = dict.fromkeys(("gone", "lost", "empty"), "leftover")
    assert reasons(found["deleted"]) == expected
    assert reasons(found["kept"]) == {"live": "live", "young": "recent"}
    assert warnings == ""
    assert not any(path.exists() for path in leftovers)
    assert {path.name for path in sessions.iterdir()} == {"live.json", "a note.txt"}


def test_unreadable_state_goes_with_orphans_only(beads):
    sessions = beads.grove_home / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "bad.json").write_text("{")
    os.utime(sessions / "bad.json", (ago(days=40).timestamp(),) * 2)
    found, _ = clean(beads, "--before", "30d")
    assert reasons(found["kept"]) == {"bad": "unreadable"}
    assert "only --orphans deletes it" in found["kept"][0]["detail"]
    found, warnings = clean(beads, "--orphans")
    assert reasons(found["deleted"]) == {"bad": "orphan"}
    assert "session bad is deleted though its state cannot be read" in warnings
    assert list(sessions.iterdir()) == []


def test_links_and_other_things_are_left_alone(beads):
    make(beads, "session-1", days=40)
    sessions = beads.grove_home / "sessions"
    target = beads.folder / "target.json"
    target.write_bytes((sessions / "session-1.json").read_bytes())
    (sessions / "linked.json").symlink_to(target)
    (sessions / "dangling.json").symlink_to(beads.folder / "nothing")
    (sessions / "folder.json").mkdir()
    os.mkfifo(sessions / "pipe.json")
    (beads.grove_home / "cache" / "fast").rename(beads.folder / "fast")
    (beads.grove_home / "cache" / "fast").symlink_to(beads.folder / "fast")
    found, _ = clean(beads, "--before", "0d", "--orphans")
    assert reasons(found["deleted"]) == {"session-1": "old"}
    kinds = dict.fromkeys(("linked", "dangling", "folder", "pipe"), "unreadable")
    assert reasons(found["kept"]) == kinds
    assert target.exists()
    assert not (beads.folder / "nothing").exists()
    assert (beads.folder / "fast" / "session-1").exists()


def test_a_directory_that_leads_elsewhere_is_refused(beads):
    make(beads, "session-1", days=40)
    (beads.grove_home / "sessions").rename(beads.folder / "elsewhere")
    (beads.grove_home / "sessions").symlink_to(beads.folder / "elsewhere")
    document, stderr = clean(beads, "--before", "30d", code=1)
    assert "leads out of" in document["error"]
    assert "nothing was deleted" in stderr
    assert (beads.folder / "elsewhere" / "session-1.json").exists()


def test_a_session_that_somebody_writes_just_now_is_kept(many):
    path = many.grove_home / "sessions" / "old.json"
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found, _ = clean(many, "--before", "30d", code=1)
        human = many.grove("clean", "--before", "30d")
    assert reasons(found["kept"])["old"] == "failed"
    assert human.code == 1
    assert "locked by another process" in human.stdout
    assert path.exists()
    found, _ = clean(many, "--before", "30d")
    assert reasons(found["deleted"]) == {"old": "old"}


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="tells by /proc who waits")
def test_a_session_that_was_taken_up_meanwhile_is_kept(beads):
    make(beads, "session-1", days=40)
    path = beads.grove_home / "sessions" / "session-1.json"
    new = json.loads(path.read_text())
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        cleaning = beads.start("clean", "--before", "30d", "--json")
        # Wait until it wants the lock: it has decided by then.
        while not waits_for_lock(cleaning.pid, path):
            assert cleaning.poll() is None
        new["updated_at"] = datetime.now(UTC).isoformat()
        path.write_text(json.dumps(new))
    out, _ = cleaning.communicate(timeout=30)
    assert reasons(json.loads(out)["kept"]) == {"session-1": "recent"}
    assert beads.session()["updated_at"] == new["updated_at"]


def waits_for_lock(process, path):
    """Whether a process has a file open for writing, which it wants only under its lock."""
    inode = path.stat().st_ino
    for one in os.listdir(f"/proc/{process}/fd"):
        with suppress(OSError):
            if os.stat(f"/proc/{process}/fd/{one}").st_ino == inode:
                info = Path(f"/proc/{process}/fdinfo/{one}").read_text()
                return bool(int(info.split("flags:")[1].split()[0], 8) & os.O_RDWR)
    return False


def test_a_deleted_session_can_start_again(beads):
    make(beads, "session-1", GateStatus.PENDING, closes=["bd-1"], days=2)
    clean(beads, "--orphans")
    assert files_named(beads, "session-1") == []
    agent = beads.agent()
    assert agent.starts("resume") == ""
    agent.is_let_go()
    assert beads.gate() == "idle"
