"""``grove backends mcp map`` and ``probe``: a mapping is written, tried, and shown with care."""

import json
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from grove_backend_mcp.commands import (
    map_command,
    mapping_lines,
    probe,
    probe_command,
)
from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.mappings.mapping import Operation, Search, ServerMapping, Write, tables_of
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.servers import ToolResult, tool_from
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

_FOLDER = Path(__file__).parent / "data" / "mcp-tools"


@pytest.mark.parametrize("file", ["cognee-mcp", "server-memory", "chroma-mcp"])
def test_a_mapping_that_is_written_can_be_configured_as_it_is(file):
    document = json.loads((_FOLDER / f"{file}.json").read_text())
    tools = [*map(tool_from, document["tools"])]
    known = mapping_for(tools)
    known = known if known.profile else recognise(tools, "")
    section = tomllib.loads("\n".join(mapping_lines(known, tools, None)))["backends"]["mcp"]
    mapping = mapping_for(tools, settings=McpSettings(**section))
    written = {name: one for name, one in section.items() if isinstance(one, dict)}
    assert tables_of(mapping).keys() == written.keys()
    assert (mapping.write is not None, mapping.search is not None) == (True, True)


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)

ESCAPES = "\\x1b[31m\\u202e"
SERVER = f"""
import json, sys
text = {{"type": "string"}}
schema = {{"type": "object", "required": ["text"], "properties": {{"text": text}}}}
schema["properties"]["text"]["description"] = "x"
odd = {{**schema, "required": ["text", "kind{ESCAPES}"]}}
odd["properties"] = {{"text": text, "kind{ESCAPES}": {{"type": "string", "enum": ["a"]}}}}
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
    write=Write(tool="store", arguments={"text": "{content}"}),
    search=Search(tool="find", arguments={"query": "{query}"}, query_mode="words"),
)


def test_a_server_is_prepared_before_anything_is_written():
    steps = probe(Prepared(), MAPPING, NOW)
    outcomes = {one["name"]: one["ok"] for one in steps}
    assert next(iter(outcomes)) == "setup"
    assert (outcomes["setup"], outcomes["write"], outcomes["search"]) == (True, True, True)


def test_nothing_is_written_to_a_server_that_cannot_be_prepared():
    server = Prepared("Error: the disk is full")
    steps = probe(server, MAPPING, NOW)
    assert [(one["name"], one["ok"]) for one in steps] == [("setup", False)]
    assert "the disk is full" in steps[0]["detail"]
    assert server.texts == []


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
    return lambda command: CliRunner().invoke(command, obj=context)


def test_an_unknown_server_is_mapped_and_tried_and_never_guessed_at(asked):
    done = asked(probe_command)
    assert "grove backends mcp map" in done.output, done.output
    assert done.exit_code == 1
    mapped = asked(map_command)
    assert (mapped.exit_code, 'tool = "save_memory"' in mapped.output) == (0, True), mapped.output
    for each in (done, mapped):
        assert all(line.isprintable() for line in each.output.splitlines())
