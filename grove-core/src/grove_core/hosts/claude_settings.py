"""Where Claude Code keeps its settings, and which of grove's hooks they hold. Only reads."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.errors import StorageError
from grove_core.hosts.claude_hooks import own_hook
from grove_core.storage.files import read_bytes

CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
PLUGIN: Final = "plugin"
USER: Final = "user"
PROJECT: Final = "project"
LOCAL: Final = "local"

_DIRECTORY: Final = ".claude"
_PLUGIN_ROOT: Final = "${CLAUDE_PLUGIN_ROOT}"
_LAUNCHER: Final = "grove-hook"


@frozen(kw_only=True)
class Registration:
    """A hook of grove's that the client is told to run."""

    source: Path
    kind: str
    event: str
    matcher: str | None
    program: str
    arguments: tuple[str, ...]
    timeout: float | None
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
    for plugin in _plugins(root, environment):
        source = plugin / "hooks" / "hooks.json"
        # Those that the session's server answers stand in a file of their own.
        for one in (
            *_hooks_of(source, PLUGIN),
            *_hooks_of(source.with_name("server.json"), PLUGIN),
        ):
            program = one.program.replace(_PLUGIN_ROOT, str(plugin))
            found.append(evolve(one, program=program, source=source))
    for kind, path in settings_sources(root, environment):
        found += _hooks_of(path, kind)
    return found


def allowed(root: Path, environment: Mapping[str, str]) -> frozenset[str]:
    """Collect what the client's settings allow without a question."""
    return _rules("allow", root, environment)


def denied(root: Path, environment: Mapping[str, str]) -> frozenset[str]:
    """Collect what the client's settings deny, whatever else allows it."""
    return _rules("deny", root, environment)


def _rules(kind: str, root: Path, environment: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        rule
        for _, path in settings_sources(root, environment)
        for rule in _list(_table(_read(path).get("permissions")).get(kind))
        if isinstance(rule, str)
    )


def _hooks_of(path: Path, kind: str) -> Iterator[Registration]:
    for event, groups in _table(_read(path).get("hooks")).items():
        for group in map(_table, _list(groups)):
            for hook in map(_table, _list(group.get("hooks"))):
                own = own_hook(hook)
                if own is not None:
                    yield Registration(
                        source=path,
                        kind=kind,
                        event=event,
                        matcher=_text(group.get("matcher")),
                        program=own.program,
                        arguments=own.arguments,
                        timeout=_number(hook.get("timeout")),
                        condition=_text(hook.get("if")),
                    )


def _plugins(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Name the directories of the plugins that are enabled here, each once."""
    directories: dict[Path, None] = {}
    for directory in _installed_plugins(root, environment):
        directories[directory] = None
    # Inside the client, the plugins that were given with --plugin-dir show on PATH alone.
    for folder in environment.get("PATH", "").split(":"):
        if folder.startswith("/") and (Path(folder) / _LAUNCHER).is_file():
            directories[Path(folder).parent] = None
    yield from directories


def _installed_plugins(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    enabled: dict[str, Any] = {}
    for _, path in settings_sources(root, environment):
        enabled |= _table(_read(path).get("enabledPlugins"))
    record = user_directory(environment) / "plugins" / "installed_plugins.json"
    for name, installs in _table(_read(record).get("plugins")).items():
        # The record's first version holds one object for each plugin, the second one a list.
        for install in map(_table, installs if isinstance(installs, list) else [installs]):
            place = _text(install.get("installPath"))
            project = _text(install.get("projectPath"))
            if place and enabled.get(name) and (project is None or _is_in(root, Path(project))):
                yield Path(place)


def _is_in(root: Path, project: Path) -> bool:
    return root.resolve().is_relative_to(project.resolve())


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


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
