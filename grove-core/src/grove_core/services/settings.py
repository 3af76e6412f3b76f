"""Every setting in force, with where it comes from; and everything that is wrong with them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from attrs import field, fields, frozen, has, resolve_types

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
from grove_core.plugins.discovery import BACKEND_GROUP, TICKET_GROUP
from grove_core.project import Project
from grove_core.services.packages import blocked_plugins, install_command_named

_DEFAULT: Final = Origin(source=Source.DEFAULT)
_MOST_NAMED: Final = 5
_GROUPS: Final = {"backends": BACKEND_GROUP, "tickets": TICKET_GROUP}
_OVERRIDES: Final = {"backends.overrides": BACKEND_GROUP, "ticketing.overrides": TICKET_GROUP}


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    from grove_core.storage.codec import to_jsonable  # it loads cattrs

    return to_jsonable(value)


@frozen(kw_only=True)
class EffectiveSetting:
    """A key, what is in force for it, and whether a file or the environment sets it."""

    key: str
    value: Any = field(converter=_plain)
    default: Any = field(converter=_plain)
    origin: Origin
    help: str = ""
    changed: bool = field()

    @changed.default
    def _is_changed(self) -> bool:
        return self.origin.source is not Source.DEFAULT


def effective_settings(project: Project) -> list[EffectiveSetting]:
    """List every key that is known here, those of plugins' own sections included."""
    loaded = project.loaded_config
    own = [row for key in config_keys() for row in _rows_of(key, loaded)]
    sections = plugin_sections(project)
    return own + [row for name in sections for row in _plugin_rows(name, sections[name], project)]


def setting_named(project: Project, key: str) -> EffectiveSetting:
    """Find a setting; of an unknown key say what is like it."""
    rows = {row.key: row for row in effective_settings(project)}
    if key in rows:
        return rows[key]
    inside = [name for name in rows if name.startswith(f"{key.rstrip('.')}.")]
    if inside:
        left = len(inside) - _MOST_NAMED
        names = ", ".join(inside[:_MOST_NAMED]) + (f" and {left} more" if left > 0 else "")
        raise ConfigError(f"{printable(key)} is a section; name one of its keys: {names}")
    # `max_block` may mean `circuit_breaker.max_blocks`.
    last_names = {name.rpartition(".")[2]: name for name in rows}
    near = get_close_matches(key, rows, n=3) or [
        last_names[one] for one in get_close_matches(key.rpartition(".")[2], last_names, n=3)
    ]
    hint = f"did you mean {', '.join(near)}?" if near else "`grove config` lists them"
    raise ConfigError(f"there is no key {printable(key)}; {hint}")


def _rows_of(key: str, loaded: LoadedConfig) -> Iterator[EffectiveSetting]:
    declared = config_keys()[key]
    value: Any = loaded.config
    for name in key.split("."):
        value = getattr(value, name)
    about = declared.setting.help
    if isinstance(value, Mapping) and value:
        # A table of the user's own names: each of them may come from somewhere else.
        for name, item in value.items():
            row = f"{key}.{name}"
            origin = loaded.origins.get(row, _DEFAULT)
            yield EffectiveSetting(key=row, value=item, default=None, origin=origin, help=about)
        return
    yield EffectiveSetting(
        key=key, value=value, default=declared.default, origin=loaded.origins[key], help=about
    )


def plugin_sections(project: Project) -> dict[str, type | None]:
    """Map the section of each plugin in use to the class that declares its keys."""
    plugins = project.plugins
    sections = {
        f"backends.{one.value.name}": one.value.settings for one in plugins.memory_backends()
    }
    for probe in plugins.ticket_probes():
        sections[f"tickets.{probe.value.name}"] = probe.value.settings
    return sections


def _plugin_rows(section: str, kind: type | None, project: Project) -> Iterator[EffectiveSetting]:
    if kind is None:
        return
    # A class with a key that must be given has no defaults as a whole, and no settings without it.
    defaults = validate_plugin_section({}, kind)[0]
    settings = project.plugin_settings(section, kind)[0]
    untrusted = project.untrusted_keys(section, kind)
    for each in _attributes(kind):
        key = f"{section}.{each.alias}"
        about = setting_of(each)
        refused = each.alias in untrusted or USER_ONLY.keys() <= each.metadata.keys()
        yield EffectiveSetting(
            key=key,
            value=getattr(settings, each.name, None),
            default=getattr(defaults, each.name, None),
            origin=_origin_of(key, project.loaded_config, refused=refused),
            help=about.help if about is not None else "",
        )


def _origin_of(key: str, loaded: LoadedConfig, *, refused: bool = False) -> Origin:
    """Return where a value comes from; what a project must not set does not come from there."""
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


# --- What is wrong --------------------------------------------------------------------------------


@frozen(kw_only=True)
class Findings:
    """Mistakes, values that wait for trust, and what is set and has no effect."""

    mistakes: Sequence[ConfigProblem]
    waiting: Sequence[ConfigProblem]
    unused: Sequence[str]


def examine_settings(project: Project) -> Findings:
    """Find what is wrong with the configuration, plugins' own sections included."""
    loaded = project.loaded_config
    sections = plugin_sections(project)
    problems = list(loaded.problems)
    for name, kind in sections.items():
        problems += _problems_of_section(name, kind, project)
    problems += _unread_variables(sections, loaded)
    unread = [name for name in loaded.plugin_sections if name not in sections]
    return Findings(
        mistakes=[one for one in problems if one.message != NOT_AGREED],
        waiting=[one for one in problems if one.message == NOT_AGREED],
        unused=[
            *backend_warnings(project),
            *_unknown_overrides(project),
            *_unread_sections(unread, project),
        ],
    )


def _problems_of_section(
    section: str, kind: type | None, project: Project
) -> Iterator[ConfigProblem]:
    loaded = project.loaded_config
    written = loaded.plugin_sections.get(section, {})
    if kind is None:
        for key in written:
            message = "is not known: this plugin has no settings"
            yield _problem(section, key, message, loaded)
        return
    for text in project.plugin_settings(section, kind)[1]:
        names = sorted([*written, *(each.alias for each in _attributes(kind))], key=len)
        named = [key for key in names if text.startswith(f"{printable(key)} ")]
        key = named[-1] if named else ""
        yield _problem(section, key, text.removeprefix(printable(key)).lstrip(), loaded)


def _problem(section: str, key: str, message: str, loaded: LoadedConfig) -> ConfigProblem:
    name = f"{section}.{key}".rstrip(".")
    origin = _origin_of(name, loaded)
    if origin.source is Source.DEFAULT:
        origin = _origin_of_section(section, loaded)  # what is missing stands nowhere
    return ConfigProblem(key=printable(name), origin=origin, message=message)


def _origin_of_section(section: str, loaded: LoadedConfig) -> Origin:
    keys = (one for one in loaded.origins if one.startswith(f"{section}."))
    return next((loaded.origins[one] for one in keys), _DEFAULT)


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


# --- What is set and has no effect ----------------------------------------------------------------


def backend_warnings(project: Project) -> list[str]:
    """Name the keys whose backend cannot be used, and how to fix that."""
    backends = project.config.backends
    states = {state.spec.name: state for state in project.library.states}
    lines = []
    for key, named in (
        ("backends.primary", backends.primary),
        ("backends.personal", backends.personal),
    ):
        origin = project.loaded_config.origins[key]
        if not named or origin.source is Source.DEFAULT:
            continue
        name = named.partition("@")[0]
        complaint = ""
        if name not in states:
            complaint = f"which {_absence(project, BACKEND_GROUP, name, states)}"
        elif key == "backends.personal" and not project.library.personal:
            complaint = "which cannot keep personal learnings"
        elif key == "backends.primary" and not states[name].is_active:
            why = f"which cannot be used here: {states[name].why}"
            complaint = f"{why}; its learnings are kept elsewhere until it can"
        if complaint:
            lines.append(f"{origin}: {key} names {named}, {complaint}")
    return lines


def _absence(project: Project, group: str, name: str, known: Collection[str]) -> str:
    """Say why a plugin is not there, and what to do."""
    for blocked in blocked_plugins(project, group):
        if blocked.name == name:
            return f"is blocked by {blocked.by}: {blocked.fix[:1].lower()}{blocked.fix[1:]}"
    for entry in project.plugins.report().plugins:
        if (entry.group, entry.name) == (group, name):
            return f"is {entry.state.value}: `grove plugins` says why"
    near = get_close_matches(name, known, n=1)
    how = install_command_named(name) or "install it"
    meant = f"; did you mean {near[0]}?" if near else ""
    installed = ", ".join(known) or "none"
    return f"is not installed: {how} or name another (installed: {installed}){meant}"


def _unread_sections(sections: Iterable[str], project: Project) -> Iterator[str]:
    for section in sections:
        family, _, name = section.partition(".")
        origin = _origin_of_section(section, project.loaded_config)
        known = _known_names(project, _GROUPS[family])
        absence = _absence(project, _GROUPS[family], name, known)
        yield printable(f"{origin}: [{section}] has no effect: {name} {absence}")


def _unknown_overrides(project: Project) -> Iterator[str]:
    config = project.config
    tables = (config.backends.overrides, config.ticketing.overrides)
    for (section, group), overrides in zip(_OVERRIDES.items(), tables, strict=True):
        known = _known_names(project, group) if overrides else ()
        for name in overrides:
            if name in known:
                continue
            key = f"{section}.{name}"
            origin = project.loaded_config.origins.get(key, _DEFAULT)
            absence = _absence(project, group, name, known)
            yield printable(f"{origin}: {key} has no effect: {name} {absence}")


def _known_names(project: Project, group: str) -> Collection[str]:
    plugins = project.plugins
    offered = plugins.memory_backends() if group == BACKEND_GROUP else plugins.ticket_probes()
    names = [one.name for one in plugins.report().plugins if one.group == group]
    return sorted({*names, *(one.value.name for one in offered)})
