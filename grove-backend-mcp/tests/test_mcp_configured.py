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
_PAGE = {"type": "object", "required": ["text"], "properties": {"text": _TEXT}}
_TOOLS = [
    _tool(
        "store_note",
        {
            "body": _TEXT,
            "labels": {"type": "array", "items": _TEXT},
            "meta": {"type": "object"},
            "kind": {"enum": ["note", "task"]},
            "pages": {"type": "array", "items": _PAGE},
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
    _tool("make_space", {"name": _TEXT}, ["name"]),
]
_WRITE = {
    "tool": "store_note",
    "arguments": {"body": "{content}", "labels": "{labels}", "meta": "{metadata}"},
}
_SEARCH = {"tool": "find_notes", "arguments": {"q": "{query}", "limit": "{limit}"}}


def _writing(**arguments):
    return {"write": {"tool": "store_note", "arguments": {"body": "{content}", **arguments}}}


def _of(operation, tool, **arguments):
    return {operation: {"tool": tool, "arguments": arguments}}


def test_everything_that_can_be_configured():
    success = {"text_matches": "^stored", "text_refuses": "^no", "json_absent": ["error"]}
    reading = {
        "items": "$.results[*]",
        "text": "body",
        "metadata": "meta",
        "handle": "id",
        "score": "score",
    }
    limits = {"longest_text": 100, "single_writer": True}
    written = {**_WRITE, **success, **limits, "text_form": "short", "handle": "$.id"}
    found = {**_SEARCH, **reading, "score_kind": "percent", "longest_query": 50}
    mapping = configured_mapping(
        {
            **_of("setup", "make_space", name="grove"),
            "write": written,
            "search": {**found, "query_mode": "words"},
            "get": {"tool": "get_note", "arguments": {"id": "{handle}"}, "items": "$"},
            **_of("listing", "list_notes", limit=100),
            "update": {
                "tool": "change_note",
                "arguments": {"id": "{handle}", "body": "{content}"},
                "then": [{"tool": "get_note", "arguments": {"id": "{id}"}}],
            },
            **_of("delete", "delete_note", id="{handle}"),
        },
        _TOOLS,
    )
    assert mapping.profile is None
    assert (mapping.text_form, mapping.query_mode) == (TextForm.SHORT, QueryMode.WORDS)
    assert mapping.written == Success(**{**success, "json_absent": ("error",)})
    assert mapping.handle == Reading(handle="$.id")
    assert mapping.found == Reading(**reading, score_kind=ScoreKind.PERCENT)
    assert (mapping.got, mapping.listed) == (Reading(items="$"), None)
    assert [step.tool for step in mapping.update] == ["change_note", "get_note"]
    assert mapping.delete.tool == "delete_note"
    assert (mapping.longest_text, mapping.longest_query, mapping.single_writer) == (100, 50, True)


_WRONG = [
    ({"wirte": _WRITE}, "no such operation; did you mean 'write'"),
    ({"write": {}}, "write.tool must be the name of a tool"),
    ({"write": {**_WRITE, "handel": "x"}}, "unknown key 'handel'; did you mean 'handle'"),
    ({"delete": {"tool": "delete_note", "items": "$"}}, "unknown key 'items'"),
    ({"write": {**_WRITE, "text_form": "long"}}, "must be one of short, full, not 'long'"),
    ({"write": {**_WRITE, "text_matches": "("}}, "write.text_matches is no pattern"),
    ({"write": {**_WRITE, "handle_pattern": "x"}}, "must have a group"),
    ({"write": {**_WRITE, "longest_text": True}}, "must be a whole number"),
    ({"search": {**_SEARCH, "items": "$..x"}}, "search.items is wrong"),
    ({"update": {"tool": "change_note", "then": {}}}, "update.then must be a list of tables"),
    ({"update": {"tool": "change_note", "then": [{"tool": ""}]}}, "update.then.tool must be"),
    (_of("write", "store_nte"), "no tool 'store_nte'; did you mean store_note"),
    (_writing(body="{query}"), "unknown placeholder {query}"),
    (_writing(body="hello"), "write: no argument holds {content}"),
    (_writing(lables=[]), "takes no argument 'lables' (did you mean 'labels'?)"),
    (_of("write", "store_note", meta={"x": "{content}"}), "store_note needs body"),
    (_writing(labels="{id}"), "store_note.labels takes array, not string"),
    (_writing(kind="memo"), "takes one of note, task, not 'memo'"),
    (_writing(pages=[{"txt": "a"}]), "store_note.pages[] needs text"),
    (_of("write", "delete_note", id="{content}"), "delete_note destroys"),
    (_of("listing", "drop_note"), "drop_note destroys"),
    (_of("delete", "drop_note", id="{id}"), "does not require an argument that says which one"),
    (_of("delete", "delete_notes", id="{id}"), "more than one thing (pattern)"),
    (_of("delete", "delete_all_notes", id="{id}"), "more than one thing (by its name)"),
    (_of("delete", "delete_note", id="x"), "delete: no argument holds {handle} or {id}"),
]


@pytest.mark.parametrize(("tables", "words"), _WRONG, ids=[one[1] for one in _WRONG])
def test_what_is_wrong_is_said(tables, words):
    with pytest.raises(ServerFaultError) as caught:
        configured_mapping(tables, _TOOLS)
    assert words in str(caught.value)
    assert caught.value.kind is FaultKind.UNSUITABLE


def test_everything_that_is_wrong_is_said_at_once():
    tables = {"write": {**_WRITE, "tool": "nothing"}, "search": {**_SEARCH, "arguments": {}}}
    with pytest.raises(ServerFaultError) as caught:
        configured_mapping(tables, _TOOLS)
    assert "write: the server has no tool 'nothing'" in str(caught.value)
    assert "search: no argument holds {query}" in str(caught.value)
