"""How `grove doctor` looks: it changes nothing, and a look that fails is a finding of its own."""

import json
import os
import time
from datetime import UTC, datetime, timedelta

import pytest

from grove_core.clock import now_utc
from grove_core.diagnostics import Diagnostics
from grove_core.health.check import Status, ok
from grove_core.health.clock_skew import newest_file
from grove_core.health.derived_numbers import gather_cache, gather_decay
from grove_core.health.event_logs import LineFault, gather_log
from grove_core.health.home_directory import gather_home
from grove_core.health.onlooking import look_only
from grove_core.health.past_faults import gather_faults, read_crashes, read_errors
from grove_core.health.processes import ask
from grove_core.health.program import complaint_about, gather_program
from grove_core.health.running import Probe, run_probes
from grove_core.health.secrets import gather_secrets
from grove_core.health.sessions import gather_sessions
from grove_core.paths import Paths
from grove_core.workspace import Workspace

KEY = "-----BEGIN PRIVATE KEY-----"


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "home")


@pytest.fixture
def workspace(tmp_path, paths):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    environment = {"HOME": str(tmp_path), "GROVE_HOME": str(paths.home)}
    return Workspace(root, environment, now_utc())


# --- running ------------------------------------------------------------------------------------


def fails():
    raise OSError("the disk\nis \x1b[31mgone")


def leaves():
    raise SystemExit(0)


def hangs():
    time.sleep(0.2)
    return ()


@pytest.mark.parametrize(
    ("look", "word"),
    [(fails, "the disk is"), (leaves, "SystemExit"), (hangs, "longer than 0.05 seconds")],
)
def test_a_look_that_fails_is_broken_and_the_others_go_on(look, word):
    probes = [
        Probe(name="first", look=lambda: [ok("first", "fine")]),
        Probe(name="bad", look=look, seconds=0.05),
        Probe(name="last", look=lambda: iter([ok("last", "fine")])),
    ]
    first, bad, last = run_probes(probes)
    assert (first.name, bad.name, last.name) == ("first", "bad", "last")
    assert bad.status is Status.BROKEN
    assert word in bad.detail
    assert bad.mend
    assert bad.detail.isprintable()


def test_what_is_told_is_one_visible_line():
    (check,) = run_probes([Probe(name="x", look=lambda: [ok("x\x00", "a\nb\x1b[2J" + "c" * 900)])])
    assert check.name == "x"
    assert check.detail.startswith("a b[2Jc")
    assert len(check.detail) <= 500


# --- leaving no trace ---------------------------------------------------------------------------


def test_looking_writes_neither_log_nor_cache(workspace, paths):
    look_only(workspace)
    workspace.plugins.load_all()
    workspace.diagnostics.log("error", "something is wrong", session="monday")
    assert not paths.home.exists()
    assert workspace.paths == paths


def test_gathering_in_an_empty_world_finds_nothing(tmp_path, paths):
    assert gather_faults(paths).crashes == gather_faults(paths).errors == ()
    home = gather_home(paths)
    assert (home.exists, home.nearest, home.can_be_made) == (False, tmp_path, True)
    assert newest_file([paths.home]) is None
    assert gather_log("event log", tmp_path / "stats.log").count == 0
    assert list(tmp_path.iterdir()) == []


# --- sessions -----------------------------------------------------------------------------------


def test_sessions_that_vanish_or_are_no_sessions_are_passed_over(workspace, paths):
    assert gather_sessions(workspace).here == ()
    paths.sessions.mkdir(parents=True)
    (paths.sessions / "empty.json").write_text("")
    (paths.sessions / "torn.json").write_text("{")
    (paths.sessions / "no session.json").write_text("{")
    (paths.sessions / ".torn.json.1.2.tmp").write_text("{")
    (paths.sessions / "monday.json.corrupt-2").write_text("{")
    facts = gather_sessions(workspace)
    assert (facts.here, facts.elsewhere, facts.debts) == ((), 0, ())
    (fault,) = facts.unreadable
    assert fault.path == paths.sessions / "torn.json"
    assert fault.fault
    assert [path.name for path in facts.set_aside] == ["monday.json.corrupt-2"]


# --- programs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        ("#!/bin/sh\n", 0o755, ""),
        ("#! /bin/sh -e\n", 0o755, ""),
        ("\x7fELF", 0o755, ""),
        ("#!/nowhere/python\n", 0o755, "cannot start, as its interpreter /nowhere/python is gone"),
    ],
)
def test_programs(tmp_path, text, mode, expected):
    path = tmp_path / "grove"
    path.write_text(text)
    path.chmod(mode)
    assert complaint_about(str(path)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("grove", "is no absolute path"),
        ("/nowhere/grove", "does not exist"),
        ("/", "is no file"),
        ("/etc/passwd", "is not executable"),
    ],
)
def test_what_is_no_program(path, expected):
    assert complaint_about(path) == expected


def test_programs_are_looked_for_as_the_launcher_does(tmp_path, paths):
    def program(folder):
        path = tmp_path / folder / "grove"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n# grove_core\necho grove {folder.replace('/', '-')}\n")
        path.chmod(0o755)
        return path

    named, recorded, on_path = program("named"), program("recorded"), program("path")
    local = program(".local/bin")
    environment = {"HOME": str(tmp_path), "PATH": str(on_path.parent), "GROVE_PROGRAM": str(named)}
    paths.home.mkdir()
    paths.program_file.write_text(f"{recorded}\n")
    for path in (named, recorded, on_path, local):
        facts = gather_program(paths, environment)
        assert facts.chosen is not None
        assert facts.chosen.path == str(path)
        assert facts.chosen_version == path.parent.relative_to(tmp_path).as_posix().replace(
            "/", "-"
        )
        path.chmod(0o644)
    assert gather_program(paths, environment).chosen is None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["/bin/sh", "-c", "echo yes"], 0, "yes\n"),
        (["/bin/sh", "-c", "echo no >&2; exit 3"], 3, "no"),
        (["/bin/sh", "-c", "exec sleep 20"], None, "did not end within 0.1 seconds"),
        (["/nowhere/program"], None, "No such file or directory"),
        (["a\0b"], None, "null byte"),
    ],
)
def test_asking_a_program_never_raises(words, code, said):
    answer = ask(words, {}, 0.1 if "sleep" in words[-1] else 5)
    assert answer.code == code
    assert said in answer.output + answer.complaint


# --- logs ---------------------------------------------------------------------------------------


def test_faults_are_read_as_they_are_written(paths):
    moments = iter([datetime(2030, 1, day, tzinfo=UTC) for day in (1, 2, 3, 4)])
    diagnostics = Diagnostics(paths, lambda: next(moments))
    diagnostics.crash(
        OSError("first\n2031-01-01T00:00:00Z session=x hook=y error=forged"), "a", "stop"
    )
    diagnostics.crash(ValueError("second"), "b", "session-start")
    diagnostics.log("error", "events were lost: disk full", session="a")
    diagnostics.log("warning", "not an error")
    facts = gather_faults(paths)
    assert [fault.at.day for fault in facts.crashes] == [1, 2]
    assert facts.crashes[-1].text == "session-start: error=ValueError: second"
    assert [(fault.at.day, fault.text) for fault in facts.errors] == [
        (3, "session=a events were lost: disk full")
    ]


def test_rotated_logs_count_too(paths):
    paths.home.mkdir()
    for name, day in (("grove.log.1", 1), ("grove.log", 2)):
        (paths.home / name).write_text(f"2030-01-0{day}T00:00:00Z ERROR lost\n")
    assert [fault.at.day for fault in gather_faults(paths).errors] == [1, 2]


@pytest.mark.parametrize(
    "line", ["", "  ERROR", "yesterday ERROR lost", "2030-01-01T00:00:00Z error x"]
)
def test_lines_that_are_no_faults(line):
    assert read_errors([line]) == []
    assert read_crashes([line]) == []


# --- event logs ---------------------------------------------------------------------------------


def an_event(number, **fields):
    known = {"v": 1, "ts": f"2030-01-02T10:00:{number:02}Z", "event": "rated", "grove": "0.1.0"}
    return json.dumps({**known, "learning_id": "cl_1", "useful": True, **fields})


def test_every_line_that_does_not_count_is_named_with_its_reason(tmp_path):
    lines = [
        an_event(1),
        "<<<<<<< ours",
        an_event(2),
        "||||||| merged common ancestors",
        "=======",
        an_event(5),
        ">>>>>>> theirs",
        "",
        an_event(3, event="celebrated"),
        an_event(3, v=7, useful="very"),
        an_event(4, v=7),  # what it has besides is no harm
        an_event(3, useful="very"),
        an_event(3) + an_event(4),  # two writers that shared a line
        "\x00\x00\x00",
        "[]",
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        an_event(3)[:40],
    ]
    path = tmp_path / "stats.log"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    facts = gather_log("event log", path)
    assert facts.faults == {
        LineFault.MARKER: [2, 4, 5, 7],
        LineFault.UNKNOWN: [9],
        LineFault.NEWER: [10],
        LineFault.UNREADABLE: [12, 13, 14, 15, 16],
        LineFault.TORN: [17],
    }
    assert facts.count == 4
    assert facts.newest == datetime(2030, 1, 2, 10, 0, 5, tzinfo=UTC)


def test_a_log_without_its_last_line_end_is_whole(tmp_path):
    path = tmp_path / "stats.log"
    path.write_text(f"{an_event(1)}\r\n{an_event(2)}")
    facts = gather_log("event log", path)
    assert (facts.count, facts.faults) == (2, {})


# --- secrets ------------------------------------------------------------------------------------

TOKEN = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"
BODY = "MIIEowIBAAKCAQEAv7qk3Zs0p1XnQ8rWm5tYh2LdBc9fGj"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"a\n> {KEY}\n> {BODY}\n> {BODY}\nb\n", [2]),
        (f"### [cl_1] Deploys\r\n\r\n> Use {TOKEN} for it.\r\n", [3]),
        (f"{TOKEN}\nprose\n{TOKEN} and {TOKEN}\n", [1, 3]),
        (f"prose\u2028prose\x0bprose\n{TOKEN}\n", [2]),
        ("line\n" * 398 + f"> {KEY}\n> {BODY}\n" + "line\n" * 500, [399]),
        ("-----BEGIN PUBLIC KEY-----\n", []),
        ("the PRIVATE KEY begins with -----BEGIN\n", []),
        ("", []),
    ],
)
def test_secrets_in_learnings(workspace, paths, text, lines):
    path = workspace.root / ".grove" / "learnings.md"
    path.write_bytes(text.encode())
    assert [one.line for one in gather_secrets(workspace).places] == lines
    path.unlink()
    paths.home.mkdir()
    paths.personal_learnings.write_bytes(text.encode())
    found = gather_secrets(workspace).places
    assert [(one.path, one.line) for one in found] == [
        (paths.personal_learnings, line) for line in lines
    ]
    for one in found:
        assert TOKEN not in repr(one)
        assert BODY not in repr(one)


def test_secrets_in_logs(workspace, paths):
    lines = [
        an_event(1, event="surfaced", session_id="s"),
        an_event(2, event="skip", reason=f"the key is {TOKEN}", session_id="s", decider="user"),
        an_event(3, event="rejected", summary=f"{KEY}\n{BODY}", session_id="s"),
        f'{{"event": "torn", "why": "{TOKEN}',
        an_event(4, event="surfaced", via=f"{TOKEN}{' ' * 500}"),
        an_event(5, event="celebrated", what={"password": ["hunter2-Zq8vXw41"]}),
        an_event(6, event="skip", reason="nothing new", session_id=TOKEN[4:], decider="user"),
    ]
    path = workspace.project.events_file
    path.write_text("\n".join(lines))
    facts = gather_secrets(workspace)
    assert [one.line for one in facts.places] == [2, 3, 4, 5, 6]
    assert facts.files == 1
    (workspace.root / ".grove" / "stats").mkdir()
    other = workspace.root / ".grove" / "stats" / "0123456789abcdef.jsonl"
    other.write_text(lines[1] + "\n")
    assert [one.path for one in gather_secrets(workspace).places] == [path] * 5 + [other]


def test_what_is_allowed_is_no_secret(workspace):
    (workspace.root / ".grove" / "learnings.md").write_text(f"> {TOKEN}\n")
    (found,) = gather_secrets(workspace).places
    config = workspace.root / ".grove" / "config.toml"
    config.write_text(f'[secrets]\nallow = ["{found.digest}"]\n')
    again = Workspace(workspace.root, workspace.environment, workspace.now)
    assert gather_secrets(again).places == ()


def test_a_search_without_time_says_where_it_stopped(workspace):
    (workspace.root / ".grove" / "learnings.md").write_text("prose\n" * 9)
    facts = gather_secrets(workspace, seconds=-1)
    assert facts.unfinished.endswith("learnings.md:1")
    assert facts.places == ()


# --- what is derived ----------------------------------------------------------------------------


def test_the_cache_is_looked_at_and_left_alone(workspace):
    assert gather_cache(workspace).exists is False
    workspace.paths.home.mkdir()
    workspace.statistics()
    facts = gather_cache(workspace)
    folder = facts.path.parent

    def looks():
        return {one.name: (one.stat().st_mtime_ns, one.read_bytes()) for one in folder.iterdir()}

    before = looks()
    assert f"{facts.path.name}-wal" in before  # it is open
    assert (facts.exists, gather_cache(workspace).fault) == (True, "")
    assert looks() == before
    workspace.numbers.cache.close()
    assert gather_cache(workspace) == facts
    for content in (b"no database at all" * 100, b""):
        facts.path.write_bytes(content)
        before = looks()
        assert gather_cache(workspace).fault
        assert looks() == before


def test_decay_is_remembered(workspace):
    assert gather_decay(workspace, None).last is None
    workspace.project_cache.mkdir(parents=True)
    (workspace.project_cache / "decayed").write_text("2030-01-02T10:00:00Z")
    assert gather_decay(workspace, None).last == datetime(2030, 1, 2, 10, tzinfo=UTC)
    (workspace.project_cache / "decayed").write_text("soon")
    assert gather_decay(workspace, None).last is None


# --- times --------------------------------------------------------------------------------------


def test_the_newest_file(tmp_path):
    for name, hours in (("a", 1), ("b", 3), ("c", 2)):
        (tmp_path / name).write_text("")
        moment = (datetime(2030, 1, 1, tzinfo=UTC) + timedelta(hours=hours)).timestamp()
        os.utime(tmp_path / name, (moment, moment))
    found = newest_file([tmp_path, tmp_path / "nowhere"])
    assert found is not None
    assert (found.what, found.at.hour) == (str(tmp_path / "b"), 3)
