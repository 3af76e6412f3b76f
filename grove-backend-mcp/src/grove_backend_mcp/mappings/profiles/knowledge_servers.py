"""Servers that keep texts with a title or tags: all that makes a learning whole is in the text."""

from typing import Final

from grove_backend_mcp.mappings.mapping import Operation, Reading, ScoreKind, ServerMapping, Success
from grove_backend_mcp.mappings.profiles.profile import Profile

_CATEGORY: Final = "grove"
_ADDED: Final = {"content": "{content}", "category": _CATEGORY, "tags": "{labels}"}
_MEMORIES: Final = Reading(
    items="$.results[*]",
    text="content",
    handle="id",
    score="score",
    score_kind=ScoreKind.SIMILARITY,
)

# Its own archive is filled by itself, so a status is kept by rewriting the block. A memory has
# another id after an update.
MNEMO: Final = Profile(
    name="mnemo",
    servers=r"mnemo(?:-mcp)?",
    packages=("mnemo-mcp",),
    tools={
        "add_memory": ("content",),
        "search_memory": ("query",),
        "list_memories": (),
        "update_memory": ("memory_id",),
        "delete_memory": ("memory_id",),
        "archived_memories": (),
    },
    mapping=ServerMapping(
        profile="mnemo",
        write=Operation(tool="add_memory", arguments=_ADDED),
        search=Operation(tool="search_memory", arguments={"query": "{query}", "limit": "{limit}"}),
        listing=Operation(tool="list_memories", arguments={"category": _CATEGORY, "limit": 100}),
        update=(Operation(tool="update_memory", arguments={"memory_id": "{handle}", **_ADDED}),),
        delete=Operation(tool="delete_memory", arguments={"memory_id": "{handle}"}),
        written=Success(text_matches=r'"status":\s*"(?:saved|updated)"'),
        handle=Reading(items="$", handle="id"),
        found=_MEMORIES,
        longest_text=5000,
    ),
)

_KNOWLEDGE: Final = Reading(items="$.results[*]", text="content", handle="id")

# A title is 10 to 100 characters and the only one of its kind, a text at least 50, and a tag has no
# colon: none of it is in the schemas.
AI_DEVKIT: Final = Profile(
    name="ai-devkit",
    servers=r"ai-devkit-memory",
    packages=("@ai-devkit/memory",),
    tools={
        "memory_storeKnowledge": ("title", "content"),
        "memory_searchKnowledge": ("query",),
        "memory_updateKnowledge": ("id",),
    },
    mapping=ServerMapping(
        profile="ai-devkit",
        write=Operation(
            tool="memory_storeKnowledge",
            arguments={"title": "grove {id}", "content": "{content}"},
        ),
        search=Operation(
            tool="memory_searchKnowledge",
            # More than 20 are not given.
            arguments={"query": "{query}", "limit": 20},
        ),
        update=(
            Operation(
                tool="memory_updateKnowledge",
                arguments={"id": "{handle}", "content": "{content}"},
            ),
        ),
        written=Success(text_matches=r"Knowledge (?:stored|updated) successfully"),
        handle=Reading(items="$", handle="id"),
        found=_KNOWLEDGE,
        longest_text=5000,
        longest_query=500,
    ),
)
