"""Templates of a tool's arguments: JSON values whose strings may hold placeholders."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from grove_core import BackendError

_WHOLE: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_PIECE: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")
_DROPPED: Final = object()


def fill(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Put values into a template; a member whose whole value is ``None`` is left out."""
    filled: dict[str, Any] = _filled(template, values)
    return filled


def check_template(template: object, known: Iterable[str]) -> list[str]:
    """Return what is wrong with a template."""
    names = sorted(known)
    found = (fault for part in _parts(template) for fault in _faults(part, names))
    return list(dict.fromkeys(found))


def placeholders(template: object) -> frozenset[str]:
    """Name the placeholders of a template."""
    texts = (part for part in _parts(template) if isinstance(part, str))
    found = (match[1] for text in texts for match in _PIECE.finditer(text))
    return frozenset(name for name in found if name is not None)


def _filled(template: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    """Fill any part of a template; ``_DROPPED`` for what is to be left out."""
    if isinstance(template, str):
        whole = _WHOLE.fullmatch(template)
        if whole is None:
            return _PIECE.sub(lambda match: _piece(match, values), template)
        value = _value(whole[1], values)
        return _DROPPED if value is None else value
    if isinstance(template, Mapping):
        members = {key: _filled(part, values) for key, part in template.items()}
        return {key: value for key, value in members.items() if value is not _DROPPED}
    if isinstance(template, list | tuple):
        elements = [_filled(part, values) for part in template]
        return [value for value in elements if value is not _DROPPED]
    return template


def _piece(match: re.Match[str], values: Mapping[str, Any]) -> str:
    """Write what stands for one piece of a longer string."""
    if match[1] is None:
        return match[0][0]
    value = _value(match[1], values)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _value(name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
    if name not in values:
        raise BackendError(f"there is no value for {{{name}}} here")
    return values[name]


def _parts(template: object) -> Iterator[object]:
    """Return every value in a template that holds no others."""
    if isinstance(template, Mapping | list | tuple):
        inner = template.values() if isinstance(template, Mapping) else template
        for part in inner:
            yield from _parts(part)
    else:
        yield template


def _faults(part: object, known: list[str]) -> Iterator[str]:
    """Find unknown placeholders, single braces, and what JSON has no words for."""
    if not isinstance(part, str):
        if part is not None and not isinstance(part, bool | int | float):
            yield f"holds {part!r}, which JSON cannot say"
        return
    for match in _PIECE.finditer(part):
        name = match[1]
        if name is None and len(match[0]) == 1:
            yield f"{part!r} has a single {match[0]!r}: write {match[0] * 2!r} for a brace"
        elif name is not None and name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {{{near[0]}}}?" if near else ""
            listed = " ".join(f"{{{one}}}" for one in known)
            yield f"unknown placeholder {{{name}}}{hint} (known here: {listed})"
