"""The servers that are registered with the client, read from its files; nothing is started."""

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from grove_backend_mcp.discovery.repository import main_work_tree
from grove_backend_mcp.servers import Origin, ServerEntry, Transport
from grove_core import BackendContext

MOST_BYTES: Final = 16 * 1024 * 1024
"""More is not read of a file of the user's."""
MOST_BYTES_OF_PROJECT: Final = 1024 * 1024
"""More is not read of one in the project, which may be a stranger's."""

_REGISTRY: Final = ".claude.json"
# The client writes an empty table for each project it has ever seen.
_ANY_SERVER: Final = re.compile(rb'"mcpServers"\s*:\s*\{\s*"')


class ClientFiles:
    """The files in which the client and its user say what there is."""

    def __init__(self, context: BackendContext, managed: Path) -> None:
        moved = context.environment.get("CLAUDE_CONFIG_DIR", "")
        self._home = context.environment.get("HOME", "")
        beside = moved or self._home
        directory = moved or (self._home and f"{self._home}/.claude")
        self.root = context.root
        self.directory = Path(directory) if directory else None
        self.problems: list[str] = []
        self._registry = Path(beside, _REGISTRY) if beside else None
        self._managed = managed
        self._documents: dict[Path, dict[str, Any]] = {}

    @property
    def registry_for_people(self) -> str:
        """The client's own record of servers, as people write its path."""
        return self.for_people(self._registry) if self._registry is not None else _REGISTRY

    def for_people(self, path: Path) -> str:
        """Write a path with ``~``, or relative to the project where it is in it."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        home = self._home
        return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)

    def registry(self, *, wanted_anyway: bool) -> Mapping[str, Any]:
        """Read the client's own record, which may be of many megabytes."""
        content = self._content(self._registry)
        if not wanted_anyway and not _ANY_SERVER.search(content):
            return {}
        return self._parsed(self._registry, content)

    def document(self, path: Path | None) -> dict[str, Any]:
        """Read a file that holds a JSON object."""
        if path is None:
            return {}
        if path not in self._documents:
            self._documents[path] = self._parsed(path, self._content(path))
        return self._documents[path]

    def user_settings(self) -> Mapping[str, Any]:
        """Read the user's settings of the client."""
        return self.document(self.directory and self.directory / "settings.json")

    def project_settings(self) -> list[Mapping[str, Any]]:
        """Read the settings in the project, the weaker first."""
        folder = self.root / ".claude"
        if folder == self.directory:
            return []
        return [self.document(folder / name) for name in ("settings.json", "settings.local.json")]

    def managed_settings(self) -> Mapping[str, Any]:
        """Read the settings that an administrator has made."""
        return self.document(self._managed / "managed-settings.json")

    @property
    def exclusive(self) -> Path | None:
        """The file of an administrator beside whose servers there are none, where there is one."""
        path = self._managed / "managed-mcp.json"
        return path if os.path.isfile(path) else None  # noqa: PTH113 - never raises

    def _content(self, path: Path | None) -> bytes:
        if path is None:
            return b""
        most = MOST_BYTES_OF_PROJECT if path.is_relative_to(self.root) else MOST_BYTES
        try:
            # A pipe of that name would never end.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return b""
                content = file.read(most + 1)
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except (OSError, ValueError) as error:
            self._complain(path, getattr(error, "strerror", None) or "it cannot be read")
            return b""
        if len(content) > most:
            self._complain(path, f"it is larger than {most // 1024 // 1024} MiB")
            return b""
        return content

    def _parsed(self, path: Path | None, content: bytes) -> dict[str, Any]:
        if path is None or not content.strip():
            return {}
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            self._complain(path, "it is no JSON")
            return {}
        if not isinstance(document, dict):
            self._complain(path, "it holds no JSON object")
            return {}
        return document

    def _complain(self, path: Path, why: str) -> None:
        self.problems.append(f"{self.for_people(path)} was left out: {why}")


def table_in(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Take a table out of a document; empty where something else is there."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def names_in(document: Mapping[str, Any], key: str) -> frozenset[str]:
    """Take a list of names out of a document; whatever else is in it is left out."""
    value = document.get(key)
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in value if isinstance(one, str))


_NAME: Final = "serverName"
_COMMAND: Final = "serverCommand"
_URL: Final = "serverUrl"

Rules = tuple[Mapping[str, Any], ...]


@frozen(kw_only=True)
class Policy:
    """Which servers the client refuses."""

    allowed: Rules | None = None
    denied: Rules = ()
    disabled_files: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()

    def refusal(self, entry: ServerEntry) -> str:
        """Tell why a server is refused."""
        if any(_fits(rule, entry) for rule in self.denied):
            return "denied by deniedMcpServers in the client's settings"
        if self.allowed is not None and not _is_allowed(self.allowed, entry):
            return "not among allowedMcpServers of the client's managed settings"
        if entry.origin is Origin.PROJECT and entry.name in self.disabled_files:
            return "rejected in the client (disabledMcpjsonServers)"
        if entry.name in self.disabled:
            return "switched off for this project in the client (disabledMcpServers)"
        return ""


def read_policy(files: ClientFiles, noted: Sequence[Mapping[str, Any]]) -> Policy:
    """Read what the client's files refuse."""
    managed, user = files.managed_settings(), files.user_settings()
    everywhere = [managed, user, *files.project_settings(), *noted]
    allowed = managed.get("allowedMcpServers")
    return Policy(
        allowed=tuple(_rules(managed, "allowedMcpServers")) if isinstance(allowed, list) else None,
        denied=(*_rules(managed, "deniedMcpServers"), *_rules(user, "deniedMcpServers")),
        disabled_files=_all_names(everywhere, "disabledMcpjsonServers"),
        disabled=_all_names(noted, "disabledMcpServers"),
    )


def _all_names(documents: Iterable[Mapping[str, Any]], key: str) -> frozenset[str]:
    return frozenset().union(*(names_in(one, key) for one in documents))


def _rules(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = document.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_allowed(rules: Rules, entry: ServerEntry) -> bool:
    """Apply the client's rule: where commands or addresses are listed, a name is not enough."""
    kind = _URL if entry.transport is Transport.HTTP else _COMMAND
    narrower = tuple(rule for rule in rules if kind in rule)
    return any(_fits(rule, entry) for rule in narrower or rules)


def _fits(rule: Mapping[str, Any], entry: ServerEntry) -> bool:
    if _NAME in rule:
        return bool(rule[_NAME] == entry.name)
    if _COMMAND in rule:
        words = [entry.command, *entry.args]
        return entry.transport is Transport.STDIO and rule[_COMMAND] == words
    pattern = rule.get(_URL)
    if not isinstance(pattern, str) or entry.transport is not Transport.HTTP:
        return False
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), entry.url) is not None


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
