"""Templates of a tool's arguments: JSON values whose strings may hold placeholders."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from grove_backend_mcp.mappings.mapping import Json
from grove_core import BackendError

LEARNING_PLACEHOLDERS: Final = frozenset(
    "id summary detail plain content block tags labels metadata flat_metadata category status"
    " project handle".split()
)
"""What a template for one learning may hold."""
QUERY_PLACEHOLDERS: Final = frozenset({"query", "limit", "project"})
"""What one for a search may hold."""
FETCH_PLACEHOLDERS: Final = frozenset({"id", "handle", "project"})
"""What one for fetching or removing one learning may hold."""
LISTING_PLACEHOLDERS: Final = frozenset({"limit", "project"})
"""What one for listing may hold."""

_WHOLE: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_PIECE: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}|[{}]")
_DROPPED: Final = object()
# A template is written by people; what is deeper than this is a mistake, or an attack.
_DEEPEST: Final = 20


def fill(template: Json, values: Mapping[str, Json]) -> Json:
    """Put values into a template."""
    filled = _filled(template, values)
    return None if filled is _DROPPED else filled


def check_template(template: Json, known: Collection[str]) -> list[str]:
    """Return what is wrong with a template."""
    return list(dict.fromkeys(_faults(template, known, 0)))


def placeholders(template: Json) -> frozenset[str]:
    """Name the placeholders of a template."""
    return frozenset(
        match[1]
        for text in _strings(template, 0)
        for match in _PIECE.finditer(text)
        if match[1] is not None
    )


def _filled(template: Json, values: Mapping[str, Json]) -> Json:
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


def _piece(match: re.Match[str], values: Mapping[str, Json]) -> str:
    """Write what stands for one piece of a longer string."""
    if match[1] is None:
        return match[0][0]
    return _written(_value(match[1], values))


def _value(name: str, values: Mapping[str, Json]) -> Json:
    """Look a value up."""
    if name not in values:
        raise BackendError(f"there is no value for {{{name}}} here")
    return values[name]


def _written(value: Json) -> str:
    """Write a value into a text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _faults(template: Json, known: Collection[str], depth: int) -> Iterator[str]:
    """Find what is wrong in any part of a template."""
    if depth > _DEEPEST:
        yield f"goes deeper than {_DEEPEST} levels"
    elif isinstance(template, str):
        yield from _faults_of_text(template, known)
    elif isinstance(template, Mapping):
        for part in template.values():
            yield from _faults(part, known, depth + 1)
    elif isinstance(template, list | tuple):
        for part in template:
            yield from _faults(part, known, depth + 1)
    elif template is not None and not isinstance(template, bool | int | float):
        yield f"holds {template!r}, which JSON cannot say"


def _faults_of_text(text: str, known: Collection[str]) -> Iterator[str]:
    """Find unknown placeholders and single braces."""
    for match in _PIECE.finditer(text):
        name = match[1]
        if name is None:
            if len(match[0]) == 1:
                yield f"{text!r} has a single {match[0]!r}: write {match[0] * 2!r} for a brace"
        elif name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {{{near[0]}}}?" if near else ""
            listed = " ".join(f"{{{one}}}" for one in sorted(known))
            yield f"unknown placeholder {{{name}}}{hint} (known here: {listed})"


def _strings(template: Json, depth: int) -> Iterator[str]:
    """Return every string of a template that may hold placeholders."""
    if isinstance(template, str):
        yield template
    elif depth <= _DEEPEST and isinstance(template, Mapping):
        for part in template.values():
            yield from _strings(part, depth + 1)
    elif depth <= _DEEPEST and isinstance(template, list | tuple):
        for part in template:
            yield from _strings(part, depth + 1)
