"""``grove backends mcp map``: a recorded list in, what grove would do with it out."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from grove_backend_mcp.mappings.map_command import command, read_tool_list
from grove_core import BackendError

_FOLDER = Path(__file__).parent / "data" / "mcp-tools"


def _mapped(*arguments, given=None):
    result = CliRunner().invoke(command, list(arguments), input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_a_profile_is_named_with_its_calls():
    document = json.loads(_mapped("--tools", str(_FOLDER / "server-memory.json"), "--json"))
    assert document["profile"] == "server-memory"
    assert document["write"]["tool"] == "create_entities"
    assert document["search"] == {"tool": "search_nodes", "arguments": {"query": "{query}"}}
    assert document["list"]["tool"] == "read_graph"
    assert document["update"]["tool"] == "delete_entities"
    assert [step["tool"] for step in document["update"]["then"]] == ["create_entities"]
    assert document["delete"]["tool"] == "delete_entities"
    assert document["setup"] is None
    assert (document["text_form"], document["query_mode"]) == ("full", "words")


_TOOL = {
    "name": "store_memory",
    "inputSchema": {
        "type": "object",
        "required": ["content"],
        "properties": {"content": {"type": "string"}},
    },
}


@pytest.mark.parametrize(
    "document",
    [
        [_TOOL],
        {"tools": [_TOOL]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [_TOOL]}},
        {
            "server": "x",
            "initialize": {"serverInfo": {"name": "x"}},
            "tools": [_TOOL, None, {"name": 1}],
        },
    ],
)
def test_every_form_of_a_list_is_read(document):
    listed = read_tool_list(json.dumps(document))
    assert [tool.name for tool in listed.tools] == ["store_memory"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "no list of tools"),
        ('{"result": {"tools": 1}}', "no list of tools"),
        ('{"tools": [1, {"name": "x"}]}', "none of the entries is a tool"),
    ],
)
def test_what_is_no_list_is_refused_with_words(text, words):
    with pytest.raises(BackendError, match=words):
        read_tool_list(text)


def test_names_of_a_server_do_not_reach_the_terminal_raw(tmp_path):
    path = tmp_path / "tools.json"
    properties = {"content": {"type": "string"}, "summary\u001b[31m\ud800": {"type": "string"}}
    schema = {"type": "object", "required": [*properties], "properties": properties}
    schema["properties"]["summary\u001b[31m\ud800"]["default"] = "\u202e\u001b[2J"
    path.write_text(json.dumps([{"name": "store_memory", "inputSchema": schema}]))
    text = _mapped("--tools", str(path))
    assert "store_memory {" in text
    assert "\u001b" not in text
    assert "\u202e" not in text
    json.loads(_mapped("--tools", str(path), "--json"))
