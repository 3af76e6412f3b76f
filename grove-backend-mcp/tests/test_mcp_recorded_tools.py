"""The recorded lists of real servers, with their profiles and without."""

import json
from pathlib import Path

import pytest

from grove_backend_mcp.mappings.choice import map_tools
from grove_backend_mcp.mappings.schemas import arguments_of
from grove_backend_mcp.mappings.templates import (
    FETCH_PLACEHOLDERS,
    LEARNING_PLACEHOLDERS,
    LISTING_PLACEHOLDERS,
    QUERY_PLACEHOLDERS,
    check_template,
)
from grove_backend_mcp.tools import tool_from

FOLDER = Path(__file__).parent / "data" / "mcp-tools"
SERVICE = ("mcp-memory-service", "memory_store", "memory_search", "memory_delete")
CHROMA = ("chroma_add_documents", "chroma_query_documents", "chroma_delete_documents")
# The file; its profile, and the tools for writing, searching and deleting.
EXPECTED = {
    "basic-memory": ("basic-memory", "write_note", "search_notes", "delete_note"),
    "beads-mcp": (None, None, None, None),
    "chroma-mcp": ("chroma", *CHROMA),
    "claude-mem": (None, None, "search", None),
    "cognee-mcp": (None, "remember", "recall", None),
    "letta-mcp-server": (None, None, None, None),
    "mcp-memory-keeper": ("mcp-memory-keeper", "context_save", "context_search", None),
    "mcp-memory-libsql": ("mcp-memory-libsql", "create_entities", "search_nodes", "delete_entity"),
    "mcp-memory-service": SERVICE,
    "mcp-memory-service-lite": SERVICE,
    "mcp-server-qdrant": ("qdrant", "qdrant-store", "qdrant-find", None),
    "mem0-mcp-server": ("mem0", "add_memory", "search_memories", "delete_memory"),
    "memory-bank-mcp": ("memory-bank", "memory_bank_write", None, None),
    "server-memory": ("server-memory", "create_entities", "search_nodes", "delete_entities"),
}
JSON_TYPES = {bool: ["boolean"], int: ["integer", "number"], list: ["array"], dict: ["object"]}


def recorded(name):
    document = json.loads((FOLDER / f"{name}.json").read_text())
    tools = [tool for tool in map(tool_from, document["tools"]) if tool]
    assert len(tools) == len(document["tools"])
    return tools, document["initialize"]["serverInfo"]["name"]


def tools_of(mapping):
    used = (mapping.write, mapping.search, mapping.delete)
    return tuple(one and one.tool for one in used)


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("file", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_a_recorded_list_is_mapped_and_the_recogniser_alone_finds_the_same(file, is_named):
    (tools, name), (profile, *used) = recorded(file), EXPECTED[file]
    mapping = map_tools(tools, server_name=name if is_named else "")
    assert mapping.profile == profile
    assert tools_of(mapping) == tuple(used)
    alone = map_tools(tools, server_name=name if is_named else "", profile="none")
    assert alone.profile is None
    assert tools_of(alone) == (*used[:2], None)
    assert alone.update == ()


@pytest.mark.parametrize("file", [file for file, expected in EXPECTED.items() if expected[0]])
def test_what_a_profile_does_fits_the_schemas(file):
    tools, name = recorded(file)
    by_name = {tool.name: tool for tool in tools}
    mapping = map_tools(tools, server_name=name)
    for operation, known in (
        (mapping.write, LEARNING_PLACEHOLDERS),
        *((step, LEARNING_PLACEHOLDERS) for step in mapping.update),
        (mapping.search, QUERY_PLACEHOLDERS),
        (mapping.get, FETCH_PLACEHOLDERS),
        (mapping.delete, FETCH_PLACEHOLDERS),
        (mapping.listing, LISTING_PLACEHOLDERS),
        (mapping.setup, frozenset()),
    ):
        if operation is None:
            continue
        tool = by_name[operation.tool]
        assert tool.required <= set(operation.arguments) <= set(tool.properties), operation
        assert check_template(operation.arguments, known) == []
        for one in arguments_of(tool):
            types = JSON_TYPES.get(type(operation.arguments.get(one.name)))
            assert types is None or one.takes(*types)


def tool(name, /, *required, **properties):
    properties = {**{one: {"type": "string"} for one in required}, **properties}
    schema = {"type": "object", "required": list(required), "properties": properties}
    return tool_from({"name": name, "inputSchema": schema})
