"""The servers that are registered with the client, read from its files; nothing is started."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from grove_backend_mcp.discovery.client_files import ClientFiles, table_in
from grove_backend_mcp.discovery.policies import Policy, read_policy
from grove_backend_mcp.discovery.repository import main_work_tree
from grove_backend_mcp.servers import Origin, ServerEntry, Transport
from grove_core import BackendContext

PROJECT_FILE: Final = ".mcp.json"
_SERVERS: Final = "mcpServers"
_MANAGED: Final = (
    Path("/etc/claude-code"),
    Path("/Library/Application Support/ClaudeCode"),
)
_LONGEST_NAME: Final = 128
_HTTP_TYPES: Final = frozenset(("http", "streamable-http", "streamableHttp"))


@frozen(kw_only=True)
class Registered:
    """A server that is registered."""

    entry: ServerEntry
    refused: str = ""


@frozen(kw_only=True)
class Registrations:
    """All that is registered, the strongest first."""

    servers: tuple[Registered, ...]
    problems: tuple[str, ...]


def read_registrations(context: BackendContext, managed: Path | None = None) -> Registrations:
    """Read what is registered for a project."""
    directory = managed or next((one for one in _MANAGED if one.is_dir()), _MANAGED[0])
    files = ClientFiles(context, directory)
    project = list(_project_servers(files))
    registry = files.registry(wanted_anyway=bool(project))
    noted = _noted(registry, context.root)
    if files.exclusive is not None:
        found = list(_exclusive(files, files.exclusive))
    else:
        found = [*_of_registry(files, registry, noted, project), *_plugins(files)]
    policy = read_policy(files, noted) if found else Policy()
    servers = [
        one if one.refused else evolve(one, refused=policy.refusal(one.entry)) for one in found
    ]
    return Registrations(servers=tuple(servers), problems=tuple(files.problems))


def registered_in(
    servers: Mapping[str, Any], origin: Origin, source: str, extra: Mapping[str, str] | None = None
) -> Iterator[Registered]:
    """Read a table of servers."""
    for name, definition in servers.items():
        # A name is shown, and typed in commands.
        if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
            continue
        blank = ServerEntry(
            name=name,
            origin=origin,
            source=source,
            transport=Transport.STDIO,
            extra=dict(extra or {}),
        )
        yield _registered(blank, definition)


def _registered(blank: ServerEntry, definition: object) -> Registered:
    if not isinstance(definition, dict):
        return Registered(entry=blank, refused="its definition is no table")
    kind = definition.get("type")
    if kind == "stdio" or (kind is None and "command" in definition):
        return _with_command(blank, definition)
    if "url" in definition:
        # The client wants a type with an address; others do not.
        said = kind if isinstance(kind, str) else "http" if kind is None else "unknown"
        return _with_address(evolve(blank, transport=Transport.HTTP), definition, said)
    return Registered(entry=blank, refused="its definition has neither command nor url")


def _with_command(blank: ServerEntry, definition: Mapping[str, Any]) -> Registered:
    command, args = definition.get("command"), definition.get("args", [])
    env = definition.get("env", {})
    if not isinstance(command, str) or not command:
        return Registered(entry=blank, refused="its command is no text")
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        return Registered(entry=blank, refused="its args are no list of texts")
    if not _is_texts(env):
        return Registered(entry=blank, refused="its env is no table of texts")
    return Registered(entry=evolve(blank, command=command, args=tuple(args), env=dict(env)))


def _with_address(blank: ServerEntry, definition: Mapping[str, Any], kind: str) -> Registered:
    url, headers = definition.get("url"), definition.get("headers", {})
    if not isinstance(url, str) or not url:
        return Registered(entry=blank, refused="its url is no text")
    if not _is_texts(headers):
        return Registered(entry=blank, refused="its headers are no table of texts")
    entry = evolve(blank, url=url, headers=dict(headers))
    if kind in _HTTP_TYPES:
        return Registered(entry=entry)
    word = kind[:20] if kind.isprintable() else "unknown"
    return Registered(
        entry=entry,
        refused=f"its type {word} is not spoken here: many such servers offer http as well",
    )


def _is_texts(table: object) -> bool:
    return isinstance(table, dict) and all(isinstance(one, str) for one in table.values())


def _noted(registry: Mapping[str, Any], root: Path) -> list[Mapping[str, Any]]:
    """Find what the client has noted about the project: it knows the main work tree only."""
    main = main_work_tree(root)
    projects = table_in(registry, "projects")
    keys = dict.fromkeys((str(main), os.path.realpath(main)))
    return [projects[key] for key in keys if isinstance(projects.get(key), dict)]


def _of_registry(
    files: ClientFiles,
    registry: Mapping[str, Any],
    noted: list[Mapping[str, Any]],
    project: list[Registered],
) -> Iterator[Registered]:
    source = files.registry_for_people
    for one in noted:
        table = table_in(one, _SERVERS)
        yield from registered_in(table, Origin.LOCAL, f"{source}, for this project")
    yield from project
    yield from registered_in(table_in(registry, _SERVERS), Origin.USER, source)


def _project_servers(files: ClientFiles) -> Iterator[Registered]:
    table = table_in(files.document(files.root / PROJECT_FILE), _SERVERS)
    return registered_in(table, Origin.PROJECT, PROJECT_FILE)


def _exclusive(files: ClientFiles, path: Path) -> Iterator[Registered]:
    table = table_in(files.document(path), _SERVERS)
    return registered_in(table, Origin.USER, str(path))


def _plugins(files: ClientFiles) -> Iterator[Registered]:
    from grove_backend_mcp.discovery.plugin_servers import plugin_tables

    for found in plugin_tables(files):
        yield from registered_in(found.servers, found.origin, found.source, found.extra)
