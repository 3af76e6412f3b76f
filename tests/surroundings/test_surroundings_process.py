"""What a process finds around it: a locale, streams, a directory, a deadline, a terminal."""

import fcntl
import json
import os
import signal
import sys
import time

import pytest

CALL = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "toolu_1"}
WORDS = "Bestellungen werden doppelt ausgeführt – 注文 😀"

SHOWN = "Größere Mengen gehen über Köln – 品川 🚚"


@pytest.fixture
def foreign(candidate):
    """A candidate whose words are in no alphabet that a small locale knows."""
    return candidate(1, summary=f"OrderStore.export_1() {WORDS}", detail=f"{WORDS}. " * 8)


# --- locales -------------------------------------------------------------------------------------


LOCALES = {
    "LC_ALL=C": {"LC_ALL": "C"},
    "no LANG": {"without": ("LANG", "LC_ALL")},
    "a locale that is none": {"LC_ALL": "xx_YY.UTF-8", "LANG": "xx_YY"},
    "an ASCII stdout": {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    "no UTF-8 at all": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    },
}


SMALL_LOCALES = pytest.mark.skipif(
    not sys.prefix.isascii(),
    reason="in these locales CPython itself does not start from a path that is not ASCII",
)


@SMALL_LOCALES
@pytest.mark.parametrize("case", ["LC_ALL=C", "no LANG", "no UTF-8 at all"])
def test_the_loop_goes_round_in_a_small_locale(beads, surroundings, foreign, case):
    """Hooks, the agent's JSON and the files are UTF-8, whatever the locale says."""
    options = LOCALES[case]
    beads.learning("cl_20300102_aaaaaa", f"OrderStore.rows() {SHOWN}")
    shown = surroundings.hook("session-start", **options)
    assert (shown.code, shown.stderr) == (0, "")
    assert SHOWN in shown.json["hookSpecificOutput"]["additionalContext"]
    surroundings.hook("pre-tool-use", CALL, **options)
    beads.close_ticket("bd-1")
    surroundings.hook("post-tool-use", {**CALL, "tool_response": {"stdout": WORDS}}, **options)
    blocked = surroundings.hook("stop", **options)
    assert blocked.code == 2
    submission = json.dumps({"candidates": [foreign]}, ensure_ascii=False)
    done = surroundings.run("reflect", "--json", stdin=submission, **options)
    assert done.code == 0, done.stderr
    assert WORDS in beads.learnings_file.read_text("utf-8")
    assert surroundings.hook("stop", **options).code == 0
    assert beads.log() == beads.log("crash.log") == ""


@SMALL_LOCALES
@pytest.mark.parametrize("case", LOCALES)
def test_commands_take_and_print_any_words(beads, surroundings, case):
    """Nothing is lost on the way in; on the way out, what the locale lacks is printed as a code."""
    learning = beads.learning("cl_20300102_aaaaaa", f"OrderStore.rows() {WORDS}")
    done = surroundings.run("show", learning, **LOCALES[case])
    assert (done.code, done.stderr) == (0, "")
    assert WORDS in done.stdout or "ausgef\\xfchrt" in done.stdout
    done = surroundings.run("search", "Bestellungen ausgeführt", "--json", **LOCALES[case])
    assert ascii(done.json["query"]) == ascii("Bestellungen ausgeführt")
    (found,) = done.json["results"]
    assert WORDS in found["summary"]
    beads.agent().announces(command="ls")
    done = surroundings.run("observe", WORDS, "--session-id", "session-1", **LOCALES[case])
    assert done.code == 0
    (observation,) = beads.session()["observations"]
    assert ascii(observation["note"]) == ascii(WORDS)


@SMALL_LOCALES
def test_a_project_with_a_foreign_name_in_a_small_locale(beads, surroundings):
    """The client names the directory in UTF-8, the file system hands it over as it likes."""
    foreign = beads.project / "Größe 注文"
    foreign.mkdir()
    for name in (".grove", ".beads"):
        (beads.project / name).rename(foreign / name)
    where = {"cwd": foreign, **LOCALES["no UTF-8 at all"]}
    payload = {**CALL, "cwd": str(foreign)}
    for event in ("session-start", "pre-tool-use", "post-tool-use"):
        # grove's own folder is not where the watch expects it.
        process = beads.start("hook", event, **where)
        data = {"session_id": "session-1", **payload, "tool_response": {}}
        answer = process.communicate(json.dumps(data).encode())
        assert (process.returncode, *answer) == (0, b"", b""), event
    assert surroundings.hook("stop", payload, **where).code == 2
    assert beads.log() == beads.log("crash.log") == ""


# --- streams -------------------------------------------------------------------------------------


CLOSED = {"stdin": (0,), "stdout": (1,), "stderr": (2,), "all": (0, 1, 2)}


@pytest.mark.parametrize("case", CLOSED)
def test_hooks_with_closed_streams(armed, surroundings, bounds, case):
    """No file that grove opens takes the place of a stream: nothing is written into it."""
    world = armed.world
    world.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order")
    learnings = world.learnings_file.read_bytes()
    for event in ("session-start", "pre-tool-use", "stop"):
        payload = {**CALL, "source": "resume"}
        done = surroundings.hook(event, payload, before=bounds["streams"](*CLOSED[case]))
        if 0 in CLOSED[case]:
            assert (done.code, done.stdout, done.stderr) == (0, "", "")
            (line,) = surroundings.lines()
            assert "not JSON" in line
        else:
            assert done.code == (2 if event == "stop" else 0)
            assert world.log() == ""
    assert world.log("crash.log") == ""
    assert world.learnings_file.read_bytes() == learnings
    assert world.gate() in ("pending", "blocked")


@pytest.mark.parametrize("case", CLOSED)
def test_commands_with_closed_streams(armed, surroundings, bounds, candidate, case):
    """One clear line where it can be said, and never half of the work."""
    closed = bounds["streams"](*CLOSED[case])
    done = surroundings.run("status", before=closed)
    assert done.code == (1 if 1 in CLOSED[case] else 0)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1
    submission = json.dumps({"candidates": [candidate(1)]})
    done = surroundings.run(
        "reflect", stdin=submission, before=closed, CLAUDE_CODE_SESSION_ID="session-1"
    )
    # On a machine that is very busy, a learning may wait for its turn.
    waiting = list(armed.world.grove_home.glob("outbox/*"))
    accepted = len(armed.world.learning_ids()) + len(waiting)
    assert done.code in (0, 1)
    assert (done.code == 0) == (accepted == 1) == (armed.world.gate() == "reflected")
    assert "Traceback" not in done.stderr
    if case == "stdin":
        (line,) = done.stderr.splitlines()
        assert line.startswith("grove: ")
        assert "standard input" in line


FULL = [
    "--version",
    "--help",
    "status",
    "status --json",
    "list -q",
    "show cl_20300102_aaaaaa",
    "hook --help",
    "reflect --schema",
]


@pytest.mark.parametrize("words", ["--version", "--help", "status", "hook --help"])
def test_commands_without_an_output(beads, surroundings, bounds, words):
    done = surroundings.run(*words.split(), before=bounds["streams"](1))
    assert (done.code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("grove: standard output is closed")


@pytest.mark.parametrize("words", FULL)
def test_commands_into_a_full_device(beads, surroundings, words):
    """One line that says so, and exit code 1: what was asked for is not there."""
    beads.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order")
    done = surroundings.run(*words.split(), prefix=("sh", "-c", 'exec "$@" > /dev/full', "sh"))
    assert done.code == 1
    (line,) = done.stderr.splitlines()
    assert line == "grove: cannot write to standard output: No space left on device"


@pytest.mark.parametrize("stream", [1, 2])
def test_hooks_into_a_full_device(armed, surroundings, stream):
    """The exit code still says what the client has to do."""
    prefix = ("sh", "-c", f'exec "$@" {stream}> /dev/full', "sh")
    assert surroundings.hook("stop", prefix=prefix).code == 2
    assert armed.world.log("crash.log") == ""


# --- directories ---------------------------------------------------------------------------------


def test_hooks_in_a_directory_that_is_gone(armed, surroundings):
    """The session's project is known; without one, nothing happens and nothing is left."""
    world = armed.world
    gone = world.others / "gone"
    gone.mkdir(parents=True)
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    prefix = ("sh", "-c", script, "sh", str(gone))
    for payload in ({"cwd": str(gone)}, {"cwd": None}, {}):
        gone.mkdir(exist_ok=True)
        assert surroundings.hook("stop", payload, prefix=prefix).code == 2
    for event in ("session-start", "pre-tool-use", "stop", "session-end"):
        gone.mkdir(exist_ok=True)
        payload = {"session_id": "session-2", "cwd": str(gone), **CALL}
        done = surroundings.hook(event, payload, prefix=prefix)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")
    assert world.log() == world.log("crash.log") == ""
    assert not gone.exists()


def test_commands_in_a_directory_that_is_gone(armed, surroundings):
    gone = armed.world.others / "gone"
    gone.mkdir(parents=True)
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    prefix = ("sh", "-c", script, "sh", str(gone))
    done = surroundings.run("status", prefix=prefix)
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == "grove: the current directory does not exist any more; cd elsewhere\n"
    gone.mkdir()
    done = surroundings.run("status", "-C", str(armed.world.project), prefix=prefix)
    assert (done.code, done.stderr) == (0, "")
    gone.mkdir()
    for words in ("--version", "--help"):
        gone.mkdir(exist_ok=True)
        done = surroundings.run(words, prefix=prefix)
        assert (done.code, done.stderr) == (0, "")


def test_a_project_that_goes_away_in_mid_session(armed):
    """Its session is still asked, and still let go by a skip."""
    world = armed.world
    for path in sorted(world.project.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    world.project.rmdir()
    payload = {"session_id": "session-1", "cwd": str(world.project)}
    for event in ("session-start", "user-prompt-submit", "stop", "session-end"):
        process = world.start("hook", event, cwd=world.folder)
        _, err = process.communicate(json.dumps({**payload, "source": "resume"}).encode())
        assert process.returncode in (0, 2), err
        assert b"Traceback" not in err
    assert world.log("crash.log") == ""
    assert not world.project.exists()


# --- deadlines -----------------------------------------------------------------------------------


PROBING = """
import ctypes, re, signal, subprocess, time
from grove_core import hookimpl

@hookimpl
def grove_ticket_probes():
    {body}
"""
HANGS = {
    "sleeping": "time.sleep(60)",
    "computing": "while True: time.monotonic()",
    "waiting for a program": "subprocess.run(['sleep', '20'])",
    "blocking every signal": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); time.sleep(60)"
    ),
}
# These hold Python's lock all the while.
HOLDS = {
    "a call into C": "ctypes.PyDLL(None).sleep(20)",
    "a regular expression": "re.match('(a+)+$', 'a' * 60 + 'b')",
}


@pytest.mark.parametrize("case", HANGS)
def test_a_plugin_that_hangs_costs_its_own_answer(armed, case):
    """The others are still asked, and the hook answers before the client gives it up."""
    source = PROBING.format(body=HANGS[case])
    armed.world.install_plugin("hanging", source, group="grove.tickets")
    armed.variables["GROVE_HOOKS_DEADLINE_MS"] = "2500"
    armed.is_blocked()
    assert "hanging 1.0" in armed.world.log()


@pytest.mark.parametrize("case", HOLDS)
def test_a_plugin_that_lets_nobody_else_run_is_ended(armed, case):
    """No Python code can end it, since none runs: the process ends all the same, and says so."""
    source = PROBING.format(body=HOLDS[case])
    armed.world.install_plugin("holding", source, group="grove.tickets")
    payload = json.dumps({"session_id": "session-1", "cwd": str(armed.world.project)})
    process = armed.world.start("hook", "stop", GROVE_HOOKS_DEADLINE_MS=600)
    try:
        out, err = process.communicate(payload.encode(), timeout=10)
    finally:
        process.kill()
    assert process.returncode != 2
    assert out == b""
    assert armed.world.log() or err
    assert armed.world.gate() == "pending"


# --- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_hook_that_is_ended_in_mid_course_changes_nothing(armed, number):
    """The client ends what takes it too long; the debt is kept, and the lock is free again."""
    world = armed.world
    path = world.grove_home / "sessions" / "session-1.json"
    before = path.read_bytes()
    payload = json.dumps({"session_id": "session-1", "cwd": str(world.project)})
    with path.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = world.start("hook", "stop")
        process.stdin.write(payload.encode())
        process.stdin.close()
        process.stdin = None
        wait_for_lock(process, path)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode != 2
    assert out == b""
    assert b"Traceback" not in err
    assert path.read_bytes() == before
    assert list(world.grove_home.rglob("*.tmp")) == []
    armed.is_blocked()


def wait_for_lock(process, path):
    """Until a process has opened a file, and so waits for its lock."""
    folder = f"/proc/{process.pid}/fd"
    if not os.path.isdir(folder):
        time.sleep(0.2)
        return
    for _ in range(1_000):
        for name in os.listdir(folder):
            try:
                if os.readlink(f"{folder}/{name}") == str(path):
                    return
            except OSError:
                continue
        time.sleep(0.01)
    raise AssertionError("the hook never came to the session's state")


def test_a_command_that_is_interrupted_says_no_more_than_that(armed):
    """Ctrl-C while it waits for the submission."""
    process = armed.world.start("reflect", CLAUDE_CODE_SESSION_ID="session-1")
    # It reads once the pipe, which holds 64 KiB, takes the last byte.
    process.stdin.write(b" " * (256 * 1024))
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode not in (0, 2)
    assert out == b""
    assert b"Traceback" not in err
    armed.is_blocked()


# --- terminals -----------------------------------------------------------------------------------


SCREENS = {
    "--help": "grove",
    "status": "session-1",
    "list": "cl_20300102_aaaaaa",
    "search orders": "cl_20300102_aaaaaa",
    "show cl_20300102_aaaaaa": "cl_20300102_aaaaaa",
    "tickets": "beads",
    "backends": "markdown",
    "plugins": "beads",
    "reflect --brief": "bd-1",
    "search --help": "search",
    "shwo": "show?",
}


@pytest.mark.parametrize("words", SCREENS)
def test_a_terminal_of_twenty_columns(beads, surroundings, words):
    """Everything is there, and what a person would copy is in one piece."""
    beads.learning("cl_20300102_aaaaaa", f"OrderReport.rows() {WORDS}")
    if words in ("status", "reflect --brief"):
        beads.agent().closes("bd-1")
    code, screen = surroundings.in_terminal(
        *words.split(), columns=20, CLAUDE_CODE_SESSION_ID="session-1"
    )
    assert code == (2 if words == "shwo" else 0), screen
    assert "Traceback" not in screen
    assert SCREENS[words] in screen


@pytest.mark.parametrize("columns", [0, 1])
def test_a_terminal_without_columns(beads, surroundings, columns):
    code, screen = surroundings.in_terminal("status", columns=columns)
    assert code == 0, screen
    assert "Traceback" not in screen


# --- an installation that is broken --------------------------------------------------------------


BROKEN_MODULES = [("attrs", "session-start"), ("pluggy", "stop"), ("json", "stop")]


@pytest.mark.parametrize(("module", "event"), BROKEN_MODULES)
def test_a_hook_of_a_broken_installation_says_what_is_broken(armed, surroundings, module, event):
    """A library that cannot be imported is a crash with a reason, not a riddle."""
    broken = armed.world.others / "broken"
    broken.mkdir(parents=True)
    (broken / f"{module}.py").write_text("raise ImportError('only half of it is installed')\n")
    done = surroundings.hook(event, PYTHONPATH=broken)
    assert (done.code, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("grove: ")
    crash_log = armed.world.log("crash.log")
    assert "only half of it is installed" in (crash_log if "crash.log" in line else line)
    armed.is_blocked()
