"""The servers that are registered with the client, read from its files; nothing is started."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_backend_mcp.discovery.repository import main_work_tree
from grove_backend_mcp.servers import Origin, ServerEntry
from grove_core import BackendContext

_SERVERS: Final = "mcpServers"
_MANAGED: Final = (Path("/etc/claude-code"), Path("/Library/Application Support/ClaudeCode"))
_LISTS: Final = ("allowedMcpServers", "deniedMcpServers")
_RULED: Final = (
    "what is registered is not used, since the client's settings say which servers are allowed:"
    " describe yours in [backends.mcp]"
)
_PLUGINS: Final = "enabledPlugins"
_OFF: Final = ("disabledMcpServers", "disabledMcpjsonServers")
_MEBIBYTE: Final = 1024 * 1024
# The client's own record may be of many megabytes; a file in the project may be a stranger's.
_MOST_MEBIBYTES: Final = 16
_MOST_OF_PROJECT: Final = 1
# The client writes an empty table for each project it has ever seen.
_ANY_SERVER: Final = re.compile(rb'"mcpServers"\s*:\s*\{\s*"')
_LONGEST_NAME: Final = 128
_HTTP_TYPES: Final = frozenset(("http", "streamable-http", "streamableHttp"))
_WORDS: Final[Mapping[type, str]] = {str: "text", list: "list of texts", dict: "table of texts"}


def read_registrations(
    context: BackendContext, managed: Path | None = None
) -> tuple[Sequence[ServerEntry], Sequence[str]]:
    """Read what is registered for a project, the strongest first, and what could not be read."""
    reader = _Reader(context)
    registry = reader.read(reader.registry, _ANY_SERVER)
    main, projects = main_work_tree(reader.root), _table(registry, "projects")
    noted = _table(projects, str(main)) or _table(projects, os.path.realpath(main))
    source = reader.shown(reader.registry)
    found = [
        *_entries(noted, Origin.LOCAL, f"{source}, for this project"),
        *_entries(reader.read(reader.root / ".mcp.json"), Origin.PROJECT, ".mcp.json"),
        *_entries(registry, Origin.USER, source),
    ]
    user = reader.read(reader.directory / "settings.json")
    own = reader.read(reader.root / ".claude" / "settings.local.json")
    found += _of_plugins(reader, {**_table(user, _PLUGINS), **_table(own, _PLUGINS)})
    if found:
        if _is_ruled(reader, user, managed):
            return (), (_RULED,)
        lists = (one[key] for one in (noted, user, own) for key in _OFF if key in one)
        off = [name for names in lists if isinstance(names, list) for name in names]
        why = "switched off in the client"
        found = [evolve(one, refused=why) if one.name in off else one for one in found]
    return found, reader.problems


class _Reader:
    """Reads JSON files of the client and of the project; what is wrong with one is one line."""

    def __init__(self, context: BackendContext) -> None:
        moved = context.environment.get("CLAUDE_CONFIG_DIR", "")
        self._home = context.environment.get("HOME", "")
        self.root = context.root
        self.directory = Path(moved or f"{self._home}/.claude")
        self.registry = Path(moved or self._home or "/", ".claude.json")
        self.problems: list[str] = []

    def shown(self, path: Path) -> str:
        """Write a path with ``~``, or relative to the project where it is in it."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        home = self._home
        return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)

    def read(self, path: Path, wanted: "re.Pattern[bytes] | None" = None) -> dict[str, Any]:
        """Read a file that holds a JSON object; empty where it has nothing of what is wanted."""
        most = _MOST_OF_PROJECT if path.is_relative_to(self.root) else _MOST_MEBIBYTES
        document: object = {}
        try:
            # A pipe of that name would never end.
            content = b""
            if path.is_file():
                with path.open("rb") as file:
                    content = file.read(most * _MEBIBYTE + 1)
            if len(content) > most * _MEBIBYTE:
                return self._complain(path, f"it is larger than {most} MiB")
            if content.strip() and (wanted is None or wanted.search(content)):
                document = json.loads(content)
        except OSError as error:
            return self._complain(path, error.strerror or "it cannot be read")
        except (ValueError, RecursionError):
            return self._complain(path, "it is no JSON")
        if not isinstance(document, dict):
            return self._complain(path, "it holds no JSON object")
        return document

    def _complain(self, path: Path, why: str) -> dict[str, Any]:
        self.problems.append(f"{self.shown(path)} was left out: {why}")
        return {}


def _of_plugins(reader: _Reader, switched: Mapping[str, Any]) -> Iterator[ServerEntry]:
    """Read what the client's plugins bring, as far as the user has switched them on."""
    names = [name for name, is_on in switched.items() if is_on is True]
    installed = (
        reader.read(reader.directory / "plugins" / "installed_plugins.json") if names else {}
    )
    for name in names:
        places = _table(installed, "plugins").get(name)
        place = places[-1] if isinstance(places, list) and places else None
        path = place.get("installPath") if isinstance(place, dict) else None
        plugin = name.partition("@")[0]
        if isinstance(path, str):
            document = reader.read(Path(path) / ".mcp.json")
            servers = document if _SERVERS in document else {_SERVERS: document}
            text = json.dumps(servers).replace("${CLAUDE_PLUGIN_ROOT}", json.dumps(path)[1:-1])
            for entry in _entries(json.loads(text), Origin.USER, f"the plugin {plugin}"):
                yield evolve(entry, name=f"plugin:{plugin}:{entry.name}")


def _is_ruled(reader: _Reader, user: Mapping[str, Any], managed: Path | None) -> bool:
    """Return whether somebody has made rules about servers, which only the client can follow."""
    place = managed or next((one for one in _MANAGED if one.is_dir()), _MANAGED[0])
    documents = (user, reader.read(place / "managed-settings.json"))
    is_listed = any(name in one for one in documents for name in _LISTS)
    return is_listed or (place / "managed-mcp.json").is_file()


def _table(document: object, key: str) -> dict[str, Any]:
    """Take a table out of a document; empty where something else is there."""
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, dict) else {}


def _entries(document: Mapping[str, Any], origin: Origin, source: str) -> Iterator[ServerEntry]:
    """Read the servers in a document."""
    for name, definition in _table(document, _SERVERS).items():
        # A name is shown, and typed in commands.
        if name.isprintable() and 0 < len(name) <= _LONGEST_NAME:
            values, refused = _defined(definition)
            yield ServerEntry(name=name, origin=origin, source=source, refused=refused, **values)


def _defined(definition: object) -> tuple[dict[str, Any], str]:
    """Read a definition, or say why it cannot be used."""
    if not isinstance(definition, dict):
        return {}, "its definition is no table"
    kind = definition.get("type", "stdio" if "command" in definition else "http")
    kinds: dict[str, type] = {"url": str, "headers": dict}
    if kind == "stdio":
        kinds = {"command": str, "args": list, "env": dict}
    elif kind not in _HTTP_TYPES:
        word = kind[:20] if isinstance(kind, str) and kind.isprintable() else "unknown"
        return {}, f"its type {word} is not spoken here: many such servers offer http as well"
    values = {key: definition.get(key, wanted()) for key, wanted in kinds.items()}
    for key, value in values.items():
        if not _are_texts(value, kinds[key]) or value == "":
            return {}, f"its {key} is no {_WORDS[kinds[key]]}"
    return {key: tuple(one) if isinstance(one, list) else one for key, one in values.items()}, ""


def _are_texts(value: object, kind: type) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, kind) and all(isinstance(one, str) for one in inner)
