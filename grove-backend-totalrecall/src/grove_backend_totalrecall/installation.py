"""Where Total Recall is in a project, and how it was installed."""

import os
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from grove_core import BackendContext, ProjectContext

DAILY: Final = "memory/daily"
REGISTERS: Final = "memory/registers"
RULES: Final = ".claude/rules/total-recall.md"
COMMAND_FILE: Final = ".claude/commands/recall-log.md"
_CHECKOUT_RULES: Final = "rules/total-recall.md"
_SCHEMA: Final = "memory/SCHEMA.md"
_INDEX: Final = "memory/registers/_index.md"
_PROJECT_SETTINGS: Final = (".claude/settings.json", ".claude/settings.local.json")
_PLUGIN: Final = "recall@"
_MOST_BYTES: Final = 1024 * 1024
"""As much is read of a file that may be anybody's."""


class Form(Enum):
    """How Total Recall was installed, in a word for people."""

    STANDALONE = "standalone"
    PLUGIN_USER = "plugin, user scope"
    PLUGIN_PROJECT = "plugin, project scope"
    HAND_MADE = "made by hand"


class Installation(NamedTuple):
    """Total Recall as it was found."""

    root: Path
    form: Form
    markers: tuple[str, ...]
    is_initialised: bool
    missing: tuple[str, ...]

    @property
    def is_only_enabled(self) -> bool:
        """Whether nothing here is Total Recall's: the user has its plugin, for all projects."""
        return self.form is Form.PLUGIN_USER and len(self.markers) == 1

    def command(self, name: str) -> str:
        """Return how the client calls one of Total Recall's commands."""
        is_plugin = self.form in {Form.PLUGIN_USER, Form.PLUGIN_PROJECT}
        return f"/recall:{name}" if is_plugin else f"/{name}"


def possible_roots(context: BackendContext | ProjectContext) -> list[Path]:
    """Name the directories that may be the project to Total Recall, as its own hooks find it."""
    found = [context.root]
    for place in (context.root, *context.root.parents):
        if os.path.exists(place / ".git"):  # noqa: PTH110 - never raises
            found.insert(0, place)
            break
    # The variable is the client's project. When grove is asked about another one
    # (`grove --project other`), it must not have that one's learnings written into this one.
    named = context.environment.get("CLAUDE_PROJECT_DIR", "")
    if Path(named).is_absolute() and _is_directory(named):
        root, client = Path(os.path.realpath(context.root)), Path(os.path.realpath(named))
        if root.is_relative_to(client) or client.is_relative_to(root):
            found.insert(0, client)
    return list(dict.fromkeys(found))


def find_installation(context: BackendContext | ProjectContext) -> Installation | None:
    """Look for Total Recall."""
    paths = [_find_in(root, context) for root in possible_roots(context)]
    found = [one for one in paths if one is not None]
    return next((one for one in found if one.is_initialised), found[0] if found else None)


def _find_in(root: Path, context: BackendContext | ProjectContext) -> Installation | None:
    in_project = _markers_in(root)
    enabling, form = _enabled_by(root, context)
    if not in_project and not enabling:
        return None
    # The project's own commands answer to their plain names, beside a plugin as well.
    if COMMAND_FILE in in_project or (not enabling and RULES in in_project):
        form = Form.STANDALONE
    missing = tuple(name for name in (DAILY, REGISTERS) if not _is_directory(root / name))
    found = Installation(
        root=root,
        form=form,
        markers=(*in_project, *enabling),
        is_initialised=DAILY not in missing,
        missing=missing,
    )
    # Where nothing of the project is Total Recall's, logs without registers are somebody else's.
    return found._replace(is_initialised=not missing) if found.is_only_enabled else found


def _markers_in(root: Path) -> tuple[str, ...]:
    plain = (name for name in (RULES, COMMAND_FILE, _CHECKOUT_RULES) if _is_file(root / name))
    said = _read(root / _SCHEMA).lower().replace(b"-", b" ")
    schema = (_SCHEMA,) if b"total recall" in said else ()
    index = (_INDEX,) if _is_file(root / _INDEX) else ()
    return (*plain, *schema, *index)


def _enabled_by(
    root: Path, context: BackendContext | ProjectContext
) -> tuple[tuple[str, ...], Form]:
    """Find the settings that enable the plugin; those of a narrower scope overrule wider ones."""
    enabled: dict[str, tuple[tuple[str, ...], Form]] = {}
    for path, marker, form in _settings_files(root, context):
        for plugin, is_on in _plugins_in(path):
            enabled[plugin] = ((marker,) if is_on else (), form)
    return next((one for one in enabled.values() if one[0]), ((), Form.HAND_MADE))


def _settings_files(
    root: Path, context: BackendContext | ProjectContext
) -> Iterator[tuple[Path, str, Form]]:
    home = context.environment.get("HOME", "")
    directory = context.environment.get("CLAUDE_CONFIG_DIR", "") or (home and f"{home}/.claude")
    user = Path(directory, "settings.json") if directory else None
    if user is not None:
        is_at_home = bool(home) and user.is_relative_to(home)
        shown = f"~/{user.relative_to(home)}" if is_at_home else str(user)
        yield user, shown, Form.PLUGIN_USER
    for name in _PROJECT_SETTINGS:
        # In the user's home they are one file.
        if root / name != user:
            yield root / name, name, Form.PLUGIN_PROJECT


def _plugins_in(path: Path) -> Iterator[tuple[str, bool]]:
    """List the plugins of Total Recall's name in settings, and whether each is enabled there."""
    content = _read(path)
    if _PLUGIN.encode() not in content:
        return
    import json

    try:
        settings: object = json.loads(content)
    except (ValueError, RecursionError):
        return
    plugins: object = settings.get("enabledPlugins") if isinstance(settings, dict) else None
    if isinstance(plugins, dict):
        for name, value in plugins.items():
            if name.startswith(_PLUGIN) and isinstance(value, bool):
                yield name, value


def _read(path: Path) -> bytes:
    if not _is_file(path):
        return b""
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return b""


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - never raises


def _is_directory(path: Path | str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - never raises
