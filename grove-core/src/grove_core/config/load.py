"""Reading the configuration: environment over project over user over defaults."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import define, field

from grove_core.codec import shown
from grove_core.config.schema import (
    Config,
    Section,
    ValueProblem,
    check_value,
    config_keys,
    parse_variable,
    unknown_key,
)
from grove_core.errors import StorageError
from grove_core.model.value import Value, frozen
from grove_core.storage.files import read_bytes
from grove_core.storage.paths import Paths, ProjectPaths
from grove_core.text import escape_invisible

_LARGEST_FILE_BYTES: Final = 1024 * 1024
_MOST_PROBLEMS: Final = 100
_MOST_TABLES: Final = 100
"""Of a file that is no valid TOML: each is parsed by itself."""
PLUGIN_SECTIONS: Final = ("backends", "tickets", "gates")
# A section's name and a key's may follow.
_OF_A_PLUGIN: Final = r"GROVE_(BACKENDS|GATES|TICKETS)_.*[^_]_+[^_].*"
OVERRIDES: Final = ("ticketing.overrides", "backends.overrides")


class Source(Enum):
    """The layers, the strongest first."""

    ENVIRONMENT = "environment"
    PROJECT = "project"
    USER = "user"
    DEFAULT = "default"


@frozen(kw_only=True, eq=False, repr=False)
class Origin(Value):
    """Where a value comes from."""

    source: Source
    file: Path | None = None
    variable: str | None = None

    def __str__(self) -> str:
        return str(self.file or self.variable or self.source.value)


DEFAULT: Final = Origin(source=Source.DEFAULT)


@frozen(kw_only=True, eq=False, repr=False)
class ConfigProblem(Value):
    """A mistake in a file or in the environment."""

    key: str
    origin: Origin
    message: str

    def __str__(self) -> str:
        return f"{self.origin}: {f'{self.key} {self.message}'.strip()}"


@define(eq=False, repr=False)
class LoadedConfig:
    """The configuration in force, and how it came about: each layer is put over those before it."""

    config: Config = field(factory=Config)
    values: dict[str, Any] = field(factory=dict)
    origins: dict[str, Origin] = field(factory=lambda: dict.fromkeys(config_keys(), DEFAULT))
    problems: Sequence[ConfigProblem] = ()
    plugin_sections: dict[str, dict[str, Any]] = field(factory=dict)
    own_sections: dict[str, dict[str, Any]] = field(factory=dict)
    plugin_variables: dict[str, str] = field(factory=dict)

    def read_file(self, path: Path, source: Source) -> None:
        """Take what a file says."""
        origin = Origin(source=source, file=path)
        try:
            content = read_bytes(path, _LARGEST_FILE_BYTES + 1) or b""
            text = content.decode("utf-8-sig")
            fault = "is larger than 1 MiB" if len(content) > _LARGEST_FILE_BYTES else ""
        except StorageError as error:
            fault = str(error)
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            fault = f"is not UTF-8 (at line {line})"
        if fault:
            message = f"{fault}; the whole file is left out until that is corrected"
            self._refuse("", origin, message)
            return
        tables, mistake = _parse_toml(text)
        for table in tables:
            self._take_table(table, "", origin)
        if mistake:
            self._refuse("", origin, mistake)

    def _take_table(self, table: Mapping[str, Any], prefix: str, origin: Origin) -> None:
        for name, value in table.items():
            key = f"{prefix}{name}"
            if len(self.problems) >= _MOST_PROBLEMS:
                break
            if key in OVERRIDES or key in _section_names():
                if isinstance(value, dict):
                    self._take_table(value, f"{key}.", origin)
                else:
                    self._refuse(key, origin, f"must be a table, not {shown(value)}")
            elif annotation_of(key) is not None:
                self._take(key, value, origin)
            elif prefix[:-1] in PLUGIN_SECTIONS and isinstance(value, dict):
                layers = [self.plugin_sections]
                layers += [self.own_sections] if origin.source is not Source.PROJECT else []
                for layer in layers:
                    layer.setdefault(key, {}).update(value)
                self.origins |= {f"{key}.{each}": origin for each in value}
            else:
                self._refuse(key, origin, unknown_key(key, [*config_keys(), *_section_names()]))

    def read_environment(self, environment: Mapping[str, str]) -> None:
        """Take what variables say."""
        keys = {variable_of(key): key for key in config_keys()}
        names = {key.partition(".")[0] for key in config_keys()} | {*PLUGIN_SECTIONS}
        sections = tuple(f"{variable_of(name)}_" for name in names)
        tables = {f"{variable_of(key)}_": key for key in OVERRIDES}
        for variable, text in sorted(environment.items()):
            if not variable.startswith(sections):
                continue
            origin = Origin(source=Source.ENVIRONMENT, variable=variable)
            key = keys.get(variable, "")
            if table := next(filter(variable.startswith, tables), ""):
                # GROVE_BACKENDS_OVERRIDES_TOTAL_RECALL means backends.overrides.total-recall.
                name = variable.removeprefix(table).lower().replace("_", "-")
                key = f"{tables[table]}.{name}"
            if key:
                self._take(key, parse_variable(text, annotation_of(key)), origin)
            elif re.fullmatch(_OF_A_PLUGIN, variable):
                self.plugin_variables[variable] = text
            else:
                self._refuse("", origin, unknown_key(variable, list(keys)))

    def _take(self, key: str, value: object, origin: Origin) -> None:
        try:
            self.values[key] = check_value(value, annotation_of(key), config_keys().get(key))
        except ValueProblem as problem:
            self._refuse(key, origin, str(problem))
        else:
            self.origins[key] = origin

    def _refuse(self, key: str, origin: Origin, message: str) -> None:
        problem = ConfigProblem(key=escape_invisible(key), origin=origin, message=message)
        self.problems = (*self.problems, problem)


def annotation_of(key: str) -> Any:  # noqa: ANN401 - a type
    """Return the type of one of grove's own keys; ``None`` where there is none of that name."""
    if key.rpartition(".")[0] in OVERRIDES:
        return bool
    return config_keys()[key].annotation if key in config_keys() else None


def load_config(home: Path, root: Path | None, environment: Mapping[str, str]) -> LoadedConfig:
    """Read the configuration; mistakes are reported in the result and never raised."""
    loaded = LoadedConfig()
    loaded.read_file(Paths(home).config_file, Source.USER)
    # In the user's home directory the "project's" file would be the user's own once more.
    if root is not None and ProjectPaths(root, home).initialised:
        loaded.read_file(ProjectPaths(root, home).config_file, Source.PROJECT)
    loaded.read_environment(environment)
    loaded.config = _build(Config, "", loaded.values)
    strength = [*Source]
    found = sorted(loaded.problems, key=lambda one: strength.index(one.origin.source))
    loaded.problems = tuple(found)
    return loaded


def _build(section: type[Section], prefix: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401
    said = {}
    for name, declared in vars(section).items():
        key = f"{prefix}{name}"
        if isinstance(declared, Section):
            said[name] = _build(type(declared), f"{key}.", values)
        elif key in OVERRIDES:
            start = f"{key}."
            said[name] = {
                each.removeprefix(start): values[each] for each in values if each.startswith(start)
            }
        elif key in values:
            said[name] = values[key]
    return section(**said)


def _parse_toml(text: str) -> tuple[list[dict[str, Any]], str]:
    """Parse a file, or those tables of an invalid one that can be read; say what is wrong."""
    if _sets_nothing(text):
        return [], ""
    import tomli

    try:
        return [tomli.loads(text)], ""
    except (ValueError, RecursionError) as error:
        mistake = f"is not valid TOML: {error}; the tables that can be read count"
    tables = []
    for part in re.split(r"(?m)^(?=[ \t]*\[[^\[])", text, maxsplit=_MOST_TABLES):
        with suppress(ValueError, RecursionError):
            tables.append(tomli.loads(part))
    return tables, escape_invisible(mistake)


def _sets_nothing(text: str) -> bool:
    """Recognise a file as `grove init` writes it: not worth importing a parser in every hook."""
    lines = (line.strip() for line in text.split("\n"))
    headers = [line for line in lines if line and not line.startswith("#")]
    known = {f"[{name}]" for name in _section_names()}
    return len(set(headers)) == len(headers) and known.issuperset(headers)


def _section_names() -> set[str]:
    """Every table of the files, such as ``gate`` and ``gate.auto_skip``."""
    parents = {key.rpartition(".")[0] for key in config_keys()}
    return parents | {"tickets"}


def variable_of(key: str) -> str:
    """Name the variable of the environment that stands for a key."""
    return f"GROVE_{key.replace('.', '_').replace('-', '_').upper()}"
