"""What no hook reads or writes, by cattrs: records of commands, and what ``--json`` prints."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from pathlib import PurePath
from types import GeneratorType
from typing import Any, Final, TypeVar

from cattrs import Converter, transform_error

from grove_core.clock import format_instant
from grove_core.codec import PLAIN_READERS
from grove_core.errors import CodecError

_T = TypeVar("_T")


def to_jsonable(value: object) -> Any:  # noqa: ANN401 - any JSON value out
    """Turn a value of the model, or a collection of such, into what ``json`` can write."""
    return _CONVERTER.unstructure(value)


def read_as(kind: type[_T], document: object) -> _T:
    """Read an attrs class from plain JSON values; those that are no field of it are ignored."""
    try:
        return _CONVERTER.structure(document, kind)
    except Exception as error:
        message = "; ".join(transform_error(error, kind.__name__.lower()))
        raise CodecError(message) from error


def _sorted(values: Any) -> list[Any]:  # noqa: ANN401 - what is in a set
    return sorted(values, key=str)


def _made() -> Converter:
    made = Converter(unstruct_collection_overrides={AbstractSet: _sorted})
    made.register_unstructure_hook(datetime, format_instant)
    made.register_unstructure_hook(PurePath, str)
    made.register_unstructure_hook(GeneratorType, lambda given: [*map(made.unstructure, given)])
    made.register_unstructure_hook_func(lambda kind: kind is object, made.unstructure)
    for kind, read in PLAIN_READERS.items():
        made.register_structure_hook(kind, partial(_strictly, read))
    return made


def _strictly(read: Callable[[object], Any], value: object, _: type) -> Any:  # noqa: ANN401
    return read(value)  # which turns nothing into another type


_CONVERTER: Final = _made()
