"""Write the configuration file: as ``grove init`` does, and one key of it."""

import json
import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from grove_core.config.schema import Setting, config_keys
from grove_core.errors import ConfigError

_HEAD: Final = """\
## grove's configuration: every key with its default; take the "# " away to set it.
## Stronger than this file: environment variables such as GROVE_CIRCUIT_BREAKER_MAX_BLOCKS.
## Weaker: config.toml in grove's own directory, for all of a user's projects; then the defaults.
## A plugin's own keys begin with its name: backends.<name>.<key>, tickets.<name>.<key>.
"""


def with_setting(text: str, key: str, value: object) -> str:
    """Set a key, or with ``None`` remove it; every other key, comment and blank stays as it is.

    A key of a table that does not exist yet takes the place of its comment, if there is one, and
    gives it back when it is removed.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    *sections, name = key.split(".")
    # What `grove init` has written for the key stands above all tables.
    above = re.split(r"(?m)^\s*\[", text)[0]
    commented = re.search(rf"(?m)^# {re.escape(key)} = .*$", above)
    written = re.search(rf"(?m)^{re.escape(key)} = .*$", above)
    try:
        document = tomlkit.parse(text)
        declared = config_keys().get(key)
        if value is None and declared is not None and written and not commented:
            tomlkit.parse(written[0])  # a value of several lines is left to the person
            comment = f"# {key} = {in_toml(declared.default)}"
            return text[: written.start()] + comment + text[written.end() :]
        if value is None:
            _remove(document, sections, name)
        elif sections[0] not in document and commented:
            line = tomlkit.item(value).as_string()
            return text.replace(commented[0], f"{key} = {line}", 1)
        else:
            table: Any = document
            for section in sections:
                table = table.setdefault(section, tomlkit.table())
            table[name] = value
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise ConfigError(f"set {key} by hand: {error}") from error


def _remove(table: Any, sections: list[str], name: str) -> None:  # noqa: ANN401 - of tomlkit
    """Remove a key, and the tables that are empty then."""
    if not sections:
        table.pop(name, None)
    elif sections[0] in table:
        inner = table[sections[0]]
        _remove(inner, sections[1:], name)
        if not inner:
            del table[sections[0]]


def render_default_config() -> str:
    """Render the configuration file with every key commented out."""
    lines = [_HEAD]
    for key, declared in config_keys().items():
        lines += [f"## {_describe(declared)}", f"# {key} = {in_toml(declared.default)}", ""]
    return "\n".join(lines)


def _describe(about: Setting) -> str:
    kind = about.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"{about.help} One of: {', '.join(member.value for member in kind)}."
    return f"{about.help} {about.bounds.capitalize()}." if about.bounds else about.help


def in_toml(value: object) -> str:
    """Write a plain value as the files would have it."""
    if value is None:
        return '""'
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, Mapping):
        inside = ", ".join(f"{json.dumps(name)} = {in_toml(one)}" for name, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    # JSON's texts, numbers and truth values are TOML's as well.
    return json.dumps(value, ensure_ascii=False)
