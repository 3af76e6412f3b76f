"""Attrs classes to plain JSON values and back, by the annotations of the classes.

Written by hand since a hook is a process of its own: importing a converter library and setting it
up took a fifth of the time that a hook may take, to read one document of a few kilobytes. What is
read here is what the model is made of and no more: attrs classes, enums, plain values,
``X | None``, ``tuple[X, ...]``, ``frozenset[X]`` and ``Mapping[str, X]``.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_origin

from attrs import NOTHING, fields, has

from grove_core.clock import format_instant
from grove_core.codec.values import PLAIN_READERS, Document, read_list, read_object, shown
from grove_core.errors import CodecError

_T = TypeVar("_T")
_Reader = Callable[[object], Any]

_PLAIN: Final = frozenset({str, int, float, bool, NoneType})


class _MisplacedError(ValueError):
    """A value is wrong; the message says how, and ``place`` where."""

    def __init__(self, words: str, place: str) -> None:
        super().__init__(words)
        self.place = place


def to_jsonable(value: Any) -> Any:  # noqa: ANN401 - any value in, any JSON value out
    """Turn a value of the model into what ``json`` can write.

    Args:
        value: An attrs instance, an enum, a time, a path, a collection of these, or plain JSON.

    Returns:
        Dictionaries, lists, strings, numbers, booleans and ``None``; sets are sorted.

    Raises:
        CodecError: It holds something else.
    """
    kind: Any = type(value)
    if kind in _PLAIN:
        return value
    if has(kind):
        return {name: to_jsonable(getattr(value, name)) for name in _field_names(kind)}
    for each, write in _WRITERS:
        if isinstance(value, each):
            return write(value)
    raise CodecError(f"cannot write a {kind.__name__} as JSON")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _write_bytes(value: bytes) -> None:
    raise CodecError(f"cannot write {type(value).__name__} as JSON")


# In this order: text and bytes are sequences, too.
_WRITERS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (Enum, lambda member: to_jsonable(member.value)),
    (datetime, format_instant),
    (PurePath, str),
    (str, str),
    (bytes, _write_bytes),
    (Mapping, lambda items: {str(to_jsonable(key)): to_jsonable(items[key]) for key in items}),
    (Sequence, lambda items: [to_jsonable(item) for item in items]),
    (AbstractSet, lambda items: sorted((to_jsonable(item) for item in items), key=str)),
)


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
    annotation: Any = kind
    try:
        instance: _T = _reader(annotation)(document)
    except RecursionError as error:
        raise CodecError(f"this {kind.__name__.lower()} is nested too deeply") from error
    except ValueError as error:
        place = f"{kind.__name__.lower()}{_place_of(error)}"
        raise CodecError(f"{place} {error}") from error
    return instance


@cache
def _reader(annotation: Any) -> _Reader:  # noqa: ANN401, PLR0911 - a type; a line for each kind
    """Make the reader of a type; nothing is turned into another type."""
    if annotation in PLAIN_READERS:
        return PLAIN_READERS[annotation]
    if annotation is Any:
        return lambda value: value
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is UnionType:
        return _optional_reader(arguments)
    if origin in (tuple, frozenset):
        return _collection_reader(origin, arguments[0])
    if origin is Mapping:
        return _mapping_reader(arguments[1])
    if issubclass(annotation, Enum):
        return _member_reader(annotation)
    return _class_reader(annotation)


def _optional_reader(alternatives: tuple[Any, ...]) -> _Reader:
    kinds = [each for each in alternatives if each is not NoneType]
    if len(kinds) != 1:
        raise TypeError(f"cannot tell which of {kinds} a value is")
    read = _reader(kinds[0])
    return lambda value: None if value is None else read(value)


def _collection_reader(collect: Any, item: Any) -> _Reader:  # noqa: ANN401 - types
    read = _reader(item)

    def read_all(value: object) -> Any:  # noqa: ANN401 - tuple or frozenset
        return collect(
            _read_at(read, each, f"[{index}]") for index, each in enumerate(read_list(value))
        )

    return read_all


def _mapping_reader(kind: Any) -> _Reader:  # noqa: ANN401 - a type
    read = _reader(kind)
    return lambda value: {
        name: _read_at(read, each, f"[{name!r}]") for name, each in read_object(value).items()
    }


def _member_reader(kind: type[Enum]) -> _Reader:
    def read(value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            names = ", ".join(member.value for member in kind)
            raise ValueError(f"must be one of {names}, not {shown(value)}") from None

    return read


def _class_reader(kind: Any) -> _Reader:  # noqa: ANN401 - an attrs class
    attributes = fields(kind)
    required = [each.name for each in attributes if each.default is NOTHING]

    def read(value: object) -> Any:  # noqa: ANN401 - an instance
        document = read_object(value)
        for name in required:
            if name not in document:
                raise _MisplacedError("is missing", f".{name}")
        values = {
            each.name: _read_at(_reader(each.type), document[each.name], f".{each.name}")
            for each in attributes
            if each.name in document
        }
        return kind(**values)

    return read


def _read_at(read: _Reader, value: object, place: str) -> Any:  # noqa: ANN401 - what it reads
    try:
        return read(value)
    except ValueError as error:
        raise _MisplacedError(str(error), place + _place_of(error)) from error


def _place_of(error: ValueError) -> str:
    return error.place if isinstance(error, _MisplacedError) else ""
