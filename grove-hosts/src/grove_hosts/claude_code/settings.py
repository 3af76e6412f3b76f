"""Claude Code's settings: where they are, what they hold of grove, and putting that in and out."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_core import (
    CloseMatcher,
    CodecError,
    HostContext,
    HostFile,
    HostSetup,
    Registration,
    read_text,
)
from grove_hosts.claude_code.hooks import (
    ALLOW_RULE,
    SERVER,
    SHELL_TOOL,
    Group,
    conditions_for,
    hook_groups,
    hook_groups_with_server,
    own_hook,
    with_gates,
)
from grove_hosts.settings import (
    as_table,
    as_text,
    parse,
    put_event,
    read,
    registered_by,
    require,
    said,
    written_like,
)

CONFIG_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
PLUGIN: Final = "plugin"
USER: Final = "user"
PROJECT: Final = "project"
LOCAL: Final = "local"

_DIRECTORY: Final = ".claude"
_PLUGIN_ROOT: Final = "${CLAUDE_PLUGIN_ROOT}"
_LAUNCHER: Final = "grove-hook"
_STATUS_LINE: Final = "statusline"
_ADVICE: Final = (
    "the client asks you before the agent runs grove, unless a permission rule lets it:"
    f" grove init --hooks --allow-grove adds {ALLOW_RULE}"
)


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
                for one in registered_by(path, PLUGIN, own_hook)
            )
    server = as_table(as_table(read(server_file(root)).get("mcpServers")).get(SERVER))
    for kind, path in settings_sources(root, environment):
        for one in registered_by(path, kind, own_hook):
            command = None if one.arguments else as_text(server.get("command"))
            found.append(evolve(one, program=command or one.program))
    return found


def other_status_line(root: Path, environment: Mapping[str, str]) -> Path | None:
    """Name a settings file with a status line that is not grove's."""
    for _, path in settings_sources(root, environment):
        line = read(path).get("statusLine")
        if line is not None and not _is_own_status_line(line):
            return path
    return None


def _plugins(root: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """Name the directories of the plugins that are enabled here."""
    enabled: dict[str, Any] = {}
    for _, path in settings_sources(root, environment):
        enabled |= as_table(read(path).get("enabledPlugins"))
    record = user_directory(environment) / "plugins" / "installed_plugins.json"
    for name, installs in as_table(read(record).get("plugins")).items():
        # The record's first version holds one object for each plugin, the second one a list.
        for install in map(as_table, installs if isinstance(installs, list) else [installs]):
            place = as_text(install.get("installPath"))
            project = Path(as_text(install.get("projectPath")) or root)
            if place and enabled.get(name) and root.resolve().is_relative_to(project.resolve()):
                yield Path(place)
    # Inside the client, the plugins that were given with --plugin-dir show on PATH alone.
    for folder in environment.get("PATH", "").split(":"):
        if folder.startswith("/") and (Path(folder) / _LAUNCHER).is_file():
            yield Path(folder).parent


def parse_settings(text: str) -> dict[str, Any]:
    """Read settings as strictly as the client does, and check the parts that grove changes."""
    document = parse(text)
    for name in ("permissions", "mcpServers"):
        require(document.get(name, {}), dict, name)
    require(document.get("permissions", {}).get("allow", []), list, "permissions.allow")
    return document


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
            put_event(events, event, own_hook, hooks.get(event, ()))
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
    return written_like(text, before, document)


def without_own(text: str, *, rule: str | None = None) -> str:
    """Take grove's hooks, server and status line, and a permission rule, out of settings."""
    before, document = parse_settings(text), parse_settings(text)
    for event in before.get("hooks", {}):
        put_event(document["hooks"], event, own_hook, ())
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
    return written_like(text, before, document)


def _allowed(text: str) -> Sequence[Any]:
    rules: Sequence[Any] = parse_settings(text).get("permissions", {}).get("allow", [])
    return rules


def has_own_server(text: str) -> bool:
    """Return whether a file of servers holds the session's server."""
    return _is_own_server(parse_settings(text).get("mcpServers", {}).get(SERVER))


def _is_own_server(server: object) -> bool:
    return isinstance(server, dict) and server.get("args") == ["serve"]


def _is_own_status_line(line: object) -> bool:
    program, _, argument = (as_text(as_table(line).get("command")) or "").rpartition(" ")
    return argument == _STATUS_LINE and Path(program.strip("'")).name == "grove"


# --- what installing takes ------------------------------------------------------------------------


def setup(context: HostContext) -> HostSetup:
    """Say what is written into the client's settings of a project."""
    root, program = context.root, context.program
    wanted: list[HostFile] = []
    notes: list[str] = []
    if context.hooks:
        server = context.server or has_own_server(_text_of(server_file(root)))
        groups = hook_groups(program, conditions_for(shell_words(context), context.gate_words))
        if server:
            groups = hook_groups_with_server(program)
            wanted.append(_settings(server_file(root), partial(with_own, server=program)))
        groups = with_gates(groups, program, context.tools, context.agents)
        line = context.status_line
        other = other_status_line(root, context.environment) if line else None
        if other:
            notes.append(f"{other} has a status line: grove's was not added")
        put = partial(
            with_own,
            hooks=groups,
            rule=ALLOW_RULE if context.allow else None,
            status_line=program if line and not other else None,
        )
        wanted.insert(0, _settings(settings_file(root, shared=context.shared), put))
        notes += [] if context.allow else [_ADVICE]
    if context.rules:
        rules, text = rules_file(root), context.protocol
        before = _text_of(rules)
        if before not in ("", text):
            name = rules.relative_to(root)
            notes.append(f"{name} is not what this grove writes: kept; delete it to have it again")
        wanted.append(
            HostFile(
                path=rules,
                put=lambda found: found or text,
                take=lambda found, _: "" if found == text else found,
                is_whole=True,
            )
        )
    return HostSetup(files=tuple(wanted), notes=tuple(notes))


def shell_words(context: HostContext) -> list[str]:
    """Collect the words of which one stands in every shell command that closes a ticket here."""

    def runs_shell(matcher: CloseMatcher) -> bool:
        return any(fnmatchcase(SHELL_TOOL, one) for one in matcher.tools)

    return [word for one in context.matchers if runs_shell(one) for word in one.literals]


def _settings(path: Path, put: Callable[[str], str]) -> HostFile:
    return HostFile(path=path, put=put, take=_take, said=_said)


def _take(text: str, original: str) -> str:
    was_allowed = ALLOW_RULE in _allowed(original)
    return without_own(text, rule=None if was_allowed else ALLOW_RULE)


def _said(text: str) -> dict[str, Any]:
    """Return what settings say, without the sections and lists that are empty."""
    permissions = parse_settings(text).get("permissions", {})
    meant = {name: one for name, one in permissions.items() if one != []}
    rest = {name: one for name, one in said(text).items() if name != "permissions"}
    return {**rest, "permissions": meant} if meant else rest


def _text_of(path: Path) -> str:
    return read_text(path) or ""
