"""Homes that cannot be written, disks that are full: work goes on, and what was accepted is kept."""

import json
import re
from contextlib import contextmanager

import pytest

EVENTS = [
    "session-start",
    "user-prompt-submit",
    "pre-tool-use",
    "post-tool-use",
    "task-completed",
    "stop",
    "session-end",
]
CALL = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-2"}, "tool_use_id": "toolu_9"}


def is_a_file(world):
    world.grove_home.write_text("not a folder")


def is_a_loop(world):
    world.grove_home.symlink_to(world.grove_home)


def leads_nowhere(world):
    world.grove_home.symlink_to(world.folder / "nowhere" / "home")


def holds_files_for_folders(world):
    world.grove_home.mkdir()
    for name in ("sessions", "cache", "outbox"):
        (world.grove_home / name).write_text("not a folder")


def holds_folders_for_files(world):
    for name in ("sessions/session-1.json", "grove.log", "crash.log", "config.toml", "cache/fast"):
        (world.grove_home / name / "folder").mkdir(parents=True)


HOMES = {
    "a file": is_a_file,
    "a link to itself": is_a_loop,
    "a link to nowhere": leads_nowhere,
    "files where folders belong": holds_files_for_folders,
    "folders where files belong": holds_folders_for_files,
}


def assert_says_why(surroundings, done, event):
    """Nothing for the client; if it failed, one line for the person, which leads to the reason."""
    assert done.stdout == ""
    assert done.code in (0, 3)
    if done.code == 0:
        assert done.stderr == ""
        return
    (line,) = done.stderr.splitlines()
    assert line.startswith("grove: ")
    assert line.isprintable()
    crash_log = surroundings.world.grove_home / "crash.log"
    if f"see {crash_log}" in line:
        assert crash_log.is_file(), f"nobody learns why: {line}"
        assert f"hook={event}" in crash_log.read_text(), f"nobody learns why: {line}"
    else:
        assert re.search(r"cannot|relative|neither", line), f"nobody learns why: {line}"


def assert_refused(done, *words):
    """A command that could not: one line that says why and where."""
    assert done.code == 1
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
    assert all(line.startswith("grove: ") for line in done.stderr.splitlines())


@contextmanager
def kept(*folders):
    """Asserts that nothing below some folders changes."""

    def look():
        return {
            path: path.read_bytes()
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file()
        }

    before = look()
    yield
    assert look() == before


# --- homes that are none -------------------------------------------------------------------------


@pytest.mark.parametrize("case", HOMES)
def test_hooks_with_a_home_that_is_none(beads, surroundings, case):
    HOMES[case](beads)
    for event in EVENTS:
        assert_says_why(surroundings, surroundings.hook(event, CALL), event)


@pytest.mark.parametrize("case", HOMES)
def test_commands_with_a_home_that_is_none(beads, surroundings, case):
    HOMES[case](beads)
    beads.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order")
    assert surroundings.run("list", "-q").stdout == "cl_20300102_aaaaaa\n"
    assert surroundings.run("status").code == 0
    done = surroundings.run("skip", "Nothing new here", "--session-id", "session-1")
    assert_refused(done)


@pytest.mark.parametrize("case", ["GROVE_HOME relative", "HOME relative", "nobody's"])
def test_a_home_that_cannot_be_told(beads, surroundings, request, case):
    options = {
        "GROVE_HOME relative": {"GROVE_HOME": "grove-home"},
        "HOME relative": {"HOME": "home", "without": ("GROVE_HOME",)},
        "nobody's": {"without": ("GROVE_HOME", "HOME")},
    }[case]
    if case == "nobody's":
        options["prefix"] = request.getfixturevalue("stranger")
    with kept(beads.folder):
        for event in EVENTS:
            done = surroundings.hook(event, CALL, **options)
            assert done.code == 3
            assert_says_why(surroundings, done, event)
        assert_refused(surroundings.run("status", **options), "HOME")
    assert not beads.grove_home.exists()


# --- homes that may not be written ---------------------------------------------------------------


def test_hooks_with_a_read_only_home(armed, surroundings, bounds, read_only):
    world = armed.world
    with read_only(world.grove_home), kept(world.folder):
        for event in EVENTS:
            done = surroundings.hook(event, CALL, before=bounds["permissions"])
            assert_says_why(surroundings, done, event)
    armed.is_blocked()


def test_hooks_with_a_home_that_may_not_be_made(beads, surroundings, bounds, read_only):
    home = {"GROVE_HOME": beads.home / "deep" / "grove"}
    with read_only(beads.home), kept(beads.folder):
        for event in EVENTS:
            done = surroundings.hook(event, CALL, before=bounds["permissions"], **home)
            assert_says_why(surroundings, done, event)


def test_commands_with_a_read_only_home(armed, surroundings, bounds, read_only, candidate):
    """What reads goes on; what writes says that it could not, and nothing counts as accepted."""
    world = armed.world
    world.learning("cl_20300102_aaaaaa", "LoginForm.clean() must not log the token", tags="login")
    submission = json.dumps({"candidates": [candidate(1)]})
    writing = {
        "reflect": submission,
        "skip Nothing": "",
        "observe Note": "",
    }
    with read_only(world.grove_home), kept(world.folder):
        for words in ("status", "list", "search token", "show cl_20300102_aaaaaa", "plugins"):
            done = surroundings.run(*words.split(), before=bounds["permissions"])
            assert (done.code, done.stderr) == (0, ""), words
        for words, stdin in writing.items():
            done = surroundings.run(
                *words.split(), stdin=stdin, before=bounds["permissions"], CLAUDECODE=1
            )
            assert_refused(done, str(world.grove_home))
    armed.is_blocked()
    assert armed.reflects(candidate(1)).code == 0
    armed.is_let_go()
    assert len(world.learning_ids()) == 2


def test_a_read_only_project(armed, surroundings, bounds, read_only, candidate):
    """What cannot be written into the project waits in the home, and is delivered once."""
    world = armed.world
    submission = json.dumps({"candidates": [candidate(1)]})
    with read_only(world.project):
        assert surroundings.hook("stop", before=bounds["permissions"]).code == 2
        done = surroundings.run("reflect", "--json", stdin=submission, before=bounds["permissions"])
        assert done.code == 0, done.stderr
        (accepted,) = done.json["accepted"]
        assert accepted["status"] == "queued"
        assert surroundings.hook("stop", before=bounds["permissions"]).code == 0
    assert any("stats.log" in line for line in surroundings.lines())
    assert world.learning_ids() == []
    assert armed.reflects(candidate(2)).code == 0
    assert world.learning_ids().count(accepted["id"]) == 1
    assert len(world.learning_ids()) == 2


# --- full disks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 40, 700])
def test_hooks_on_a_full_disk(armed, surroundings, bounds, size):
    """Nothing at all can be written, or the beginning of each file."""
    state = armed.world.session()
    for event in EVENTS:
        done = surroundings.hook(event, CALL, before=bounds["disk"](size))
        assert_says_why(surroundings, done, event)
    assert armed.world.session() == state
    armed.is_blocked()


def test_hooks_on_a_disk_that_was_always_full(beads, surroundings, bounds):
    for event in EVENTS:
        done = surroundings.hook(event, CALL, before=bounds["disk"](0))
        assert_says_why(surroundings, done, event)


@pytest.mark.parametrize("size", [0, 100, 1_000])
def test_a_reflection_on_a_full_disk_is_not_accepted(armed, surroundings, bounds, candidate, size):
    """Neither the learning nor what waits for its backend can be written: the agent is told so."""
    world = armed.world
    submission = json.dumps({"candidates": [candidate(1)]})
    state = world.session()
    done = surroundings.run("reflect", stdin=submission, before=bounds["disk"](size))
    assert_refused(done, "cannot")
    assert world.session() == state
    armed.is_blocked()
    assert armed.reflects(candidate(1)).code == 0
    armed.is_let_go()
    assert len(world.learning_ids()) == 1


def test_a_learning_that_does_not_fit_waits(armed, surroundings, bounds, candidate):
    """The project's file cannot grow, the home's small ones can."""
    world = armed.world
    world.learning("cl_20300102_aaaaaa", "LoginForm.clean()", detail="Long. " * 3_000)
    size = world.learnings_file.stat().st_size
    submission = json.dumps({"candidates": [candidate(1)]})
    done = surroundings.run("reflect", "--json", stdin=submission, before=bounds["disk"](size))
    assert done.code == 0, done.stderr
    (accepted,) = done.json["accepted"]
    assert accepted["status"] == "queued"
    assert world.learnings_file.stat().st_size == size
    assert armed.reflects(candidate(2)).code == 0
    assert len(world.learning_ids()) == 3
    assert world.learning_ids().count(accepted["id"]) == 1


def test_a_gate_that_does_not_fit_is_opened_by_the_same_submission(
    armed, surroundings, bounds, candidate
):
    """The learning was written, the session's state was not: the agent submits once more."""
    world = armed.world
    size = (world.grove_home / "sessions" / "session-1.json").stat().st_size
    submission = json.dumps({"candidates": [candidate(1)]})
    done = surroundings.run("reflect", stdin=submission, before=bounds["disk"](size))
    assert_refused(done, "cannot write", "session-1.json")
    (learning,) = world.learning_ids()
    armed.is_blocked()
    assert armed.reflects(candidate(1)).code == 0
    armed.is_let_go()
    assert world.learning_ids() == [learning]


@pytest.mark.parametrize("words", ["skip Nothing", "observe Note"])
def test_commands_on_a_full_disk(armed, surroundings, bounds, words):
    state = armed.world.session()
    done = surroundings.run(*words.split(), before=bounds["disk"](0))
    assert_refused(done, "cannot write", "session-1.json")
    assert armed.world.session() == state
    assert armed.world.log("crash.log") == ""


def test_events_that_do_not_fit_are_named(armed, surroundings, bounds):
    """The log of events cannot grow; what it was about goes on."""
    world = armed.world
    log = world.project / ".grove" / "stats.log"
    log.write_text("\n" * 20_000)
    done = surroundings.run("skip", "Nothing", before=bounds["disk"](20_000))
    assert done.code == 0
    assert world.gate() == "skipped"
    assert log.stat().st_size == 20_000
    for line in surroundings.lines():
        assert "events were lost" in line
        assert "stats.log" in line
