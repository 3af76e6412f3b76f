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
def test_the_tools_of_an_unknown_server_are_recognised_and_nothing_else_is_guessed(
    name, write, search, tools
):
    mapping = recognise(tools, name)
    assert _names(mapping) == (write, search)
    by_name = {tool.name: tool for tool in tools}
    for operation, known in (
        (mapping.write, LEARNING_PLACEHOLDERS),
        (mapping.search, QUERY_PLACEHOLDERS),
    ):
        if operation is not None:
            arguments = set(operation.arguments)
            assert by_name[operation.tool].required <= arguments
            assert arguments <= set(by_name[operation.tool].properties)
            assert check_template(operation.arguments, known) == []
    assert (mapping.update, mapping.delete) == ((), None)
    assert (mapping.get, mapping.listing) == (None, None)
    assert mapping.text_form is TextForm.FULL


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
        ("add_memory(text*, flag*: boolean)", None),
        ("add_memory(text*, action*: add|delete)", None),
        ("add_memory(memory_id*, text*)", None),
        ("save_and_purge_memories(text*)", None),
        ("store_memory_everywhere(text*, delete_matches*: boolean)", None),
        (
            "add_memory(text*, type*: delete|note_taken)",
            {"text": "{content}", "type": "note_taken"},
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
        ("search_memory(tags*: list)", None, QueryMode.WHOLE),
        ("search_and_delete_memories(query*)", None, QueryMode.WHOLE),
        ("search_all_memories(query*)", {"query": "{query}"}, QueryMode.WORDS),
    ],
)
def test_arguments_of_a_search(tool, arguments, mode):
    mapping = recognise(tools_from(tool), "memory")
    assert (mapping.search and dict(mapping.search.arguments)) == arguments
    assert mapping.query_mode is mode


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
