"""A small client of MCP that bounds everything and survives servers that misbehave.

It speaks over the streams of a program and over streamable HTTP, to servers of both eras of the
protocol, and asks for nothing but tools. Hooks do not import it.
"""

from grove_backend_mcp.client.messages import Limits, Reporter
from grove_backend_mcp.client.session import Connection, connect

__all__ = ["Connection", "Limits", "Reporter", "connect"]
