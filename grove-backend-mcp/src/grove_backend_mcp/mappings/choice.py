"""Choose the mapping of a server: as configured, else its profile; nothing is guessed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from grove_backend_mcp.mappings.mapping import Operation, ServerMapping, mapping_of, near
from grove_backend_mcp.mappings.profiles import match_profile, profile_names
from grove_backend_mcp.mappings.templates import placeholders
from grove_backend_mcp.mappings.words import TOOLS, WRITE_VERBS, words_of
from grove_backend_mcp.servers import FaultKind, ServerFaultError, Tool
from grove_backend_mcp.settings import McpSettings

_AUTO: Final = "auto"
_NONE: Final = "none"
_TABLES: Final = ("setup", "write", "search", "get", "listing", "update", "delete")


def mapping_for(
    tools: Sequence[Tool], server_name: str = "", settings: McpSettings | None = None
) -> ServerMapping:
    """Return what is done with a server; without operations where nobody has said it."""
    settings = settings or McpSettings()
    tables = {name: dict(table) for name in _TABLES if (table := getattr(settings, name))}
    profile = settings.profile
    if tables:
        return configured_mapping(tables, tools)
    if profile == _NONE:
        return ServerMapping()
    if profile == _AUTO:
        found = match_profile(tools, server_name)
        return ServerMapping() if found is None else found.mapping
    # Whatever the server calls itself: the user names the profile.
    found = match_profile(tools, named=profile)
    if found is None:
        raise ServerFaultError(
            FaultKind.UNSUITABLE,
            f"the profile {profile!r} does not fit: the server has other tools, or they require"
            " other arguments",
        )
    return found.mapping


def unknown_profile(profile: str) -> str:
    """Say that there is no such profile."""
    known = (_AUTO, _NONE, *profile_names())
    is_known = profile in known
    return "" if is_known else f"there is no profile {profile[:100]!r}{near(profile, known)}"


def configured_mapping(tables: Mapping[str, Any], tools: Sequence[Tool]) -> ServerMapping:
    """Read a configured mapping and hold it against the tools of the server."""
    try:
        mapping = mapping_of(tables)
        faults = faults_against(mapping, tools)
    except ValueError as error:
        faults = [str(error)]
    if faults:
        from grove_backend_mcp.client import Reporter

        # Names of the server's tools and arguments stand in it, in whatever number and length.
        said = Reporter().line(f"the configured mapping does not fit: {'; '.join(faults)}")
        raise ServerFaultError(FaultKind.UNSUITABLE, said)
    return mapping


def faults_against(mapping: ServerMapping, tools: Sequence[Tool]) -> list[str]:
    """Return what of a mapping a server cannot do, or must not be asked to."""
    known = {tool.name: tool for tool in tools}
    return [
        f"{name}: {fault}"
        for name, operation in mapping.operations()
        for fault in _faults_of(name, operation, known)
    ]


def _faults_of(name: str, operation: Operation, tools: Mapping[str, Tool]) -> Iterator[str]:
    tool = tools.get(operation.tool)
    if tool is None:
        yield f"the server has no tool {operation.tool!r}{near(operation.tool, tools)}"
        return
    taken = tool.schema.get("properties", {})
    for argument in operation.arguments:
        if taken and argument not in taken:
            yield f"{tool.name} takes no argument {argument!r}{near(argument, taken)}"
    missing = sorted(tool.required.difference(operation.arguments))
    if missing:
        yield f"{tool.name} needs {', '.join(missing)}"
    yield from _dangers(name, operation, tool)


def _dangers(name: str, operation: Operation, tool: Tool) -> Iterator[str]:
    """Find what would make an operation destroy more than one learning."""
    words, hints = words_of(tool.name), tool.annotations
    if name not in ("update", "delete"):
        is_writer = name == "write" and not WRITE_VERBS.keys().isdisjoint(words)
        is_harmless = is_writer or hints.get("readOnlyHint") is True
        is_hinted = hints.get("destructiveHint") is True and not is_harmless
        if is_hinted or not TOOLS["destroying"].isdisjoint(words):
            yield f"{tool.name} destroys what is stored, so it is not called for this"
        return
    named = (tool.name, *tool.schema.get("properties", {}))
    sweeping = [one for one in named if not TOOLS["sweeping"].isdisjoint(words_of(one))]
    if sweeping:
        yield f"{tool.name} can reach more than one thing ({', '.join(sweeping)})"
    required = [operation.arguments.get(one) for one in tool.required]
    if name == "delete" and placeholders(required).isdisjoint(("id", "handle")):
        yield f"{tool.name} does not require an argument that says which one ({{id}} or {{handle}})"
