"""Unknown servers: which tools store and find, told by names and schemas.

The lists are in data/mcp_unseen.txt, with what is expected of each.
"""

import re
from pathlib import Path

import pytest

from grove_backend_mcp.mappings.mapping import QueryMode, TextForm
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.mappings.templates import (
    LEARNING_PLACEHOLDERS,
    QUERY_PLACEHOLDERS,
    check_template,
)
from grove_backend_mcp.tools import Tool

_FILE = Path(__file__).parent / "data" / "mcp_unseen.txt"
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


_CASES = list(_cases())


def _names(mapping):
    return (mapping.write and mapping.write.tool, mapping.search and mapping.search.tool)


@pytest.mark.parametrize(("name", "write", "search", "tools"), _CASES)
def test_the_tools_of_an_unknown_server_are_recognised(name, write, search, tools):
    assert tools
    assert _names(recognise(tools, name)) == (write, search)


@pytest.mark.parametrize(("name", "write", "search", "tools"), _CASES)
def test_what_is_recognised_can_be_called(name, write, search, tools):
    mapping = recognise(tools, name)
    by_name = {tool.name: tool for tool in tools}
    for operation, known in (
        (mapping.write, LEARNING_PLACEHOLDERS),
        (mapping.search, QUERY_PLACEHOLDERS),
    ):
        if operation is not None:
            assert by_name[operation.tool].required <= set(operation.arguments)
            assert set(operation.arguments) <= set(by_name[operation.tool].properties)
            assert check_template(operation.arguments, known) == []


@pytest.mark.parametrize(("name", "write", "search", "tools"), _CASES)
def test_nothing_else_is_ever_guessed(name, write, search, tools):
    mapping = recognise(tools, name)
    assert mapping.update == ()
    assert mapping.delete is None
    assert mapping.get is None
    assert mapping.listing is None
    assert mapping.text_form is TextForm.FULL


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("store_memory(content*)", {"content": "{content}"}),
        ("save_memory(text*, tags*: list)", {"text": "{content}", "tags": "{labels}"}),
        ("save_memory(text*, tags*)", {"text": "{content}", "tags": "grove, {tags}"}),
        ("save_memory(text*, tags: list)", {"text": "{content}"}),
        ("save_note(title*, body*)", {"body": "{content}", "title": "{summary}"}),
        ("save_memory(key*, value*)", {"value": "{content}", "key": "{id}"}),
        (
            "write_memory(projectName*, fileName*, content*)",
            {"projectName": "{project}", "fileName": "{id}.md", "content": "{content}"},
        ),
        ("add_memory(text*, user_id*)", {"text": "{content}", "user_id": "grove"}),
        ("add_memory(text*, type*: episodic|semantic)", {"text": "{content}", "type": "semantic"}),
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
        ("add_memory(text*, agent_id*)", None),
        ("add_memory(text*, start_date*)", None),
        ("add_memory(text*, flag*: boolean)", None),
        ("add_memory(text*, action*: add|delete)", None),
        ("add_memory(memory_id*, text*)", None),
        ("add_memory(url*)", None),
        ("update_memory(text*)", None),
        ("delete_memory(text*)", None),
        ("save_and_purge_memories(text*)", None),
        ("store_memory_everywhere(text*, delete_matches*: boolean)", None),
        ("save_memory(all_memories*)", None),
        ("save_memory_and_overwrite(text*)", None),
        ("save_all_memories(text*)", None),
        (
            "add_memory(text*, type*: delete|note_taken)",
            {"text": "{content}", "type": "note_taken"},
        ),
        ("add_memory(text*, type*: delete|purge)", None),
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
        ("search_memory(query*)", {"query": "{query}"}, QueryMode.WORDS),
        (
            "search_memory(q*, limit: integer)",
            {"q": "{query}", "limit": "{limit}"},
            QueryMode.WORDS,
        ),
        (
            "search_memory(query*, top_k: integer)",
            {"query": "{query}", "top_k": "{limit}"},
            QueryMode.WHOLE,
        ),
        ("semantic_search(query*)", {"query": "{query}"}, QueryMode.WHOLE),
        ("query_memories(query_texts*: list)", {"query_texts": ["{query}"]}, QueryMode.WHOLE),
        (
            "search_memory(query*, project*)",
            {"query": "{query}", "project": "{project}"},
            QueryMode.WORDS,
        ),
        ("search_memory(query*, agent_id*)", None, QueryMode.WHOLE),
        ("search_memory(tags*: list)", None, QueryMode.WHOLE),
        ("delete_memory_search(query*)", None, QueryMode.WHOLE),
        ("find_memories_and_purge(query*)", None, QueryMode.WHOLE),
        ("search_and_delete_memories(query*)", None, QueryMode.WHOLE),
        ("search_and_replace_memories(query*)", None, QueryMode.WHOLE),
        ("searchAndForgetMemories(query*)", None, QueryMode.WHOLE),
        ("search_all_memories(query*)", {"query": "{query}"}, QueryMode.WORDS),
    ],
)
def test_arguments_of_a_search(tool, arguments, mode):
    mapping = recognise(tools_from(tool), "memory")
    assert (mapping.search and dict(mapping.search.arguments)) == arguments
    assert mapping.query_mode is mode


def _with_required(name, schema):
    for tool, taken in (("save_memory", "text"), ("search_memory", "query")):
        properties = {taken: {"type": "string"}, name: schema}
        whole = {"type": "object", "properties": properties, "required": [*properties]}
        yield Tool(name=tool, schema=whole, annotations={})


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("delete_matches", {"type": "boolean", "default": True}),
        ("replace_everything", {"type": "boolean", "default": False}),
        ("verbose", {"type": "boolean", "default": True}),
        ("purge_older_than", {"type": "integer", "default": 5}),
        ("overwrite_mode", {"type": "string", "default": "append"}),
        ("clear_source", {"type": "string"}),
        ("mode", {"type": "string", "default": "purge"}),
        ("kind", {"type": "string", "const": "forget-older"}),
        ("scope", {"enum": ["delete"]}),
        ("ratio", {"type": "number", "default": float("nan")}),
    ],
)
def test_what_may_destroy_is_never_filled_in(name, schema):
    mapping = recognise([*_with_required(name, schema)], "memory")
    assert _names(mapping) == (None, None)


def test_a_harmless_default_is_taken():
    mapping = recognise([*_with_required("mode", {"type": "string", "default": "plain"})], "memory")
    assert mapping.write.arguments == {"text": "{content}", "mode": "plain"}
    assert mapping.search.arguments == {"query": "{query}", "mode": "plain"}


_ODD_BOUNDS = [float("nan"), float("inf"), float("-inf"), 10**400, -1, 0, True, "5"]


@pytest.mark.parametrize("keyword", ["minimum", "maximum"])
@pytest.mark.parametrize("bound", _ODD_BOUNDS)
def test_bounds_that_are_none_are_passed_over(keyword, bound):
    number = {"type": "integer", keyword: bound}
    properties = {"text": {"type": "string"}, "importance": number}
    writer = {"type": "object", "properties": properties, "required": [*properties]}
    asked = {"query": {"type": "string"}, "limit": number}
    search = {"type": "object", "properties": asked, "required": ["query"]}
    mapping = recognise(
        [
            Tool(name="save_memory", schema=writer, annotations={}),
            Tool(name="search_memory", schema=search, annotations={}),
        ]
    )
    assert abs(mapping.write.arguments["importance"]) <= 5
    limit = mapping.search.arguments["limit"]
    assert limit == "{limit}" or limit >= 1


def test_a_limit_is_never_above_what_the_server_takes():
    schema = {
        "type": "object",
        "required": ["query"],
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 10}},
    }
    mapping = recognise([Tool(name="search_memory", schema=schema, annotations={})])
    assert mapping.search.arguments["limit"] == 10


def test_of_two_that_fit_alike_the_shorter_name_counts():
    tools = tools_from("memory_vector_search(query*) memory_search(query*)")
    assert recognise(tools).search.tool == "memory_search"


def test_references_within_a_schema_are_followed():
    entity = {
        "type": "object",
        "required": ["name", "entityType", "observations"],
        "properties": {
            "name": {"type": "string"},
            "entityType": {"type": "string"},
            "observations": {"type": "array", "items": {"type": "string"}},
        },
    }
    schema = {
        "type": "object",
        "$defs": {"Entity": entity},
        "required": ["entities"],
        "properties": {"entities": {"type": "array", "items": {"$ref": "#/$defs/Entity"}}},
    }
    mapping = recognise([Tool(name="create_entities", schema=schema, annotations={})])
    assert mapping.write.arguments == {
        "entities": [
            {"name": "{id}", "entityType": "learning", "observations": ["{plain}", "{block}"]}
        ]
    }


def test_a_schema_that_refers_to_itself_ends():
    loop = {"$ref": "#/$defs/A"}
    schema = {
        "type": "object",
        "$defs": {"A": {"anyOf": [loop] * 100}},
        "required": ["content"],
        "properties": {"content": loop},
    }
    recognise([Tool(name="store_memory", schema=schema, annotations={})])
