"""The servers that grove knows: how each is recognised, and what is done with it."""

from collections.abc import Mapping, Sequence
from typing import Final

from grove_backend_mcp.mappings.profiles.file_servers import BASIC_MEMORY, KEEPER, MEMORY_BANK
from grove_backend_mcp.mappings.profiles.graph_servers import LIBSQL, MCP_MEMORY_PY, SERVER_MEMORY
from grove_backend_mcp.mappings.profiles.knowledge_servers import AI_DEVKIT, MNEMO
from grove_backend_mcp.mappings.profiles.profile import Profile
from grove_backend_mcp.mappings.profiles.vector_servers import (
    CHROMA,
    MCP_MEMORY_SERVICE,
    MEM0,
    QDRANT,
    QDRANT_ANY_COLLECTION,
)
from grove_backend_mcp.tools import Tool

PROFILES: Final[tuple[Profile, ...]] = (
    SERVER_MEMORY,
    MCP_MEMORY_PY,
    LIBSQL,
    KEEPER,
    MEMORY_BANK,
    MCP_MEMORY_SERVICE,
    BASIC_MEMORY,
    QDRANT_ANY_COLLECTION,
    QDRANT,
    CHROMA,
    MEM0,
    MNEMO,
    AI_DEVKIT,
)
"""All of them; of two that fit, the first one counts."""

PACKAGES: Final[Mapping[str, str]] = {
    package: profile.name for profile in PROFILES for package in profile.packages
}
"""Which profile a package's name stands for, in a command line."""

PROFILE_NAMES: Final[tuple[str, ...]] = tuple(dict.fromkeys(one.name for one in PROFILES))
"""The names that a configuration may give."""

__all__ = ["PACKAGES", "PROFILES", "PROFILE_NAMES", "Profile", "match_profile"]


def match_profile(tools: Sequence[Tool], server_name: str = "", named: str = "") -> Profile | None:
    """Find the profile of a server."""
    wanted = (profile for profile in PROFILES if not named or profile.name == named)
    return next((profile for profile in wanted if profile.fits(tools, server_name)), None)
