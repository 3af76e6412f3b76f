"""Where hooks must do nothing: nobody has invited grove, or `GROVE_NO_HOOKS` is set.

Hooks run in every project of a person who has the client's plugin. Where no `grove init` and no
ticket system is, they must leave nothing, say nothing and block nothing; and whoever only looks
around with the command line must not find that looking has made something.
"""

import json
import re
from pathlib import Path

import pytest
from world import signatures

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "TaskCompleted", "Stop", "SessionEnd",
)  # fmt: skip
OFF = {"GROVE_NO_HOOKS": "1"}
# A session's state, and what is derived and can be deleted at any time.
OWN = re.compile(r"(sessions|ends)/[A-Za-z0-9_-]{1,128}(\.json)?|cache/.+")
READING = (
    ("status",), ("list", "--all"), ("search", "orders", "--explain"), ("tickets",), ("backends",),
    ("tickets", "match", "--", "bd", "close", "bd-1"), ("plugins",), ("sessions",),
    ("config", "show"), ("doctor",), ("clean", "--dry-run", "--before", "30d"),
)  # fmt: skip
# They say with exit code 1 that there is no session, or no learning of that id.
WITHOUT_A_SESSION = (
    ("trace",), ("debug",), ("show", "cl_20300102_aaaaaa"), ("reflect", "--brief"),
    ("skip", "nothing was learned here"), ("observe", "slow"), ("ref", "cl_20300102_aaaaaa"),
)  # fmt: skip


def snapshot(*folders):
    """Every entry below folders but for git's, as it was written last."""
    return [signatures(one, apart_from={str(one / ".git")}) for one in folders]


def others_than_own(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if not OWN.fullmatch(path.relative_to(folder).as_posix())]


@pytest.fixture
def untouched(world):
    """A repository that has never heard of grove, with work in progress."""
    (world.project / "orders.py").write_text("def orders(): ...\n")
    world.make_git()
    (world.project / "orders.py").write_text("def orders():\n" + "    print()\n" * 200)
    (world.project / "new.py").write_text("import orders\n" * 100)
    return world


def day(world):
    """The recorded payloads, as event, payload and variables, in the order of a day."""
    paths = sorted(PAYLOADS.glob("*.json"))
    order = {event: place for place, event in enumerate(EVENTS)}
    for path in sorted(paths, key=lambda one: order.get(one.stem.partition("-")[0], 3)):
        text = path.read_text().replace("/home/dev/project", str(world.project))
        case = json.loads(text.replace("/home/dev", str(world.home)))
        if case["event"] in EVENTS:
            yield case["event"], case["stdin"], case.get("env", {})


def test_a_day_of_hooks_leaves_the_project_alone(untouched):
    """Neither are there words on stdout, nor a block, nor a file; a session's state is all."""
    before = snapshot(untouched.project)
    for event, payload, variables in day(untouched):
        done = untouched.hook(event, payload, **variables)
        assert (done.code, done.stdout, done.stderr) == (0, "", ""), event
    assert snapshot(untouched.project) == before
    assert others_than_own(untouched.grove_home) == []
    states = [path.stem for path in untouched.grove_home.glob("sessions/*.json")]
    assert {untouched.gate(session) for session in states} == {"idle"}


def test_neither_large_changes_nor_closes_arm_the_gate(untouched):
    agent = untouched.agent()
    agent.silent("SessionStart", source="startup")
    (untouched.project / "orders.py").write_text("print()\n" * 2_000)
    call = agent.announces("Write", file_path="orders.py", content="print()")
    agent.succeeds(call, type="create")
    before = snapshot(untouched.project)
    for command in ("bd close bd-1", "tissue status app-1 closed"):
        agent.succeeds(agent.announces(command=command))
        agent.is_let_go()
    agent.silent("TaskCompleted", task_id="1", task_subject="All of it")
    agent.is_let_go(active=True)
    agent.ends()
    assert snapshot(untouched.project) == before
    assert untouched.gate() == "idle"


def test_looking_makes_and_changes_nothing(untouched):
    """Not even grove's own directory: what is known about plugins is kept only where it is there."""
    before = snapshot(untouched.project)
    for words in (*READING, *WITHOUT_A_SESSION):
        done = untouched.grove(*words)
        assert done.code == int(words in WITHOUT_A_SESSION), (words, done)
        assert "Traceback" not in done.stderr
        assert snapshot(untouched.project) == before, words
        assert not untouched.grove_home.exists(), words
    agent = untouched.agent()
    agent.silent("SessionStart", source="startup")
    agent.ends()
    folders = (untouched.project, untouched.grove_home / "sessions")
    before = snapshot(*folders)
    for words in READING:
        untouched.grove(*words)
    assert snapshot(*folders) == before


def send_as_a_child(world, event, **variables):
    """What a client that grove itself runs would send."""
    payload = {
        "session_id": "session-2",
        "cwd": str(world.project),
        "hook_event_name": event,
        "prompt": "Close bd-1",
        "source": "startup",
        "tool_name": "Bash",
        "tool_input": {"command": "bd close bd-1"},
        "tool_use_id": "toolu_1",
        "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
    }
    return world.hook(event, payload, **variables)


def test_hooks_that_are_switched_off_do_nothing_and_leave_nothing(beads):
    """It is the child that is let go, not the session that started it."""
    for event in EVENTS:
        send_as_a_child(beads, event, **OFF)
    assert not beads.grove_home.exists()
    beads.start_ticket("bd-1")
    beads.learning("cl_20300102_aaaaaa", "OrderReport.rows() runs one query per order")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    before = snapshot(beads.grove_home, beads.project)
    for event in EVENTS:
        done = send_as_a_child(beads, event, **OFF)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")
    agent.is_let_go(variables=OFF)
    assert snapshot(beads.grove_home, beads.project) == before
    assert "grove reflect" in agent.is_blocked(variables={"GROVE_NO_HOOKS": "0"})
    assert beads.grove("hook", "--help", **OFF).stdout.startswith("Usage: grove hook EVENT")
