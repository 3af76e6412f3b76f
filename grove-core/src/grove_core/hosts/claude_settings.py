"""Claude Code's settings: where they are, what they hold of grove, and putting that in and out."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from attrs import evolve

from grove_core.errors import CodecError, StorageError
from grove_core.hosts.claude_hooks import SERVER, Group, own_hook
from grove_core.model.value import frozen
from grove_core.storage.files import read_bytes

CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
PLUGIN: Final = "plugin"
USER: Final = "user"
PROJECT: Final = "project"
LOCAL: Final = "local"

_DIRECTORY: Final = ".claude"
_PLUGIN_ROOT: Final = "${CLAUDE_PLUGIN_ROOT}"
_LAUNCHER: Final = "grove-hook"
_STATUS_LINE: Final = "statusline"
_MARK: Final = "\N{ZERO WIDTH NO-BREAK SPACE}"
_INDENT: Final = re.compile(r"^\s*\{\s*?\n([ \t]+)")


@frozen(kw_only=True)
class Registration:
    """A hook of grove's that the client is told to run."""

    source: Path
    kind: str
    event: str
    matcher: str | None
    program: str
    arguments: tuple[str, ...]
    condition: str | None = None


def user_directory(environment: Mapping[str, str]) -> Path:
    """Find the client's own directory of this user."""
    named = environment.get(CONFIG_VARIABLE)
    return Path(named) if named else Path(environment.get("HOME", "/")) / _DIRECTORY


def settings_file(root: Path, *, shared: bool) -> Path:
    """Name a project's settings file."""
    return root / _DIRECTORY / ("settings.json" if shared else "settings.local.json")


def rules_file(root: Path) -> Path:
    """Name the file of a project's rules that is grove's."""
    return root / _DIRECTORY / "rules" / "grove.md"


def server_file(root: Path) -> Path:
    """Name the file of a project's MCP servers."""
    return root / ".mcp.json"


def settings_sources(root: Path, environment: Mapping[str, str]) -> Sequence[tuple[str, Path]]:
    """Name the settings files that count in a project; a later one overrides."""
    files = {
        user_directory(environment) / "settings.json": USER,
        # In the home directory this is the same file.
        settings_file(root, shared=True): PROJECT,
        settings_file(root, shared=False): LOCAL,
    }
    return tuple((kind, path) for path, kind in files.items())


def registrations(root: Path, environment: Mapping[str, str]) -> Sequence[Registration]:
    """Find grove's hooks in user and project settings and in enabled plugins."""
    found: list[Registration] = []
    for plugin in dict.fromkeys(_plugins(root, environment)):
        source = plugin / "hooks" / "hooks.json"
        # Those that the session's server answers stand in a file of their own.
        for path in (source, source.with_name("server.json")):
            found += (
                evolve(one, program=one.program.replace(_PLUGIN_ROOT, str(plugin)), source=source)
                for one in _hooks_of(path, PLUGIN)
            )
    server = _table(_table(_read(server_file(root)).get("mcpServers")).get(SERVER))
    for kind, path in settings_sources(root, environment):
        for one in _hooks_of(path, kind):
            command = None if one.arguments else _text(server.get("command"))
            found.append(evolve(one, program=command or one.program))
    return found


def other_status_line(root: Path, environment: Mapping[str, str]) -> Path | None:
    """Name a settings file with a status line that is not grove's."""
    for _, path in settings_sources(root, environment):
        line = _read(path).get("statusLine")
        if line is not None and not _is_own_status_line(line):
            return path
    return None


def _hooks_of(path: Path, kind: str) -> Iterator[Registration]:
    for event, groups in _table(_read(path).get("hooks")).items():
        for group in map(_table, _list(groups)):
            for hook in map(_table, _list(group.get("hooks"))):
                if words := own_hook(hook):
                    yield Registration(
                        source=path,
                        kind=kind,
                        event=event,
                        matcher=_text(group.get("matcher")),
                        program=words[0],
                        arguments=tuple(words[1:]),
                        condition=_text(hook.get("if")),
                    )


def _plugins(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Name the directories of the plugins that are enabled here."""
    enabled: dict[str, Any] = {}
    for _, path in settings_sources(root, environment):
        enabled |= _table(_read(path).get("enabledPlugins"))
    record = user_directory(environment) / "plugins" / "installed_plugins.json"
    for name, installs in _table(_read(record).get("plugins")).items():
        # The record's first version holds one object for each plugin, the second one a list.
        for install in map(_table, installs if isinstance(installs, list) else [installs]):
            place = _text(install.get("installPath"))
            project = Path(_text(install.get("projectPath")) or root)
            if place and enabled.get(name) and root.resolve().is_relative_to(project.resolve()):
                yield Path(place)
    # Inside the client, the plugins that were given with --plugin-dir show on PATH alone.
    for folder in environment.get("PATH", "").split(":"):
        if folder.startswith("/") and (Path(folder) / _LAUNCHER).is_file():
            yield Path(folder).parent


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return _table(json.loads((read_bytes(path) or b"{}").decode("utf-8-sig")))
    except (StorageError, ValueError, RecursionError):
        return {}


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def parse_settings(text: str) -> dict[str, Any]:
    """Read settings as strictly as the client does, and check the parts that grove changes."""
    text = text.removeprefix(_MARK)
    try:
        document = json.loads(text, parse_constant=_refuse) if text.strip() else {}
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise CodecError(f"{where}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CodecError(str(error)) from error
    _require(document, dict, "the settings")
    for name in ("hooks", "permissions", "mcpServers"):
        _require(document.get(name, {}), dict, name)
    for event, groups in document.get("hooks", {}).items():
        _require(groups, list, f"hooks.{event}")
    _require(document.get("permissions", {}).get("allow", []), list, "permissions.allow")
    return document


def _require(value: object, kind: type, name: str) -> None:
    if not isinstance(value, kind):
        raise CodecError(f"{name} must be {'an object' if kind is dict else 'a list'}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _written_like(text: str, before: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Write settings with the indentation and the line ends of a text; unchanged ones stay."""
    if before == document:
        return text
    mark = _MARK if text.startswith(_MARK) else ""
    indent = _INDENT.match(text.removeprefix(_MARK))
    written = json.dumps(document, indent=indent[1] if indent else "  ", ensure_ascii=False)
    end = "" if text.strip() and not text.endswith("\n") else "\n"
    return mark + (written + end).replace("\n", "\r\n" if "\r\n" in text else "\n")


def with_own(
    text: str,
    *,
    hooks: Mapping[str, Sequence[Group]] | None = None,
    rule: str | None = None,
    server: str | None = None,
    status_line: str | None = None,
) -> str:
    """Put hooks, a permission rule, the session's server or a status line into settings.

    Hooks and servers of an older grove are replaced.
    """
    before, document = parse_settings(text), parse_settings(text)
    if hooks is not None:
        events = document.setdefault("hooks", {})
        for event in {**events, **hooks}:
            _put_hooks(events, event, hooks.get(event, ()))
    allowed = document.get("permissions", {}).get("allow", [])
    if rule is not None and rule not in allowed:
        document.setdefault("permissions", {})["allow"] = [*allowed, rule]
    if server is not None:
        servers = document.setdefault("mcpServers", {})
        if SERVER in servers and not _is_own_server(servers[SERVER]):
            raise CodecError(f"mcpServers.{SERVER} is another server")
        servers[SERVER] = {"command": server, "args": ["serve"]}
    if status_line is not None:
        command = f"{shlex.quote(status_line)} {_STATUS_LINE}"
        document["statusLine"] = {"type": "command", "command": command}
    return _written_like(text, before, document)


def without_own(text: str, *, rule: str | None = None) -> str:
    """Take grove's hooks, server and status line, and a permission rule, out of settings."""
    before, document = parse_settings(text), parse_settings(text)
    for event in before.get("hooks", {}):
        _put_hooks(document["hooks"], event, ())
    if rule is not None and rule in document.get("permissions", {}).get("allow", []):
        document["permissions"]["allow"].remove(rule)
        if not document["permissions"]["allow"]:
            del document["permissions"]["allow"]
    if _is_own_server(document.get("mcpServers", {}).get(SERVER)):
        del document["mcpServers"][SERVER]
    if _is_own_status_line(document.get("statusLine")):
        del document["statusLine"]
    for section in ("hooks", "permissions", "mcpServers"):
        if before.get(section) and not document[section]:
            del document[section]
    return _written_like(text, before, document)


def allows(text: str, rule: str) -> bool:
    """Return whether settings hold a permission rule."""
    return rule in parse_settings(text).get("permissions", {}).get("allow", [])


def has_own_server(text: str) -> bool:
    """Return whether a file of servers holds the session's server."""
    return _is_own_server(parse_settings(text).get("mcpServers", {}).get(SERVER))


def _put_hooks(events: dict[str, list[Any]], event: str, wanted: Sequence[Group]) -> None:
    groups = events.get(event, [])
    if [one for one in groups if _has_own_hook(one)] == list(wanted):
        return
    events[event] = []
    for group in groups:
        if not _has_own_hook(group):
            events[event].append(group)
        elif others := [hook for hook in group["hooks"] if not own_hook(hook)]:
            events[event].append({**group, "hooks": others})
    events[event] += wanted
    if not events[event]:
        del events[event]


def _is_own_server(server: object) -> bool:
    return isinstance(server, dict) and server.get("args") == ["serve"]


def _is_own_status_line(line: object) -> bool:
    program, _, argument = (_text(_table(line).get("command")) or "").rpartition(" ")
    return argument == _STATUS_LINE and Path(program.strip("'")).name == "grove"


def _has_own_hook(group: object) -> bool:
    return any(own_hook(hook) for hook in _list(_table(group).get("hooks")))
