"""A client of `grove serve`: what the real one writes, line by line."""

import json
import os
import random
import signal
import time
from pathlib import Path

from world import Finished

PLUGIN = Path(__file__).parents[2] / "plugin"
_AS_PLUGIN = {"CLAUDE_PLUGIN_ROOT": str(PLUGIN)}
_LONGEST_SECONDS = 0.08  # into a hook; most take less
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}


def registered_input(event):
    """The fields that the plugin has the client send at an event."""
    hooks = json.loads((PLUGIN / "hooks" / "server.json").read_text())["hooks"]
    return hooks[event][0]["hooks"][0]["input"]


def arguments(event, payload):
    """What the client makes of a payload: each field as text, an absent one as none."""

    def text(template):
        if not template.startswith("${"):
            return template
        value = payload.get(template[2:-1], "")
        return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))

    return {name: text(template) for name, template in registered_input(event).items()}


class Lines:
    """Requests, numbered, as the bytes of one input."""

    def __init__(self):
        self.sent = []

    def request(self, method, **params):
        self.sent.append(
            {"jsonrpc": "2.0", "id": len(self.sent), "method": method, "params": params}
        )
        return len(self.sent) - 1

    def tool(self, name, **arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    def hook(self, event, **payload):
        return self.tool("hook", **arguments(event, payload))

    @property
    def data(self):
        return "".join(json.dumps(one) + "\n" for one in self.sent)


def answers(stdout):
    """The answers by the number of the request; each is answered once."""
    found = {}
    for line in stdout.splitlines():
        message = json.loads(line)
        assert message["id"] not in found
        found[message["id"]] = message.get("result", message.get("error"))
    return found


def said(result):
    """The text of a tool's result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"]


class ServedWorld:
    """A world whose hooks the session's server answers, as the plugin has it; it is killed at times.

    The client starts the server again when it needs it, and never asks it twice.
    """

    def __init__(self, world, seed, *, share=0.15):
        self.world, self.kills = world, 0
        self._random, self._share = random.Random(seed), share
        self._server, self._number, self._untold = None, 0, False

    def __getattr__(self, name):
        return getattr(self.world, name)

    def hook(self, event, payload, **variables):
        """What the client makes of an answer: exit code 2 for each block."""
        if event in ("SessionStart", "SessionEnd"):
            return self.world.hook(event, payload, **variables)
        if event != "Stop":
            text = self._ask(event, payload)
            return Finished(0, "" if text == "{}" else text, "")
        # A stop is asked of both, and one of them answers.
        command = self.world.start("hook", "stop", **_AS_PLUGIN)
        command.stdin.write(json.dumps(payload).encode())
        command.stdin.close()
        command.stdin = None
        answer = json.loads(self._ask(event, payload) or "{}")
        _, reason = command.communicate(timeout=120)
        reasons = [answer["reason"]] if "decision" in answer else []
        reasons += [reason.decode()] if command.returncode else []
        return Finished(2 * len(reasons), "", "".join(reasons))

    def _ask(self, event, payload):
        """The text of an answer; empty when the server died before it gave one."""
        kill = self._random.choice(["before", "inside"]) if self._dies(event) else None
        if kill == "before":
            self.kill()
        if self._server is None:
            self._start()
        # Of a call of which no server was ever told, nobody can know.
        self._untold = event == "PreToolUse" and kill == "inside"
        self._send("tools/call", {"name": "hook", "arguments": arguments(event, payload)})
        if kill != "inside":
            line = self._server.stdout.readline()
        else:
            time.sleep(self._random.uniform(0, _LONGEST_SECONDS))
            line = self.kill()  # what it has said, it has said
        return said(json.loads(line)["result"]) if line.endswith(b"\n") else ""

    def _dies(self, event):
        is_result = event in ("PostToolUse", "PostToolUseFailure")
        return self._random.random() < self._share and not (self._untold and is_result)

    def _start(self):
        self._server = self.world.start("serve", **_AS_PLUGIN)
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
        self.kills += 1
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.wait()
        line = self._server.stdout.readline()
        for stream in (self._server.stdin, self._server.stdout, self._server.stderr):
            stream.close()
        self._server = None
        return line
