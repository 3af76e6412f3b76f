"""Which of the three ways of mapping counts, and that none fails whatever a server sends."""

from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_mcp.mappings.choice import map_tools
from grove_backend_mcp.mappings.map_command import mapping_document
from grove_backend_mcp.mappings.templates import (
    LEARNING_PLACEHOLDERS,
    QUERY_PLACEHOLDERS,
    check_template,
)
from grove_backend_mcp.tools import tool_from


def _tool(name, *required):
    return tool_from(
        {
            "name": name,
            "inputSchema": {
                "type": "object",
                "required": list(required),
                "properties": {one: {"type": "string"} for one in required},
            },
        }
    )


_QDRANT = [_tool("qdrant-store", "information"), _tool("qdrant-find", "query")]


def test_a_named_profile_counts_under_any_name_of_the_server():
    assert map_tools(_QDRANT, server_name="our-proxy", profile="qdrant").profile == "qdrant"


def test_what_is_configured_counts_alone():
    tables = {"search": {"tool": "qdrant-find", "arguments": {"query": "{query}"}}}
    mapping = map_tools(_QDRANT, server_name="mcp-server-qdrant", configured=tables)
    assert mapping.profile is None
    assert mapping.write is None
    assert mapping.search.tool == "qdrant-find"


_NAMES = st.sampled_from(
    "add_memory search_memories content query text limit tags name type ids observations entities"
    " properties items required $ref anyOf enum default maximum store_note".split()
)
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | _NAMES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(_NAMES | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
_SCHEMA = st.fixed_dictionaries(
    {},
    optional={
        "type": _ANY,
        "properties": st.dictionaries(_NAMES, _ANY, max_size=4),
        "required": st.lists(_NAMES, max_size=4) | _ANY,
        "$defs": _ANY,
    },
)
_TOOL = st.fixed_dictionaries(
    {"name": _NAMES | st.text(max_size=20) | _ANY, "inputSchema": _SCHEMA | _ANY},
    optional={"annotations": _ANY},
)


@settings(max_examples=30, deadline=None)
@given(st.lists(_TOOL | _ANY, max_size=6), st.text(max_size=20))
def test_no_list_of_tools_makes_it_fail(entries, name):
    tools = [tool for tool in map(tool_from, entries) if tool is not None]
    mapping = map_tools(tools, server_name=name)
    mapping_document(mapping)
    for operation, known in (
        (mapping.write, LEARNING_PLACEHOLDERS),
        (mapping.search, QUERY_PLACEHOLDERS),
    ):
        if operation is not None:
            assert check_template(dict(operation.arguments), known) == []
    assert mapping.delete is None or mapping.profile is not None
