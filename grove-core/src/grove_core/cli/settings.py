"""Every setting in force, with where it comes from; and everything that is wrong with them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final

from attrs import fields, frozen, has, resolve_types

from grove_core.cli.configured_backends import backend_warnings
from grove_core.cli.idle_settings import idle_settings
from grove_core.config import (
    ConfigProblem,
    LoadedConfig,
    Origin,
    Source,
    config_keys,
)
from grove_core.config.load import variable_of
from grove_core.config.plugin_section import NOT_AGREED, validate_plugin_section
from grove_core.config.schema import setting_of
from grove_core.config.values import printable, unknown_key
from grove_core.errors import ConfigError
from grove_core.model.value import USER_ONLY
from grove_core.workspace import Workspace

_DEFAULT: Final = Origin(source=Source.DEFAULT)
_MOST_NAMED: Final = 5


@frozen(kw_only=True)
class EffectiveSetting:
    """A key and what is in force for it."""

    key: str
    value: Any
    default: Any
    origin: Origin
    help: str = ""

    @property
    def is_changed(self) -> bool:
        """Whether a file or the environment sets it, be it to its default."""
        return self.origin.source is not Source.DEFAULT


def effective_settings(workspace: Workspace) -> list[EffectiveSetting]:
    """List every key that is known here, those of plugins' own sections included."""
    loaded = workspace.loaded_config
    own = [row for key in config_keys() for row in _rows_of(key, loaded)]
    sections = _plugin_sections(workspace)
    return own + [row for name in sections for row in _plugin_rows(name, sections[name], workspace)]


def setting_named(workspace: Workspace, key: str) -> EffectiveSetting:
    """Find a setting."""
    rows = {row.key: row for row in effective_settings(workspace)}
    if key in rows:
        return rows[key]
    near = [name for name in rows if name.startswith(f"{key.rstrip('.')}.")]
    if near:
        more = f" and {len(near) - _MOST_NAMED} more" if len(near) > _MOST_NAMED else ""
        names = ", ".join(near[:_MOST_NAMED])
        raise ConfigError(f"{printable(key)} is a section; name one of its keys: {names}{more}")
    near = get_close_matches(key, rows, n=3) or _with_last_name_like(key, rows)
    hint = f"did you mean {', '.join(near)}?" if near else "`grove config` lists them"
    raise ConfigError(f"there is no key {printable(key)}; {hint}")


def _with_last_name_like(key: str, known: Collection[str]) -> list[str]:
    """``max_block`` may mean ``circuit_breaker.max_blocks``."""
    last_names = {name.rpartition(".")[2] for name in known}
    near = get_close_matches(key.rpartition(".")[2], last_names, n=3)
    return [name for one in near for name in known if name.rpartition(".")[2] == one]


def in_toml(value: object) -> str:
    """Write a value as the files would have it."""
    import json

    plain = value.value if isinstance(value, Enum) else value
    if plain is None:
        return '""'
    if isinstance(plain, Mapping):
        inside = ", ".join(f"{json.dumps(name)} = {in_toml(plain[name])}" for name in plain)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(plain, tuple | list):
        return f"[{', '.join(map(in_toml, plain))}]"
    return json.dumps(plain, ensure_ascii=False, default=str)


def in_json(value: object) -> object:
    """Write a value as ``--json`` has it; what JSON does not know, such as a date, as text."""
    if isinstance(value, Enum):
        return in_json(value.value)
    if isinstance(value, Mapping):
        return {str(name): in_json(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [in_json(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


@frozen(kw_only=True)
class Findings:
    """What is to be said of a configuration."""

    mistakes: Sequence[ConfigProblem]
    waiting: Sequence[ConfigProblem]
    idle: Sequence[str]


def examine_settings(workspace: Workspace) -> Findings:
    """Find what is wrong with the configuration, plugins' own sections included."""
    loaded = workspace.loaded_config
    sections = _plugin_sections(workspace)
    problems = list(loaded.problems)
    for name, kind in sections.items():
        problems += _problems_of_section(name, kind, workspace)
    problems += _unread_variables(sections, loaded)
    return Findings(
        mistakes=[one for one in problems if one.message != NOT_AGREED],
        waiting=[one for one in problems if one.message == NOT_AGREED],
        idle=[*backend_warnings(workspace), *idle_settings(workspace, sections)],
    )


def _rows_of(key: str, loaded: LoadedConfig) -> Iterator[EffectiveSetting]:
    declared = config_keys()[key]
    value: Any = loaded.config
    for name in key.split("."):
        value = getattr(value, name)
    about = declared.setting.help
    if isinstance(value, Mapping) and value:
        # A table of the user's own names: each of them may come from somewhere else.
        for name, item in value.items():
            origin = loaded.origins.get(f"{key}.{name}", _DEFAULT)
            yield EffectiveSetting(
                key=f"{key}.{name}", value=item, default=None, origin=origin, help=about
            )
        return
    yield EffectiveSetting(
        key=key, value=value, default=declared.default, origin=loaded.origins[key], help=about
    )


def _plugin_sections(workspace: Workspace) -> dict[str, type | None]:
    """The section of each plugin that is in use, and the class that declares its keys."""
    plugins = workspace.plugins
    found: dict[str, type | None] = {}
    for backend in plugins.memory_backends():
        found[f"backends.{backend.value.name}"] = backend.value.settings
    for probe in plugins.ticket_probes():
        found[f"tickets.{probe.value.name}"] = probe.value.settings
    return found


def _plugin_rows(
    section: str, kind: type | None, workspace: Workspace
) -> Iterator[EffectiveSetting]:
    if kind is None:
        return
    loaded = workspace.loaded_config
    # A class with a key that must be given has no defaults as a whole, and no settings without it.
    defaults = validate_plugin_section({}, kind)[0]
    settings = workspace.plugin_settings(section, kind)[0]
    untrusted = workspace.untrusted_keys(section, kind)
    for each in _attributes(kind):
        key = f"{section}.{each.alias}"
        about = setting_of(each)
        refused = each.alias in untrusted or USER_ONLY.keys() <= each.metadata.keys()
        yield EffectiveSetting(
            key=key,
            value=getattr(settings, each.name, None),
            default=getattr(defaults, each.name, None),
            origin=_origin_of(key, loaded, refused=refused),
            help=about.help if about is not None else "",
        )


def _origin_of(key: str, loaded: LoadedConfig, *, refused: bool) -> Origin:
    """Tell where a value comes from; what a project must not set does not come from there."""
    if (variable := variable_of(key)) in loaded.plugin_variables:
        return Origin(source=Source.ENVIRONMENT, variable=variable)
    origin = loaded.origins.get(key, _DEFAULT)
    if not refused or origin.source is not Source.PROJECT:
        return origin
    section, _, name = key.rpartition(".")
    is_own = name in loaded.own_sections.get(section, {})
    return Origin(source=Source.USER) if is_own else _DEFAULT


def _attributes(kind: Any) -> Sequence[Any]:  # noqa: ANN401 - a plugin's class
    if kind is None or not has(kind):
        return ()
    try:
        return [each for each in fields(resolve_types(kind)) if each.init]
    except Exception:  # noqa: BLE001 - a plugin's annotations may do anything; `validate` says so
        return ()


def _problems_of_section(
    section: str, kind: type | None, workspace: Workspace
) -> Iterator[ConfigProblem]:
    loaded = workspace.loaded_config
    written = loaded.plugin_sections.get(section, {})
    if kind is None:
        for key in written:
            message = "is not known: this plugin has no settings"
            yield _problem(section, key, message, loaded)
        return
    for text in workspace.plugin_settings(section, kind)[1]:
        names = sorted([*written, *(each.alias for each in _attributes(kind))], key=len)
        named = [key for key in names if text.startswith(f"{printable(key)} ")]
        key = named[-1] if named else ""
        yield _problem(section, key, text.removeprefix(printable(key)).lstrip(), loaded)


def _unread_variables(
    sections: Mapping[str, type | None], loaded: LoadedConfig
) -> Iterator[ConfigProblem]:
    """Name variables that no plugin has a key for."""
    known = {
        variable_of(f"{section}.{each.alias}")
        for section, kind in sections.items()
        for each in _attributes(kind)
    }
    for variable in loaded.plugin_variables:
        if variable not in known:
            origin = Origin(source=Source.ENVIRONMENT, variable=variable)
            names = [*known, *map(variable_of, config_keys())]
            yield ConfigProblem(key="", origin=origin, message=unknown_key(variable, names))


def _problem(section: str, key: str, message: str, loaded: LoadedConfig) -> ConfigProblem:
    name = f"{section}.{key}".rstrip(".")
    # What is missing stands nowhere: then the section's own file is named, if it has one.
    beside = (loaded.origins[one] for one in loaded.origins if one.startswith(f"{section}."))
    variable = variable_of(name)
    if variable in loaded.plugin_variables:
        origin = Origin(source=Source.ENVIRONMENT, variable=variable)
    else:
        origin = loaded.origins.get(name) or next(beside, _DEFAULT)
    return ConfigProblem(key=printable(name), origin=origin, message=message)
