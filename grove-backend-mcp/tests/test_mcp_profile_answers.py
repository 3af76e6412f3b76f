"""Answers in the shapes that the known servers were seen to give, read as their profiles say."""

import json

import pytest

from grove_backend_mcp.mappings.choice import profiles
from grove_backend_mcp.protocol.results import failure_in, read_handle, read_results
from grove_backend_mcp.servers import ToolResult

MAPPINGS = {profile.name: profile.mapping for profile in profiles()}
ID = "cl_20261122_k3f9a2"
HASH, OTHER_HASH = "ab" * 32, "cd" * 32
TEXT = f"Lock the file\n\nTwo writers lose writes.\n\n[grove:{ID}]"
BLOCK = json.dumps({"v": 1, "id": ID, "project": "shop", "h": "0" * 12}, sort_keys=True)
FULL = f"Lock the file\n\ngrove-meta:v1 {BLOCK}"
META = {"grove": BLOCK}


def answer(text, structured=None):
    texts = () if text is None else (text if isinstance(text, str) else json.dumps(text),)
    return ToolResult(structured=structured, texts=texts, is_error=False)


def found(profile, reading, result):
    mapping = MAPPINGS[profile]
    operation = getattr(mapping, reading)
    return read_results(result, operation if operation.says_how else mapping.search or operation)


def test_prose_of_the_memory_service():
    prose = (
        "Found 2 memories (mode: semantic) for query: 'lock'\n\n"
        f"1. {TEXT}\n   Hash: {HASH}\n   Created: 2026-11-22T18:56:22Z [grove, grove:id:{ID}]\n\n"
        f"2. a list\n\n1. first\n   Hash: deadbeef\n   Hash: {OTHER_HASH}\n   Created: now [a]"
    )
    ours, other = found("mcp-memory-service", "search", answer(prose))
    assert (ours.learning_id, ours.handle) == (ID, HASH)
    assert ours.text.startswith("Lock the file\n\nTwo writers")
    assert (other.learning_id, other.handle) == (None, OTHER_HASH)
    assert other.text.startswith("a list\n\n1. first")


MEMORY = {"content": TEXT, "content_hash": HASH, "metadata": {"grove": json.loads(BLOCK)}}


@pytest.mark.parametrize(
    ("profile", "reading", "result", "handle"),
    [
        ("mcp-memory-service", "get", answer({"memories": [MEMORY], "total": 1}), HASH),
        ("mcp-memory-keeper", "search", answer({"items": [{"key": ID, "value": FULL}]}), ID),
        ("memory-bank", "get", answer(FULL), ""),
        (
            "mem0",
            "search",
            answer({"results": [{"id": "m-1", "memory": "Rewritten", "metadata": META}]}),
            "m-1",
        ),
        ("mnemo", "search", answer({"results": [{"id": "m-2", "content": FULL}]}), "m-2"),
        (
            "ai-devkit",
            "search",
            answer({"results": [{"id": "m-3", "title": "grove", "content": FULL}]}),
            "m-3",
        ),
    ],
)
def test_learnings_are_found_with_their_handles(profile, reading, result, handle):
    (one,) = found(profile, reading, result)
    assert (one.learning_id, one.handle) == (ID, handle)


@pytest.mark.parametrize(
    ("profile", "text", "handle"),
    [
        ("mcp-memory-service", f"Memory stored successfully (hash: {HASH})", HASH),
        ("mcp-memory-service", "Successfully updated memory metadata. Updated fields: tags", ""),
        ("mcp-memory-keeper", f"Saved: {ID}\nCategory: note", None),
        ("mcp-memory-libsql", "Successfully processed 1 entities (created new or updated)", None),
        ("memory-bank", f"File {ID}.md written successfully to project grove", None),
        ("basic-memory", f'{{"title":"{ID}","permalink":"main/x","action":"created"}}', None),
        ("mnemo", '{"id":"m-2","status":"saved","category":"grove"}', "m-2"),
        (
            "ai-devkit",
            '{"success": true, "id": "m-3", "message": "Knowledge stored successfully"}',
            "m-3",
        ),
    ],
)
def test_what_has_worked_is_believed(profile, text, handle):
    mapping = MAPPINGS[profile]
    assert failure_in(answer(text)) == ""
    assert mapping.write.says_how == (handle is not None)
    if handle is not None:
        assert read_handle(answer(text), mapping.write) == handle
