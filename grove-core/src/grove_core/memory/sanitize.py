"""Clean what plugins return before it is used: it has come from anywhere.

That a value is of the right types its class sees to; a learning's own checks would cost every
reader of an index, so they stand here.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, TypeGuard, TypeVar, get_args, get_origin

from attrs import evolve, fields

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
    Learning,
)
from grove_core.model.memory import Health, Hit, Receipt, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.text import clean_line, remove_invisible, shorten

V = TypeVar("V", Hit, Learning, Receipt, Freshness, Health, Synchronised)

_LONGEST_NAME: Final = 200
_LONGEST_LOCATION: Final = 4096
_LONGEST_NOTE: Final = 300
_LONGEST_FAULT: Final = 500


@cache
def _kinds() -> tuple[Any, ...]:
    """Divide a learning's fields by their types; most hooks have no learning to check."""
    kinds: dict[str, Any] = {each.name: each.type for each in fields(Learning)}
    items = {
        name: get_args(kind)[0]
        for name, kind in kinds.items()
        if get_origin(kind) in (tuple, frozenset)
    }
    plain = {name: get_args(kind) or kind for name, kind in kinds.items() if name not in items}
    # A search checks every hit: attrgetter, map and all take a third of the time of a loop.
    return attrgetter(*plain), plain.values(), attrgetter(*items), items.values()


def is_learning(value: object) -> TypeGuard[Learning]:
    """Check that something is a learning whose fields have the types they should have."""
    plain_of, plain, items_of, items = _kinds()
    return (
        isinstance(value, Learning)
        and all(map(isinstance, plain_of(value), plain))
        and all(map(_holds_only, items_of(value), items))
        and value.timestamp.utcoffset() is not None
        and is_learning_id(value.id)
    )


def is_hit(value: object) -> TypeGuard[Hit]:
    """Check that something is a hit with a sound learning."""
    return isinstance(value, Hit) and is_learning(value.learning)


def _holds_only(items: Any, kind: type) -> bool:  # noqa: ANN401 - any value
    # A list in the place of a tuple does no harm.
    known = isinstance(items, (tuple, list, frozenset, set))
    return known and all(map(isinstance, items, repeat(kind)))


def clean_line_with_paths(text: str, limit: int = _LONGEST_LOCATION) -> str:
    """Clean a line that may hold paths: two blanks in one are two, so it is not folded."""
    return shorten(remove_invisible(text).replace("\n", " ").replace("\t", " "), limit)


def _line(limit: int) -> Callable[[str], str]:
    return partial(clean_line, limit=limit)


_name, _note, _fault = map(_line, (_LONGEST_NAME, _LONGEST_NOTE, _LONGEST_FAULT))
_summary, _tag = _line(SUMMARY_LENGTH_MAX), _line(TAG_LENGTH_MAX)
_path = partial(clean_line_with_paths, limit=PATH_LENGTH_MAX)


def _ids(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(filter(is_learning_id, names))


_OF_A_LEARNING: Final[Mapping[str, Callable[[Any], Any]]] = {
    "summary": _summary,
    "detail": lambda text: shorten(remove_invisible(text), DETAIL_LENGTH_MAX),
    "tags": lambda tags: tuple(map(_tag, tags[:TAGS_MAX])),
    "context_files": lambda paths: tuple(map(_path, paths[:CONTEXT_FILES_MAX])),
    "supersedes": _ids,
    "criteria_met": frozenset,
    "ticket_id": lambda name: name and _name(name),
    "session_id": _name,
}
_OF_A_HIT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "learning": lambda learning: _clean(learning, **_OF_A_LEARNING),
    "relevance": lambda given: min(1.0, max(0.0, given)) if math.isfinite(given) else 0.0,
    "reasons": lambda reasons: tuple(map(_summary, reasons)),
}


def clean_hit(hit: Hit) -> Hit:
    """Bound and clean all text of a hit, and bring its relevance between 0 and 1."""
    return _clean(hit, **_OF_A_HIT)


def clean_receipt(answer: object, learning_id: str = "") -> Receipt | None:
    """Clean what a backend says of a write, of this learning where its id is given."""
    receipt = clean(Receipt, answer)
    if receipt is None or not receipt.backend or not is_learning_id(receipt.learning_id):
        return None
    return receipt if learning_id in ("", receipt.learning_id) else None


_CLEANERS: Final[Mapping[type, Mapping[str, Callable[[Any], Any]]]] = {
    Receipt: {"backend": _name, "location": clean_line_with_paths, "note": _note},
    Freshness: {"source": _name, "waiting": _ids, "fault": _fault},
    Health: dict.fromkeys(("detail", "location", "fix"), clean_line_with_paths),
    Synchronised: {
        "delivered": lambda given: tuple(filter(None, map(clean_receipt, given))),
        "waiting": _ids,
        "fault": _fault,
    },
}


def clean(kind: type[V], answer: object) -> V | None:
    """Clean what a backend says of itself or its server; ``None`` where it says something else."""
    return _clean(answer, **_CLEANERS[kind]) if isinstance(answer, kind) else None


def _clean(value: V, **cleaners: Callable[[Any], Any]) -> V:
    """Clean fields of a value; where nothing changes, as almost always, it is not copied."""
    changes = {}
    for name, clean in cleaners.items():
        old = getattr(value, name)
        new = clean(old)
        if new is not old and (type(new) is not type(old) or new != old):
            changes[name] = new
    return evolve(value, **changes) if changes else value
