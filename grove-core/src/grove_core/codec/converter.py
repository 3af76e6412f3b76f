"""Attrs classes to plain JSON values and back: the rules for cattrs, all in one place.

Hooks read and write one session in a process of its own, so cattrs is imported on first use, and
what counts is the whole cost of that one time, most of which is the import of cattrs. For a session
of 20 KB the ``BaseConverter``, which looks at the classes as it goes, takes a third more than the
import alone, with or without ``detailed_validation``. The ``Converter``, which first compiles a
function for every class, takes twice as long as the import, and with ``detailed_validation`` more
than that, but only so can it tell the way to a wrong value. So the first reads and writes, and the
second is made when a document was refused, to say why.
"""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_origin

from attrs import has

from grove_core.clock import format_instant
from grove_core.codec.values import PLAIN_READERS, Document, read_list, read_object, shown
from grove_core.errors import CodecError

if TYPE_CHECKING:
    from cattrs import BaseConverter, Converter

_T = TypeVar("_T")
_Hook = Callable[[Any, Any], Any]

_COLLECTIONS: Final[tuple[object, ...]] = (tuple, frozenset)


def to_jsonable(value: Any) -> Any:  # noqa: ANN401 - any value in, any JSON value out
    """Turn a value of the model into what ``json`` can write.

    Args:
        value: An attrs instance, an enum, a time, a path, a collection of these, or plain JSON.

    Returns:
        Dictionaries, lists, strings, numbers, booleans and ``None``; sets are sorted.

    Raises:
        CodecError: It holds something else.
    """
    return _converter().unstructure(value)


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
    try:
        return _converter().structure(document, kind)
    except (AttributeError, TypeError, ValueError) as error:
        raise CodecError(_explanation(kind, document)) from error


@cache
def _converter() -> "BaseConverter":
    from cattrs import BaseConverter

    converter = BaseConverter(
        detailed_validation=False, unstructure_fallback_factory=_refuse_to_write
    )
    _add_reading_rules(converter)
    _add_writing_rules(converter)
    return converter


def _explanation(kind: type, document: Document) -> str:
    """Read a refused document again, to tell which of its values is wrong."""
    from cattrs import BaseValidationError, Converter, transform_error

    name = kind.__name__.lower()
    converter = Converter()
    _add_reading_rules(converter)
    converter.register_structure_hook_factory(has, _class_hook)
    try:
        converter.structure(document, kind)
    except BaseValidationError as error:
        # The line break marks where the place begins: no name or value is written with one.
        first = transform_error(error, f"\n{name}", _in_words)[0]
        problem, _, place = first.partition(" @ \n")
        return f"{place} {problem}"
    return f"this is no {name}"


def _class_hook(kind: Any, converter: "Converter") -> _Hook:  # noqa: ANN401 - a type
    # A compiled function finds no field in a list and is content where all fields have defaults.
    structure = converter.gen_structure_attrs_fromdict(kind)
    return lambda value, target: structure(read_object(value), target)


def _in_words(error: BaseException, _: object) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    # cattrs asks every mapping for its items.
    return "must be an object" if isinstance(error, AttributeError) else str(error)


def _add_reading_rules(converter: "BaseConverter") -> None:
    for plain, read in PLAIN_READERS.items():
        converter.register_structure_hook(plain, _plain_hook(read))
    converter.register_structure_hook_func(_is_enum, _read_member)
    converter.register_structure_hook_factory(_is_collection, _collection_hook)


def _plain_hook(read: Callable[[object], Any]) -> _Hook:
    return lambda value, _: read(value)


def _is_collection(kind: object) -> bool:
    return get_origin(kind) in _COLLECTIONS


def _collection_hook(kind: Any, converter: "BaseConverter") -> _Hook:  # noqa: ANN401 - a type
    from cattrs.cols import list_structure_factory

    collect, items = get_origin(kind), list_structure_factory(kind, converter)
    return lambda value, target: collect(items(read_list(value), target))


def _is_enum(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


def _read_member(value: object, kind: type[Enum]) -> Enum:
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(member.value for member in kind)
        raise ValueError(f"must be one of {names}, not {shown(value)}") from None


def _add_writing_rules(converter: "BaseConverter") -> None:
    from cattrs.cols import is_any_set, is_mapping, is_sequence

    write = converter.unstructure
    for plain in (bool, int, float, type(None)):
        converter.register_unstructure_hook(plain, lambda value: value)
    converter.register_unstructure_hook(datetime, format_instant)
    converter.register_unstructure_hook(PurePath, str)
    converter.register_unstructure_hook(bytes, lambda value: _refuse_to_write(type(value)))
    converter.register_unstructure_hook_func(
        is_mapping, lambda items: {str(write(key)): write(items[key]) for key in items}
    )
    converter.register_unstructure_hook_func(
        is_sequence, lambda items: [write(item) for item in items]
    )
    converter.register_unstructure_hook_func(
        is_any_set, lambda items: sorted((write(item) for item in items), key=str)
    )


def _refuse_to_write(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - a type
    raise CodecError(f"cannot write a {getattr(kind, '__name__', kind)} as JSON")
