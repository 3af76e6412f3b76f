"""What people are told of a memory server, and what nobody is: secrets."""

import shlex
import sys
from pathlib import Path

import pytest
from core_worlds import write_program

SECRET = "hunter2-Tr0ub4dor-correct-horse"
FAKE = Path(__file__).parents[2] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"


def program(memory, name, text):
    """A server of one's own making, as a program that can be run."""
    path = memory.world.others / name
    written = path.with_suffix(".py")
    written.write_text(text)
    # The first line of a program cannot name one in a folder with a blank.
    return str(write_program(path, f'exec {shlex.quote(sys.executable)} "{written}" "$@"'))


BROKEN = "from nowhere_at_all import FastMCP\n"
FAULTS = {
    "wrong program": (
        lambda memory: memory.configure(command="/nowhere/memory-server", args=[]),
        ["/nowhere/memory-server"],
    ),
    "import error": (
        lambda memory: memory.configure(command=program(memory, "broken", BROKEN), args=[]),
        ["ModuleNotFoundError", "nowhere_at_all"],
    ),
    "nobody there": (
        lambda memory: memory.configure(url="http://127.0.0.1:9/mcp"),
        ["Connection refused"],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_server_is_named_with_what_helps(memory, fault):
    world = memory.world
    (learning_id,) = memory.teach(1)
    spoil, words = FAULTS[fault]
    spoil(memory)
    assert world.grove("maintain", "archive", learning_id).code == 0

    backends = world.grove("backends")
    assert backends.code == 0
    document = world.grove("backends", "--json").json
    (one,) = (each for each in document["backends"] if each["name"] == "mcp")
    health = one["health"] or {"detail": one["why"], "fix": ""}
    assert [word for word in words if word not in health["detail"]] == []
    assert [word for word in words if word not in backends.stdout] == []
    assert health["fix"]
    assert health["fix"] in backends.stdout
    assert "learnings: 1" in health["detail"]

    doctor = world.grove("doctor", "--json").json
    told = [one for one in doctor["checks"] if words[0] in one["detail"]]
    assert {one["status"] for one in told} == {"warning"}
    assert all(one["fix"] for one in told)

    status = world.grove("status", "--json")
    (server,) = status.json["servers"]
    assert status.code == 0
    assert [word for word in words if word not in server["fault"]] == []
    assert words[0] in " ".join(world.grove("status").stdout.split())


def files_with_the_secret(world):
    kept = (world.grove_home, world.project, world.home)
    paths = [path for folder in kept for path in folder.rglob("*") if path.is_file()]
    return [path for path in paths if SECRET.encode() in path.read_bytes()]


def uses(world, candidate):
    """Everything that may tell of the server; gives all that was printed."""
    agent = world.agent("session-secret")
    printed = [agent.starts()]
    agent.closes("bd-1")
    done = [
        agent.reflects(candidate()),
        world.grove("search", "orders"),
        world.grove("maintain", "flush"),
        world.grove("backends", "--json"),
        world.grove("backends", "mcp", "probe", "backends.mcp", "--json"),
        world.grove("status"),
        world.grove("doctor"),
        world.grove("config", "--json"),
        world.grove("trace", "session-secret"),
    ]
    return "".join([*printed, *(f"{one.stdout}{one.stderr}" for one in done), world.log()])


TALKS = f"""
import os, sys
token = os.environ["TEAM_TOKEN"]
assert token == {SECRET!r}
# No other secret of the user's environment, and nothing of grove's.
assert not {{"OTHER_TOKEN", "GROVE_HOME"}} & set(os.environ)
print("logging in with token", token, flush=True)
print("cannot log in with", token, file=sys.stderr, flush=True)
"""
REFUSES = TALKS + "sys.exit(1)\n"
WORKS = (
    TALKS
    + f"""
sys.argv = [{str(FAKE)!r}, *sys.argv[1:]]
exec(compile(open({str(FAKE)!r}).read(), {str(FAKE)!r}, "exec"))
"""
)


@pytest.mark.parametrize("text", [REFUSES, WORKS], ids=["refuses", "works"])
def test_a_secret_is_handed_to_the_server_and_shown_to_nobody(memory, candidate, text):
    """The server tells it on both its outputs; the variable is one of the user's environment."""
    world = memory.world
    world.environment |= {"TEAM_TOKEN": SECRET, "OTHER_TOKEN": "other"}
    # Its own text must not hold what files are searched for, and lies apart.
    memory.configure(
        command=program(memory, "server", text),
        args=["graph", str(memory.store)],
        env={"TEAM_TOKEN": "${TEAM_TOKEN}"},
    )
    printed = uses(world, candidate)
    memory.wait()
    assert SECRET not in printed
    assert files_with_the_secret(world) == []
    assert bool(memory.entities) is (text is WORKS)
    if text is REFUSES:
        assert "cannot log in with" in printed
