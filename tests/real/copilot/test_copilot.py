"""Copilot CLI reads what was written for Claude Code, and works beside it undisturbed."""

import json
import os
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from session_server import PLUGIN
from world import GROVE

from grove_core.hosts.claude_hooks import hook_groups

CLIENT = Path(__file__).parents[3] / ".copilot/node_modules/@github/copilot-linux-x64/copilot"
CALL = {"command": "echo done > ran.txt", "description": "Do it"}
SECONDS = 120


@pytest.fixture
def copilot():
    found = CLIENT if CLIENT.exists() else shutil.which("copilot")
    if not found:
        pytest.skip("there is no Copilot CLI: run make real-tools")
    return str(found)


class Api(BaseHTTPRequestHandler):
    """A model that runs one command and says that it is done."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results = [one["content"] for one in body["messages"] if one["role"] == "tool"]
        self.server.results += results
        function = {"name": "bash", "arguments": json.dumps(CALL)}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        if results or not body.get("tools"):
            deltas, finish = [{"content": "Done."}], "stop"
        else:
            deltas, finish = [{"tool_calls": [call]}], "tool_calls"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for delta, reason in [*((one, None) for one in deltas), ({}, finish)]:
            choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": reason}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


@pytest.fixture
def api():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.daemon_threads = True
    server.results = []
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def witness(world):
    """A `grove` that leaves a line before it runs the real one; gives the program and its lines."""
    program, lines = world.others / "bin" / "grove", world.others / "calls"
    program.parent.mkdir(parents=True)
    words = " ".join(f"'{word}'" for word in GROVE)
    program.write_text(f'#!/bin/sh\necho "$@" >> \'{lines}\'\nexec {words} "$@"\n')
    program.chmod(0o755)
    return program, lines


# It drops hooks of a type that it does not know, and starts the plugin's server all the same.
@pytest.mark.parametrize(("where", "run"), [("settings", "hook pre-tool-use"), ("plugin", "serve")])
def test_it_runs_a_command_beside_groves_hooks(beads, copilot, api, witness, where, run):
    program, lines = witness
    options = ["--plugin-dir", str(PLUGIN)]
    if where == "settings":
        options = ["--trust-folder"]
        settings = beads.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": hook_groups(str(program), ())}))
    environment = {
        **beads.environment,
        "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        "XDG_CACHE_HOME": str(CLIENT.parents[3] / "cache"),  # 235 MB, unpacked once
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": "fake",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_PROVIDER_BASE_URL": f"http://127.0.0.1:{api.server_port}/v1",
    }
    done = subprocess.run(
        [copilot, "-p", "Do it.", "--allow-all-tools", "--output-format", "json", *options],
        cwd=beads.project,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (beads.project / "ran.txt").read_text() == "done\n"
    assert not any("hook" in one.lower() for one in api.results), api.results
    assert run in lines.read_text().splitlines()
    assert not list((beads.grove_home / "sessions").glob("*"))
