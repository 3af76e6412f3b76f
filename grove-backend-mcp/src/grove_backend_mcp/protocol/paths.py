"""Paths into JSON: ``$``, ``.name``, ``[*]`` and ``[n]``, a small part of JSONPath."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from grove_backend_mcp.mappings.mapping import Json

_STEP: Final = re.compile(r"\.?(?P<name>[^.\[\]$*\s]+)|\[(?P<index>\d{1,4}|\*)\]")
_EVERY: Final = "[*]"
_MOST_VALUES: Final = 10_000


@lru_cache(maxsize=128)
def steps_of(path: str) -> tuple[str | int, ...]:
    """Read a path."""
    rest = path.strip().removeprefix("$")
    steps: list[str | int] = []
    while rest:
        found = _STEP.match(rest)
        if found is None:
            raise ValueError(f"{path!r} is no path at {rest!r}: write $, .name, [*] and [0] only")
        index = found["index"]
        steps.append(found["name"] if index is None else _EVERY if index == "*" else int(index))
        rest = rest[found.end() :]
    return tuple(steps)


def values_at(path: str, document: Json) -> Sequence[Json]:
    """Collect what a path leads to."""
    values = [document]
    for step in steps_of(path):
        values = [found for value in values for found in _step_into(value, step)][:_MOST_VALUES]
    return values


def leads_somewhere(path: str, document: Json) -> bool:
    """Return whether a document has the shape that a path expects, were it with nothing in it."""
    if not path.rstrip().endswith(_EVERY):
        return bool(values_at(path, document))
    around = values_at(path.rstrip().removesuffix(_EVERY) or "$", document)
    return any(isinstance(value, list) for value in around)


def _step_into(value: Json, step: str | int) -> Sequence[Json]:
    if step == _EVERY:
        return value if isinstance(value, list) else ()
    if isinstance(step, int):
        return value[step : step + 1] if isinstance(value, list) else ()
    return (value[step],) if isinstance(value, dict) and step in value else ()
