"""The recorded lists of real servers, with their profiles and without."""

import json
from pathlib import Path

import pytest

from grove_backend_mcp.mappings.choice import map_tools
from grove_backend_mcp.mappings.mapping import QueryMode, TextForm
from grove_backend_mcp.mappings.profiles import PACKAGES, PROFILES
from grove_backend_mcp.mappings.schemas import arguments_of
from grove_backend_mcp.mappings.templates import (
    FETCH_PLACEHOLDERS,
    LEARNING_PLACEHOLDERS,
    LISTING_PLACEHOLDERS,
    QUERY_PLACEHOLDERS,
    check_template,
)
from grove_backend_mcp.tools import tool_from

_FOLDER = Path(__file__).parent / "data" / "mcp-tools"

# name of the file, profile, write, search, delete
_PROFILED = [
    ("basic-memory", "basic-memory", "write_note", "search_notes", "delete_note"),
    ("beads-mcp", None, None, None, None),
    (
        "chroma-mcp",
        "chroma",
        "chroma_add_documents",
        "chroma_query_documents",
        "chroma_delete_documents",
    ),
    ("claude-mem", None, None, "search", None),
    ("cognee-mcp", None, "remember", "recall", None),
    ("letta-mcp-server", None, None, None, None),
    ("mcp-memory-keeper", "mcp-memory-keeper", "context_save", "context_search", None),
    ("mcp-memory-libsql", "mcp-memory-libsql", "create_entities", "search_nodes", "delete_entity"),
    ("mcp-memory-service", "mcp-memory-service", "memory_store", "memory_search", "memory_delete"),
    (
        "mcp-memory-service-lite",
        "mcp-memory-service",
        "memory_store",
        "memory_search",
        "memory_delete",
    ),
    ("mcp-server-qdrant", "qdrant", "qdrant-store", "qdrant-find", None),
    ("mem0-mcp-server", "mem0", "add_memory", "search_memories", "delete_memory"),
    ("memory-bank-mcp", "memory-bank", "memory_bank_write", None, None),
    ("server-memory", "server-memory", "create_entities", "search_nodes", "delete_entities"),
]


def _recorded(name):
    document = json.loads((_FOLDER / f"{name}.json").read_text())
    tools = [tool for tool in map(tool_from, document["tools"]) if tool]
    assert len(tools) == len(document["tools"])
    return tools, document["initialize"]["serverInfo"]["name"]


def _tool(operation):
    return operation and operation.tool


def test_every_recorded_list_is_looked_at():
    assert {path.stem for path in _FOLDER.glob("*.json")} == {one[0] for one in _PROFILED}


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize(("file", "profile", "write", "search", "delete"), _PROFILED)
def test_a_recorded_list_is_mapped(file, profile, write, search, delete, is_named):
    tools, name = _recorded(file)
    mapping = map_tools(tools, server_name=name if is_named else "")
    assert mapping.profile == profile
    assert (_tool(mapping.write), _tool(mapping.search)) == (write, search)
    assert _tool(mapping.delete) == delete


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize(("file", "profile", "write", "search", "delete"), _PROFILED)
def test_the_recogniser_alone_finds_the_same(file, profile, write, search, delete, is_named):
    tools, name = _recorded(file)
    mapping = map_tools(tools, server_name=name if is_named else "", profile="none")
    assert mapping.profile is None
    assert (_tool(mapping.write), _tool(mapping.search)) == (write, search)
    assert mapping.delete is None
    assert mapping.update == ()


@pytest.mark.parametrize("file", [one[0] for one in _PROFILED if one[1]])
def test_what_a_profile_does_fits_the_schemas(file):
    tools, name = _recorded(file)
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
        assert set(operation.arguments) <= set(tool.properties), operation
        assert tool.required <= set(operation.arguments), operation
        assert check_template(operation.arguments, known) == []
        for one in arguments_of(tool):
            value = operation.arguments.get(one.name)
            if isinstance(value, bool):
                assert one.takes("boolean")
            elif isinstance(value, int):
                assert one.takes("integer", "number")
            elif isinstance(value, list):
                assert one.takes("array")
            elif isinstance(value, dict):
                assert one.takes("object")


@pytest.mark.parametrize(
    ("file", "form", "mode"),
    [
        ("server-memory", TextForm.FULL, QueryMode.WORDS),
        ("mcp-memory-libsql", TextForm.FULL, QueryMode.WORDS),
        ("mcp-memory-keeper", TextForm.FULL, QueryMode.WORDS),
        ("memory-bank-mcp", TextForm.FULL, QueryMode.WHOLE),
        ("basic-memory", TextForm.SHORT, QueryMode.WORDS),
        ("mcp-memory-service", TextForm.SHORT, QueryMode.WHOLE),
        ("mcp-server-qdrant", TextForm.SHORT, QueryMode.WHOLE),
        ("chroma-mcp", TextForm.SHORT, QueryMode.WHOLE),
        ("mem0-mcp-server", TextForm.SHORT, QueryMode.WHOLE),
    ],
)
def test_text_and_query_take_the_servers_best_form(file, form, mode):
    tools, name = _recorded(file)
    mapping = map_tools(tools, server_name=name)
    assert (mapping.text_form, mapping.query_mode) == (form, mode)


def test_another_servers_name_keeps_a_profile_away():
    tools, _ = _recorded("mcp-server-qdrant")
    assert map_tools(tools, server_name="something-else").profile is None


def test_a_tool_that_requires_other_arguments_keeps_a_profile_away():
    tools, name = _recorded("server-memory")
    changed = [
        tool_from(
            {
                "name": tool.name,
                "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
            }
        )
        if tool.name == "delete_entities"
        else tool
        for tool in tools
    ]
    assert map_tools(changed, server_name=name).profile is None


def test_a_graph_with_snake_case_arguments_has_a_profile_of_its_own():
    tools, _ = _recorded("server-memory")
    snake = {
        "type": "object",
        "required": ["entity_names"],
        "properties": {"entity_names": {"type": "array", "items": {"type": "string"}}},
    }
    changed = [
        tool_from({"name": tool.name, "inputSchema": snake})
        if tool.name == "delete_entities"
        else tool
        for tool in tools
    ]
    mapping = map_tools(changed, server_name="Memory Graph")
    assert mapping.profile == "mcp-memory-py"
    assert mapping.delete.arguments == {"entity_names": ["{handle}"]}


def test_qdrant_without_a_collection_of_its_own_is_told_one():
    schema = {
        "type": "object",
        "required": ["information", "collection_name"],
        "properties": {
            "information": {"type": "string"},
            "collection_name": {"type": "string"},
            "metadata": {"type": "object"},
        },
    }
    find = {
        "type": "object",
        "required": ["query", "collection_name"],
        "properties": {"query": {"type": "string"}, "collection_name": {"type": "string"}},
    }
    tools = [
        tool_from({"name": "qdrant-store", "inputSchema": schema}),
        tool_from({"name": "qdrant-find", "inputSchema": find}),
    ]
    mapping = map_tools(tools, server_name="mcp-server-qdrant")
    assert mapping.profile == "qdrant"
    assert mapping.write.arguments["collection_name"] == "grove"
    assert mapping.search.arguments["collection_name"] == "grove"


def test_profiles_name_themselves_in_their_mappings():
    for profile in PROFILES:
        assert profile.mapping.profile == profile.name
        assert profile.mapping.write is not None


def test_packages_stand_for_profiles():
    assert PACKAGES["@modelcontextprotocol/server-memory"] == "server-memory"
    assert PACKAGES["basic-memory"] == "basic-memory"
    assert set(PACKAGES.values()) <= {profile.name for profile in PROFILES}


def _tools(**required):
    return [
        tool_from(
            {
                "name": name,
                "inputSchema": {
                    "type": "object",
                    "required": list(names),
                    "properties": {one: {"type": "string"} for one in names},
                },
            }
        )
        for name, names in required.items()
    ]


@pytest.mark.parametrize(
    ("name", "profile", "tools"),
    [
        (
            "Mnemo",
            "mnemo",
            _tools(
                add_memory=["content"],
                search_memory=["query"],
                list_memories=[],
                update_memory=["memory_id"],
                delete_memory=["memory_id"],
                archived_memories=[],
                memory=["action"],
            ),
        ),
        (
            "ai-devkit-memory",
            "ai-devkit",
            _tools(
                memory_storeKnowledge=["title", "content"],
                memory_searchKnowledge=["query"],
                memory_updateKnowledge=["id"],
            ),
        ),
    ],
)
def test_servers_that_are_known_without_a_recording(name, profile, tools):
    assert map_tools(tools, server_name=name).profile == profile
    assert map_tools(tools).profile == profile
