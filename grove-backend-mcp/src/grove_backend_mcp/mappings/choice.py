"""Choose the mapping of a server: as configured, else its profile; nothing is guessed.

The profiles are files beside this module, with tables as in a configuration.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tomli
from attrs import frozen

from grove_backend_mcp.mappings.mapping import (
    KINDS,
    Operation,
    ServerMapping,
    mapping_of,
    near,
    placeholders,
)
from grove_backend_mcp.mappings.schemas import required_of
from grove_backend_mcp.servers import FaultKind, ServerFaultError, Tool
from grove_backend_mcp.settings import McpSettings


@frozen(kw_only=True)
class Profile:
    """A server that is known: what it calls itself, which tools tell it apart, and its mapping."""

    name: str
    servers: str
    tools: Mapping[str, Sequence[str]]
    absent: Sequence[str]
    mapping: ServerMapping

    def fits(self, tools: Sequence[Tool], server_name: str = "") -> bool:
        """Check the name, and that the tools require what they are expected to."""
        if server_name and not re.fullmatch(self.servers, server_name.strip(), re.IGNORECASE):
            return False
        known = {tool.name: tool for tool in tools}
        has_other = any(name in known for name in self.absent)
        return not has_other and all(
            name in known and required_of(known[name]).issuperset(required)
            for name, required in self.tools.items()
        )


def profile_of_package(package: str) -> str | None:
    """Find the profile of a package by its name."""
    known = ((name, one) for name, packages in _index().items() for one in packages)
    wanted = _normalised(package)
    return next((name for name, one in known if _normalised(one) == wanted), None)


def _normalised(name: str) -> str:
    """Write a name as registries compare it; a module's name is then its package's as well."""
    return name.lower() if name.startswith("@") else re.sub(r"[-_.]+", "-", name).lower()


def profiles() -> Iterator[Profile]:
    """Read the profiles; of two that fit a server, the first one counts."""
    return map(_profile, _index())


@cache
def _index() -> Mapping[str, Sequence[str]]:
    return _read("index")


@cache
def _profile(file_name: str) -> Profile:
    document = _read(file_name)
    name = document.pop("name", file_name)
    facts = {key: document.pop(key, ()) for key in ("servers", "tools", "absent")}
    return Profile(name=name, mapping=mapping_of(document, profile=name), **facts)


def _read(name: str) -> dict[str, Any]:
    return tomli.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def mapping_for(
    tools: Sequence[Tool], server_name: str = "", settings: McpSettings | None = None
) -> ServerMapping:
    """Return what is done with a server; without operations where no one has said it."""
    settings = settings or McpSettings()
    tables = {name: dict(table) for name in KINDS if (table := getattr(settings, name))}
    if tables:
        return configured_mapping(tables, tools)
    found = (one.mapping for one in profiles() if one.fits(tools, server_name))
    return next(found, ServerMapping())


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
    from grove_backend_mcp.mappings.words import TOOLS, WRITE_VERBS, words_of  # not for hooks

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
