"""A look at whether there may be a server at all, before anything is read whose reading costs."""

import os
from typing import Final

from grove_core import BackendContext

_PLACES_OF_ADMINISTRATORS: Final = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")


def may_be_a_server(context: BackendContext) -> bool:
    """Return whether a server may be written down anywhere."""
    settings = context.settings
    if settings is None or settings.server or settings.command or settings.url:
        return True
    home = context.environment.get("HOME", "")
    moved = context.environment.get("CLAUDE_CONFIG_DIR", "")
    directory = moved or f"{home}/.claude"
    places = (
        f"{moved or home}/.claude.json",
        f"{directory}/plugins/installed_plugins.json",
        os.path.join(context.root, ".mcp.json"),  # noqa: PTH118 - every prompt may ask
        *_PLACES_OF_ADMINISTRATORS,
    )
    return any(map(os.path.exists, places))
