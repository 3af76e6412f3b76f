"""Calls of MCP servers' tools, ``mcp__<server>__<tool>``."""

from collections.abc import Mapping
from typing import Any

from grove_core import ToolCall


def tool_of(call: ToolCall, *systems: str) -> str:
    """Return which tool of a system's MCP server a call means."""
    prefix, _, rest = call.name.partition("__")
    server, _, tool = rest.rpartition("__")
    is_meant = prefix == "mcp" and any(word in server.lower() for word in systems)
    return tool if is_meant else ""


def text_of(fields: Mapping[str, Any], *names: str) -> str:
    """Return the first of several fields that is a text or a whole number."""
    values = (fields.get(name) for name in names)
    for value in values:
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""
