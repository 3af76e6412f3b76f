"""MCP memory servers as a memory backend: found, and not available yet."""

import json

from grove_core import (
    BackendContext,
    BackendError,
    BackendSpec,
    Detection,
    MemoryBackend,
    hookimpl,
)

grove_api = 1

NOT_AVAILABLE = (
    "an MCP memory server is configured here, but this release of grove-backend-mcp cannot talk to"
    " it: not available yet; learnings go to the next backend"
)
_FILE_NAME = ".mcp.json"
_LARGEST_FILE = 1024 * 1024
# Whether a server is a memory can be told for sure only by asking it, which detection must not do.
_TELLING_WORD = "memory"


@hookimpl
def grove_memory_backends() -> list[BackendSpec]:
    """Offer the backend ``mcp``."""
    return [BackendSpec(name="mcp", detect=detect, open=open_backend, paths=(_FILE_NAME,))]


def detect(context: BackendContext) -> Detection | None:
    """Tell whether the project names an MCP server that looks like a memory.

    Nothing is started: a cloned repository must not make grove run a program.

    Args:
        context: Where to look.

    Returns:
        The server found, not usable; or ``None``.
    """
    path = context.root / _FILE_NAME
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return None
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    servers = document.get("mcpServers") if isinstance(document, dict) else None
    if not isinstance(servers, dict):
        return None
    name = next((name for name in servers if _TELLING_WORD in name.lower()), None)
    if name is None:
        return None
    return Detection(marker=f"{path}: {name}", usable=False, note=NOT_AVAILABLE)


def open_backend(context: BackendContext) -> MemoryBackend:
    """Refuse, with words.

    Args:
        context: Where the backend was to work.

    Raises:
        BackendError: Always, in this release.
    """
    raise BackendError(f"{context.root}: {NOT_AVAILABLE}")
