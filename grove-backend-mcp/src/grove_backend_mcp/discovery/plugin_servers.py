"""The servers that plugins of the client bring."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.discovery.registrations import ClientFiles, table_in
from grove_backend_mcp.discovery.repository import main_work_tree
from grove_backend_mcp.servers import Origin

_SERVERS: Final = "mcpServers"
_SERVERS_FILE: Final = ".mcp.json"
_MANIFEST: Final = ".claude-plugin/plugin.json"
_MARKET: Final = ".claude-plugin/marketplace.json"
_ODD_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_-]")


@frozen(kw_only=True)
class PluginTable:
    """The servers of one file of a plugin."""

    servers: Mapping[str, Any]
    origin: Origin
    source: str
    extra: Mapping[str, str]


def plugin_tables(files: ClientFiles) -> Iterator[PluginTable]:
    """List the servers of the plugins that are installed and switched on."""
    if files.directory is None:
        return
    plugins = files.directory / "plugins"
    # Most users have no plugin, or none that is on: then nothing else is read.
    switches = _Switches(files)
    if not switches.has_any:
        return
    installed = table_in(files.document(plugins / "installed_plugins.json"), "plugins")
    for plugin, installs in installed.items():
        place = switches.place_of(plugin, installs)
        if place is not None:
            yield from _tables_of(files, plugin, _source_directory(files, plugin) or place)


class _Switches:
    """Which plugins are on, and by whom."""

    def __init__(self, files: ClientFiles) -> None:
        root = files.root
        self._here = {os.path.realpath(one) for one in (root, main_work_tree(root))}
        self._user = table_in(files.user_settings(), "enabledPlugins")
        self._all = dict(self._user)
        for settings in (*files.project_settings(), files.managed_settings()):
            self._all |= table_in(settings, "enabledPlugins")

    @property
    def has_any(self) -> bool:
        return any(value is True for value in self._all.values())

    def place_of(self, plugin: str, installs: object) -> Path | None:
        if self._all.get(plugin) is not True or not isinstance(installs, list):
            return None
        for install in installs:
            path = _path(install, "installPath")
            if path is not None and self._counts(plugin, install):
                return Path(path)
        return None

    def _counts(self, plugin: str, install: Mapping[str, Any]) -> bool:
        project = _path(install, "projectPath")
        if project is not None:
            return os.path.realpath(project) in self._here
        # A project may be a stranger's: it does not switch on what the user has not.
        return self._user.get(plugin) is True


def _source_directory(files: ClientFiles, plugin: str) -> Path | None:
    if files.directory is None:
        return None
    name, _, market = plugin.partition("@")
    known = files.document(files.directory / "plugins" / "known_marketplaces.json")
    source = table_in(table_in(known, market), "source")
    place = _path(source, "path")
    if source.get("source") != "directory" or place is None:
        return None
    offered = files.document(Path(place, _MARKET)).get("plugins")
    for one in offered if isinstance(offered, list) else ():
        if isinstance(one, dict) and one.get("name") == name:
            inside = _path(one, "source")
            return Path(place, inside) if inside is not None else None
    return None


def _path(document: object, key: str) -> str | None:
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, str) and "\0" not in value else None


def _tables_of(files: ClientFiles, plugin: str, place: Path) -> Iterator[PluginTable]:
    place = Path(os.path.normpath(place))
    name = plugin.partition("@")[0]
    data = f"{files.directory}/plugins/data/{_ODD_CHARACTER.sub('-', plugin)}"
    extra = {"CLAUDE_PLUGIN_ROOT": str(place), "CLAUDE_PLUGIN_DATA": data}
    is_inside = Path(os.path.realpath(place)).is_relative_to(os.path.realpath(files.root))
    for path, servers in _definitions(files, place):
        source = files.for_people(path) if is_inside else f"plugin {plugin}"
        yield PluginTable(
            servers={f"plugin:{name}:{key}": value for key, value in servers.items()},
            origin=Origin.PROJECT if is_inside else Origin.PLUGIN,
            source=source,
            extra=extra,
        )


def _definitions(files: ClientFiles, place: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    path, manifest = place / _SERVERS_FILE, place / _MANIFEST
    yield path, _servers_in(files.document(path))
    said = files.document(manifest).get(_SERVERS)
    for one in said if isinstance(said, list) else [said]:
        if isinstance(one, dict):
            yield manifest, one
        elif isinstance(one, str) and _is_another_inside(one, place):
            yield place / one, _servers_in(files.document(place / one))


def _servers_in(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the servers of a file, which plugins write with or without the key around them."""
    return table_in(document, _SERVERS) if _SERVERS in document else document


def _is_another_inside(name: str, place: Path) -> bool:
    if "\0" in name:
        return False
    real, base = Path(os.path.realpath(place / name)), Path(os.path.realpath(place))
    return real.is_relative_to(base) and real != base / _SERVERS_FILE
