"""What backends return has come from anywhere: it is checked, bounded and cleaned before use."""

import math
from datetime import datetime
from typing import Any, Final, TypeGuard

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
from grove_core.model.memory import Hit
from grove_core.reflection.limits import (
    CONTEXT_FILES_MAX,
    DETAIL_LENGTH_MAX,
    PATH_LENGTH_MAX,
    SUMMARY_LENGTH_MAX,
    TAG_LENGTH_MAX,
    TAGS_MAX,
)
from grove_core.text import clean_line, remove_invisible, shorten

_LONGEST_ORIGIN: Final = 200
_TYPES: Final = {
    "id": str,
    "category": Category,
    "summary": str,
    "detail": str,
    "session_id": str,
    "timestamp": datetime,
    "scope": Scope,
    "confidence": Confidence,
    "status": LearningStatus,
    "ticket_id": str | None,
}
_ITEM_TYPES: Final = {
    "tags": str,
    "context_files": str,
    "supersedes": str,
    "criteria_met": Criterion,
}


def is_learning(value: object) -> TypeGuard[Learning]:
    """Tell whether something is a learning whose fields have the types they should have.

    Args:
        value: What a backend returned.

    Returns:
        Whether it can be used.
    """
    return (
        isinstance(value, Learning)
        and all(isinstance(getattr(value, name), kind) for name, kind in _TYPES.items())
        and all(_holds_only(getattr(value, name), kind) for name, kind in _ITEM_TYPES.items())
        and value.timestamp.utcoffset() is not None
        and is_learning_id(value.id)
    )


def _holds_only(items: Any, kind: type) -> bool:  # noqa: ANN401 - any value
    # A list in the place of a tuple does no harm.
    known = isinstance(items, tuple | list | frozenset | set)
    return known and all(isinstance(item, kind) for item in items)


def is_hit(value: object) -> TypeGuard[Hit]:
    """Tell whether something is a hit whose fields have the types they should have.

    Args:
        value: What a backend returned.

    Returns:
        Whether it can be used.
    """
    return (
        isinstance(value, Hit)
        and isinstance(value.relevance, int | float)
        and _holds_only(value.reasons, str)
        and is_learning(value.learning)
    )


def cleaned(hit: Hit) -> Hit:
    """Bound and clean all text of a hit, and bring its relevance between 0 and 1.

    Args:
        hit: The hit.

    Returns:
        The hit as it may be shown.
    """
    relevance = hit.relevance if math.isfinite(hit.relevance) else 0.0
    return evolve(
        hit,
        relevance=min(1.0, max(0.0, relevance)),
        learning=_cleaned_learning(hit.learning),
        reasons=tuple(clean_line(reason, SUMMARY_LENGTH_MAX) for reason in hit.reasons),
    )


def _cleaned_learning(learning: Learning) -> Learning:
    files = learning.context_files[:CONTEXT_FILES_MAX]
    ticket = learning.ticket_id
    return evolve(
        learning,
        summary=clean_line(learning.summary, SUMMARY_LENGTH_MAX),
        detail=shorten(remove_invisible(learning.detail), DETAIL_LENGTH_MAX),
        tags=tuple(clean_line(tag, TAG_LENGTH_MAX) for tag in learning.tags[:TAGS_MAX]),
        context_files=tuple(clean_line(path, PATH_LENGTH_MAX) for path in files),
        supersedes=tuple(filter(is_learning_id, learning.supersedes)),
        criteria_met=frozenset(learning.criteria_met),
        ticket_id=None if ticket is None else clean_line(ticket, _LONGEST_ORIGIN),
        session_id=clean_line(learning.session_id, _LONGEST_ORIGIN),
    )
