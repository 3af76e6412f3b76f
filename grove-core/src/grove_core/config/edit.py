"""Write the configuration file: as ``grove init`` does, and one key of it."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from grove_core.config.schema import ConfigKey, config_keys
from grove_core.errors import ConfigError

_HEAD: Final = """\
## grove's configuration: every key with its default; take the "# " away to set it.
## Stronger than this file: environment variables such as GROVE_CIRCUIT_BREAKER_MAX_BLOCKS.
## Weaker: config.toml in grove's own directory, for all of a user's projects; then the defaults.
## A plugin's own keys begin with its name: backends.<name>.<key>, tickets.<name>.<key>.
"""


def with_setting(text: str, key: str, value: object) -> str:
    """Set a key, or with ``None`` remove it; every other key, comment and blank stays as it is."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    *sections, name = key.split(".")
    try:
        document = tomlkit.parse(text)
        table: Any = document
        for section in sections:
            if section not in table:
                if value is None:
                    return text
                table[section] = tomlkit.table()
            table = table[section]
        if value is not None:
            table[name] = value
        elif name in table:
            del table[name]
        return tomlkit.dumps(document)
    except (TOMLKitError, TypeError) as error:
        raise ConfigError(f"set {key} by hand: {error}") from error


def render_default_config() -> str:
    """Render the configuration file with every key commented out."""
    lines = [_HEAD]
    for declared in config_keys().values():
        default = in_toml(declared.default)
        lines += [f"## {_describe(declared)}", f"# {declared.key} = {default}", ""]
    return "\n".join(lines)


def _describe(declared: ConfigKey) -> str:
    about = declared.setting
    kind = declared.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"{about.help} One of: {', '.join(member.value for member in kind)}."
    if about.minimum is not None and about.maximum is not None:
        return f"{about.help} From {about.minimum} to {about.maximum}."
    if about.minimum is not None:
        return f"{about.help} At least {about.minimum}."
    return about.help


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
