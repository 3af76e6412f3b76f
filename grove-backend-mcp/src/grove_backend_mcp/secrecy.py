"""Which names stand for secrets, and where a secret would be seen by others."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
"""``${NAME}`` or ``${NAME:-default}``; nothing else is a reference, ``$NAME`` neither."""

_TELLING: Final = frozenset(
    "apikey auth authorization cookie credential credentials key pass passphrase passwd password"
    " secret token".split()
)
# What such names end in when they only tell where the secret is, or how it is used.
_HARMLESS_ENDS: Final = frozenset(
    "dir enabled file header id method mode name path provider type url".split()
)
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SWITCH: Final = re.compile(r"(?i)|true|false|yes|no|on|off|none|\d{1,3}")
_OPTION: Final = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)


def says_secret(name: str) -> bool:
    """Return whether a name stands for a secret."""
    parts = [part.lower() for part in _PART.findall(name)]
    return not _TELLING.isdisjoint(parts) and parts[-1] not in _HARMLESS_ENDS


def is_written_out(value: str) -> bool:
    """Return whether a value that is to be secret stands there as it is."""
    if _SWITCH.fullmatch(value):
        return False
    defaults = [found[2] for found in REFERENCE.finditer(value)]
    return not defaults or any(default and not _SWITCH.fullmatch(default) for default in defaults)


def referred_to(text: str) -> tuple[str, ...]:
    """Name the variables that a text refers to."""
    return tuple(found[1] for found in REFERENCE.finditer(text))


def exposed_variables(args: Sequence[str]) -> tuple[str, ...]:
    """Name the secret variables that arguments refer to: the process list shows arguments."""
    names = (name for text in args for name in referred_to(text) if says_secret(name))
    return tuple(dict.fromkeys(names))


def exposed_options(args: Sequence[str]) -> tuple[str, ...]:
    """Name the options that are given a secret as it is, such as ``--api-key abc``."""
    return tuple(dict.fromkeys(name for name, value in _options(args) if is_written_out(value)))


def option_values(args: Sequence[str]) -> tuple[str, ...]:
    """Return the values of options whose names stand for a secret."""
    return tuple(value for _, value in _options(args))


def _options(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(args):
        option = _OPTION.fullmatch(word)
        if option is None or not says_secret(option[1]):
            continue
        following = args[place + 1] if place + 1 < len(args) else "-"
        value = option[2] if option[2] is not None else following
        if not value.startswith("-"):
            yield option[1], value
