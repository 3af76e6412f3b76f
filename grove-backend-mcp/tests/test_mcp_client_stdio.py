"""The client against a program that misbehaves in many ways: real processes."""

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

SERVER = Path(__file__).parent / "servers" / "bad_server.py"
SECRET = "k3y-of-the-user"
QUICK = Limits(connect_seconds=0.3, closing_seconds=0.2, ending_seconds=0.3)
SLOW = Limits(connect_seconds=20.0, call_seconds=0.3, closing_seconds=0.2, ending_seconds=0.3)
# Where the machine is busy a server may need long for what is not its fault.
PATIENT = Limits(connect_seconds=20.0, call_seconds=20.0, closing_seconds=0.5, ending_seconds=0.3)

OK = ("ok",)

# The mode, the limits, and what is expected: the texts of a call, or a fault with whether it leaves
# open what was done.
MODES = [
    ("ok", PATIENT, OK),
    ("exit", PATIENT, (FaultKind.EXITED, False)),
    ("hang", QUICK, (FaultKind.TIMED_OUT, False)),
    ("noise", PATIENT, OK),
    ("stderrflood", PATIENT, OK),
    ("nostdinclose", PATIENT, OK),
    ("child", PATIENT, OK),
    ("crash", PATIENT, (FaultKind.EXITED, True)),
    ("partial", PATIENT, (FaultKind.EXITED, True)),
    ("slow", SLOW, (FaultKind.TIMED_OUT, True)),
    ("huge", PATIENT, (FaultKind.TOO_LARGE, True)),
    ("dupid", PATIENT, ("right",)),
    ("chatter", PATIENT, (FaultKind.MALFORMED, True)),
    ("leaves", PATIENT, (FaultKind.EXITED, True)),
]


@pytest.fixture
def mark():
    """A word in the environment of everything that a test starts."""
    return uuid.uuid4().hex


@pytest.fixture
def bad_server(tmp_path, mark):
    """Make the endpoint of a server with one fault; no process of it may be left afterwards."""

    def make(mode, *, server=SERVER, **more):
        environment = {"PATH": os.environ["PATH"], "MARK": mark, "BAD_SERVER_SECRET": SECRET}
        words = (sys.executable, "-S", str(server), mode)
        return Endpoint(
            **{
                "name": "notes",
                "words": words,
                "environment": environment,
                "cwd": str(tmp_path),
                "secrets": (SECRET,),
                **more,
            }
        )

    yield make
    assert gone(mark)


def processes_of(mark):
    """What runs with a word in its environment; what has ended has none."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def gone(mark):
    """Whether everything with a mark ends soon: what is killed takes a moment to be gone."""
    patience = time.monotonic() + 20
    while processes_of(mark) and time.monotonic() < patience:
        time.sleep(0.05)
    return processes_of(mark) == []


def outcome_of(endpoint, limits=PATIENT):
    """The texts of a call, or the fault of whatever failed."""
    try:
        with connect(endpoint, limits) as connection:
            connection.tools()
            return connection.call("memory_search", {"query": "x"}).texts
    except ServerFaultError as fault:
        return fault.kind, fault.is_unclear


def fault_of(endpoint, limits=PATIENT):
    with pytest.raises(ServerFaultError) as caught, connect(endpoint, limits) as connection:
        connection.call("memory_search", {})
    return caught.value


@pytest.mark.parametrize(("mode", "limits", "expected"), MODES)
def test_every_way_to_misbehave_has_its_outcome(bad_server, mode, limits, expected):
    assert outcome_of(bad_server(mode), limits) == expected


@pytest.mark.parametrize("mode", ["hang", "slow"])
def test_everything_is_over_when_it_has_to_be(bad_server, mode):
    began = time.monotonic()
    try:
        with connect(bad_server(mode), until=began + 1) as connection:
            connection.call("memory_search", {})
    except ServerFaultError:
        pass
    # Not a measure of speed: the usual limits are 20 and 30 seconds.
    assert time.monotonic() - began < 10


def test_a_call_given_up_is_cancelled_and_its_late_answer_is_not_the_next_one(bad_server):
    limits = Limits(call_seconds=1.0)
    with connect(bad_server("late"), limits) as connection:
        with pytest.raises(ServerFaultError, match="did not answer in time"):
            connection.call("memory_search", {})
        given_up = json.loads(connection.call("memory_search", {}).texts[0])
    assert given_up["method"] == "notifications/cancelled"
    assert given_up["params"]["requestId"] == 2


def test_the_last_line_of_errors_says_why_a_server_ended(bad_server, tmp_path):
    server = tmp_path / "server.py"
    server.write_text("import not_there_at_all\n")
    fault = fault_of(bad_server("any", server=server))
    assert fault.kind is FaultKind.EXITED
    assert fault.detail == (
        "notes: ended by itself with exit code 1: "
        "ModuleNotFoundError: No module named 'not_there_at_all'"
    )


@pytest.mark.parametrize(
    "words", [("/not/there",), ("not-there-at-all",), ("./plain.txt",), ("python\0",)]
)
def test_a_program_that_cannot_be_run_is_named(bad_server, tmp_path, words):
    (tmp_path / "plain.txt").write_text("not to be run")
    fault = fault_of(bad_server("ok", words=words))
    assert (fault.kind, fault.is_unclear) == (FaultKind.NOT_STARTED, False)
    assert fault.detail.startswith("notes: could not be started")


HOLDER = """
import json, sys, time
from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.servers import Endpoint
words, environment = json.loads(sys.argv[1])
endpoint = Endpoint(name="n", words=tuple(words), environment=environment)
held = connect(endpoint, until=time.monotonic() + float(sys.argv[2]))
held.__enter__()
print("connected", flush=True)
if sys.argv[3] == "stay":
    time.sleep(3600)
"""


def holder(endpoint, seconds, what):
    words = json.dumps([endpoint.words, endpoint.environment])
    command = [sys.executable, "-c", HOLDER, words, str(seconds), what]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def test_a_process_that_ends_without_closing_takes_its_server_with_it(bad_server, mark):
    with holder(bad_server("nostdinclose"), 60, "go") as process:
        assert process.stdout.readline() == b"connected\n"
        process.wait(20)
    assert gone(mark)


def test_what_was_only_half_sent_was_not_done_and_nothing_follows_it(bad_server):
    expected = [
        ({}, (FaultKind.TIMED_OUT, True)),
        ({"query": "x" * 1_000_000}, (FaultKind.TIMED_OUT, False)),
        ({}, (FaultKind.EXITED, False)),
    ]
    with connect(bad_server("slow"), SLOW) as connection:
        for arguments, outcome in expected:
            with pytest.raises(ServerFaultError) as caught:
                connection.call("memory_search", arguments)
            assert (caught.value.kind, caught.value.is_unclear) == outcome


def test_secrets_are_masked_in_what_is_shown_and_not_in_what_is_computed_with(bad_server):
    with connect(bad_server("tells", secrets=(SECRET, "memory", "content"))) as connection:
        assert [tool.name for tool in connection.tools()] == ["memory_search"]
        result = connection.call("memory_search", {"query": f"with {SECRET}"})
    assert result.texts == (f"your key is {SECRET}",)
    assert result.structured == {SECRET: [SECRET, {"query": f"with {SECRET}"}]}
    assert result.said == "your key is ***"
