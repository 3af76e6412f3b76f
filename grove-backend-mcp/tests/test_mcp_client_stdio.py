"""The client against a program that misbehaves in 29 ways, and in some more: real processes."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.servers import Endpoint, Transport

SERVER = Path(__file__).parent / "servers" / "bad_server.py"
SECRET = "k3y-of-the-user"
QUICK = Limits(connect_seconds=0.7, call_seconds=1.0, closing_seconds=0.2, ending_seconds=0.3)
SLOW = Limits(connect_seconds=20.0, call_seconds=1.0, closing_seconds=0.2, ending_seconds=0.3)
# Where the machine is busy a server may need long for what is not its fault.
PATIENT = Limits(connect_seconds=20.0, call_seconds=20.0, closing_seconds=0.5, ending_seconds=0.3)

OK = ("ok",)

# The mode; whether it runs into a time limit; what is expected: the texts of a call, or a fault with
# whether it leaves open what was done.
MODES = [
    ("exit", PATIENT, (FaultKind.EXITED, False)),
    ("hang", QUICK, (FaultKind.TIMED_OUT, False)),
    ("noise", PATIENT, OK),
    ("stderrflood", PATIENT, OK),
    ("nostdinclose", PATIENT, OK),
    ("child", PATIENT, OK),
    ("initerr", PATIENT, (FaultKind.UNSUPPORTED, False)),
    ("stringid", PATIENT, OK),
    ("slowinit", QUICK, (FaultKind.TIMED_OUT, False)),
    ("sampling", PATIENT, OK),
    ("loopcursor", PATIENT, OK),
    ("badtools", PATIENT, OK),
    ("crash", PATIENT, (FaultKind.EXITED, True)),
    ("partial", PATIENT, (FaultKind.EXITED, True)),
    ("slow", SLOW, (FaultKind.TIMED_OUT, True)),
    ("huge", PATIENT, (FaultKind.TOO_LARGE, True)),
    ("manycontent", PATIENT, (FaultKind.TOO_LARGE, True)),
    ("iserror", PATIENT, ("boom",)),
    ("softerror", PATIENT, ("Error searching: boom",)),
    ("nocontent", PATIENT, ()),
    ("nullresult", PATIENT, (FaultKind.MALFORMED, True)),
    ("image", PATIENT, ("t",)),
    ("inputreq", PATIENT, (FaultKind.TOOL_FAILED, False)),
    ("badutf8", PATIENT, ("caf\ufffd",)),
    ("nan", PATIENT, ()),
    ("deep", PATIENT, (FaultKind.MALFORMED, True)),
    ("batch", PATIENT, ("in batch",)),
    ("dupid", PATIENT, ("right",)),
    ("lonesur", PATIENT, ("x\ufffdy\x00z\u202e\x1b[31m",)),
]
FURTHER = [
    ("ok", PATIENT, OK),
    ("broken", PATIENT, (FaultKind.MALFORMED, True)),
    ("nullid", PATIENT, (FaultKind.TOOL_FAILED, True)),
    ("error", PATIENT, (FaultKind.TOOL_FAILED, False)),
    ("chatter", PATIENT, (FaultKind.MALFORMED, True)),
    ("notices", PATIENT, (FaultKind.TOO_LARGE, True)),
    ("leaves", PATIENT, (FaultKind.EXITED, True)),
    ("older", PATIENT, OK),
    ("future", PATIENT, OK),
    ("modern", PATIENT, ()),
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
                "transport": Transport.STDIO,
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


def test_all_29_ways_are_tried():
    assert len({mode for mode, _limits, _expected in MODES}) == 29


@pytest.mark.parametrize(("mode", "limits", "expected"), MODES + FURTHER)
def test_every_way_to_misbehave_has_its_outcome(bad_server, mode, limits, expected):
    assert outcome_of(bad_server(mode), limits) == expected


@pytest.mark.parametrize("mode", ["hang", "slow", "nostdinclose", "leaves"])
def test_everything_is_over_when_it_has_to_be(bad_server, mode):
    began = time.monotonic()
    try:
        with connect(bad_server(mode), until=began + 1) as connection:
            connection.call("memory_search", {})
    except ServerFaultError:
        pass
    # Not a measure of speed: the usual limits are 20 and 30 seconds.
    assert time.monotonic() - began < 10


def test_nothing_is_started_when_no_time_is_left(bad_server, mark):
    with (
        pytest.raises(ServerFaultError, match="no time was left"),
        connect(bad_server("ok"), until=time.monotonic()),
    ):
        pass
    assert processes_of(mark) == []


def test_a_server_says_who_it_is(bad_server):
    with connect(bad_server("ok")) as connection:
        assert (connection.server_name, connection.server_version) == ("ok", "0")
        assert connection.protocol_version == "2025-11-25"
        assert connection.oddities == ()
        (tool,) = connection.tools()
    assert (tool.name, tool.required) == ("memory_search", {"query"})


@pytest.mark.parametrize(
    ("mode", "name", "version"),
    [
        ("older", "older", "2024-11-05"),
        ("future", "", "2031-01-01"),
        ("modern", "modern", "2026-07-28"),
    ],
)
def test_every_version_of_the_protocol_is_taken(bad_server, mode, name, version):
    with connect(bad_server(mode)) as connection:
        assert (connection.server_name, connection.protocol_version) == (name, version)


def test_a_modern_server_is_told_the_version_with_each_request(bad_server):
    with connect(bad_server("modern")) as connection:
        (params,) = connection.call("memory_search", {"query": "x"}).structured
    assert params["arguments"] == {"query": "x"}
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert params["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {}


@pytest.mark.parametrize(
    ("mode", "noted"),
    [
        (
            "noise",
            [
                "prints what is no message: Starting server v1.0 ...",
                "prints what is no message: ready",
            ],
        ),
        ("stderrflood", ["last line of its error output: log line 19999 " + "x" * 100]),
        ("loopcursor", ["lists its tools in a circle"]),
        ("badtools", ["lists a tool that cannot be called"]),
        ("dupid", ["answered what was not asked: id 999"]),
    ],
)
def test_what_is_odd_is_kept_for_doctor(bad_server, mode, noted):
    with connect(bad_server(mode)) as connection:
        connection.tools()
        connection.call("memory_search", {})
    assert [line for line in noted if line not in connection.oddities] == []


def test_wrong_tools_are_left_out_and_a_circle_of_pages_ends(bad_server):
    with connect(bad_server("badtools")) as connection:
        assert connection.tools() == []
    with connect(bad_server("loopcursor")) as connection:
        assert [tool.name for tool in connection.tools()] == ["t"]


def test_an_error_flag_and_structured_content_are_handed_on(bad_server):
    with connect(bad_server("iserror")) as connection:
        assert connection.call("memory_search", {}).is_error
    with connect(bad_server("nan")) as connection:
        assert connection.call("memory_search", {}).structured == {"score": None}


def test_no_more_texts_are_read_than_allowed(bad_server):
    limits = Limits(texts=3, message_bytes=1 << 24, answer_bytes=1 << 24)
    with connect(bad_server("manycontent"), limits) as connection:
        assert connection.call("memory_search", {}).texts == ("x", "x", "x")
    assert "gave 200000 texts at once; 3 are read" in connection.oddities


def test_the_server_is_answered_what_little_it_may_ask(bad_server):
    with connect(bad_server("asks")) as connection:
        (text,) = connection.call("memory_search", {}).texts
    pong, roots, refused = json.loads(text)
    assert (pong["id"], pong["result"]) == ("q0", {})
    assert (roots["id"], roots["result"]) == ("q1", {"roots": []})
    assert (refused["id"], refused["error"]["code"]) == ("q2", -32601)


def test_a_call_given_up_is_cancelled_and_its_late_answer_is_not_the_next_one(bad_server):
    limits = Limits(call_seconds=1.0)
    with connect(bad_server("late"), limits) as connection:
        with pytest.raises(ServerFaultError, match="did not answer in time"):
            connection.call("memory_search", {})
        given_up = json.loads(connection.call("memory_search", {}).texts[0])
    assert given_up["method"] == "notifications/cancelled"
    assert given_up["params"]["requestId"] == 2
    assert "answered what was not asked: id 2" in connection.oddities


def test_a_server_that_is_gone_is_not_asked_again(bad_server):
    with connect(bad_server("crash")) as connection:
        for is_unclear in (True, False):
            with pytest.raises(ServerFaultError, match="exit code 9") as caught:
                connection.call("memory_search", {})
            assert (caught.value.kind, caught.value.is_unclear) == (FaultKind.EXITED, is_unclear)


def test_what_was_only_half_sent_was_not_done_and_nothing_follows_it(bad_server):
    with connect(bad_server("slow"), SLOW) as connection:
        for arguments, is_unclear in (({}, True), ({"query": "x" * 1_000_000}, False), ({}, False)):
            with pytest.raises(ServerFaultError) as caught:
                connection.call("memory_search", arguments)
            assert (caught.value.kind, caught.value.is_unclear) == (FaultKind.TIMED_OUT, is_unclear)


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
    "words", [(), ("/not/there",), ("not-there-at-all",), ("./plain.txt",), ("python\0",)]
)
def test_a_program_that_cannot_be_run_is_named(bad_server, tmp_path, words):
    (tmp_path / "plain.txt").write_text("not to be run")
    fault = fault_of(bad_server("ok", words=words))
    assert (fault.kind, fault.is_unclear) == (FaultKind.NOT_STARTED, False)
    assert fault.detail.startswith("notes: could not be started")


def test_a_program_without_a_format_and_one_that_a_shell_does_not_find_were_not_started(
    bad_server, tmp_path
):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fnothing")
    program.chmod(0o755)
    for words in ((str(program),), ("sh", "-c", "not-there-at-all")):
        assert fault_of(bad_server("ok", words=words)).kind is FaultKind.NOT_STARTED


def test_a_directory_that_is_not_there_is_a_fault(bad_server, tmp_path):
    fault = fault_of(bad_server("ok", cwd=str(tmp_path / "gone")))
    assert fault.kind is FaultKind.NOT_STARTED


def test_words_of_a_server_are_one_short_clean_line(bad_server):
    detail = fault_of(bad_server("error")).detail
    assert detail.startswith("notes: did not run its tool memory_search: it broke all over !!!")
    assert detail.isprintable()
    assert len(detail) == 300


def test_instructions_of_a_server_are_nowhere(bad_server):
    with connect(bad_server("noise")) as connection:
        result = connection.call("memory_search", {})
    assert "IGNORE" not in f"{connection.oddities} {connection.server_name} {result}"


def test_secrets_are_masked_wherever_they_come_from(bad_server):
    with connect(bad_server("tells")) as connection:
        result = connection.call("memory_search", {"query": f"with {SECRET}"})
    assert result.said == "your key is ***"
    assert "prints what is no message: connecting with ***" in connection.oddities
    assert "last line of its error output: connecting with ***" in connection.oddities


def test_what_is_computed_with_is_not_masked(bad_server):
    with connect(bad_server("tells", secrets=(SECRET, "memory", "content"))) as connection:
        assert [tool.name for tool in connection.tools()] == ["memory_search"]
        result = connection.call("memory_search", {"query": f"with {SECRET}"})
        assert connection.shown(f"a note with\n{SECRET}") == "a note with\n***"
    assert result.texts == (f"your key is {SECRET}",)
    assert result.structured == {SECRET: [SECRET, {"query": f"with {SECRET}"}]}


def test_a_secret_in_an_endless_line_of_errors_is_not_shown_by_half(bad_server):
    with connect(bad_server("longline")) as connection:
        connection.call("memory_search", {})
    assert not any(SECRET[-8:] in line for line in connection.oddities)


def test_what_comes_while_a_message_waits_to_be_written_is_bounded(bad_server):
    limits = Limits(message_bytes=1 << 20, answer_bytes=2 << 20)
    arguments = {"query": "x" * 1_000_000}
    with connect(bad_server("floods"), limits) as connection:
        connection.tools()
        with pytest.raises(ServerFaultError, match="without being asked") as caught:
            connection.call("memory_search", arguments)
    assert (caught.value.kind, caught.value.is_unclear) == (FaultKind.TOO_LARGE, False)


def test_a_child_in_a_session_of_its_own_ends_too(bad_server, mark):
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    with connect(bad_server("stray")) as connection:
        connection.call("memory_search", {})
        assert len(processes_of(mark)) > 1
    assert gone(mark)


def test_the_whole_list_of_tools_has_the_time_of_one_request(bad_server):
    limits = Limits(call_seconds=0.5)
    with (
        pytest.raises(ServerFaultError, match="did not answer in time"),
        connect(bad_server("slowpages"), limits) as connection,
    ):
        connection.tools()


def test_the_whole_handshake_has_one_limit(bad_server):
    limits = Limits(connect_seconds=1.5)
    began = time.monotonic()
    with (
        pytest.raises(ServerFaultError, match="did not answer in time"),
        connect(bad_server("slowolder"), limits),
    ):
        pass
    assert time.monotonic() - began < 10


def test_arguments_of_any_size_and_kind_arrive(bad_server):
    arguments = {"query": "é\ud800\n" + "x" * 1_000_000, "tags": ["a", {"b": None}]}
    with connect(bad_server("tells")) as connection:
        back = connection.call("memory_search", arguments).structured[SECRET][1]
    assert back == {**arguments, "query": arguments["query"].replace("\ud800", "\ufffd")}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_block_that_fails_leaves_nothing(bad_server, error):
    with pytest.raises(error), connect(bad_server("child"), QUICK):
        raise error


HOLDER = """
import json, sys, time
from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.servers import Endpoint, Transport
words, environment = json.loads(sys.argv[1])
endpoint = Endpoint(name="n", transport=Transport.STDIO, words=tuple(words), environment=environment)
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


@pytest.mark.skipif(shutil.which("timeout") is None, reason="needs the program timeout")
def test_a_server_whose_client_was_killed_ends_when_its_time_is_up(bad_server, mark):
    with holder(bad_server("nostdinclose"), 3, "stay") as process:
        assert process.stdout.readline() == b"connected\n"
        process.send_signal(signal.SIGKILL)
    assert gone(mark)
