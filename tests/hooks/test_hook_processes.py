"""Hooks as processes of their own: what the client starts, and what it may start them in."""

import ctypes
import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import GROVE

ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
LEARNING = "cl_20300102_aaaaaa"
FOREIGN = "Größere Mengen gehen über Köln – 品川 🚚"
CALL = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "toolu_1"}
LONGEST_SECONDS = 300
# The deterministic stand-in for time, which no test can measure: how many modules are loaded when
# it is over, those of Python's own start included, with warm caches; and what must not be loaded.
MOST_MODULES = {
    "--version": 38,
    "hook pre-tool-use": 38,
    "hook post-tool-use": 38,
    "hook stop": 187,
    "status": 381,
    "statusline": 61,
}
NEVER_BY_HOOKS = {"cattrs", "click", "rich", "logging", "asyncio", "importlib.metadata", "requests"}
NEVER_FOR_NOTHING = NEVER_BY_HOOKS | {"json", "re", "pathlib", "attrs", "pluggy", "typing"}
COUNT = """
import sys
from grove_core._entry import main
names = sys.argv.pop(1)
try:
    code = main()
except SystemExit as leaving:
    code = leaving.code
with open(names, "w") as file:
    file.write(" ".join(sys.modules))
raise SystemExit(code)
"""
CAPABILITY_DROP, OVERRIDE, READ_SEARCH = 24, 1, 2


def payload_for(world, **fields):
    document = {"session_id": "session-1", "cwd": str(world.project), "source": "resume"}
    return json.dumps({**document, **CALL, **fields}).encode()


def run(world, *words, stdin=None, program=GROVE, prefix=(), before=None, cwd=None, **variables):
    """Runs a program to its end in surroundings that no decent shell would give it.

    `before` runs in the new process, `prefix` is the program that starts grove.
    """
    variables = {key: str(value) for key, value in variables.items()}
    return subprocess.run(
        [*prefix, *program, *words],
        cwd=cwd or world.project,
        # On a full disk, Python itself would leave broken bytecode behind for everybody.
        env={**world.environment, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        input=payload_for(world) if stdin is None else stdin,
        capture_output=True,
        timeout=LONGEST_SECONDS,
        preexec_fn=before,
        check=False,
    )


@pytest.fixture
def owing(beads):
    """A beads project with a learning, in which session-1 owes a reflection."""
    beads.learning(LEARNING, f"{ABOUT_ORDERS}. {FOREIGN}")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    return agent


def test_every_event_by_a_process_of_its_own(beads):
    """Exit codes and both streams: the agent's methods assert them for each event."""
    beads.learning(LEARNING, ABOUT_ORDERS)
    agent = beads.agent(real=True)
    assert ABOUT_ORDERS in agent.starts()
    assert agent.asks("Thank you.") == ""
    agent.fails(agent.announces(command="bd close bd-9"))
    agent.silent("TaskCompleted", task_id="1", task_subject="Task")
    agent.closes("bd-1")
    assert agent.is_blocked().startswith("grove: ticket bd-1 is closed – one step left")
    assert agent.grove("skip", "nothing new").code == 0
    agent.is_let_go(active=True)
    agent.ends()
    assert [one["learning_id"] for one in beads.events("dismissed")] == [LEARNING]


@pytest.mark.parametrize("words", MOST_MODULES)
def test_how_many_modules_are_loaded(owing, words):
    world = owing.world
    owing.starts("resume")  # the first start finds no home to remember in what is installed
    event = words.removeprefix("hook ")
    idle = event.endswith("tool-use")
    names = world.folder / "names"
    call = {"tool_input": {"command": "ls -la"}} if idle else {}
    done = run(
        world,
        str(names),
        *words.split(),
        stdin=payload_for(world, **call),
        program=(sys.executable, "-c", COUNT),
    )
    assert done.returncode == (2 if event == "stop" else 0), done.stderr
    loaded = set(names.read_text().split())
    forbidden = NEVER_FOR_NOTHING if idle else NEVER_BY_HOOKS if event == "stop" else set()
    assert loaded & forbidden == set()
    if words == "statusline":
        assert done.stdout == b"grove 1 shown \xc2\xb7 reflection pending bd-1\n"
    assert len(loaded) <= MOST_MODULES[words], " ".join(sorted(loaded))


def side_by_side(world, event, payloads):
    """Runs a hook for each of some payloads at once; gives codes and answers in order."""
    with world.watched():
        processes = [world.start("hook", event) for _ in payloads]
        for process, payload in zip(processes, payloads, strict=True):
            process.stdin.write(payload)
            process.stdin.close()
            process.stdin = None
        answers = [process.communicate(timeout=LONGEST_SECONDS) for process in processes]
    assert not any(b"Traceback" in err for _, err in answers)
    return [(process.returncode, out) for process, (out, _) in zip(processes, answers, strict=True)]


def test_hooks_of_one_session_side_by_side(beads):
    """Each close is announced and counted once, also where several entries start the hook for it."""
    (beads.project / ".grove/config.toml").write_text("[circuit_breaker]\nmax_blocks = 1\n")
    beads.learning(LEARNING, ABOUT_ORDERS, files="shop/orders.py")
    beads.agent(GROVE_RETRIEVAL_MAX_INJECTIONS="0").starts()
    calls = [
        {"tool_use_id": f"t{number}", "tool_input": {"command": f"bd close bd-{number}"}}
        for number in (1, 2, 2)
    ]
    sent = [payload_for(beads, **call) for call in calls]
    assert side_by_side(beads, "pre-tool-use", sent) == [(0, b"")] * 3
    assert sorted(one["key"] for one in beads.session()["intents"]) == ["t1", "t2"]

    path = str(beads.project / "shop" / "orders.py")
    touched = payload_for(beads, tool_name="Edit", tool_input={"file_path": path})
    said = side_by_side(beads, "post-tool-use", [*sent, touched, touched])
    assert [code for code, _ in said] == [0] * 5
    assert len([out for _, out in said if out]) == 1
    assert beads.session()["intents"] == []
    closed = [one["ticket_id"] for one in beads.session()["gate"]["cycle"]["tickets"]]
    assert sorted(closed) == ["bd-1", "bd-2"]

    stops = side_by_side(beads, "stop", [payload_for(beads, background_tasks=[])] * 3)
    assert sorted(stops) == [(0, b""), (0, b""), (2, b"")]
    (event,) = beads.events("gate")
    assert (event["outcome"], event["blocks"]) == ("breaker", 1)


@contextmanager
def held(path):
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs the descriptors of /proc")
def test_a_hook_that_is_ended_in_mid_course_changes_nothing(owing):
    """The client ends what takes it too long; the debt is kept, and the lock is free again."""
    world = owing.world
    path = world.grove_home / "sessions" / "session-1.json"
    before = path.read_bytes()
    with held(path):
        process = world.start("hook", "stop")
        process.stdin.write(payload_for(world))
        process.stdin.close()
        process.stdin = None
        wait_for_lock(process, path)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=LONGEST_SECONDS)
    assert process.returncode != 2
    assert out == b""
    assert b"Traceback" not in err
    assert path.read_bytes() == before
    assert list(world.grove_home.rglob("*.tmp")) == []
    owing.is_blocked()


def wait_for_lock(process, path):
    """Until a process has opened a file, and so waits for its lock."""
    ends = time.monotonic() + LONGEST_SECONDS
    while time.monotonic() < ends:
        for one in Path(f"/proc/{process.pid}/fd").iterdir():
            try:
                if one.readlink() == path:
                    return
            except OSError:
                continue
        time.sleep(0.01)
    raise AssertionError("the hook never came to the session's state")


HOLDS = """
import re
from grove_core import hookimpl

@hookimpl
def grove_ticket_probes():
    re.match("(a+)+$", "a" * 60 + "b")
"""


def test_a_plugin_that_lets_nobody_else_run_is_ended(owing):
    """It holds Python's lock, so no Python code can end it: the process ends and says so."""
    owing.world.install_plugin("holding", HOLDS, group="grove.tickets")
    done = run(owing.world, "hook", "stop", GROVE_HOOKS_DEADLINE_MS="600")
    assert done.returncode != 2
    assert done.stdout == b""
    assert owing.world.log() or done.stderr
    assert owing.world.gate() == "pending"


def test_a_file_that_never_answers_is_not_waited_for(owing):
    path = owing.world.grove_home / "sessions" / "session-1.json"
    path.unlink()
    os.mkfifo(path)
    done = run(owing.world, "hook", "stop", GROVE_HOOKS_DEADLINE_MS="400")
    path.unlink()
    assert done.returncode != 2
    assert done.stdout == b""
    assert b"work goes on" in done.stderr


@pytest.mark.parametrize(("event", "stream"), [("stop", 0), ("session-start", 1), ("stop", 2)])
def test_hooks_with_a_closed_stream(owing, event, stream):
    """No file that grove opens takes the place of a stream: nothing is written into it."""
    world = owing.world
    before = world.learnings_file.read_bytes()
    done = run(world, "hook", event, before=lambda: os.close(stream))
    assert done.returncode == (2 if stream == 2 else 0)
    assert ("not JSON" in world.log()) == (stream == 0)
    assert world.log("crash.log") == ""
    assert world.learnings_file.read_bytes() == before
    owing.is_blocked()


def test_the_exit_code_says_what_to_do_where_nobody_reads_the_answer(owing):
    full = ("sh", "-c", 'exec "$@" 2> /dev/full', "sh")
    assert run(owing.world, "hook", "stop", prefix=full).returncode == 2
    assert owing.world.log("crash.log") == ""
    full = ("sh", "-c", 'exec "$@" > /dev/full', "sh")
    done = run(owing.world, "--version", prefix=full)
    assert done.stderr == b"grove: cannot write to standard output: No space left on device\n"


def test_a_broken_installation_says_what_is_broken(owing):
    """A library that cannot be imported is a crash with a reason, not a riddle."""
    broken = owing.world.others / "broken"
    broken.mkdir(parents=True)
    (broken / "attrs.py").write_text("raise ImportError('only half of it is installed')\n")
    done = run(owing.world, "hook", "stop", PYTHONPATH=broken)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.startswith(b"grove: ")
    assert "only half of it" in done.stderr.decode() + owing.world.log("crash.log")


def bound_by_permissions():
    """Before the program starts: root, too, is held by what permissions say."""
    if os.getuid() == 0:
        library = ctypes.CDLL(None, use_errno=True)
        for capability in (OVERRIDE, READ_SEARCH):
            if library.prctl(CAPABILITY_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "cannot give up a capability")


@contextmanager
def read_only(*folders):
    """Takes the right to write from folders and everything below them."""
    changed = {}
    for folder in folders:
        for path in [*folder.rglob("*"), folder]:
            changed[path] = path.stat().st_mode
            path.chmod(path.stat().st_mode & 0o555)
    try:
        yield
    finally:
        for path, mode in reversed(changed.items()):
            path.chmod(mode)


def refused(done):
    """A command that could not: one line that says why and where."""
    return (
        done.returncode == 1 and done.stderr.startswith(b"grove: ") and b"Trace" not in done.stderr
    )


def test_a_read_only_home(owing):
    """Hooks say so, and nothing counts as accepted."""
    world = owing.world
    with read_only(world.grove_home):
        for event in ("pre-tool-use", "stop"):
            done = run(world, "hook", event, before=bound_by_permissions)
            assert done.returncode in (0, 3)
            assert done.stdout == b""
        words = ("skip", "Nothing new", "--session-id", "session-1")
        with read_only(world.project / ".grove"):
            done = run(world, *words, before=bound_by_permissions)
        assert refused(done)
        assert str(world.grove_home).encode() in done.stderr
        done = run(world, *words, before=bound_by_permissions)
        assert (done.returncode, done.stderr) == (0, b"")
    assert world.gate() == "pending"
    owing.is_let_go()
    assert world.gate() == "skipped"


def test_a_full_disk(owing, candidate):
    """Nothing is half written; a learning that is stored without its gate opens it when sent again."""
    world = owing.world
    state = world.grove_home / "sessions" / "session-1.json"
    before, size = state.read_bytes(), state.stat().st_size
    submission = json.dumps(candidate(1)).encode()

    def disk_of(limit):
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = run(world, "hook", "stop", before=disk_of(40))
    assert (done.returncode, done.stdout) == (3, b"")
    words = ("reflect", "--session-id", "session-1")
    assert state.read_bytes() == before
    assert world.learning_ids() == [LEARNING]
    done = run(world, *words, stdin=submission, before=disk_of(size))
    assert refused(done)
    assert b"session-1.json" in done.stderr
    owing.is_blocked()
    assert owing.reflects(candidate(1)).code == 0
    owing.is_let_go()
    assert len(world.learning_ids()) == 2
