"""What is done with a server: agreed with its tools once it is connected, expected before."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from grove_backend_mcp.mapping import ServerMapping
from grove_backend_mcp.servers import ServerEntry
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.tools import Tool
from grove_backend_mcp.verdicts import Verdict, load_verdict, save_verdict
from grove_core import BackendContext, StorageError

if TYPE_CHECKING:
    from grove_backend_mcp.client import Connection

CAN_UPDATE: Final = "can_update"
_DIGEST_LENGTH: Final = 16
_TABLES: Final = ("setup", "write", "search", "get", "listing", "update", "delete")


def mapping_for(tools: Sequence[Tool], server_name: str, settings: McpSettings) -> ServerMapping:
    """Agree on what is done with a server.

    Args:
        tools: Its tools.
        server_name: What it calls itself.
        settings: What is configured.

    Raises:
        BackendError: The configured mapping does not fit its tools.
    """
    from grove_backend_mcp.choice import map_tools

    return map_tools(
        tools, server_name=server_name, configured=_configured(settings), profile=settings.profile
    )


def expects_updates(context: BackendContext, entry: ServerEntry, profile: str | None) -> bool:
    """Tell whether a server can be told another status of a learning, as far as that is known.

    Args:
        context: Where the backend works.
        entry: The server.
        profile: Name of the profile that is expected to fit.
    """
    verdict = load_verdict(context.home, entry.digest)
    if verdict is not None and isinstance(verdict.facts.get(CAN_UPDATE), bool):
        return bool(verdict.facts[CAN_UPDATE])
    from grove_backend_mcp.profiles import PROFILES

    return any(one.mapping.update for one in PROFILES if one.name == profile)


def keep_verdict(
    context: BackendContext,
    entry: ServerEntry,
    connection: "Connection",
    mapping: ServerMapping,
    now: datetime,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Keep what a server has shown of itself, where that is new; a fault is none.

    Args:
        context: Where the backend works.
        entry: The server.
        connection: The connection to it.
        mapping: What is done with it.
        now: The time, UTC.
        facts: What a probe has found out besides.
    """
    known = load_verdict(context.home, entry.digest)
    verdict = Verdict(
        server_name=connection.server_name,
        version=connection.server_version,
        profile=mapping.profile,
        has_write=mapping.write is not None,
        has_search=mapping.search is not None,
        tools_digest=tools_digest(connection.tools()),
        checked_at=now if known is None else known.checked_at,
        facts={
            **(known.facts if known else {}),
            **(facts or {}),
            CAN_UPDATE: bool(mapping.update),
        },
    )
    if verdict != known:
        with suppress(StorageError):
            save_verdict(context.home, entry.digest, evolve(verdict, checked_at=now))


def tools_digest(tools: Sequence[Tool]) -> str:
    """Give what tells one list of tools from another.

    Args:
        tools: The tools.
    """
    listed = sorted((one.name, json.dumps(one.schema, sort_keys=True)) for one in tools)
    return hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[
        :_DIGEST_LENGTH
    ]


def _configured(settings: McpSettings) -> dict[str, object]:
    return {name: dict(table) for name in _TABLES if (table := getattr(settings, name))}
