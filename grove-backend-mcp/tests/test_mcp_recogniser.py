"""Which tools store and find: recorded lists of real servers, and lists that no profile knows.

The latter are in data/mcp_unseen.txt, with what is expected of each.
"""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_mcp.mappings.choice import faults_against, mapping_for
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.servers import Tool, tool_from

_FILE = Path(__file__).parent / "data" / "mcp_unseen.txt"
_FOLDER = Path(__file__).parent / "data" / "mcp-tools"
SERVICE = ("mcp-memory-service", "memory_store", "memory_search", "memory_delete")
CHROMA = ("chroma_add_documents", "chroma_query_documents", "chroma_delete_documents")
# The file; its profile, and the tools for writing, searching and deleting.
RECORDED = {
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
_HINTS = {
    "read": {"readOnlyHint": True},
    "write": {"readOnlyHint": False},
    "destroy": {"destructiveHint": True},
}


def _split(text):
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += character
    return [one.strip() for one in [*parts, part] if one.strip()]


def _object(text):
    members = {}
    required = []
    for one in _split(text):
        name, _, kind = one.partition(":")
        if name.strip().endswith("*"):
            required.append(name.strip(" *"))
        members[name.strip(" *")] = _kind(kind.strip())
    return {"type": "object", "properties": members, "required": required}


def _kind(text):
    if text.startswith("["):
        return {"type": "array", "items": _object(text[1:-1])}
    if text.startswith("{"):
        return _object(text[1:-1])
    if text == "list":
        return {"type": "array", "items": {"type": "string"}}
    return (
        {"type": "string", "enum": text.split("|")} if "|" in text else {"type": text or "string"}
    )


def tools_from(text):
    found = re.findall(r"([\w.-]+)(?:!(\w+))?\(((?:[^()])*)\)", text)
    return [
        Tool(name=name, schema=_object(inner), annotations=_HINTS.get(hint, {}))
        for name, hint, inner in found
    ]


def _cases():
    heading, body = "", []
    for line in [*_FILE.read_text().splitlines(), "end"]:
        if line.startswith("#"):
            continue
        if line.startswith(" "):
            body.append(line)
            continue
        if heading:
            name, write, search = (one.strip() for one in heading.split("|"))
            yield pytest.param(
                name,
                None if write == "-" else write,
                None if search == "-" else search,
                tools_from(" ".join(body)),
                id=name,
            )
        heading, body = line.strip(), []


def _recorded(name):
    document = json.loads((_FOLDER / f"{name}.json").read_text())
    tools = [tool for tool in map(tool_from, document["tools"]) if tool]
    assert len(tools) == len(document["tools"])
    return tools, document["initialize"]["serverInfo"]["name"]


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("file", sorted(path.stem for path in _FOLDER.glob("*.json")))
def test_a_recorded_list_has_its_profile_and_the_recogniser_alone_finds_the_same(file, is_named):
    (tools, name), (profile, *used) = _recorded(file), RECORDED[file]
    name = name if is_named else ""
    mapping = mapping_for(tools, name)
    assert mapping.profile == profile
    if profile:
        operations = (mapping.write, mapping.search, mapping.delete)
        assert [one and one.tool for one in operations] == used
        # A profile knows better than a schema what a tool to delete does.
        faults = faults_against(mapping, tools)
        assert [fault for fault in faults if not fault.startswith("delete: ")] == []
    assert _names(recognise(tools, name)) == tuple(used[:2])


_CASES = list(_cases())


def _names(mapping):
    return (mapping.write and mapping.write.tool, mapping.search and mapping.search.tool)


@pytest.mark.parametrize(("name", "write", "search", "tools"), _CASES)
def test_the_tools_of_an_unknown_server_are_recognised_and_nothing_else_is_guessed(
    name, write, search, tools
):
    mapping = recognise(tools, name)
    assert _names(mapping) == (write, search)
    by_name = {tool.name: tool for tool in tools}
    for role, operation in mapping.operations():
        arguments = set(operation.arguments)
        assert by_name[operation.tool].required <= arguments
        assert arguments <= set(by_name[operation.tool].schema["properties"])
        assert operation.faults() == []
        assert role in ("write", "search")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("save_memory(text*, tags*: list)", {"text": "{content}", "tags": "{labels}"}),
        ("save_memory(text*, tags*)", {"text": "{content}", "tags": "grove, {tags}"}),
        ("save_memory(key*, value*)", {"value": "{content}", "key": "{id}"}),
        (
            "write_memory(projectName*, fileName*, content*)",
            {"projectName": "{project}", "fileName": "{id}.md", "content": "{content}"},
        ),
        ("add_memory(text*, user_id*)", {"text": "{content}", "user_id": "grove"}),
        ("add_memory(text*, type*: episodic|semantic)", {"text": "{content}", "type": "episodic"}),
        ("add_memory(text*, importance*: integer)", {"text": "{content}", "importance": 5}),
        (
            "add_memory(messages*: [role*: user|assistant, content*])",
            {"messages": [{"role": "user", "content": "{content}"}]},
        ),
        ("add_memories(memories*: list)", {"memories": ["{content}"]}),
        (
            "add_memory(memory*: {content*, type*})",
            {"memory": {"content": "{content}", "type": "learning"}},
        ),
        ("add_memory(text*, session_id*)", None),
        ("add_memory(text*, flag*: boolean)", None),
        ("add_memory(text*, action*: add|delete)", None),
        ("add_memory(memory_id*, text*)", None),
        ("save_and_purge_memories(text*)", None),
        ("store_memory_everywhere(text*, delete_matches*: boolean)", None),
        (
            "add_memory(text*, type*: delete|note_taken)",
            None,
        ),
        ("store_or_delete_memory_issue(text*)", None),
        ("create_memory_project(content*)", None),
        ("add_observations(observations*: [entityName*, contents*: list])", None),
    ],
)
def test_arguments_of_a_writer(tool, arguments):
    mapping = recognise(tools_from(tool), "memory")
    assert (mapping.write and dict(mapping.write.arguments)) == arguments


@pytest.mark.parametrize(
    ("tool", "arguments", "mode"),
    [
        (
            "search_memory(q*, limit: integer)",
            {"q": "{query}", "limit": "{limit}"},
            "words",
        ),
        (
            "search_memory(query*, top_k: integer)",
            {"query": "{query}", "top_k": "{limit}"},
            "whole",
        ),
        ("semantic_search(query*)", {"query": "{query}"}, "whole"),
        ("query_memories(query_texts*: list)", {"query_texts": ["{query}"]}, "whole"),
        (
            "search_memory(query*, project*)",
            {"query": "{query}", "project": "{project}"},
            "words",
        ),
        ("search_memory(tags*: list)", None, "whole"),
        ("search_and_delete_memories(query*)", None, "whole"),
        ("search_all_memories(query*)", {"query": "{query}"}, "words"),
    ],
)
def test_arguments_of_a_search(tool, arguments, mode):
    mapping = recognise(tools_from(tool), "memory")
    assert (mapping.search and dict(mapping.search.arguments)) == arguments
    assert mapping.search is None or mapping.search.query_mode == mode


def _tool(name, /, required, **properties):
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return Tool(name=name, schema=schema, annotations={})


def _with_required(name, schema):
    text = {"type": "string"}
    return [
        _tool("save_memory", f"text {name}", **{"text": text, name: schema}),
        _tool("search_memory", f"query {name}", **{"query": text, name: schema}),
    ]


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("delete_matches", {"type": "boolean", "default": True}),
        ("replace_everything", {"type": "boolean", "default": False}),
        ("purge_older_than", {"type": "integer", "default": 5}),
        ("kind", {"type": "string", "const": "forget-older"}),
        ("scope", {"enum": ["delete"]}),
        ("ratio", {"type": "number", "default": float("nan")}),
    ],
)
def test_what_may_destroy_is_never_filled_in(name, schema):
    mapping = recognise(_with_required(name, schema), "memory")
    assert _names(mapping) == (None, None)


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
    mapping_for(tools, name)
    for _, operation in recognise(tools, name).operations():
        assert operation.faults() == []
