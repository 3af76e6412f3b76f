"""What a server has found, as hits: resolved to what is known here, and assessed by its status."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from grove_backend_mcp.protocol.query import whole_query
from grove_backend_mcp.sync.record import Contents
from grove_core import Hit, Learning, Query, rule_relevance

if TYPE_CHECKING:
    from grove_backend_mcp.protocol.results import Found

_BY_MEANING: Final = "the server finds it close in meaning"
_FIRST_BY_MEANING: Final = 0.2
# Below it lies what servers give to anything: a distance of 1.5 between vectors of length 1.
_LEAST_GIVEN: Final = 0.4
_STEP: Final = 0.9


def hits_of(
    found: Sequence["Found"], query: Query, contents: Contents, project: str
) -> tuple[Sequence[Hit], Sequence[Learning]]:
    """Resolve what a server has found; return as well what others have written of it."""
    assessed: list[tuple[Hit, bool]] = []
    others, recorded = list[Learning](), contents.record.state()
    words = whole_query(query).casefold().split()
    for rank, one in enumerate(found):
        known = contents.get(one.learning_id) if one.learning_id else None
        if known is not None:
            assessed.append(_hit(query, words, known, one, rank))
        elif one.learning is not None and one.project == project:
            others.append(one.learning)
            assessed.append(_hit(query, words, recorded.now(one.learning), one, rank))
    end = max((place for place, (_, fits) in enumerate(assessed, start=1) if fits), default=0)
    return [hit for hit, _ in assessed[:end]], others


def _hit(
    query: Query, words: Iterable[str], learning: Learning, found: "Found", rank: int
) -> tuple[Hit, bool]:
    """Judge a result; tell as well whether anything but its place in the list speaks for it."""
    relevance, reasons = rule_relevance(query, learning)
    given = found.relevance or 0.0
    fits = relevance > 0 or given >= _LEAST_GIVEN
    if fits and given > relevance:
        relevance, reasons = given, (_BY_MEANING,)
    elif not fits:
        text = f"{learning.summary}\n{learning.detail}".casefold()
        fits = any(word in text for word in words)
        relevance, reasons = _FIRST_BY_MEANING * _STEP**rank, (_BY_MEANING,)
    return Hit(learning=learning, relevance=relevance, reasons=reasons), fits
