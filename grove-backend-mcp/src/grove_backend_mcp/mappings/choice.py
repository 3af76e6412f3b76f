"""Choose the mapping of a server: as configured, else its profile, else as recognised."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.mappings.profiles import match_profile, profile_names
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.tools import Tool

AUTO: Final = "auto"
"""Any profile that fits."""
NONE: Final = "none"
"""No profile: the tools are recognised by themselves."""


_LONGEST_NAME: Final = 100


def map_tools(
    tools: Sequence[Tool],
    *,
    server_name: str = "",
    configured: Mapping[str, Any] | None = None,
    profile: str = AUTO,
) -> ServerMapping:
    """Return what is done with a server."""
    if configured:
        from grove_backend_mcp.mappings.configured import configured_mapping

        return configured_mapping(configured, tools)
    if profile not in (AUTO, NONE):
        return _named(tools, profile)
    found = match_profile(tools, server_name) if profile == AUTO else None
    return found.mapping if found is not None else recognise(tools, server_name)


def unknown_profile(profile: str) -> str:
    """Say that there is no such profile."""
    known = (AUTO, NONE, *profile_names())
    if profile in known:
        return ""
    near = get_close_matches(profile, known, n=1)
    said = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"there is no profile {profile[:_LONGEST_NAME]!r}; {said}"


def _named(tools: Sequence[Tool], profile: str) -> ServerMapping:
    """Take the profile that the user names, whatever the server calls itself."""
    said = unknown_profile(profile)
    if said:
        raise ServerFaultError(FaultKind.UNSUITABLE, said)
    found = match_profile(tools, named=profile)
    if found is None:
        raise ServerFaultError(
            FaultKind.UNSUITABLE,
            f"the profile {profile!r} does not fit: the server has other tools, or they require"
            " other arguments",
        )
    return found.mapping
