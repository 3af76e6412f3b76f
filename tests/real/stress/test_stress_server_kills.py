"""The session's server is killed between hooks and inside of them, and nothing is lost."""

import json
import os
import random
import signal
import time

import pytest
from scale import turned_up
from session_server import PLUGIN, arguments, said

KILLS = turned_up(12, 200)
KILLS_A_CYCLE = 2
REFLECTIONS = 30
AS_PLUGIN = {"CLAUDE_PLUGIN_ROOT": str(PLUGIN)}
LONGEST_SECONDS = 0.08  # into a hook; most take less


class Client:
    """The client's part: it starts the server again when it needs it, and never asks twice."""

    def __init__(self, world, seed):
        self._world, self._random = world, random.Random(seed)
        self._server = None
        self._number = 0
        self._at = {}  # how to kill at which call of the cycle

    def kills_at(self, *calls):
        self._at = {call: self._random.choice(["before", "inside"]) for call in calls}
        if self._at.get("PreToolUse") == self._at.get("PostToolUse") == "inside":
            self._at["PostToolUse"] = "before"  # else nobody has ever been told of the call

    def hook(self, event, **payload):
        """The answer of a hook, or `None` when it died in it."""
        place = {"session_id": "session-1", "cwd": str(self._world.project)}
        given = arguments(event, {**place, "hook_event_name": event, **payload})
        result = self.ask("tools/call", event, name="hook", arguments=given)
        return None if result is None else json.loads(said(result))

    def stops(self, **payload):
        """Stop as the client asks both; gives the reasons of blocks."""
        place = {"session_id": "session-1", "cwd": str(self._world.project)}
        data = json.dumps({**place, "hook_event_name": "Stop", **payload}).encode()
        command = self._world.start("hook", "stop", **AS_PLUGIN)
        command.stdin.write(data)
        command.stdin.close()
        command.stdin = None
        answer = self.hook("Stop", **payload) or {}
        _, reason = command.communicate(timeout=120)
        assert command.returncode in (0, 2), reason
        blocks = [answer["reason"]] if "decision" in answer else []
        blocks += [reason.decode()] if command.returncode else []
        return "".join(blocks)

    def ask(self, method, call, **parameters):
        kill = self._at.pop(call, None)
        if kill == "before":
            self.kill()
        if self._server is None:
            self._start()
        self._send(method, parameters)
        if kill == "inside":
            time.sleep(self._random.uniform(0, LONGEST_SECONDS))
            line = self.kill()  # what it has said, it has said
        else:
            line = self._server.stdout.readline()
        return json.loads(line)["result"] if line.endswith(b"\n") else None

    def _start(self):
        self._server = self._world.start("serve", cwd=self._world.project, **AS_PLUGIN)
        self._send("initialize", {"protocolVersion": "2025-11-25"})
        assert json.loads(self._server.stdout.readline())["result"]

    def _send(self, method, parameters):
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        self._server.stdin.write(json.dumps(message).encode() + b"\n")
        self._server.stdin.flush()

    def kill(self):
        """Kill the server; gives the answer that it had written."""
        if self._server is None:
            return b""
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.wait()
        line = self._server.stdout.readline()
        for stream in (self._server.stdin, self._server.stdout, self._server.stderr):
            stream.close()
        self._server = None
        return line


@pytest.fixture
def client(beads):
    client = Client(beads, 20260212)
    yield client
    client.kill()


def test_every_close_is_asked_about_and_reflected_on_once(beads, client, candidate):
    beads.agent(real=True).starts()
    chance = random.Random(20260213)
    calls = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "last"]
    cycles = KILLS // KILLS_A_CYCLE
    for number in range(cycles):
        client.kills_at(*chance.sample(calls, KILLS_A_CYCLE))
        ticket, prompt = f"bd-{number}", {"prompt_id": f"p{number}"}
        client.hook("UserPromptSubmit", prompt=f"Do {ticket}", **prompt)
        call = {"tool_name": "Bash", "tool_input": {"command": f"bd close {ticket}"}}
        call |= {"tool_use_id": f"call-{number}", **prompt}
        client.hook("PreToolUse", **call)
        beads.close_ticket(ticket)
        client.hook("PostToolUse", **call, tool_response={"stdout": f"Closed {ticket}"})
        stop = {**prompt, "stop_hook_active": False, "background_tasks": []}
        assert f"ticket {ticket} is closed" in client.stops(**stop)
        tool, given = "reflect", {"candidates": [candidate(number)]}
        if number >= REFLECTIONS:  # more would say the same in other words
            tool, given = "skip", {"reason": "The same as the tickets before"}
        opened = client.ask("tools/call", tool, name=tool, arguments=given)
        assert not opened["isError"], said(opened)
        if kill := client._at.pop("last", None):
            client._at["Stop"] = kill
        assert client.stops(**{**stop, "stop_hook_active": True}) == ""
    outcomes = [one["outcome"] for one in beads.events("gate")]
    reflections = min(cycles, REFLECTIONS)
    assert outcomes == ["reflected"] * reflections + ["skipped"] * (cycles - reflections)
    assert len(beads.learning_ids()) == reflections
    assert beads.log("crash.log") == ""
