"""Starts of sessions where learnings lie on a memory server, seen from outside."""

import json
import os
import re

import pytest

AGE = re.compile(r"^What the memory server \S+ holds is known here (.+)\.$", re.MULTILINE)
ORDERS = "OrderStore.export_1()"
# And some minutes: what is said must not hang on the second.
AN_HOUR = 4000


def age_in(shown):
    """How old it is said to be what is known of the server; it is said once."""
    (age,) = AGE.findall(shown)
    return age


def starts_short(world, session_id):
    """Has a session start and end; gives what it showed, and whether the short way was taken.

    The full way leaves a note anew each time it may.
    """
    paths = [*(world.grove_home / "cache/starts").glob("*.json")]
    for path in paths:
        path.write_text(path.read_text() + " ")
    before = {path: path.read_bytes() for path in paths}
    agent = world.agent(session_id)
    shown = agent.starts()
    agent.ends()
    is_short = bool(before) and all(
        path.exists() and path.read_bytes() == content for path, content in before.items()
    )
    return shown, is_short


def settle(world):
    """Has sessions start until one takes the short way, with a ticket that beads' files tell of."""
    world.start_ticket("bd-9", title="OrderStore is slow", description="export and import")
    for number in range(20):
        if starts_short(world, f"settling-{number}")[1]:
            return
    raise AssertionError("no start takes the short way")


def test_a_start_asks_the_server_in_one_process_that_nobody_waits_for(memory):
    world = memory.world
    memory.teach(1)
    memory.pass_time(AN_HOUR)
    memory.behaves(slow=1.0)
    shown = world.agent("session-2").starts()
    assert ORDERS in shown
    assert age_in(shown) == "as of 1 hour ago"
    (words,) = memory.children().values()
    assert words.endswith(f" {world.project} maintain flush --in-background -q ")
    # It is on its own: not even a signal to the hook's process group or terminal reaches it.
    (number,) = memory.children()
    assert os.getpgid(number) == os.getsid(number) == number
    memory.wait()
    assert age_in(world.agent("session-3").starts()) == "as of just now"
    assert memory.processes() == {}
    assert world.log() == ""


def test_a_second_start_within_five_minutes_starts_none(memory):
    world = memory.world
    memory.teach(1)
    memory.pass_time(AN_HOUR)
    memory.behaves(down=True)
    world.agent("session-2").starts()
    memory.wait()
    memory.behaves(slow=1.0)  # a child could be seen
    memory.forget_failures()
    begun = memory.begun.stat().st_mtime_ns
    memory.pass_time(270)
    assert age_in(world.agent("session-3").starts()) == "as of 1 hour ago"
    assert memory.processes() == {}
    memory.pass_time(60)
    world.agent("session-4").starts()
    assert len(memory.children()) == 1
    memory.wait()
    assert memory.begun.stat().st_mtime_ns > begun - 330 * 10**9
    assert age_in(world.agent("session-5").starts()) == "as of just now"


def test_a_start_asks_nobody_while_what_is_known_is_fresh(memory):
    memory.teach(1)
    calls = memory.calls()
    memory.pass_time(500)
    memory.behaves(slow=1.0)  # a child could be seen
    assert age_in(memory.world.agent("session-2").starts()) == "as of 8 minutes ago"
    assert memory.processes() == {}
    assert memory.calls() == calls


def test_what_another_machine_has_written_is_shown_after_the_child_has_asked(memory, colleague):
    world = memory.world
    world.agent().starts()
    memory.wait()
    (learning_id,) = colleague.teach(1)
    assert learning_id not in world.agent("session-2").starts()
    memory.pass_time(AN_HOUR)
    assert learning_id not in world.agent("session-3").starts()
    memory.wait()
    shown = world.agent("session-4").starts()
    assert learning_id in shown
    assert ORDERS in shown
    # Nothing of it is written into this project: it is on the server.
    assert not (world.project / ".grove" / "mcp.jsonl").exists()
    assert memory.created() == [learning_id]


def test_a_start_without_learnings_says_nothing(memory):
    assert memory.world.agent().starts() == ""
    memory.wait()
    assert memory.world.agent("session-2").starts() == ""


@pytest.mark.parametrize("age", [130, 3 * 3600 + 1800, 5 * 86_400 + 43_200, None])
def test_the_short_way_says_the_same_as_the_full_way(memory, age):
    """Ages lie in the middle of what their words stand for, so that no clock has to stand still."""
    world = memory.world
    memory.teach(1)
    settle(world)
    if age is None:
        memory.mark.unlink()
    else:
        memory.pass_time(age)
    # Asked a short while ago all the same, in vain: a short way that may be taken.
    memory.begun.touch()
    short, was_short = starts_short(world, "one-way")
    for path in (world.grove_home / "cache/starts").glob("*.json"):
        path.unlink()
    full, was_short_again = starts_short(world, "other-way")
    assert (was_short, was_short_again) == (True, False)
    assert short == full
    assert age_in(full)
    assert memory.processes() == {}


def test_the_short_way_is_left_once_what_is_known_is_old(memory):
    world = memory.world
    memory.teach(1)
    settle(world)
    memory.pass_time(310)
    assert starts_short(world, "session-2")[1]
    assert memory.processes() == {}
    memory.pass_time(310)
    assert not starts_short(world, "session-3")[1]
    memory.wait()
    settle(world)


def test_what_the_child_brings_ends_the_short_way_once(memory, colleague):
    world = memory.world
    memory.teach(1)
    settle(world)
    (other,) = colleague.teach(2)
    assert world.grove("maintain", "flush").code == 0
    shown, was_short = starts_short(world, "session-2")
    assert other in shown
    assert not was_short
    settle(world)
    assert other in starts_short(world, "session-3")[0]


# --- servers that are of no use -------------------------------------------------------------------


TROUBLE = {
    "down": lambda memory: memory.behaves(down=True),
    "hangs at a call": lambda memory: (
        memory.configure(call_seconds=1.0),
        memory.behaves(slow=600),
    ),
    "hangs at its start": lambda memory: memory.misbehaves("hang", connect_seconds=1.0),
    "floods stderr": lambda memory: memory.misbehaves("stderrflood", connect_seconds=5.0),
    "leaves a child behind": lambda memory: memory.misbehaves("child", connect_seconds=2.0),
    "ignores its end": lambda memory: memory.misbehaves("nostdinclose", connect_seconds=2.0),
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_server_of_no_use_costs_a_start_nothing(memory, trouble):
    world = memory.world
    (learning_id,) = memory.teach(1)
    args = memory.settings["args"]
    TROUBLE[trouble](memory)
    memory.pass_time(AN_HOUR)
    calls = len(memory.calls())
    # With the deadline that hooks have at a client.
    agent = world.agent("session-2", GROVE_HOOKS_DEADLINE_MS=5000)
    shown = agent.starts()
    assert learning_id in shown
    # Of another server, which has never answered, nothing that is here has come.
    assert AGE.findall(shown) == ["as of 1 hour ago"] * (memory.settings["args"] == args)
    memory.wait()
    # Whoever asked was another process than the hook: one server of one child.
    assert len({one["pid"] for one in memory.calls()[calls:]}) <= 1
    agent = world.agent("session-3", GROVE_HOOKS_DEADLINE_MS=5000)
    assert learning_id in agent.starts()
    assert "deadline" not in world.log() + world.log("hook-errors.log")
    assert world.log("hook-errors.log") == ""


def test_a_server_that_is_no_more_costs_a_start_nothing(memory):
    world = memory.world
    (learning_id,) = memory.teach(1)
    memory.configure(command="/nowhere/server", args=[])
    memory.pass_time(AN_HOUR)
    shown = world.agent("session-2").starts()
    assert learning_id in shown
    assert "memory server" not in shown  # none is used
    assert memory.processes() == {}


def test_no_hook_of_a_session_asks_the_server(memory):
    world = memory.world
    memory.teach(1)
    settle(world)
    calls = memory.calls()
    agent = world.agent("session-2")
    agent.starts()
    assert ORDERS in world.session("session-2")["injected"][0]["summary"]
    agent.asks("Why does OrderStore.export_1() run one query per order?")
    agent.succeeds(agent.announces(command="ls"))
    agent.succeeds(agent.announces("Read", file_path=str(world.project / "shop/export.py")))
    agent.closes("bd-9")
    agent.is_blocked()
    agent.ends()
    assert memory.processes() == {}
    assert memory.calls() == calls


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_sessions_that_go_on_ask_as_well(memory, source):
    world = memory.world
    memory.teach(1)
    world.agent("session-2").starts()
    memory.pass_time(AN_HOUR)
    memory.behaves(slow=0.5)
    world.agent("session-2").starts(source)
    assert len(memory.children()) == 1
    memory.wait()


def test_the_child_inherits_nothing_that_keeps_the_client_waiting(memory):
    """A client reads the hook's output to its end; a child that held it open would hold that up."""
    world = memory.world
    memory.teach(1)
    memory.pass_time(AN_HOUR)
    memory.behaves(slow=1.0)
    payload = {
        "session_id": "session-2",
        "cwd": str(world.project),
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    process = world.start("hook", "session-start")
    out, err = process.communicate(json.dumps(payload).encode(), timeout=60)
    (child,) = memory.children()
    links = [os.readlink(f"/proc/{child}/fd/{number}") for number in (0, 1, 2)]
    assert (process.returncode, err, links) == (0, b"", ["/dev/null"] * 3)
    assert ORDERS.encode() in out
    memory.wait()
