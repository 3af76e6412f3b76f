"""Attrs classes to plain JSON values and back, every type checked, and steps between versions."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

from attrs import NOTHING, fields, has

from grove_core.clock import format_instant, parse_instant
from grove_core.errors import CodecError

Document = dict[str, Any]
Step = Callable[[Document], Document]
_T = TypeVar("_T")
_Reader = Callable[[Any], Any]
_Writer = Callable[[Any], Any]

_LONGEST_SHOWN: Final = 60


def to_jsonable(value: Any) -> Any:  # noqa: ANN401 - any value in, any JSON value out
    """Turn a value of the model into what ``json`` can write.

    Args:
        value: An attrs instance, an enum, a time, a path, a collection of these, or plain JSON.

    Returns:
        Dictionaries, lists, strings, numbers, booleans and ``None``; sets are sorted.

    Raises:
        CodecError: It holds something else.
    """
    kind: Any = type(value)  # mypy does not take a class for hashable
    return _writer(kind)(value)


@cache
def _writer(kind: type) -> _Writer:
    """Find the function that writes values of this type."""
    if has(kind):
        return _class_writer(kind)
    for bases, write in _WRITERS:
        if issubclass(kind, bases):
            return write
    raise CodecError(f"cannot write a {kind.__name__} as JSON")


def _class_writer(kind: type) -> _Writer:
    names = tuple(each.name for each in fields(kind))
    return lambda value: {name: to_jsonable(getattr(value, name)) for name in names}


# The order matters: an enum may be a string as well.
_WRITERS: Final[tuple[tuple[type | tuple[type, ...], _Writer], ...]] = (
    (Enum, lambda member: member.value),
    ((str, bool, int, float, type(None)), lambda value: value),
    (datetime, format_instant),
    (Mapping, lambda items: {str(to_jsonable(key)): to_jsonable(items[key]) for key in items}),
    ((list, tuple), lambda items: [to_jsonable(item) for item in items]),
    ((set, frozenset), lambda items: sorted((to_jsonable(item) for item in items), key=str)),
    (PurePath, str),
)


def migrate(document: Mapping[str, Any], version: int, steps: Mapping[int, Step]) -> Document:
    """Bring a document up to the newest version that there are steps for.

    Args:
        document: The document; it is not changed.
        version: Its version.
        steps: From a version to the function that makes the next one of it.

    Returns:
        A new document; one of a version without a step is returned as it is.
    """
    current = dict(document)
    while version in steps:
        current = steps[version](current)
        version += 1
    return current


def version_of(document: Mapping[str, Any], field: str) -> int:
    """The version a document says it has; documents from before there were versions have 0."""
    version = document.get(field, 0)
    if isinstance(version, bool) or not isinstance(version, int):
        raise CodecError(f"{field} must be a whole number, not {_shown(version)}")
    return version


class _MismatchError(Exception):
    """A value that is not what its field wants, and the way to it, innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.places: list[str] = []

    def __str__(self) -> str:
        # Names come from the document, and messages are shown on terminals.
        names = (each if each.isprintable() else ascii(each) for each in reversed(self.places))
        return f"{'.'.join(names)} {self.args[0]}"


def parse_object(content: bytes | str) -> Document:
    """Read a JSON object.

    Args:
        content: The text, or its UTF-8 bytes.

    Returns:
        The object.

    Raises:
        CodecError: It is not JSON, or not an object.
    """
    try:
        document = json.loads(content.decode() if isinstance(content, bytes) else content)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"this is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise CodecError(f"this is not a JSON object: {_shown(document)}")
    return document


def read_as(kind: type[_T], document: Document) -> _T:
    """Read an attrs class from plain JSON values.

    Args:
        kind: The class. Its annotations say what is read; fields with a default may be missing.
        document: The values; those that are no field of the class are ignored.

    Returns:
        An instance.

    Raises:
        CodecError: A field is missing or has the wrong type; the message names it.
    """
    hashable: Any = kind  # mypy does not take a class for hashable
    try:
        value: _T = _reader(hashable)(document)
    except _MismatchError as error:
        raise CodecError(str(error)) from None
    return value


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


@cache
def _reader(annotation: Any) -> _Reader:  # noqa: ANN401 - any annotation of the model
    """Make the function that reads a field of this type."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is UnionType:
        return _optional_reader(_reader(arguments[0]))
    if origin in (tuple, frozenset):
        return _collection_reader(origin, _reader(arguments[0]))
    if origin is Mapping:
        return _mapping_reader(_reader(arguments[1]))
    if annotation in _PLAIN_READERS:
        return _PLAIN_READERS[annotation]
    if issubclass(annotation, Enum):
        return _enum_reader(annotation)
    return _class_reader(annotation)


def _exactly(kind: type, words: str) -> _Reader:
    def read(value: object) -> object:
        if type(value) is not kind:
            raise _MismatchError(f"must be {words}, not {_shown(value)}")
        return value

    return read


def _read_float(value: object) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            pass
    raise _MismatchError(f"must be a number, not {_shown(value)}")


def _read_datetime(value: object) -> datetime:
    if type(value) is str:
        try:
            return parse_instant(value)
        except (ValueError, OverflowError):
            pass
    raise _MismatchError(f"must be an ISO 8601 time, not {_shown(value)}")


_PLAIN_READERS: Final[Mapping[Any, _Reader]] = {
    Any: lambda value: value,
    str: _exactly(str, "text"),
    int: _exactly(int, "a whole number"),
    bool: _exactly(bool, "true or false"),
    float: _read_float,
    datetime: _read_datetime,
}


def _optional_reader(inner: _Reader) -> _Reader:
    return lambda value: None if value is None else inner(value)


def _collection_reader(kind: type, item: _Reader) -> _Reader:
    def read(value: object) -> object:
        if not isinstance(value, list):
            raise _MismatchError(f"must be a list, not {_shown(value)}")
        return kind(_read_item(str(place), item, each) for place, each in enumerate(value))

    return read


def _mapping_reader(item: _Reader) -> _Reader:
    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _MismatchError(f"must be an object, not {_shown(value)}")
        return {name: _read_item(name, item, each) for name, each in value.items()}

    return read


def _read_item(place: str, read: _Reader, value: object) -> object:
    try:
        return read(value)
    except _MismatchError as error:
        error.places.append(place)
        raise


def _enum_reader(kind: type[Enum]) -> _Reader:
    members = {member.value: member for member in kind}

    def read(value: object) -> Enum:
        member = members.get(value) if isinstance(value, str) else None
        if member is None:
            raise _MismatchError(f"must be one of {', '.join(members)}, not {_shown(value)}")
        return member

    return read


def _class_reader(kind: type) -> _Reader:
    readers = tuple(
        (each.name, _reader(each.type), each.default is NOTHING) for each in fields(kind)
    )

    def read(value: object) -> object:
        if not isinstance(value, dict):
            raise _MismatchError(f"must be an object, not {_shown(value)}")
        arguments = {}
        name = ""
        try:
            for name, reader, required in readers:
                if name in value:
                    arguments[name] = reader(value[name])
                elif required:
                    raise _MismatchError("is missing")  # noqa: TRY301 - named where all are
        except _MismatchError as error:
            error.places.append(name)
            raise
        return kind(**arguments)

    return read
