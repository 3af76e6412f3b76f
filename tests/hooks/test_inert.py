"""Where nobody has invited grove: no `grove init`, no ticket system.

Hooks run in every project of a person who has the client's plugin. In a project like this they must
leave nothing, say nothing and block nothing; and whoever only looks around with the command line
must not find that looking has made something.
"""

import json
import re
from pathlib import Path

import pytest

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
HANDLED = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "TaskCompleted", "Stop", "SessionEnd",
)  # fmt: skip
# A day: it begins, prompts and tools come and go, it stops and ends. Within these, by name.
ORDER = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "", "Stop", "SessionEnd")
SESSION = r"sessions/[A-Za-z0-9_-]{1,128}\.json"
# What the reading of plugins' metadata comes to; derived, and to be deleted at any time.
SCAN = r"cache/plugins-[0-9a-f]{8}\.json"
# The words that close tickets, which sessions are open, and what was considered for each; the index,
# the numbers, and notes for the short ways.
DERIVED = (
    SCAN,
    r"cache/commands-[0-9a-f]{8}\.json",
    r"cache/fast/[A-Za-z0-9_-]+",
    r"cache/considered/[A-Za-z0-9_-]+\.jsonl",
    r"cache/starts/[0-9a-f]{8}\.json",
    r"cache/[A-Za-z0-9-]+-[0-9a-f]{12}/open-sessions/[A-Za-z0-9_-]+",
    r"cache/[A-Za-z0-9-]+-[0-9a-f]{12}/(index|stats)\.sqlite(-wal|-shm)?",
    r"cache/[A-Za-z0-9-]+-[0-9a-f]{12}/recall\.json",
)
READING = {
    "status": ("status",),
    "list": ("list",),
    "list --all": ("list", "--all"),
    "search": ("search", "orders"),
    "search --explain": ("search", "orders", "--explain"),
    "tickets": ("tickets",),
    "tickets match": ("tickets", "match", "--", "bd", "close", "bd-1"),
    "backends": ("backends",),
    "plugins": ("plugins",),
    "sessions": ("sessions",),
    "config show": ("config", "show"),
    "config path": ("config", "path"),
    "config validate": ("config", "validate"),
    "doctor": ("doctor",),
    "clean": ("clean", "--dry-run", "--before", "30d"),
    "schema": ("reflect", "--schema"),
    "help": ("--help",),
    "version": ("--version",),
}
# Nothing is registered here, which doctor calls broken.
MAY_FAIL = {"doctor"}
# They say with exit code 1 that there is no session, or no learning of that id.
WITHOUT_A_SESSION = {
    "trace": ("trace",),
    "debug": ("debug",),
    "show": ("show", "cl_20300102_aaaaaa"),
    "brief": ("reflect", "--brief"),
    "skip": ("skip", "nothing was learned here"),
    "observe": ("observe", "the export is slow"),
    "ref": ("ref", "cl_20300102_aaaaaa"),
}


def files_in(folder):
    """Every file below a folder, by its path there."""
    if not folder.exists():
        return set()
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def others_than(files, *patterns):
    """What none of the patterns is the name of."""
    return {name for name in files if not any(re.fullmatch(one, name) for one in patterns)}


def snapshot(folder):
    """Every entry below a folder with its bytes and the time it was written."""
    return {
        path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
        if ".git" not in path.parts  # git refreshes its own index
    }


def snapshot_of_home(world):
    """All of it but `cache/`, where what was found out is kept: it is there to be written."""
    cache = world.grove_home / "cache"
    return {
        path: state
        for path, state in snapshot(world.grove_home).items()
        if path != cache and cache not in path.parents
    }


@pytest.fixture
def untouched(world):
    """A repository that has never heard of grove, with work in progress."""
    (world.project / "orders.py").write_text("def orders(): ...\n")
    world.make_git()
    (world.project / "orders.py").write_text("def orders():\n" + "    print()\n" * 200)
    (world.project / "new.py").write_text("import orders\n" * 100)
    return world


def day(world):
    """The recorded payloads of a day, moved into this world, as event, payload and variables."""
    paths = sorted(PAYLOADS.glob("*.json"), key=lambda path: (place_of(path.stem), path.stem))
    assert len(paths) > 60
    for path in paths:
        text = path.read_text().replace("/home/dev/project", str(world.project))
        case = json.loads(text.replace("/home/dev", str(world.home)))
        yield case["event"], case["stdin"], case.get("env", {})


def place_of(name):
    event = name.partition("-")[0]
    return ORDER.index(event if event in ORDER else "")


def live_through(world, payloads):
    """Sends payloads; gives the sessions of those that grove does something about."""
    sessions = set()
    for event, payload, variables in payloads:
        done = world.hook(event, payload, **variables)
        assert (done.code, done.stdout, done.stderr) == (0, "", ""), event
        if event in HANDLED:
            sessions.add(payload["session_id"])
    return sessions


# --- hooks --------------------------------------------------------------------------------------


def test_a_day_of_hooks_leaves_the_project_alone(untouched):
    """Neither are there words on stdout, nor a block, nor a file; a session's state is all."""
    before = snapshot(untouched.project)
    sessions = live_through(untouched, day(untouched))
    assert snapshot(untouched.project) == before
    found = files_in(untouched.grove_home)
    assert others_than(found, SESSION, *DERIVED) == set()
    states = {Path(name).stem for name in found if name.startswith("sessions/")}
    assert states <= sessions
    assert {untouched.gate(session) for session in states} == {"idle"}


@pytest.mark.parametrize("in_git", [True, False], ids=["git", "no git"])
def test_large_changes_of_a_session_never_arm_the_gate(world, in_git):
    if in_git:
        world.make_git()
    agent = world.agent()
    agent.silent("SessionStart", source="startup")
    (world.project / "orders.py").write_text("print()\n" * 2_000)
    call = agent.announces("Write", file_path=str(world.project / "orders.py"), content="print()")
    agent.succeeds(call, type="create")
    for active in (False, True, True):
        agent.is_let_go(active=active)
    agent.ends()
    assert not (world.project / ".grove").exists()
    assert world.gate() == "idle"


def test_closes_of_ticket_systems_that_are_not_used_here_are_nothing(untouched):
    before = snapshot(untouched.project)
    agent = untouched.agent()
    agent.silent("SessionStart", source="startup")
    for command in ("bd close bd-1", "tissue status app-1 closed", "bd close bd-1 | cat"):
        agent.succeeds(agent.announces(command=command))
        agent.is_let_go()
    task = {"taskId": "1", "status": "completed"}
    agent.silent("TaskCompleted", task_id="1", task_subject="All of it")
    agent.succeeds(agent.announces("TaskUpdate", **task), success=True, **task)
    agent.is_let_go()
    agent.ends()
    assert snapshot(untouched.project) == before


def test_nothing_is_left_in_the_home_directory_but_groves_own(world):
    """A session in the home directory itself, where `.grove` is grove's and no project's."""
    home = {"GROVE_HOME": ""}
    for event in ("session-start", "user-prompt-submit", "stop", "session-end"):
        payload = {"session_id": "monday", "cwd": str(world.home), "prompt": "Go on"}
        process = world.start("hook", event, cwd=world.home, **home)
        out, err = process.communicate(json.dumps(payload).encode(), timeout=60)
        assert (process.returncode, out, err) == (0, b"", b"")
    assert [path.name for path in world.home.iterdir()] == [".grove"]
    assert others_than(files_in(world.home / ".grove"), SESSION, *DERIVED) == set()


# --- looking around -----------------------------------------------------------------------------


def test_looking_makes_nothing(untouched):
    """Not even grove's own directory: what is known about plugins is kept only where it is there."""
    before = snapshot(untouched.project)
    for name, words in READING.items():
        done = untouched.grove(*words)
        assert done.code == 0 or (done.code == 1 and name in MAY_FAIL), (name, done)
        assert "Traceback" not in done.stderr
        assert snapshot(untouched.project) == before, name
        assert not untouched.grove_home.exists(), name


def test_what_has_nothing_to_work_on_makes_nothing(untouched):
    before = snapshot(untouched.project)
    for name, words in WITHOUT_A_SESSION.items():
        done = untouched.grove(*words)
        assert done.code == 1, (name, done)
        assert done.stderr.startswith("grove: "), name
        assert snapshot(untouched.project) == before, name
        assert not untouched.grove_home.exists(), name


def test_looking_changes_nothing_of_what_hooks_have_left(untouched):
    agent = untouched.agent()
    agent.silent("SessionStart", source="startup")
    agent.ends()
    for words in READING.values():
        before = (snapshot(untouched.project), snapshot_of_home(untouched))
        untouched.grove(*words)
        assert (snapshot(untouched.project), snapshot_of_home(untouched)) == before, words
