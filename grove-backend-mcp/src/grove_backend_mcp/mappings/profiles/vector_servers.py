"""Servers that find by meaning."""

from typing import Final

from grove_backend_mcp.mappings.mapping import (
    Operation,
    Reading,
    ScoreKind,
    ServerMapping,
    Success,
    TextForm,
)
from grove_backend_mcp.mappings.profiles.profile import Profile

_MEMORIES: Final = Reading(
    items="$.memories[*]", text="content", metadata="metadata", handle="content_hash"
)

# A conversation makes it store what is like another memory. Its types are a closed list. The
# search answers in prose; what is stored may hold a line like its own, so the last line counts.
MCP_MEMORY_SERVICE: Final = Profile(
    name="mcp-memory-service",
    servers=r"(?:mcp-)?memory(?:-service)?",
    packages=("mcp-memory-service", "mcp-memory-service-lite"),
    tools={
        "memory_store": ("content",),
        "memory_search": (),
        "memory_list": (),
        "memory_update": ("content_hash", "updates"),
    },
    mapping=ServerMapping(
        profile="mcp-memory-service",
        write=Operation(
            tool="memory_store",
            arguments={
                "content": "{content}",
                "conversation_id": "{id}",
                "metadata": {
                    "tags": "{labels}",
                    "type": "learning",
                    "grove": "{metadata}",
                },
            },
        ),
        search=Operation(tool="memory_search", arguments={"query": "{query}", "limit": "{limit}"}),
        get=Operation(tool="memory_list", arguments={"tags": ["grove:id:{id}"], "page_size": 10}),
        listing=Operation(
            tool="memory_list", arguments={"tags": ["grove:project:{project}"], "page_size": 100}
        ),
        update=(
            Operation(
                tool="memory_update",
                arguments={
                    "content_hash": "{handle}",
                    "updates": {"tags": "{labels}", "metadata": {"grove": "{metadata}"}},
                },
            ),
        ),
        # The tool takes filters as well, and refuses a call without any; with a hash it takes no
        # notice of them, and deletes that memory only.
        delete=Operation(tool="memory_delete", arguments={"content_hash": "{handle}"}),
        text_form=TextForm.SHORT,
        written=Success(text_matches=r"\A(?:Memory stored|Successfully )"),
        handle=Reading(handle_pattern=r"(?i)\bhash:?\s+([0-9a-f]{64})\b"),
        found=Reading(
            separator=r"\AFound [^\n]*\n\n1\. |^   Created: [^\n]*\n\n\d{1,4}\. ",
            handle_pattern=r"^   Hash: ([0-9a-f]{64})$",
        ),
        got=_MEMORIES,
        listed=_MEMORIES,
    ),
)

_STORE: Final = {"information": "{content}", "metadata": "{metadata}"}
_FIND: Final = {"query": "{query}"}
_COLLECTION: Final = {"collection_name": "grove"}


def _qdrant(extra: dict[str, str]) -> ServerMapping:
    """Map Qdrant's server, which has no tool to change or delete anything."""
    return ServerMapping(
        profile="qdrant",
        write=Operation(tool="qdrant-store", arguments={**_STORE, **extra}),
        search=Operation(tool="qdrant-find", arguments={**_FIND, **extra}),
        text_form=TextForm.SHORT,
        written=Success(text_matches=r"\ARemembered: "),
        found=Reading(items="$[*]"),
    )


QDRANT: Final = Profile(
    name="qdrant",
    servers=r"(?:mcp-server-)?qdrant.*",
    packages=("mcp-server-qdrant",),
    tools={"qdrant-store": ("information",), "qdrant-find": ("query",)},
    mapping=_qdrant({}),
)

# Where its settings name no collection, each call must.
QDRANT_ANY_COLLECTION: Final = Profile(
    name="qdrant",
    servers=QDRANT.servers,
    tools={"qdrant-store": ("information", "collection_name"), "qdrant-find": ("query",)},
    mapping=_qdrant(_COLLECTION),
)

_DOCUMENTS: Final = {
    **_COLLECTION,
    "ids": ["{id}"],
    "documents": ["{content}"],
    "metadatas": ["{flat_metadata}"],
}
_ROWS: Final = Reading(
    items="$",
    columns=True,
    text="documents",
    metadata="metadatas.grove",
    handle="ids",
    score="distances",
    score_kind=ScoreKind.DISTANCE,
)

CHROMA: Final = Profile(
    name="chroma",
    servers=r"chroma(?:-mcp)?",
    packages=("chroma-mcp",),
    tools={
        "chroma_create_collection": ("collection_name",),
        "chroma_add_documents": ("collection_name", "documents", "ids"),
        "chroma_query_documents": ("collection_name", "query_texts"),
        "chroma_get_documents": ("collection_name",),
        "chroma_update_documents": ("collection_name", "ids"),
        "chroma_delete_documents": ("collection_name", "ids"),
    },
    mapping=ServerMapping(
        profile="chroma",
        setup=Operation(tool="chroma_create_collection", arguments=_COLLECTION),
        write=Operation(tool="chroma_add_documents", arguments=_DOCUMENTS),
        search=Operation(
            tool="chroma_query_documents",
            arguments={**_COLLECTION, "query_texts": ["{query}"], "n_results": "{limit}"},
        ),
        get=Operation(tool="chroma_get_documents", arguments={**_COLLECTION, "ids": ["{handle}"]}),
        listing=Operation(
            tool="chroma_get_documents",
            arguments={**_COLLECTION, "where": {"grove_project": "{project}"}},
        ),
        update=(Operation(tool="chroma_update_documents", arguments=_DOCUMENTS),),
        delete=Operation(
            tool="chroma_delete_documents", arguments={**_COLLECTION, "ids": ["{handle}"]}
        ),
        text_form=TextForm.SHORT,
        written=Success(text_matches=r"\ASuccessfully"),
        found=_ROWS,
    ),
)

_FACTS: Final = Reading(
    items="$.results[*]",
    text="memory",
    metadata="metadata.grove",
    handle="id",
    score="score",
    score_kind=ScoreKind.SIMILARITY,
)

# It rewrites what it is given, later and elsewhere, so it can be neither updated nor read back by
# what was written; its tools to delete everything are never called.
MEM0: Final = Profile(
    name="mem0",
    servers=r"mem0(?:-mcp(?:-server)?)?",
    packages=("mem0-mcp-server",),
    tools={
        "add_memory": ("text",),
        "search_memories": ("query",),
        "get_memory": ("memory_id",),
        "get_memories": (),
        "delete_memory": ("memory_id",),
    },
    mapping=ServerMapping(
        profile="mem0",
        write=Operation(
            tool="add_memory",
            arguments={"text": "{content}", "metadata": "{flat_metadata}"},
        ),
        search=Operation(
            tool="search_memories", arguments={"query": "{query}", "limit": "{limit}"}
        ),
        get=Operation(tool="get_memory", arguments={"memory_id": "{handle}"}),
        listing=Operation(tool="get_memories", arguments={"page_size": 100}),
        delete=Operation(tool="delete_memory", arguments={"memory_id": "{handle}"}),
        text_form=TextForm.SHORT,
        handle=Reading(items="$.results[*]", handle="id"),
        found=_FACTS,
        got=Reading(items="$", text="memory", metadata="metadata.grove", handle="id"),
    ),
)
