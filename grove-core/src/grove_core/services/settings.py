"""Every setting in force, with where it comes from; and everything that is wrong with them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from grove_core.config.edit import render_default_config, with_setting
from grove_core.config.load import (
    DEFAULT,
    PLUGIN_SECTIONS,
    ConfigProblem,
    LoadedConfig,
    Origin,
    Source,
    annotation_of,
    variable_of,
)
from grove_core.config.plugin_section import NOT_AGREED, PluginSection, default_settings
from grove_core.config.schema import (
    ValueProblem,
    check_value,
    config_keys,
    parse_variable,
    unknown_key,
)
from grove_core.errors import ConfigError
from grove_core.plugins.discovery import BACKEND_GROUP, GENERAL_GROUP, TICKET_GROUP
from grove_core.project import Project
from grove_core.services.packages import install_command_named
from grove_core.storage import files
from grove_core.text import escape_invisible

_GROUPS: Final = {"backends": BACKEND_GROUP, "tickets": TICKET_GROUP, "gates": GENERAL_GROUP}


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
    own = [row for key in config_keys() for row in _rows_of(key, project.loaded_config)]
    return own + [row for one in plugin_sections(project).values() for row in _plugin_rows(one)]


def plugin_sections(project: Project) -> dict[str, PluginSection]:
    """The sections of all plugins in use, by their names."""
    return {
        f"{family}.{name}": section
        for family in PLUGIN_SECTIONS
        for name, section in project.sections(family).items()
    }


def setting_named(project: Project, key: str) -> EffectiveSetting:
    """Find a setting."""
    rows = {row.key: row for row in effective_settings(project)}
    if key in rows:
        return rows[key]
    raise ConfigError(f"{escape_invisible(key)} {unknown_key(key, list(rows))}")


def _rows_of(key: str, loaded: LoadedConfig) -> Iterator[EffectiveSetting]:
    declared = config_keys()[key]
    value: Any = loaded.config
    for name in key.split("."):
        value = getattr(value, name)
    rows = {key: (value, declared.default)}
    if isinstance(value, Mapping) and value:
        # A table of the user's own names: each of them may come from somewhere else.
        rows = {f"{key}.{name}": (item, None) for name, item in value.items()}
    for row, (item, default) in rows.items():
        origin = loaded.origins.get(row, DEFAULT)
        about = declared.help
        yield EffectiveSetting(key=row, value=item, default=default, origin=origin, help=about)


def _plugin_rows(section: PluginSection) -> Iterator[EffectiveSetting]:
    # A class with a key that must be given has no defaults as a whole, and no settings without it.
    defaults = default_settings(section.kind)[0]
    settings = section.read()[0]
    for key, each in section.attributes.items():
        yield EffectiveSetting(
            key=f"{section.name}.{key}",
            value=getattr(settings, each.name, None),
            default=getattr(defaults, each.name, None),
            origin=section.origin_of(key),
            help="",
        )


# --- What is wrong --------------------------------------------------------------------------------


@frozen(kw_only=True)
class Findings:
    """Mistakes, values that wait for trust, and what is set and has no effect."""

    mistakes: Sequence[ConfigProblem]
    waiting: Sequence[ConfigProblem]
    unused: Sequence[str]


def examine_settings(project: Project) -> Findings:
    """Find what is wrong with the configuration, plugins' own sections included."""
    sections = plugin_sections(project)
    problems = [*project.loaded_config.problems]
    problems += [problem for one in sections.values() for problem in one.read()[1]]
    problems += _unread_variables(sections.values(), project.loaded_config)
    return Findings(
        mistakes=[one for one in problems if one.message != NOT_AGREED],
        waiting=[one for one in problems if one.message == NOT_AGREED],
        unused=[*backend_warnings(project), *_without_effect(project, sections)],
    )


def _unread_variables(
    sections: Collection[PluginSection], loaded: LoadedConfig
) -> Iterator[ConfigProblem]:
    """Name variables that no plugin has a key for."""
    known = [variable_of(f"{one.name}.{key}") for one in sections for key in one.attributes]
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
            complaint = _absence(project, "backends", name)
        elif key == "backends.personal" and not project.library.personal:
            complaint = "it cannot keep personal learnings"
        elif key == "backends.primary" and not states[name].is_active:
            why = f"it cannot be used here: {states[name].why}"
            complaint = f"{why}; its learnings are kept elsewhere until it can"
        if complaint:
            lines.append(f"{origin}: {key} names {named}: {complaint}")
    return lines


def _absence(project: Project, family: str, name: str) -> str:
    """Say why a plugin cannot be used, and what to do."""
    for entry in project.plugins.found:
        if (entry.group, entry.name) == (_GROUPS[family], name):
            return f"{name} is {entry.state.value}: {entry.detail or 'it has no use for this'}"
    how = install_command_named(name) or "install it or correct the name"
    return f"{name} is not installed: {how}"


def _without_effect(project: Project, read: Collection[str]) -> Iterator[str]:
    """Name sections that no plugin reads."""
    loaded = project.loaded_config
    for section, said in loaded.plugin_sections.items():
        if said and section not in read:
            origin = loaded.origins[f"{section}.{next(iter(said))}"]
            why = _absence(project, *section.split(".", 1))
            yield escape_invisible(f"{origin}: [{section}] has no effect: {why}")


# --- changing one -------------------------------------------------------------------------------


def read_setting(project: Project, key: str, text: str) -> object:
    """Read what the command line says a key should be, as TOML or plainly, and check it."""
    section, _, name = key.rpartition(".")
    declared, annotation = config_keys().get(key), annotation_of(key)
    plugin = plugin_sections(project).get(section)
    if annotation is None and plugin is not None and name in plugin.attributes:
        annotation = plugin.attributes[name].type
    if annotation is None:
        setting_named(project, key)  # it says that there is none
        raise ConfigError(f"{escape_invisible(key)} cannot be set by itself")
    import tomli

    try:
        value = tomli.loads(f"value = {text}")["value"]
        check_value(value, annotation, declared)
    except (tomli.TOMLDecodeError, ValueProblem):
        value = parse_variable(text, annotation)
    try:
        check_value(value, annotation, declared)
    except ValueProblem as problem:
        raise ConfigError(f"{key} {problem}") from problem
    return value


def write_setting(
    path: Path, key: str, value: object, root: Path, *, dry_run: bool = False
) -> bool:
    """Set a key in a file below a folder, or with ``None`` remove it; tell whether it changes."""
    before = files.read_text(path)
    try:
        after = with_setting(render_default_config() if before is None else before, key, value)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    if after == before or (before is None and value is None):
        return False
    if not dry_run:
        from grove_core.install.plan import FileChange  # most who come here write nothing

        FileChange(path=path, before=before, after=after).make(root)
    return True
