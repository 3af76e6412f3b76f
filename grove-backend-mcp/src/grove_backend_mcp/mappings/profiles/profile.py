"""What a built-in profile is, and how a server is told to be the one it describes."""

import re
from collections.abc import Mapping, Sequence

from attrs import field, frozen

from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.mappings.schemas import Property, arguments_of, items_of, properties_of
from grove_backend_mcp.tools import Tool


@frozen(kw_only=True)
class Profile:
    """A server that is known."""

    name: str
    servers: str
    packages: tuple[str, ...] = ()
    tools: Mapping[str, tuple[str, ...]]
    absent: frozenset[str] = frozenset()
    mapping: ServerMapping = field()

    def fits(self, tools: Sequence[Tool], server_name: str = "") -> bool:
        """Return whether a server is this one."""
        if server_name and not re.fullmatch(self.servers, server_name.strip(), re.IGNORECASE):
            return False
        known = {tool.name: tool for tool in tools}
        if not self.absent.isdisjoint(known):
            return False
        return all(
            name in known and required_of(known[name]).issuperset(required)
            for name, required in self.tools.items()
        )


def required_of(tool: Tool) -> frozenset[str]:
    """Name what a tool requires, one level into lists of objects."""
    required = [one for one in arguments_of(tool) if one.is_required]
    inner = (f"{outer.name}.{one}" for outer in required for one in _required_within(outer, tool))
    return frozenset([*(one.name for one in required), *inner])


def _required_within(argument: Property, tool: Tool) -> Sequence[str]:
    """Name what the objects in a list require."""
    items = items_of(argument, tool.schema)
    return [one.name for one in properties_of(items, tool.schema) if one.is_required]
