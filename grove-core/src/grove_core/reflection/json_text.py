"""Finding the one JSON value in what an agent sends: bare, in a markdown fence, or amid prose."""

import json
import re
from typing import Any, Final

from grove_core.errors import ReflectionError

JsonContainer = dict[str, Any] | list[Any]

_BROKEN_VALUES_MAX: Final = 500
# Prose has brackets too: an object with a key, or an array of objects, is worth a look.
_START: Final = re.compile(r'\{[ \t\r\n]*"|\[[ \t\r\n]*\{')
_BRACKET: Final = re.compile(r"[\[{]")
# No number is valid anywhere in a submission; as floats, long ones cost nothing and cannot fail.
_DECODER: Final = json.JSONDecoder(parse_int=float)


def find_value(text: str, known_fields: frozenset[str]) -> tuple[JsonContainer, bool]:
    """Find the first JSON object or array that can be a submission."""
    if not text.strip():
        raise ReflectionError("The submission is empty. Send the JSON of `grove reflect --schema`.")
    try:
        return _read_whole(text) or _search(text, known_fields)
    except RecursionError as error:
        raise ReflectionError(
            "The submission is nested too deeply. A candidate holds only texts and lists of texts."
        ) from error


def _read_whole(text: str) -> tuple[JsonContainer, bool] | None:
    try:
        value = _DECODER.decode(text.strip())
    except json.JSONDecodeError:
        return None
    if isinstance(value, dict | list):
        return value, False
    raise ReflectionError(
        "The submission is JSON, but neither an object nor an array."
        ' Send {"candidates": [...]} or {"nothing_learned": "reason"}.'
    )


def _search(text: str, known_fields: frozenset[str]) -> tuple[JsonContainer, bool]:
    position = 0
    for _ in range(_BROKEN_VALUES_MAX):
        start = _START.search(text, position)
        if start is None:
            break
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if _names_field(text[start.start() : error.pos], known_fields):
                raise _broken(error) from error
            position = max(error.pos, start.end())
            continue
        if _is_plausible(value, known_fields):
            return value, _START.search(text, position) is not None
    raise _nothing_found(text)


def _names_field(text: str, known_fields: frozenset[str]) -> bool:
    return any(f'"{name}"' in text for name in known_fields)


def _is_plausible(value: JsonContainer, known_fields: frozenset[str]) -> bool:
    objects = [value] if isinstance(value, dict) else value
    return any(isinstance(item, dict) and not known_fields.isdisjoint(item) for item in objects)


def _broken(error: json.JSONDecodeError) -> ReflectionError:
    place = f"line {error.lineno}, column {error.colno}"
    return ReflectionError(
        f"The submission is not valid JSON: {error.msg} ({place})."
        ' Mend it there and send it again; in texts write quotes as \\" and line breaks as \\n.'
    )


def _nothing_found(text: str) -> ReflectionError:
    """Return what breaks the first thing that looks like JSON, if anything does."""
    bracket = _BRACKET.search(text)
    if bracket is not None:
        try:
            _DECODER.raw_decode(text, bracket.start())
        except json.JSONDecodeError as error:
            return _broken(error)
    return ReflectionError(
        "The submission holds no JSON object with candidates."
        ' Send {"candidates": [...]} or {"nothing_learned": "reason"}.'
    )
