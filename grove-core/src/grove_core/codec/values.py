"""Reading JSON strictly, by the annotations of attrs classes: values, objects, versions."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin

from attrs import NOTHING, fields

from grove_core.clock import parse_instant
from grove_core.errors import CodecError

Document = dict[str, Any]
Step = Callable[[Document], Document]
Reader = Callable[[object], Any]

_LONGEST_SHOWN: Final = 60


def shown(value: object) -> str:
    """A value as messages show it: short, and harmless on a terminal."""
    text = ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def parse_object(content: bytes | str) -> Document:
    """Read a JSON object."""
    try:
        document = json.loads(content.decode() if isinstance(content, bytes) else content)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"this is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise CodecError(f"this is not a JSON object: {shown(document)}")
    return document


def version_of(document: Mapping[str, Any], field: str) -> int:
    """The version a document says it has; documents from before there were versions have 0."""
    version = document.get(field, 0)
    if type(version) is not int:
        raise CodecError(f"{field} must be a whole number, not {shown(version)}")
    return version


def migrate(document: Mapping[str, Any], version: int, steps: Mapping[int, Step]) -> Document:
    """Bring a document up to the newest version that there are steps for."""
    current = dict(document)
    while version in steps:
        current = steps[version](current)
        version += 1
    return current


def _exactly(kind: type, words: str) -> Callable[[object], Any]:
    def read(value: object) -> object:
        # No isinstance: for Python, True is a whole number.
        if type(value) is not kind:
            raise ValueError(f"must be {words}, not {shown(value)}")
        return value

    return read


def _read_float(value: object) -> float:
    if type(value) in (float, int):
        try:
            return float(value)  # type: ignore[arg-type]  # mypy does not follow the test
        except OverflowError:
            pass
    raise ValueError(f"must be a number, not {shown(value)}")


def _read_instant(value: object) -> datetime:
    if isinstance(value, str):
        try:
            return parse_instant(value)
        except (ValueError, OverflowError):
            pass
    raise ValueError(f"must be an ISO 8601 time, not {shown(value)}")


_read_list: Final = _exactly(list, "a list")
_read_object: Final = _exactly(dict, "an object")

# From a type to its reader. Nothing is turned into another type; what is wrong is a ``ValueError``
# whose words go behind the name of the field.
PLAIN_READERS: Final[Mapping[Any, Reader]] = {
    str: _exactly(str, "text"),
    int: _exactly(int, "a whole number"),
    bool: _exactly(bool, "true or false"),
    float: _read_float,
    datetime: _read_instant,
}


class MisplacedError(ValueError):
    """A value is wrong; the message says how, and ``place`` where."""

    def __init__(self, error: ValueError | str, place: str) -> None:
        super().__init__(str(error))
        self.place: str = place + getattr(error, "place", "")


@cache
def reader_of(annotation: Any) -> Reader:  # noqa: ANN401 - a type
    """Make the reader of a type; nothing is turned into another type."""
    if annotation in PLAIN_READERS:
        return PLAIN_READERS[annotation]
    if annotation is Any:
        return lambda value: value
    origin, arguments = get_origin(annotation), get_args(annotation)
    if NoneType in arguments:
        read = reader_of(arguments[0])
        return lambda value: None if value is None else read(value)
    if origin in (tuple, frozenset):
        read = reader_of(arguments[0])
        return lambda value: origin(_read_all(read, enumerate(_read_list(value))).values())
    if origin is Mapping:
        read = reader_of(arguments[1])
        return lambda value: _read_all(read, _read_object(value).items())
    return _member_reader(annotation) if issubclass(annotation, Enum) else _class_reader(annotation)


def _read_all(read: Reader, items: Iterable[tuple[Any, object]]) -> dict[Any, Any]:
    found = {}
    for key, value in items:
        try:
            found[key] = read(value)
        except ValueError as error:
            raise MisplacedError(error, f"[{key!r}]") from error
    return found


def _member_reader(kind: type[Enum]) -> Reader:
    def read(value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            names = ", ".join(member.value for member in kind)
            raise ValueError(f"must be one of {names}, not {shown(value)}") from None

    return read


def _class_reader(kind: Any) -> Reader:  # noqa: ANN401 - an attrs class
    @cache
    def known() -> list[tuple[str, object, bool]]:
        return [(each.name, each.type, each.default is NOTHING) for each in fields(kind)]

    def read(value: object) -> Any:  # noqa: ANN401 - an instance
        document = _read_object(value)
        found = {}
        for name, annotation, is_required in known():
            if name in document:
                try:
                    found[name] = reader_of(annotation)(document[name])
                except ValueError as error:
                    raise MisplacedError(error, f".{name}") from error
            elif is_required:
                raise MisplacedError("is missing", f".{name}")
        return kind(**found)

    return read
