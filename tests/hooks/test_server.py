"""`grove serve`: what its hooks answer, what its tools do, and how it ends."""

import json
import os
import re
import shutil
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest
from session_server import MODERN, Lines, answers, arguments, said

from grove_core.hooks import dispatch
from grove_core.model.hook import SILENCE
from grove_core.serve import server as server_module
from grove_core.serve.server import Server

PAYLOADS = Path(__file__).parents[1] / "data" / "hook-payloads"
ANSWERED = (
    "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "TaskCompleted", "Stop",
)  # fmt: skip
AGENT_TOOLS = ["reflect", "skip", "search", "ref", "observe"]
AS_PLUGIN = {"CLAUDE_PLUGIN_ROOT": "/plugin", "CLAUDE_CODE_SESSION_ID": "session-1"}


def serve(world, lines, **variables):
    """Runs the server over one input to its end; its answers in the order of the requests."""
    done = world.grove("serve", stdin=lines.data, **AS_PLUGIN, **variables)
    assert (done.code, done.stderr) == (0, "")
    found = answers(done.stdout)
    assert set(found) == set(range(len(lines.sent)))
    return [found[number] for number in range(len(found))]


def payload(world, **fields):
    return {"session_id": "session-1", "cwd": str(world.project), "prompt_id": "prompt-1", **fields}


def close(world, ticket="bd-1"):
    call = {
        "tool_name": "Bash",
        "tool_input": {"command": f"bd close {ticket}"},
        "tool_use_id": f"call-{ticket}",
    }
    return payload(world, **call), payload(world, **call, tool_response={"stdout": "closed"})


def closed(world, ticket="bd-1"):
    """The hooks of a close and of the stop that follows."""
    lines = Lines()
    before, after = close(world, ticket)
    lines.hook("PreToolUse", **before)
    lines.hook("PostToolUse", **after)
    lines.hook("Stop", **payload(world, stop_hook_active=False, background_tasks=[]))
    return lines


def recorded(world):
    """The recorded payloads of events that the server answers, moved into a world."""
    for path in sorted(PAYLOADS.glob("*.json")):
        text = path.read_text().replace("/home/dev/project", str(world.project))
        case = json.loads(text.replace("/home/dev", str(world.home)))
        if case["event"] in ANSWERED:
            yield case["event"], case["stdin"]


def day(world):
    """The recorded payloads, then a day in which learnings are found and a ticket is closed."""
    yield from recorded(world)
    before, after = close(world)
    yield "UserPromptSubmit", payload(world, prompt='{"why": "is the orders export so slow?"}')
    yield "PreToolUse", before
    yield "PostToolUse", after
    for active in (False, True, True, True, True):
        stop = payload(world, stop_hook_active=active, background_tasks=[])
        yield "Stop", stop
    shell = {"id": "b1", "type": "shell", "status": "running"}
    before, after = close(world, "bd-2")
    yield "PreToolUse", before
    yield "PostToolUse", after
    yield "Stop", payload(world, stop_hook_active=False, background_tasks=[shell])
    yield "Stop", payload(world, stop_hook_active=False, background_tasks=[])


def as_command(done):
    """What a command hook answered, in the words of one that the server answers."""
    if done.code == 2:
        return {"decision": "block", "reason": done.stderr.rstrip("\n")}
    if done.stderr:
        return {"systemMessage": done.stderr.rstrip("\n")}
    return json.loads(done.stdout) if done.stdout else {}


def without_ways(answer):
    """A block without the commands or tools that it names."""
    text = json.dumps(answer)
    return re.sub(
        r"(Call |grove reflect|Nothing worth keeping).*?(?=\\n(?:Until|At the)|\\nNo ref)", "", text
    )


def test_the_server_answers_every_payload_as_a_command_does(beads):
    beads.learning("cl_20300102_aaaaaa", "The orders export runs one query per order")
    calls = list(day(beads))
    by_command = [as_command(beads.hook(event, sent)) for event, sent in calls]
    shutil.rmtree(beads.grove_home)
    lines = Lines()
    for event, sent in calls:
        lines.hook(event, **sent)
    by_server = [json.loads(said(each)) for each in serve(beads, lines)]
    assert list(map(without_ways, by_server)) == list(map(without_ways, by_command))
    assert sum("decision" in each for each in by_server) == 4
    assert sum("systemMessage" in each for each in by_server) == 1
    assert sum("hookSpecificOutput" in each for each in by_server) >= 1
    assert beads.log("crash.log") == ""


def test_a_block_names_the_tools(beads):
    block = json.loads(said(serve(beads, closed(beads))[-1]))
    assert "Call mcp__plugin_grove_grove__reflect with {" in block["reason"]
    assert 'mcp__plugin_grove_grove__skip with {"reason"' in block["reason"]
    assert "grove reflect --session-id session-1" in block["reason"]
    assert len(block["reason"]) <= 1_500


def test_a_call_that_only_a_server_that_died_was_told_of_still_counts(beads):
    beads.install_bd("closed")  # it has run
    lines = Lines()
    _, after = close(beads)
    lines.hook("PostToolUse", **after)
    lines.hook("Stop", **payload(beads, stop_hook_active=False, background_tasks=[]))
    assert "decision" in json.loads(said(serve(beads, lines)[-1]))


def test_of_server_and_command_one_answers_a_stop(beads):
    stop = payload(beads, stop_hook_active=False, background_tasks=[], hook_event_name="Stop")
    assert "decision" in said(serve(beads, closed(beads))[-1])
    assert beads.hook("Stop", stop, **AS_PLUGIN).code == 0  # answered by the server
    assert beads.hook("Stop", stop, **AS_PLUGIN).code == 2  # the next one, which no server answers
    lines = Lines()
    lines.hook("Stop", **stop)
    assert said(*serve(beads, lines)) == "{}"  # that one again: it has been answered
    assert beads.session()["gate"]["breaker"]["block_count"] == 2


@pytest.mark.parametrize("meta", [{}, MODERN], ids=["handshake", "modern"])
def test_the_agent_is_offered_its_tools_and_not_the_hooks(world, meta):
    lines = Lines()
    lines.request("server/discover" if meta else "initialize", **meta)
    lines.request("tools/list", **meta)
    tools = serve(world, lines)[1]["tools"]
    assert [tool["name"] for tool in tools] == AGENT_TOOLS
    assert {tool["inputSchema"]["type"] for tool in tools} == {"object"}
    assert not world.grove_home.exists()


def test_the_tools_do_what_the_commands_do(beads, candidate):
    beads.learning("cl_20300102_aaaaaa", "The orders export runs one query per order")
    serve(beads, closed(beads))
    first = Lines()
    first.tool("observe", note="The export\nis slow, too")
    first.tool("search", query="orders export", limit=5)
    first.tool("ref", id="cl_20300102_aaaaaa", how="Found the loop")
    noted, found, used = serve(beads, first)
    assert noted["structuredContent"] == {
        "session_id": "session-1", "note": "The export is slow, too", "observations": 1,
    }  # fmt: skip
    assert found["structuredContent"]["results"][0]["id"] == "cl_20300102_aaaaaa"
    assert used["structuredContent"]["referenced"] == ["cl_20300102_aaaaaa"]
    lines = Lines()
    lines.tool("reflect", candidates=[candidate()])
    (result,) = serve(beads, lines)
    assert result["isError"] is False
    document = result["structuredContent"]
    assert document["gate"] == "reflected"
    assert document["accepted"][0]["id"] in said(result)
    assert beads.learning_ids()[-1] == document["accepted"][0]["id"]


def test_a_refusal_says_every_reason_as_the_command_does(beads):
    serve(beads, closed(beads))
    submission = {"candidates": [{"category": "pitfall"}, {"summary": "Short"}]}
    done = beads.grove("reflect", "--json", stdin=json.dumps(submission), **AS_PLUGIN)
    reasons = [line.removeprefix("grove: ") for line in done.stderr.splitlines()]
    lines = Lines()
    lines.tool("reflect", **submission)
    lines.tool("reflect")
    lines.tool("skip", reason=" ")
    lines.tool("skip")
    lines.tool("search", query="orders", limit=0)
    lines.tool("ref", id="cl_20300102_zzzzzz")
    lines.tool("observe", note="the key is AKIAIOSFODNN7EXAMPLQ")
    results = serve(beads, lines)
    assert all(each["isError"] for each in results)
    assert said(results[0]).splitlines() == reasons
    assert results[0]["structuredContent"] == done.json
    assert "holds no candidate" in said(results[1])
    assert beads.gate() == "blocked"


NOISY = """
import os, subprocess
os.write(1, b"noise")
print("noise")
subprocess.run(["cat"], check=True)
class Noisy:
    pass
plugin = Noisy()
"""


@pytest.fixture
def process(beads):
    """A real server in the world, with what it is asked and what it answers."""
    process = beads.start("serve", cwd=beads.project, **AS_PLUGIN)

    def ask(method, **params):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    process.ask = ask
    yield process
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_process_at_rest_costs_nothing_and_ends_with_its_input(process):
    process.ask("initialize")
    before = None
    while before != (before := processor_seconds(process)):  # until all is loaded
        time.sleep(0.5)
    assert process.ask("ping")["result"] == {}
    status = Path(f"/proc/{process.pid}/status").read_text()
    assert int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) < 60 * 1024
    time.sleep(0.5)
    assert processor_seconds(process) - before <= 0.02
    started = time.monotonic()
    process.stdin.close()
    assert process.wait(10) == 0
    assert time.monotonic() - started < 1


def test_a_tool_belongs_to_the_session_of_the_newest_hook(beads, process):
    """After `/clear` the process is the same, and what the client told it at its start is not."""
    prompt = payload(beads, prompt="Go on", session_id="session-2")
    given = arguments("UserPromptSubmit", prompt)
    process.ask("tools/call", name="hook", arguments=given)
    note = {"note": "Seen after all was cleared"}
    result = process.ask("tools/call", name="observe", arguments=note)["result"]
    assert result["structuredContent"]["session_id"] == "session-2"


def test_what_plugins_print_and_read_is_not_the_protocols(beads):
    beads.install_plugin("noisy", NOISY)
    found = serve(beads, closed(beads))
    assert "decision" in said(found[-1])


class Connection:
    """A server in a thread of the test's."""

    def __init__(self):
        incoming, self._out = os.pipe()
        self._in, outgoing = os.pipe()
        self.ended = threading.Event()
        environment = {"GROVE_HOME": "/dev/null/none"}
        self._server = Server(incoming, outgoing, environment, lambda _: self.ended.set())
        self.thread = threading.Thread(target=self._server.serve, daemon=True)
        self.thread.start()

    def send(self, lines):
        os.write(self._out, lines.data.encode())

    def read(self):
        return answers(os.read(self._in, 65_536).decode())

    def close(self):
        os.close(self._out)
        self.thread.join(10)
        assert not self.thread.is_alive()


@pytest.fixture
def connect(monkeypatch):
    """Connects to a server whose hooks are answered by a function of the test's."""

    def connect(answer=lambda *_: SILENCE):
        monkeypatch.setenv("GROVE_HOME", "/dev/null/none")
        monkeypatch.setattr(dispatch, "answer", answer)
        return Connection()

    return connect


@pytest.mark.parametrize("work", [0.05, 60.0], ids=["works", "waits"])
def test_a_hook_that_passes_its_limit_is_answered_and_ends_the_process(connect, monkeypatch, work):
    monkeypatch.setattr(server_module, "_LOOK_SECONDS", 0.05)
    late, release = [], threading.Event()

    def answer(name, data, environment, limit, warm):
        limit.last_words = lambda: late.append(name)
        limit.start(work, 60.0 if work < 1 else 0.1)
        while not release.is_set():
            if work >= 1:
                time.sleep(0.01)
        limit.cancel()
        return SILENCE

    connection = connect(answer)
    lines = Lines()
    lines.hook("PreToolUse", session_id="session-1")
    connection.send(lines)
    assert connection.ended.wait(10)
    assert said(connection.read()[0]) == "{}"
    assert late[0] == "pre-tool-use"
    release.set()
    connection.close()


def test_a_hook_may_end_while_its_limit_is_looked_at():
    class EndsAtOnce(Server):
        looks = 0

        @property
        def _running(self):
            self.looks += 1
            return (None, threading.get_ident()) if self.looks == 1 else None

        @_running.setter
        def _running(self, _):
            pass

    EndsAtOnce(0, 1, {})._look_at_limits()


def test_a_slow_tool_delays_no_hook(connect, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr("grove_core.serve.server.call_tool", lambda *_: release.wait(10) and {})
    connection = connect()
    lines = Lines()
    lines.tool("reflect")
    lines.hook("PreToolUse", session_id="session-1")
    connection.send(lines)
    assert set(connection.read()) == {1}
    release.set()
    assert set(connection.read()) == {0}
    connection.close()


def test_a_fault_is_named_and_the_next_hook_is_answered(connect):
    def answer(name, *_):
        if name == "stop":
            raise KeyError("gone")
        return SILENCE

    connection = connect(answer)
    lines = Lines()
    lines.hook("Stop", session_id="session-1")
    lines.hook("PreToolUse", session_id="session-1")
    connection.send(lines)
    found = {}
    while len(found) < 2:
        found |= connection.read()
    assert (found[0]["isError"], said(found[0])) == (True, "grove failed: KeyError")
    assert said(found[1]) == "{}"
    connection.close()


def test_after_an_upgrade_it_answers_what_it_was_asked_and_ends(connect, monkeypatch):
    versions = iter([(1,)])
    monkeypatch.setattr(server_module, "_installed_files", lambda: next(versions, (2,)))
    connection = connect()
    lines = Lines()
    for _ in range(3):
        lines.hook("PreToolUse", session_id="session-1")
    connection.send(lines)
    connection.thread.join(10)
    assert not connection.thread.is_alive()
    assert set(connection.read()) == {0, 1, 2}


def test_what_is_loaded_ahead_is_there():
    for name in server_module._MODULES:
        import_module(f"grove_core.{name}")
