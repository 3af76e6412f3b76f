"""What backends return has come from anywhere: it is checked, bounded and cleaned before use."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeGuard, TypeVar

from attrs import evolve

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import (
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.model.memory import Health, Hit, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.reflection.limits import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
)
from grove_core.text import clean_line, remove_invisible, shorten

V = TypeVar("V", Hit, Learning, Receipt)

_LONGEST_ORIGIN: Final = 200
_LONGEST_LOCATION: Final = 4096
_LONGEST_NOTE: Final = 300
_LONGEST_FAULT: Final = 500
_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "id": str,
    "category": Category,
    "summary": str,
    "detail": str,
    "session_id": str,
    "timestamp": datetime,
    "scope": Scope,
    "confidence": Confidence,
    "status": LearningStatus,
    "ticket_id": (str, NoneType),
}
_ITEM_TYPES: Final[Mapping[str, type]] = {
    "tags": str,
    "context_files": str,
    "supersedes": str,
    "criteria_met": Criterion,
}
# A search checks every hit: attrgetter, map and all take a third of the time of a loop.
_fields_of = attrgetter(*_TYPES)
_item_fields_of = attrgetter(*_ITEM_TYPES)
_texts_of = attrgetter("backend", "location", "note")
_BREAKS: Final = re.compile(r"[\n\t]")


def is_learning(value: object) -> TypeGuard[Learning]:
    """Return whether something is a learning whose fields have the types they should have."""
    return (
        isinstance(value, Learning)
        and all(map(isinstance, _fields_of(value), _TYPES.values()))
        and all(map(_holds_only, _item_fields_of(value), _ITEM_TYPES.values()))
        and value.timestamp.utcoffset() is not None
        and is_learning_id(value.id)
    )


def _holds_only(items: Any, kind: type) -> bool:  # noqa: ANN401 - any value
    # A list in the place of a tuple does no harm.
    known = isinstance(items, (tuple, list, frozenset, set))
    return known and all(map(isinstance, items, repeat(kind)))


def is_hit(value: object) -> TypeGuard[Hit]:
    """Return whether something is a hit whose fields have the types they should have."""
    return (
        isinstance(value, Hit)
        and isinstance(value.relevance, int | float)
        and _holds_only(value.reasons, str)
        and is_learning(value.learning)
    )


def cleaned(hit: Hit) -> Hit:
    """Bound and clean all text of a hit, and bring its relevance between 0 and 1."""
    relevance = hit.relevance if math.isfinite(hit.relevance) else 0.0
    return _with(
        hit,
        learning=_cleaned_learning(hit.learning),
        relevance=min(1.0, max(0.0, relevance)),
        reasons=_clean_lines(hit.reasons, SUMMARY_LENGTH_MAX),
    )


def _cleaned_learning(learning: Learning) -> Learning:
    files = learning.context_files[:CONTEXT_FILES_MAX]
    ticket = learning.ticket_id
    return _with(
        learning,
        summary=clean_line(learning.summary, SUMMARY_LENGTH_MAX),
        detail=shorten(remove_invisible(learning.detail), DETAIL_LENGTH_MAX),
        tags=_clean_lines(learning.tags[:TAGS_MAX], TAG_LENGTH_MAX),
        context_files=tuple([_clean_path(file) for file in files]),
        supersedes=tuple(filter(is_learning_id, learning.supersedes)),
        criteria_met=frozenset(learning.criteria_met),
        ticket_id=None if ticket is None else clean_line(ticket, _LONGEST_ORIGIN),
        session_id=clean_line(learning.session_id, _LONGEST_ORIGIN),
    )


def cleaned_receipt(receipt: object, learning: Learning) -> Receipt | None:
    """Check what a backend says of a write, and bound and clean its text."""
    if not isinstance(receipt, Receipt) or receipt.learning_id != learning.id:
        return None
    return _cleaned_receipt_of(receipt)


def _cleaned_receipt_of(receipt: Receipt) -> Receipt | None:
    if not (
        isinstance(receipt.status, ReceiptStatus)
        and isinstance(receipt.shared, bool)
        and _holds_only((receipt.learning_id, *_texts_of(receipt)), str)
        and is_learning_id(receipt.learning_id)
    ):
        return None
    backend = clean_line(receipt.backend, _LONGEST_ORIGIN)
    if not backend:
        return None
    return _with(
        receipt,
        backend=backend,
        location=line_with_paths(receipt.location),
        note=clean_line(receipt.note, _LONGEST_NOTE),
    )


def cleaned_freshness(answer: object) -> Freshness | None:
    """Check what a backend says of its server, and bound and clean its text."""
    if not (
        isinstance(answer, Freshness)
        and isinstance(answer.source, str)
        and isinstance(answer.fault, str)
        and isinstance(answer.mark, Path)
        and _holds_only(answer.waiting, str)
    ):
        return None
    return evolve(
        answer,
        source=clean_line(answer.source, _LONGEST_ORIGIN),
        waiting=tuple(filter(is_learning_id, answer.waiting)),
        fault=clean_line(answer.fault, _LONGEST_FAULT),
    )


def cleaned_health(answer: object) -> Health | None:
    """Check what a backend says of itself, and bound and clean its text."""
    if not isinstance(answer, Health):
        return None
    if not _holds_only((answer.detail, answer.location, answer.mend), str):
        return None
    return evolve(
        answer,
        detail=line_with_paths(answer.detail),
        location=line_with_paths(answer.location),
        mend=line_with_paths(answer.mend),
    )


def line_with_paths(text: str) -> str:
    """Clean a line that may hold paths: two blanks in one are two, so it is not folded."""
    return shorten(_BREAKS.sub(" ", remove_invisible(text)), _LONGEST_LOCATION)


def cleaned_synchronised(answer: object) -> Synchronised | None:
    """Check what a backend says of its synchronising, and bound and clean its text."""
    if not (
        isinstance(answer, Synchronised)
        and isinstance(answer.received, int)
        and isinstance(answer.fault, str)
        and _holds_only(answer.waiting, str)
        and _holds_only(answer.delivered, Receipt)
    ):
        return None
    receipts = (_cleaned_receipt_of(one) for one in answer.delivered)
    return evolve(
        answer,
        delivered=tuple(one for one in receipts if one is not None),
        waiting=tuple(filter(is_learning_id, answer.waiting)),
        fault=clean_line(answer.fault, _LONGEST_FAULT),
    )


def _with(value: V, **fields: Any) -> V:  # noqa: ANN401 - fields of any type
    """Return a value other fields; where nothing is other, as almost always, it is not copied."""
    changes = {
        name: new
        for name, new in fields.items()
        if new is not (old := getattr(value, name)) and (type(new) is not type(old) or new != old)
    }
    return evolve(value, **changes) if changes else value


def _clean_path(path: str) -> str:
    """Clean a path; blanks of any kind and number belong to a file's name."""
    return shorten(remove_invisible(path).replace("\n", " "), PATH_LENGTH_MAX)


def _clean_lines(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    return tuple([clean_line(text, limit) for text in texts])
