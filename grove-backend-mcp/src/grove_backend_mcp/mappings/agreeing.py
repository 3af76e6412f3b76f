"""Agree on a mapping with a connected server, and remember what it can do."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from attrs import evolve

from grove_backend_mcp.discovery.assessments import Assessment, load_assessment, save_assessment
from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.servers import ServerEntry
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.tools import Tool
from grove_core import BackendContext, StorageError

if TYPE_CHECKING:
    from grove_backend_mcp.client import Connection

CAN_UPDATE: Final = "can_update"
CAN_LIST: Final = "can_list"
_DIGEST_LENGTH: Final = 16
_TABLES: Final = ("setup", "write", "search", "get", "listing", "update", "delete")


def mapping_for(tools: Sequence[Tool], server_name: str, settings: McpSettings) -> ServerMapping:
    """Agree on what is done with a server."""
    from grove_backend_mcp.client.messages import Cleaner
    from grove_backend_mcp.mappings.choice import map_tools

    tables = _configured(settings)
    try:
        return map_tools(
            tools, server_name=server_name, configured=tables, profile=settings.profile
        )
    except ServerFaultError as fault:
        # Names of the server's tools and arguments stand in it, in whatever number and length.
        raise ServerFaultError(fault.kind, Cleaner(()).line(fault.detail)) from None


class Abilities(NamedTuple):
    """What a server can do besides being written to."""

    updates: bool
    lists: bool
    searches: bool


def abilities_of(mapping: ServerMapping) -> Abilities:
    """Return what a server can do."""
    searches = mapping.search is not None
    return Abilities(bool(mapping.update), mapping.listing is not None, searches)


def expected_of(context: BackendContext, entry: ServerEntry, profile: str | None) -> Abilities:
    """Return what a server can do, as far as that is known before it is connected."""
    assessment = load_assessment(context.home, entry.digest)
    facts = assessment.facts if assessment is not None else {}
    updates, lists = facts.get(CAN_UPDATE), facts.get(CAN_LIST)
    if isinstance(updates, bool) and isinstance(lists, bool):
        return Abilities(updates, lists, searches=True)
    from grove_backend_mcp.mappings.profiles import profiles

    if profile is None:
        return Abilities(updates=False, lists=False, searches=True)
    fitting = (abilities_of(one.mapping) for one in profiles(profile))
    return next(fitting, Abilities(updates=False, lists=False, searches=True))


def keep_assessment(
    context: BackendContext,
    entry: ServerEntry,
    connection: "Connection",
    tools: Sequence[Tool],
    mapping: ServerMapping,
    now: datetime,
    *,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Keep what a server has shown of itself, where that is new; a fault is none."""
    if mapping.write is None and facts is None:
        return  # it may be so for once; what a person has probed is to be believed
    known = load_assessment(context.home, entry.digest)
    assessment = Assessment(
        server_name=connection.server_name,
        version=connection.server_version,
        profile=mapping.profile,
        has_write=mapping.write is not None,
        has_search=mapping.search is not None,
        tools_digest=tools_digest(tools),
        checked_at=now if known is None else known.checked_at,
        facts={
            **(known.facts if known else {}),
            **(facts or {}),
            CAN_UPDATE: abilities_of(mapping).updates,
            CAN_LIST: abilities_of(mapping).lists,
        },
    )
    if assessment != known:
        with suppress(StorageError):
            save_assessment(context.home, entry.digest, evolve(assessment, checked_at=now))


def tools_digest(tools: Sequence[Tool]) -> str:
    """Return what tells one list of tools from another."""
    listed = sorted((one.name, json.dumps(one.schema, sort_keys=True)) for one in tools)
    return hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[
        :_DIGEST_LENGTH
    ]


def _configured(settings: McpSettings) -> dict[str, object]:
    return {name: dict(table) for name in _TABLES if (table := getattr(settings, name))}
