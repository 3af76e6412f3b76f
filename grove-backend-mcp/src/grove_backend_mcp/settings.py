"""The section ``[backends.mcp]`` of the configuration, and which names in it stand for secrets."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import Attribute, field, frozen

from grove_core import TRUSTED_ALONE, TRUSTED_ONLY

REFERENCE: Final = r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"
"""``${NAME}`` or ``${NAME:-default}``; nothing else is a reference, ``$NAME`` neither."""

_TELLING: Final = frozenset(
    "apikey auth authorization cookie credential credentials key pass passphrase passwd password"
    " secret token".split()
)
# What such names end in when they only tell where the secret is, or how it is used.
_HARMLESS_ENDS: Final = frozenset(
    "dir enabled file header id method mode name path provider type url".split()
)
_PART: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_SWITCH: Final = r"(?i)|true|false|yes|no|on|off|none|\d{1,3}"
_OPTION: Final = r"(?s)--?([A-Za-z][\w-]*)(?:=(.*))?"


def says_secret(name: str) -> bool:
    """Return whether a name stands for a secret."""
    parts = [part.lower() for part in re.findall(_PART, name)]
    return not _TELLING.isdisjoint(parts) and parts[-1] not in _HARMLESS_ENDS


def is_written_out(value: str) -> bool:
    """Return whether a value that is to be secret stands there as it is."""
    if re.fullmatch(_SWITCH, value):
        return False
    defaults = [found[2] for found in re.finditer(REFERENCE, value)]
    return not defaults or any(
        default and not re.fullmatch(_SWITCH, default) for default in defaults
    )


def referred_to(text: str) -> tuple[str, ...]:
    """Name the variables that a text refers to."""
    return tuple(found[1] for found in re.finditer(REFERENCE, text))


def exposed_variables(args: Sequence[str]) -> tuple[str, ...]:
    """Name the secret variables that arguments refer to: the process list shows arguments."""
    names = (name for text in args for name in referred_to(text) if says_secret(name))
    return tuple(dict.fromkeys(names))


def option_values(args: Sequence[str]) -> Iterator[str]:
    """Return the values of options whose names stand for a secret, such as ``--api-key abc``."""
    for place, word in enumerate(args):
        option = re.fullmatch(_OPTION, word)
        if option is not None and says_secret(option[1]):
            following = args[place + 1] if place + 1 < len(args) else "-"
            value = option[2] if option[2] is not None else following
            if not value.startswith("-"):
                yield value


_LEAST_SECONDS: Final = 0.1
_MOST_SECONDS: Final = 600.0
_PROJECT: Final = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}"


def _check_secrets(_: object, attribute: "Attribute[Any]", value: Mapping[str, str]) -> None:
    for name, text in value.items():
        is_secret = attribute.name == "headers" or says_secret(name)
        if is_secret and is_written_out(text):
            # The value is not quoted: it may be the secret itself.
            variable = re.sub(r"\W+", "_", name).upper()
            raise ValueError(
                f"{attribute.name} holds the value of {name!r} as it is, where it would be"
                f' committed or copied: write {name!r} = "${{{variable}}}" and set that variable in'
                " the environment"
            )


def _check_args(_: object, attribute: "Attribute[Any]", value: Sequence[str]) -> None:
    names = exposed_variables(value)
    if names:
        raise ValueError(
            f"{attribute.name} refers to {names[0]}, and everybody on the machine sees the"
            f' arguments of a process: hand it on by env = {{ {names[0]} = "${{{names[0]}}}" }}'
        )


def _check_seconds(_: object, attribute: "Attribute[Any]", value: float) -> None:
    if not _LEAST_SECONDS <= value <= _MOST_SECONDS:
        raise ValueError(
            f"{attribute.name} must be from {_LEAST_SECONDS} to {_MOST_SECONDS}, not {value}"
        )


def _check_project(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if value and (not re.fullmatch(_PROJECT, value) or ".." in value):
        raise ValueError(
            f'{attribute.name} must be letters, digits, ".", "_", "-" and "/", at most 100 of them,'
            f' without "..", not {value[:60]!r}'
        )


def _check_call(_: object, attribute: "Attribute[Any]", value: Mapping[str, Any]) -> None:
    if value:
        from grove_backend_mcp.mappings.mapping import mapping_of

        try:
            mapping_of({attribute.name: value})
        except ValueError as error:
            raise ValueError(f"{attribute.name} is wrong: {error}") from None


def _table() -> Any:  # noqa: ANN401 - what attrs calls a field
    return field(factory=dict, metadata=TRUSTED_ONLY, validator=_check_call)


# Nothing compares or shows them, and every hook makes the class.
@frozen(kw_only=True, eq=False, repr=False)
class McpSettings:
    """What can be configured."""

    server: str = ""
    command: str = field(default="", metadata=TRUSTED_ONLY)
    args: tuple[str, ...] = field(default=(), metadata=TRUSTED_ONLY, validator=_check_args)
    env: Mapping[str, str] = field(factory=dict, metadata=TRUSTED_ONLY, validator=_check_secrets)
    url: str = field(default="", metadata=TRUSTED_ONLY)
    headers: Mapping[str, str] = field(
        factory=dict, metadata=TRUSTED_ONLY, validator=_check_secrets
    )
    project: str = field(default="", metadata=TRUSTED_ALONE, validator=_check_project)
    connect_seconds: float = field(default=20.0, validator=_check_seconds)
    call_seconds: float = field(default=30.0, validator=_check_seconds)
    setup: Mapping[str, Any] = _table()
    write: Mapping[str, Any] = _table()
    search: Mapping[str, Any] = _table()
    get: Mapping[str, Any] = _table()
    listing: Mapping[str, Any] = _table()
    update: Mapping[str, Any] = _table()
    delete: Mapping[str, Any] = _table()
