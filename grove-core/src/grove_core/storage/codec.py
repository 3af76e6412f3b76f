"""What commands print with ``--json``, by cattrs, which no hook loads."""

from collections.abc import Set as AbstractSet
from datetime import date, datetime
from functools import partial
from pathlib import PurePath
from types import GeneratorType
from typing import Any, Final

from cattrs import Converter

from grove_core.clock import format_instant
from grove_core.codec import share_to_dict
from grove_core.model.learning import Share


def to_jsonable(value: object) -> Any:  # noqa: ANN401 - any JSON value out
    """Turn a value of the model, or a collection of such, into what ``json`` can write."""
    return _CONVERTER.unstructure(value)


def _made() -> Converter:
    made = Converter(unstruct_collection_overrides={AbstractSet: partial(sorted, key=str)})
    made.register_unstructure_hook(date, date.isoformat)
    made.register_unstructure_hook(datetime, format_instant)
    made.register_unstructure_hook(Share, share_to_dict)
    made.register_unstructure_hook(PurePath, str)
    made.register_unstructure_hook(GeneratorType, lambda given: [*map(made.unstructure, given)])
    made.register_unstructure_hook_func(lambda kind: kind is object, made.unstructure)
    made.register_unstructure_hook_func(
        lambda kind: hasattr(kind, "_asdict"), lambda one: made.unstructure(one._asdict())
    )
    return made


_CONVERTER: Final = _made()
