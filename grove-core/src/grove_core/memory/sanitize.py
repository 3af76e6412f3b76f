"""Clean what plugins return before it is used: it has come from anywhere.

That a value is of the right types its class sees to; a learning's own checks would cost every
reader of an index, so they stand here.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import repeat
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar

from attrs import evolve

from grove_core.identifiers import is_learning_id
from grove_core.model.learning import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
    Category,
    Confidence,
    Criterion,
    Learning,
    LearningStatus,
    Scope,
)
from grove_core.model.memory import Health, Hit, Receipt, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.text import clean_line, remove_invisible, shorten

if TYPE_CHECKING:
    from grove_core.model.statistics import Insight

V = TypeVar("V", Hit, Learning, Receipt)

_LONGEST_NAME: Final = 200
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
_BREAKS: Final = re.compile(r"[\n\t]")


def is_learning(value: object) -> TypeGuard[Learning]:
    """Check that something is a learning whose fields have the types they should have."""
    return (
        isinstance(value, Learning)
        and all(map(isinstance, _fields_of(value), _TYPES.values()))
        and all(map(_holds_only, _item_fields_of(value), _ITEM_TYPES.values()))
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


def clean_hit(hit: Hit) -> Hit:
    """Bound and clean all text of a hit, and bring its relevance between 0 and 1."""
    relevance = hit.relevance if math.isfinite(hit.relevance) else 0.0
    return _with(
        hit,
        learning=_clean_learning(hit.learning),
        relevance=min(1.0, max(0.0, relevance)),
        reasons=_clean_lines(hit.reasons, SUMMARY_LENGTH_MAX),
    )


def _clean_learning(learning: Learning) -> Learning:
    ticket = learning.ticket_id
    files = learning.context_files[:CONTEXT_FILES_MAX]
    return _with(
        learning,
        summary=clean_line(learning.summary, SUMMARY_LENGTH_MAX),
        detail=shorten(remove_invisible(learning.detail), DETAIL_LENGTH_MAX),
        tags=_clean_lines(learning.tags[:TAGS_MAX], TAG_LENGTH_MAX),
        context_files=tuple(clean_line_with_paths(file, PATH_LENGTH_MAX) for file in files),
        supersedes=tuple(filter(is_learning_id, learning.supersedes)),
        criteria_met=frozenset(learning.criteria_met),
        ticket_id=None if ticket is None else clean_line(ticket, _LONGEST_NAME),
        session_id=clean_line(learning.session_id, _LONGEST_NAME),
    )


def clean_receipt(receipt: object, learning_id: str = "") -> Receipt | None:
    """Clean what a backend says of a write, of this learning where its id is given."""
    if not isinstance(receipt, Receipt) or not is_learning_id(receipt.learning_id):
        return None
    backend = clean_line(receipt.backend, _LONGEST_NAME)
    if not backend or receipt.learning_id != (learning_id or receipt.learning_id):
        return None
    return _with(
        receipt,
        backend=backend,
        location=clean_line_with_paths(receipt.location),
        note=clean_line(receipt.note, _LONGEST_NOTE),
    )


def clean_freshness(answer: object) -> Freshness | None:
    """Clean what a backend says of its server."""
    if not isinstance(answer, Freshness):
        return None
    return evolve(
        answer,
        source=clean_line(answer.source, _LONGEST_NAME),
        waiting=tuple(filter(is_learning_id, answer.waiting)),
        fault=clean_line(answer.fault, _LONGEST_FAULT),
    )


def clean_health(answer: object) -> Health | None:
    """Clean what a backend says of itself."""
    if not isinstance(answer, Health):
        return None
    return evolve(
        answer,
        detail=clean_line_with_paths(answer.detail),
        location=clean_line_with_paths(answer.location),
        fix=clean_line_with_paths(answer.fix),
    )


def clean_synchronised(answer: object) -> Synchronised | None:
    """Clean what a backend says of its synchronising."""
    if not isinstance(answer, Synchronised):
        return None
    receipts = (clean_receipt(one) for one in answer.delivered)
    return evolve(
        answer,
        delivered=tuple(one for one in receipts if one is not None),
        waiting=tuple(filter(is_learning_id, answer.waiting)),
        fault=clean_line(answer.fault, _LONGEST_FAULT),
    )


def clean_insight(insight: "Insight") -> "Insight":
    """Clean what a plugin sees in the numbers; what is wrong with it is a ``TypeError``."""
    said = {
        name: clean_line(text, _LONGEST_FAULT) if isinstance(text, str) else ""
        for name in ("kind", "message", "suggestion")
        for text in (getattr(insight, name),)
    }
    for name, text in said.items():
        if not text:
            raise TypeError(f"Insight.{name} is not a string that says something")
    if not isinstance(insight.subject, str):
        raise TypeError("Insight.subject is not a string")
    if type(insight.priority) is not int or insight.priority not in {1, 2, 3}:
        raise TypeError("Insight.priority is not 1, 2 or 3")
    try:
        evidence = json.loads(json.dumps(dict(insight.evidence), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise TypeError(
            "Insight.evidence is not a mapping of names to values that JSON has"
        ) from None
    subject = clean_line(insight.subject, _LONGEST_FAULT)
    insight = insight._replace(kind=said["kind"], message=said["message"], subject=subject)
    return insight._replace(suggestion=said["suggestion"], evidence=evidence)


def clean_line_with_paths(text: str, limit: int = _LONGEST_LOCATION) -> str:
    """Clean a line that may hold paths: two blanks in one are two, so it is not folded."""
    return shorten(_BREAKS.sub(" ", remove_invisible(text)), limit)


def _with(value: V, **fields: Any) -> V:  # noqa: ANN401 - fields of any type
    """Give a value other fields; where nothing changes, as almost always, it is not copied."""
    changes = {
        name: new
        for name, new in fields.items()
        if new is not (old := getattr(value, name)) and (type(new) is not type(old) or new != old)
    }
    return evolve(value, **changes) if changes else value


def _clean_lines(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    return tuple([clean_line(text, limit) for text in texts])
