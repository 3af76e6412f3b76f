"""What grove learns from this plugin; everything else is imported when it is used."""

from collections.abc import Sequence
from pathlib import Path

from grove_backend_mcp.settings import McpSettings
from grove_core import (
    BackendContext,
    BackendSpec,
    CommandSpec,
    Detection,
    Discovered,
    MemoryBackend,
    TrustRequest,
    hookimpl,
)


def may_be_a_server(context: BackendContext) -> bool:
    """Return whether a server may be written down anywhere."""
    settings = context.settings
    if settings is None or settings.server or settings.command or settings.url:
        return True
    home = context.environment.get("CLAUDE_CONFIG_DIR") or context.environment.get("HOME", "")
    return (context.root / ".mcp.json").exists() or Path(home, ".claude.json").exists()


grove_api = 2

_RECORD = ".grove/mcp.jsonl"
_PATHS = (_RECORD, ".mcp.json")


@hookimpl
def grove_memory_backends() -> Sequence[BackendSpec]:
    """Offer the backend ``mcp``."""
    return [
        BackendSpec(
            name="mcp",
            detect=_detect,
            open=_open,
            settings=McpSettings,
            paths=_PATHS,
            discover=_discover,
            trust=_trust,
            commands=(
                CommandSpec(
                    name="map",
                    target="grove_backend_mcp.commands:map_command",
                    help="Write a mapping for the tools of a server that grove does not know.",
                ),
                CommandSpec(
                    name="probe",
                    target="grove_backend_mcp.commands:probe_command",
                    help="Ask a server what it can do, and try that with a learning of no one's.",
                ),
            ),
        )
    ]


def _detect(context: BackendContext) -> Detection | None:
    """Return whether a memory server is written down here, or has been used here."""
    record = context.root / _RECORD
    if not may_be_a_server(context) and not record.is_file():
        return None
    from grove_backend_mcp.discovery.choose import choose

    choice = choose(context)
    if (used := choice.used) is not None:
        entry = used.entry
        if used.is_usable or choice.is_configured or record.is_file():
            note = f"found the memory server {entry.name}"
            note += "" if used.is_usable else f"; what is written waits for it: {used.why}"
            return Detection(marker=f"{entry.source}: {entry.name}", note=note)
    if record.is_file():
        note = f"{record.name} is read, and what is written waits for a server; {choice.why_none}"
        return Detection(marker=str(record), note=note)
    if choice.candidates or choice.problems:
        source = choice.candidates[0].entry.source if choice.candidates else "[backends.mcp]"
        return Detection(marker=source, usable=False, note=choice.why_none)
    return None


def _open(context: BackendContext) -> MemoryBackend:
    from grove_backend_mcp.backend import McpBackend

    return McpBackend(context)


def _discover(context: BackendContext) -> Sequence[Discovered]:
    from grove_backend_mcp.discovery.choose import discovered

    return discovered(context)


def _trust(context: BackendContext) -> Sequence[TrustRequest]:
    if not may_be_a_server(context):
        return ()
    from grove_backend_mcp.discovery.choose import trust_requests

    return trust_requests(context)
