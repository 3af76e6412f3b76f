"""A mapping of the configuration: what it becomes, and what is said about a wrong one."""

import pytest

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.configured import configured_mapping
from grove_backend_mcp.mappings.mapping import QueryMode, Reading, ScoreKind, Success, TextForm
from grove_backend_mcp.tools import tool_from


def _tool(name, properties, required=(), **hints):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return tool_from({"name": name, "inputSchema": schema, "annotations": hints})


_TEXT = {"type": "string"}
_LIST = {"type": "array", "items": _TEXT}
_TOOLS = [
    _tool(
        "store_note",
        {
            "body": _TEXT,
            "labels": _LIST,
            "meta": {"type": "object"},
            "kind": {"enum": ["note", "task"]},
            "pages": {
                "type": "array",
                "items": {"type": "object", "required": ["text"], "properties": {"text": _TEXT}},
            },
        },
        ["body"],
    ),
    _tool("find_notes", {"q": _TEXT, "limit": {"type": "integer"}}, ["q"], readOnlyHint=True),
    _tool("get_note", {"id": _TEXT}, ["id"]),
    _tool("list_notes", {"limit": {"type": "number"}}),
    _tool("change_note", {"id": _TEXT, "body": _TEXT}, ["id", "body"]),
    _tool("delete_note", {"id": _TEXT}, ["id"], destructiveHint=True),
    _tool("delete_notes", {"id": _TEXT, "pattern": _TEXT}, ["id"], destructiveHint=True),
    _tool("delete_all_notes", {"id": _TEXT}, ["id"]),
    _tool("drop_note", {"id": _TEXT}),
    _tool("rebuild", {"q": _TEXT}, ["q"], destructiveHint=True),
    _tool("write_over", {"body": _TEXT}, ["body"], destructiveHint=True),
    _tool("make_space", {"name": _TEXT}, ["name"]),
    _tool("loose", {}),
]
_WRITE = {
    "tool": "store_note",
    "arguments": {"body": "{content}", "labels": "{labels}", "meta": "{metadata}"},
}
_SEARCH = {"tool": "find_notes", "arguments": {"q": "{query}", "limit": "{limit}"}}


def test_everything_that_can_be_configured():
    mapping = configured_mapping(
        {
            "setup": {"tool": "make_space", "arguments": {"name": "grove"}},
            "write": {
                **_WRITE,
                "text_form": "short",
                "text_matches": "^stored",
                "text_refuses": "^no",
                "json_absent": ["error"],
                "handle": "$.id",
                "longest_text": 100,
                "single_writer": True,
            },
            "search": {
                **_SEARCH,
                "items": "$.results[*]",
                "text": "body",
                "metadata": "meta",
                "handle": "id",
                "score": "score",
                "score_kind": "percent",
                "query_mode": "words",
                "longest_query": 50,
            },
            "get": {"tool": "get_note", "arguments": {"id": "{handle}"}, "items": "$"},
            "listing": {"tool": "list_notes", "arguments": {"limit": 100}},
            "update": {
                "tool": "change_note",
                "arguments": {"id": "{handle}", "body": "{content}"},
                "then": [{"tool": "get_note", "arguments": {"id": "{id}"}}],
            },
            "delete": {"tool": "delete_note", "arguments": {"id": "{handle}"}},
        },
        _TOOLS,
    )
    assert mapping.profile is None
    assert mapping.text_form is TextForm.SHORT
    assert mapping.query_mode is QueryMode.WORDS
    assert mapping.written == Success(
        text_matches="^stored", text_refuses="^no", json_absent=("error",)
    )
    assert mapping.handle == Reading(handle="$.id")
    assert mapping.found == Reading(
        items="$.results[*]",
        text="body",
        metadata="meta",
        handle="id",
        score="score",
        score_kind=ScoreKind.PERCENT,
    )
    assert mapping.got == Reading(items="$")
    assert mapping.listed is None
    assert [step.tool for step in mapping.update] == ["change_note", "get_note"]
    assert mapping.delete.tool == "delete_note"
    assert (mapping.longest_text, mapping.longest_query, mapping.single_writer) == (100, 50, True)


def test_little_is_needed():
    mapping = configured_mapping(
        {"write": {"tool": "store_note", "arguments": {"body": "{content}"}}}, _TOOLS
    )
    assert mapping.search is None
    assert mapping.text_form is TextForm.FULL
    assert mapping.handle is None


def test_a_tool_whose_schema_says_nothing_takes_anything():
    configured_mapping({"write": {"tool": "loose", "arguments": {"anything": "{content}"}}}, _TOOLS)


_WRONG = [
    ({"wirte": _WRITE}, "no such operation; did you mean 'write'"),
    ({"write": 1}, "write must be a table"),
    ({"write": {}}, "write.tool must be the name of a tool"),
    ({"write": {"tool": "store_note", "arguments": 1}}, "write.arguments must be a table"),
    ({"write": {**_WRITE, "handel": "x"}}, "unknown key 'handel'; did you mean 'handle'"),
    ({"delete": {"tool": "delete_note", "items": "$"}}, "unknown key 'items'"),
    ({"write": {**_WRITE, "text_form": "long"}}, "must be one of short, full, not 'long'"),
    ({"write": {**_WRITE, "text_matches": "("}}, "write.text_matches is no pattern"),
    ({"write": {**_WRITE, "text_matches": "x" * 501}}, "longer than 500"),
    ({"write": {**_WRITE, "handle_pattern": "x"}}, "must have a group"),
    ({"write": {**_WRITE, "json_absent": "error"}}, "must be a list of names"),
    ({"write": {**_WRITE, "longest_text": True}}, "must be a whole number"),
    ({"write": {**_WRITE, "single_writer": "yes"}}, "must be true or false"),
    ({"search": {**_SEARCH, "items": "$..x"}}, "search.items is wrong"),
    ({"search": {**_SEARCH, "items": 1}}, "search.items must be a text"),
    ({"update": {"tool": "change_note", "then": {}}}, "update.then must be a list of tables"),
    ({"update": {"tool": "change_note", "then": [{"tool": ""}]}}, "update.then.tool must be"),
    (
        {"write": {"tool": "store_nte", "arguments": {}}},
        "no tool 'store_nte'; did you mean store_note",
    ),
    ({"write": {"tool": "zzz", "arguments": {}}}, "no tool 'zzz'; it has"),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{text}"}}},
        "unknown placeholder {text}",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{query}"}}},
        "unknown placeholder {query}",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "hello"}}},
        "write: no argument holds {content}",
    ),
    (
        {"search": {"tool": "find_notes", "arguments": {"q": "x"}}},
        "search: no argument holds {query}",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{content}", "lables": []}}},
        "takes no argument 'lables' (did you mean 'labels'?)",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"meta": {"x": "{content}"}}}},
        "store_note needs body",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{content}", "labels": "{id}"}}},
        "store_note.labels takes array, not string",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{content}", "labels": 1}}},
        "store_note.labels takes array, not integer",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{content}", "meta": "{labels}"}}},
        "store_note.meta takes object, not array",
    ),
    (
        {"write": {"tool": "store_note", "arguments": {"body": "{content}", "kind": "memo"}}},
        "takes one of note, task, not 'memo'",
    ),
    (
        {
            "write": {
                "tool": "store_note",
                "arguments": {"body": "{content}", "pages": [{"txt": "a"}]},
            }
        },
        "store_note.pages[] needs text",
    ),
    (
        {"search": {"tool": "find_notes", "arguments": {"q": "{query}", "limit": "5"}}},
        "find_notes.limit takes integer, not string",
    ),
    ({"write": {"tool": "delete_note", "arguments": {"id": "{content}"}}}, "delete_note destroys"),
    ({"search": {"tool": "rebuild", "arguments": {"q": "{query}"}}}, "rebuild destroys"),
    ({"get": {"tool": "delete_note", "arguments": {"id": "{id}"}}}, "delete_note destroys"),
    ({"listing": {"tool": "drop_note"}}, "drop_note destroys"),
    (
        {"delete": {"tool": "drop_note", "arguments": {"id": "{id}"}}},
        "does not require an argument that says which one",
    ),
    (
        {"delete": {"tool": "delete_notes", "arguments": {"id": "{id}"}}},
        "more than one thing (pattern)",
    ),
    (
        {"delete": {"tool": "delete_all_notes", "arguments": {"id": "{id}"}}},
        "more than one thing (by its name)",
    ),
    (
        {"delete": {"tool": "delete_note", "arguments": {"id": "x"}}},
        "delete: no argument holds {handle} or {id}",
    ),
]


@pytest.mark.parametrize(("tables", "words"), _WRONG, ids=[one[1] for one in _WRONG])
def test_what_is_wrong_is_said(tables, words):
    with pytest.raises(ServerFaultError) as caught:
        configured_mapping(tables, _TOOLS)
    assert words in str(caught.value)
    assert caught.value.kind is FaultKind.UNSUITABLE


def test_a_writer_may_write_over():
    configured_mapping(
        {"write": {"tool": "write_over", "arguments": {"body": "{content}"}}}, _TOOLS
    )


def test_everything_that_is_wrong_is_said_at_once():
    tables = {"write": {**_WRITE, "tool": "nothing"}, "search": {**_SEARCH, "arguments": {}}}
    with pytest.raises(ServerFaultError) as caught:
        configured_mapping(tables, _TOOLS)
    assert "write: the server has no tool 'nothing'" in str(caught.value)
    assert "search: no argument holds {query}" in str(caught.value)
