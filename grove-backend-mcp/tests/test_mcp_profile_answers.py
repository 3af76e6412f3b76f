"""Answers in the shapes that the known servers were seen to give, read as their profiles say."""

import json

import pytest

from grove_backend_mcp.mappings.profiles import PROFILES
from grove_backend_mcp.speaking.results import read_handle, read_results
from grove_backend_mcp.speaking.success import failure_in
from grove_backend_mcp.tools import ToolResult

_MAPPINGS = {profile.name: profile.mapping for profile in PROFILES}
_ID = "cl_20261122_k3f9a2"
_HASH = "ab" * 32
_OTHER_HASH = "cd" * 32
_TEXT = f"Lock the file\n\nTwo writers lose writes.\n\n[grove:{_ID}]"
_BLOCK = json.dumps({"v": 1, "id": _ID, "project": "shop", "h": "0" * 12}, sort_keys=True)


def _answer(text, structured=None, *, is_error=False):
    texts = () if text is None else (text if isinstance(text, str) else json.dumps(text),)
    return ToolResult(structured=structured, texts=texts, is_error=is_error)


def _found(profile, reading, answer):
    mapping = _MAPPINGS[profile]
    return read_results(answer, getattr(mapping, reading) or mapping.found)


_PROSE = (
    "Found 2 memories (mode: semantic) for query: 'lock'\n\n"
    f"1. {_TEXT}\n   Hash: {_HASH}\n   Created: 2026-11-22T18:56:22Z [grove, grove:id:{_ID}]\n\n"
    f"2. a list\n\n1. first\n   Hash: deadbeef\n   Hash: {_OTHER_HASH}\n   Created: 2026-11-22T18:56:22Z [a]"
)


def test_prose_of_the_memory_service():
    ours, other = _found("mcp-memory-service", "found", _answer(_PROSE))
    assert (ours.learning_id, ours.handle) == (_ID, _HASH)
    assert ours.text.startswith("Lock the file\n\nTwo writers")
    assert (other.learning_id, other.handle) == (None, _OTHER_HASH)
    assert other.text.startswith("a list\n\n1. first")


@pytest.mark.parametrize(
    ("profile", "reading", "answer", "handle"),
    [
        (
            "mcp-memory-service",
            "got",
            _answer(
                {
                    "memories": [
                        {
                            "content": _TEXT,
                            "content_hash": _HASH,
                            "tags": ["grove"],
                            "metadata": {"grove": json.loads(_BLOCK)},
                        }
                    ],
                    "total": 1,
                }
            ),
            _HASH,
        ),
        (
            "server-memory",
            "found",
            _answer(
                "{}",
                {
                    "entities": [
                        {
                            "name": _ID,
                            "entityType": "learning",
                            "observations": ["Lock the file", f"grove-meta:v1 {_BLOCK}"],
                        }
                    ],
                    "relations": [],
                },
            ),
            _ID,
        ),
        (
            "mcp-memory-libsql",
            "found",
            _answer(
                {
                    "entities": [
                        {
                            "name": _ID,
                            "entityType": "learning",
                            "observations": ["Lock the file", f"grove-meta:v1 {_BLOCK}"],
                        }
                    ],
                    "relations": [],
                }
            ),
            _ID,
        ),
        (
            "mcp-memory-keeper",
            "found",
            _answer(
                {
                    "items": [{"key": _ID, "value": f"Lock the file\n\ngrove-meta:v1 {_BLOCK}"}],
                    "totalCount": 1,
                }
            ),
            _ID,
        ),
        ("memory-bank", "got", _answer(f"Lock the file\n\ngrove-meta:v1 {_BLOCK}"), ""),
        (
            "basic-memory",
            "found",
            _answer(
                {
                    "results": [
                        {
                            "title": _ID,
                            "permalink": f"main/grove/{_ID}",
                            "content": _TEXT,
                            "score": -0.9,
                        }
                    ]
                }
            ),
            f"main/grove/{_ID}",
        ),
        (
            "basic-memory",
            "got",
            _answer(
                None,
                {
                    "result": {
                        "title": _ID,
                        "permalink": f"main/grove/{_ID}",
                        "content": f"\n{_TEXT}",
                        "frontmatter": {"grove": _BLOCK},
                    }
                },
            ),
            f"main/grove/{_ID}",
        ),
        (
            "qdrant",
            "found",
            _answer(
                [
                    "Results for the query 'x'",
                    f"<entry><content>{_TEXT}</content><metadata>{_BLOCK}</metadata></entry>",
                ]
            ),
            "",
        ),
        (
            "chroma",
            "found",
            _answer(
                {
                    "ids": [[_ID]],
                    "documents": [[_TEXT]],
                    "metadatas": [[{"grove": _BLOCK}]],
                    "distances": [[1.0]],
                }
            ),
            _ID,
        ),
        (
            "chroma",
            "got",
            _answer(
                {"ids": [_ID], "documents": [_TEXT], "metadatas": [{"grove": _BLOCK}], "uris": None}
            ),
            _ID,
        ),
        (
            "mem0",
            "found",
            _answer(
                {
                    "results": [
                        {
                            "id": "m-1",
                            "memory": "Files are locked",
                            "metadata": {"grove": _BLOCK},
                            "score": 0.5,
                        }
                    ]
                }
            ),
            "m-1",
        ),
        (
            "mnemo",
            "found",
            _answer(
                {
                    "count": 1,
                    "results": [
                        {"id": "m-2", "content": f"Lock\n\ngrove-meta:v1 {_BLOCK}", "score": 0.2}
                    ],
                }
            ),
            "m-2",
        ),
        (
            "ai-devkit",
            "found",
            _answer(
                {
                    "results": [
                        {
                            "id": "m-3",
                            "title": "grove",
                            "content": f"Lock\n\ngrove-meta:v1 {_BLOCK}",
                        }
                    ],
                    "totalMatches": 1,
                }
            ),
            "m-3",
        ),
    ],
)
def test_learnings_are_found_with_their_handles(profile, reading, answer, handle):
    (found,) = _found(profile, reading, answer)
    assert (found.learning_id, found.handle) == (_ID, handle)


def test_a_distance_and_a_similarity_become_relevance():
    (near,) = _found(
        "chroma",
        "found",
        _answer(
            {"ids": [[_ID]], "documents": [[_TEXT]], "metadatas": [[None]], "distances": [[1.0]]}
        ),
    )
    assert near.relevance == 0.5
    (like,) = _found(
        "mem0", "found", _answer({"results": [{"id": "m", "memory": "x y z", "score": 0.25}]})
    )
    assert like.relevance == 0.25


@pytest.mark.parametrize(
    ("profile", "text", "handle"),
    [
        ("mcp-memory-service", f"Memory stored successfully (hash: {_HASH})", _HASH),
        ("mcp-memory-service", "Successfully updated memory metadata. Updated fields: tags", ""),
        ("mcp-memory-keeper", f"Saved: {_ID}\nCategory: note", None),
        (
            "mcp-memory-libsql",
            "Successfully processed 1 entities (created new or updated existing)",
            None,
        ),
        ("memory-bank", f"File {_ID}.md written successfully to project grove", None),
        ("memory-bank", f"File {_ID}.md updated successfully in project grove", None),
        ("basic-memory", f'{{"title":"{_ID}","permalink":"main/x","action":"created"}}', None),
        ("basic-memory", f'{{"title":"{_ID}","permalink":"main/x","action":"updated"}}', None),
        ("qdrant", f"Remembered: {_TEXT} in collection grove", None),
        ("chroma", "Successfully added 1 documents to collection grove, result is None", None),
        ("mnemo", '{"id":"m-2","status":"saved","category":"grove"}', "m-2"),
        (
            "ai-devkit",
            '{"success": true, "id": "m-3", "message": "Knowledge stored successfully"}',
            "m-3",
        ),
        ("server-memory", "[]", None),
    ],
)
def test_what_has_worked_is_believed(profile, text, handle):
    mapping = _MAPPINGS[profile]
    answer = _answer(text)
    assert failure_in(answer, mapping.written) == ""
    assert (mapping.handle is None) == (handle is None)
    if mapping.handle is not None:
        assert read_handle(answer, mapping.handle) == handle


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        ("mcp-memory-service", "Error storing memory: Duplicate content detected (exact match)"),
        ("mcp-memory-service", "Failed to update memory metadata: Memory with hash 00 not found"),
        ("mcp-memory-keeper", "Failed to save context item: Key cannot be null or undefined"),
        ("mcp-memory-libsql", '{"error": "internal_error", "message": "SQLITE_BUSY"}'),
        ("basic-memory", '{"title":"x","action":"conflict","error":"NOTE_ALREADY_EXISTS"}'),
        ("basic-memory", "# Search Failed"),
        ("chroma", "Error executing tool chroma_add_documents: exists"),
        ("qdrant", ""),
        ("mem0", '{"error": "no key"}'),
        ("mnemo", '{"error": "content is required for add"}'),
        ("ai-devkit", '{"error": "DUPLICATE_ERROR", "message": "similar title"}'),
    ],
)
def test_what_has_failed_without_the_flag_for_it_is_not(profile, text):
    assert failure_in(_answer(text), _MAPPINGS[profile].written)
