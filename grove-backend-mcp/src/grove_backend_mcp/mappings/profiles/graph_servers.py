"""Servers that keep a graph of entities with observations."""

from typing import Final

from grove_backend_mcp.mappings.mapping import Operation, QueryMode, Reading, ServerMapping, Success
from grove_backend_mcp.mappings.profiles.profile import Profile

_ENTITY: Final = {
    "name": "{id}",
    "entityType": "learning",
    "observations": ["{plain}", "{block}"],
}
_CREATE: Final = Operation(tool="create_entities", arguments={"entities": [_ENTITY]})
_ENTITIES: Final = Reading(items="$.entities[*]", text="observations[*]", handle="name")
_OF_AN_ENTITY: Final = ("entities", "entities.name", "entities.entityType", "entities.observations")
_SEARCH: Final = Operation(tool="search_nodes", arguments={"query": "{query}"})


def _graph(name: str, names_argument: str, *, search: Operation = _SEARCH) -> ServerMapping:
    """Map a server of the reference server's family."""
    delete = Operation(tool="delete_entities", arguments={names_argument: ["{handle}"]})
    return ServerMapping(
        profile=name,
        write=_CREATE,
        search=search,
        get=Operation(tool="open_nodes", arguments={"names": ["{handle}"]}),
        listing=Operation(tool="read_graph"),
        update=(delete, _CREATE),
        delete=delete,
        query_mode=QueryMode.WORDS,
        found=_ENTITIES,
        single_writer=True,
    )


SERVER_MEMORY: Final = Profile(
    name="server-memory",
    servers=r".*(?:memory|knowledge).*",
    packages=("@modelcontextprotocol/server-memory", "@itseasy21/mcp-knowledge-graph"),
    tools={
        "create_entities": _OF_AN_ENTITY,
        "delete_entities": ("entityNames",),
        "search_nodes": ("query",),
        "open_nodes": ("names",),
        "read_graph": (),
    },
    mapping=_graph("server-memory", "entityNames"),
)

MCP_MEMORY_PY: Final = Profile(
    name="mcp-memory-py",
    servers=r".*(?:memory|knowledge).*",
    packages=("mcp-memory-py",),
    tools={
        "create_entities": _OF_AN_ENTITY,
        "delete_entities": ("entity_names",),
        "search_nodes": ("query",),
        "open_nodes": ("names",),
        "read_graph": (),
    },
    mapping=_graph("mcp-memory-py", "entity_names"),
)

# Its read_graph gives the ten newest entities only, so it is no way to list.
LIBSQL: Final = Profile(
    name="mcp-memory-libsql",
    servers=r"mcp-memory-libsql",
    packages=("mcp-memory-libsql",),
    tools={
        "create_entities": _OF_AN_ENTITY,
        "search_nodes": ("query",),
        "read_graph": (),
        "delete_entity": ("name",),
    },
    absent=frozenset({"open_nodes", "add_observations"}),
    mapping=ServerMapping(
        profile="mcp-memory-libsql",
        write=_CREATE,
        search=Operation(tool="search_nodes", arguments={"query": "{query}", "limit": "{limit}"}),
        get=Operation(tool="search_nodes", arguments={"query": "{handle}", "limit": 5}),
        update=(_CREATE,),
        delete=Operation(tool="delete_entity", arguments={"name": "{handle}"}),
        query_mode=QueryMode.WORDS,
        written=Success(text_matches=r"\ASuccessfully processed"),
        found=_ENTITIES,
        longest_text=4096,
        longest_query=512,
        single_writer=True,
    ),
)
