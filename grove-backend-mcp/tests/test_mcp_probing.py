"""The probe: its steps against a server of each kind, and what of the server people get to see."""

import sys
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from grove_backend_mcp.mappings.mapping import Operation, QueryMode, ServerMapping
from grove_backend_mcp.probe_command import command, probe
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.tools import ToolResult
from grove_core import BackendContext

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)

ESCAPES = "\\x1b[31m\\u202e"
SERVER = f"""
import json, sys
text = {{"type": "string"}}
schema = {{"type": "object", "required": ["text"], "properties": {{"text": text}}}}
schema["properties"]["text"]["description"] = "x"
odd = {{**schema, "required": ["text", "kind{ESCAPES}"]}}
odd["properties"] = {{"text": text, "kind{ESCAPES}": {{"type": "string", "default": "a"}}}}
TOOLS = [{{"name": "save_memory", "inputSchema": odd}}]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    server = {{"name": "memory{ESCAPES}", "version": "1{ESCAPES}"}}
    result = {{
        "initialize": {{
            "protocolVersion": "2025-11-25", "capabilities": {{}}, "serverInfo": server
        }},
        "tools/list": {{"tools": TOOLS}},
    }}.get(asked["method"], {{"content": [{{"type": "text", "text": "no{ESCAPES}"}}]}})
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": result}}), flush=True)
"""


class Prepared:
    """A server that keeps nothing before its space is made."""

    def __init__(self, refusal=""):
        self.refusal = refusal
        self.is_ready = False
        self.texts = []

    def call(self, tool, arguments):
        if tool == "make_space":
            self.is_ready = not self.refusal
            return ToolResult(structured=None, texts=(self.refusal or "made",), is_error=False)
        if not self.is_ready:
            return ToolResult(structured=None, texts=("Error: no such space",), is_error=True)
        if tool == "store":
            self.texts.append(arguments["text"])
            return ToolResult(structured=None, texts=("stored",), is_error=False)
        found = [one for one in self.texts if arguments["query"] in one]
        return ToolResult(structured=None, texts=tuple(found), is_error=False)


MAPPING = ServerMapping(
    setup=Operation(tool="make_space", arguments={"name": "grove"}),
    write=Operation(tool="store", arguments={"text": "{content}"}),
    search=Operation(tool="find", arguments={"query": "{query}"}),
    query_mode=QueryMode.WORDS,
)


def test_a_server_is_prepared_before_anything_is_written():
    steps, facts = probe(Prepared(), MAPPING, NOW)
    outcomes = {one.name: one.ok for one in steps}
    assert next(iter(outcomes)) == "setup"
    assert (outcomes["setup"], outcomes["write"], outcomes["search"]) == (True, True, True)
    assert facts["finds_token"]


def test_nothing_is_written_to_a_server_that_cannot_be_prepared():
    server = Prepared("Error: the disk is full")
    steps, facts = probe(server, MAPPING, NOW)
    assert [(one.name, one.ok) for one in steps] == [("setup", False)]
    assert "the disk is full" in steps[0].detail
    assert server.texts == []
    assert "finds_token" not in facts


@pytest.fixture
def asked(tmp_path):
    program = tmp_path / "server.py"
    program.write_text(SERVER)
    settings = McpSettings(command=sys.executable, args=(str(program),))
    root = tmp_path / "project"
    root.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    context = BackendContext(
        root=root,
        home=home,
        environment={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        settings=settings,
    )
    return lambda *words: CliRunner().invoke(command, list(words), obj=context)


def test_what_a_server_says_does_not_reach_the_terminal_raw(asked):
    done = asked()
    assert "save_memory" in done.output, done.output
    assert done.exit_code == 0
    assert all(line.isprintable() for line in done.output.splitlines())
