"""The servers that are registered with the client, read from its files; nothing is started."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve

from grove_backend_mcp.discovery.repository import main_work_tree
from grove_backend_mcp.servers import Origin, ServerEntry
from grove_core import BackendContext

PROJECT_FILE: Final = ".mcp.json"
_SERVERS: Final = "mcpServers"
_REGISTRY: Final = ".claude.json"
_MANIFEST: Final = ".claude-plugin/plugin.json"
_MANAGED: Final = (Path("/etc/claude-code"), Path("/Library/Application Support/ClaudeCode"))
_MEBIBYTE: Final = 1024 * 1024
_MOST_BYTES: Final = 16 * _MEBIBYTE
# A file in the project may be a stranger's.
_MOST_BYTES_OF_PROJECT: Final = _MEBIBYTE
# The client writes an empty table for each project it has ever seen.
_ANY_SERVER: Final = re.compile(rb'"mcpServers"\s*:\s*\{\s*"')
_LONGEST_NAME: Final = 128
_HTTP_TYPES: Final = frozenset(("http", "streamable-http", "streamableHttp"))


class Registered(NamedTuple):
    """A server that is registered, and why it cannot be used, if so."""

    entry: ServerEntry
    refused: str = ""


class Registrations(NamedTuple):
    """All that is registered, the strongest first."""

    servers: tuple[Registered, ...]
    problems: tuple[str, ...]


def read_registrations(context: BackendContext, managed: Path | None = None) -> Registrations:
    """Read what is registered for a project."""
    directory = managed or next((one for one in _MANAGED if one.is_dir()), _MANAGED[0])
    files = _ClientFiles(context, directory)
    exclusive = directory / "managed-mcp.json"
    project = list(_servers(files, files.root / PROJECT_FILE, Origin.PROJECT))
    registry = files.registry(wanted_anyway=bool(project))
    noted = _noted(registry, context.root)
    if os.path.isfile(exclusive):  # noqa: PTH113 - never raises
        found = list(_servers(files, exclusive, Origin.USER))
    else:
        source = files.for_people(files.registry_path)
        local = {
            key: one for each in reversed(noted) for key, one in _table(each, _SERVERS).items()
        }
        found = [
            *_of(local, Origin.LOCAL, f"{source}, for this project"),
            *project,
            *_of(_table(registry, _SERVERS), Origin.USER, source),
            *_plugins(files),
        ]
    if found:
        policy = _read_policy(files, noted)
        found = [one._replace(refused=one.refused or policy.refusal(one.entry)) for one in found]
    return Registrations(tuple(found), tuple(files.problems))


class _ClientFiles:
    """The files in which the client and its user say what there is."""

    def __init__(self, context: BackendContext, managed: Path) -> None:
        moved = context.environment.get("CLAUDE_CONFIG_DIR", "")
        self._home = context.environment.get("HOME", "")
        self.root = context.root
        self.directory = Path(moved or f"{self._home}/.claude")
        self.registry_path = Path(moved or self._home or "/", _REGISTRY)
        self.problems: list[str] = []
        self._managed = managed
        self._documents: dict[Path, dict[str, Any]] = {}

    def for_people(self, path: Path) -> str:
        """Write a path with ``~``, or relative to the project where it is in it."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        home = self._home
        return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)

    def registry(self, *, wanted_anyway: bool) -> Mapping[str, Any]:
        """Read the client's own record, which may be of many megabytes."""
        content = self._content(self.registry_path)
        if not wanted_anyway and not _ANY_SERVER.search(content):
            return {}
        return self._parsed(self.registry_path, content)

    def document(self, path: Path) -> dict[str, Any]:
        """Read a file that holds a JSON object."""
        if path not in self._documents:
            self._documents[path] = self._parsed(path, self._content(path))
        return self._documents[path]

    def settings(self) -> list[Mapping[str, Any]]:
        """Read the client's settings: an administrator's, the user's, the project's."""
        folder = self.root / ".claude"
        names = () if folder == self.directory else ("settings.json", "settings.local.json")
        paths = (self._managed / "managed-settings.json", self.directory / "settings.json")
        return [self.document(path) for path in (*paths, *(folder / name for name in names))]

    def _content(self, path: Path) -> bytes:
        most = _MOST_BYTES_OF_PROJECT if path.is_relative_to(self.root) else _MOST_BYTES
        try:
            # A pipe of that name would never end.
            content = b""
            if path.is_file():
                with path.open("rb") as file:
                    content = file.read(most + 1)
        except (OSError, ValueError) as error:
            self._complain(path, getattr(error, "strerror", None) or "it cannot be read")
            return b""
        if len(content) > most:
            self._complain(path, f"it is larger than {most // _MEBIBYTE} MiB")
            return b""
        return content

    def _parsed(self, path: Path, content: bytes) -> dict[str, Any]:
        try:
            document = json.loads(content) if content.strip() else {}
        except (ValueError, RecursionError):
            self._complain(path, "it is no JSON")
            return {}
        if not isinstance(document, dict):
            self._complain(path, "it holds no JSON object")
            return {}
        return document

    def _complain(self, path: Path, why: str) -> None:
        self.problems.append(f"{self.for_people(path)} was left out: {why}")


def _table(document: object, key: str) -> dict[str, Any]:
    """Take a table out of a document; empty where something else is there."""
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}


def _noted(registry: Mapping[str, Any], root: Path) -> list[Mapping[str, Any]]:
    """Find what the client has noted about the project: it knows the main work tree only."""
    main = main_work_tree(root)
    projects = _table(registry, "projects")
    keys = dict.fromkeys((str(main), os.path.realpath(main)))
    return [projects[key] for key in keys if isinstance(projects.get(key), dict)]


def _servers(files: _ClientFiles, path: Path, origin: Origin) -> Iterator[Registered]:
    return _of(_table(files.document(path), _SERVERS), origin, files.for_people(path))


def _of(
    servers: Mapping[str, Any], origin: Origin, source: str, extra: Mapping[str, str] | None = None
) -> Iterator[Registered]:
    """Read a table of servers."""
    for name, definition in servers.items():
        # A name is shown, and typed in commands.
        if name.isprintable() and 0 < len(name) <= _LONGEST_NAME:
            blank = ServerEntry(name=name, origin=origin, source=source, extra=dict(extra or {}))
            yield _registered(blank, definition)


def _registered(blank: ServerEntry, definition: object) -> Registered:
    if not isinstance(definition, dict):
        return Registered(blank, "its definition is no table")
    kind, url = definition.get("type"), definition.get("url", "")
    if "command" in definition and kind in (None, "stdio"):
        command, args = definition["command"], definition.get("args", [])
        env = definition.get("env", {})
        faults = [
            (not isinstance(command, str) or not command, "its command is no text"),
            (not _are_texts(args, list), "its args are no list of texts"),
            (not _are_texts(env, dict), "its env is no table of texts"),
        ]
        made: dict[str, Any] = {"command": command, "args": args, "env": env}
    else:
        headers = definition.get("headers", {})
        # The client wants a type with an address; others do not.
        word = kind if isinstance(kind, str) and kind.isprintable() else "unknown"
        is_spoken = kind is None or word in _HTTP_TYPES
        why = f"its type {word[:20]} is not spoken here: many such servers offer http as well"
        faults = [
            (not url, "its definition has neither command nor url"),
            (not isinstance(url, str), "its url is no text"),
            (not _are_texts(headers, dict), "its headers are no table of texts"),
            (not is_spoken, why),
        ]
        made = {"url": url, "headers": headers}
        blank = evolve(blank, url=url if isinstance(url, str) else "")
    refused = next((words for is_wrong, words in faults if is_wrong), "")
    if refused:
        return Registered(blank, refused)
    made = {key: tuple(one) if isinstance(one, list) else one for key, one in made.items()}
    return Registered(evolve(blank, **made))


def _are_texts(values: object, kind: type) -> bool:
    if not isinstance(values, dict | list) or not isinstance(values, kind):
        return False
    inner = values.values() if isinstance(values, dict) else values
    return all(isinstance(one, str) for one in inner)


class _Policy(NamedTuple):
    """Which servers the client refuses."""

    allowed: Sequence[Mapping[str, Any]] | None
    denied: Sequence[Mapping[str, Any]]
    disabled_files: Sequence[str]
    disabled: Sequence[str]

    def refusal(self, entry: ServerEntry) -> str:
        """Tell why a server is refused."""
        if any(_fits(rule, entry) for rule in self.denied):
            return "denied by deniedMcpServers in the client's settings"
        if self.allowed is not None:
            # The client's rule: where commands or addresses are listed, a name is not enough.
            kind = "serverUrl" if entry.url else "serverCommand"
            narrower = [rule for rule in self.allowed if kind in rule]
            if not any(_fits(rule, entry) for rule in narrower or self.allowed):
                return "not among allowedMcpServers of the client's managed settings"
        if entry.origin is Origin.PROJECT and entry.name in self.disabled_files:
            return "rejected in the client (disabledMcpjsonServers)"
        if entry.name in self.disabled:
            return "switched off for this project in the client (disabledMcpServers)"
        return ""


def _read_policy(files: _ClientFiles, noted: Sequence[Mapping[str, Any]]) -> _Policy:
    """Read what the client's files refuse."""
    managed, user, *project = files.settings()
    everywhere = [managed, user, *project, *noted]
    allowed = managed.get("allowedMcpServers")
    return _Policy(
        allowed=_all([managed], "allowedMcpServers", dict) if isinstance(allowed, list) else None,
        denied=_all([managed, user], "deniedMcpServers", dict),
        disabled_files=_all(everywhere, "disabledMcpjsonServers", str),
        disabled=_all(noted, "disabledMcpServers", str),
    )


def _all(documents: Iterable[Mapping[str, Any]], key: str, kind: type) -> list[Any]:
    found = (value for one in documents if isinstance(value := one.get(key), list))
    return [one for value in found for one in value if isinstance(one, kind)]


def _fits(rule: Mapping[str, Any], entry: ServerEntry) -> bool:
    if "serverName" in rule:
        return bool(rule["serverName"] == entry.name)
    if "serverCommand" in rule:
        return not entry.url and rule["serverCommand"] == [entry.command, *entry.args]
    pattern = rule.get("serverUrl")
    if not isinstance(pattern, str) or not entry.url:
        return False
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), entry.url) is not None


def _plugins(files: _ClientFiles) -> Iterator[Registered]:
    """List the servers of the plugins that are installed and switched on."""
    managed, user, *project = (_table(one, "enabledPlugins") for one in files.settings())
    every = dict(user)
    for switches in (*project, managed):
        every |= switches
    # Most users have no plugin, or none that is on: then nothing else is read.
    if not any(value is True for value in every.values()):
        return
    installed = files.document(files.directory / "plugins" / "installed_plugins.json")
    here = {os.path.realpath(one) for one in (files.root, main_work_tree(files.root))}
    for plugin, installs in _table(installed, "plugins").items():
        if every.get(plugin) is not True:
            continue
        for install in installs if isinstance(installs, list) else ():
            place, of = _path(install, "installPath"), _path(install, "projectPath")
            # A project may be a stranger's: it does not switch on what the user has not.
            is_here = os.path.realpath(of) in here if of else user.get(plugin) is True
            if place and is_here:
                yield from _of_plugin(files, plugin, Path(os.path.normpath(place)))
                break


def _path(document: object, key: str) -> str:
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, str) and "\0" not in value else ""


def _of_plugin(files: _ClientFiles, plugin: str, place: Path) -> Iterator[Registered]:
    name, data = plugin.partition("@")[0], re.sub(r"[^A-Za-z0-9_-]", "-", plugin)
    extra = {
        "CLAUDE_PLUGIN_ROOT": str(place),
        "CLAUDE_PLUGIN_DATA": f"{files.directory}/plugins/data/{data}",
    }
    is_inside = _is_inside(place, files.root)
    origin = Origin.PROJECT if is_inside else Origin.PLUGIN
    for path, servers in _definitions(files, place):
        source = files.for_people(path) if is_inside else f"plugin {plugin}"
        named = {f"plugin:{name}:{key}": value for key, value in servers.items()}
        yield from _of(named, origin, source, extra)


def _definitions(files: _ClientFiles, place: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Find a plugin's tables of servers, which some write without the key around them."""
    said = files.document(place / _MANIFEST).get(_SERVERS)
    named = said if isinstance(said, list) else [said]
    for one in (PROJECT_FILE, *named):
        if isinstance(one, dict):
            yield place / _MANIFEST, one
        elif isinstance(one, str) and "\0" not in one and _is_inside(place / one, place):
            document = files.document(place / one)
            yield place / one, _table(document, _SERVERS) if _SERVERS in document else document


def _is_inside(path: Path, place: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(place))
