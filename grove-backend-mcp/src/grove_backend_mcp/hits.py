"""What a server has found, as hits: resolved to what is known here, and judged by its status."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_backend_mcp.contents import Contents
from grove_core import Category, Confidence, Hit, Learning, Query, rule_relevance

if TYPE_CHECKING:
    from grove_backend_mcp.memory_server import Found

_BY_MEANING: Final = "the server finds it close in meaning"
_FIRST_BY_MEANING: Final = 0.2
_STEP: Final = 0.9
_SUMMARY_LENGTH: Final = 200
_DIGEST_LENGTH: Final = 10


class Known(NamedTuple):
    """What a server has found.

    Attributes:
        hits: All of it that is this project's or nobody's, in the server's order.
        others: Learnings among it that others have written and that are new here.
        notes: What is not grove's, as partial learnings.
    """

    hits: Sequence[Hit]
    others: Sequence[Learning]
    notes: Sequence[Learning]


def hits_of(
    found: Sequence["Found"], query: Query, contents: Contents, project: str, now: datetime
) -> Known:
    """Resolve what a server has found.

    Args:
        found: Its results, best first.
        query: What was looked for.
        contents: What is known here.
        project: The name under which the project's learnings lie on the server.
        now: The time, UTC: what is not grove's has none.

    Returns:
        Hits with their relevance: as the server says where it gives a number, else by the rules;
        what has no word in common with the query is less relevant than all that has.

    Raises:
        BackendError: A file cannot be read.
    """
    hits: list[Hit] = []
    others: list[Learning] = []
    notes: list[Learning] = []
    recorded = contents.record.contents()
    for rank, one in enumerate(found):
        known = contents.get(one.learning_id) if one.learning_id else None
        if known is not None:
            hits.append(_hit(query, known, one, rank))
        elif one.learning_id is None:
            note = _note_of(one, now)
            notes.append(note)
            hits.append(_note_hit(query, note, one))
        elif one.learning is not None and one.project == project:
            others.append(one.learning)
            hits.append(_hit(query, recorded.now(one.learning), one, rank))
    return Known(hits, others, notes)


def _hit(query: Query, learning: Learning, found: "Found", rank: int) -> Hit:
    relevance, reasons = rule_relevance(query, learning)
    if found.relevance is not None and found.relevance > relevance:
        return Hit(learning=learning, relevance=found.relevance, reasons=(_BY_MEANING,))
    if not relevance:
        relevance, reasons = _FIRST_BY_MEANING * _STEP**rank, (_BY_MEANING,)
    return Hit(learning=learning, relevance=relevance, reasons=reasons)


def _note_hit(query: Query, note: Learning, found: "Found") -> Hit:
    relevance, reasons = rule_relevance(query, note)
    if found.relevance is not None and found.relevance > relevance:
        relevance, reasons = found.relevance, (_BY_MEANING,)
    return Hit(learning=note, relevance=relevance, complete=False, reasons=reasons)


def _note_of(found: "Found", now: datetime) -> Learning:
    """Make a partial learning of what somebody else has written."""
    digest = hashlib.sha256(found.text.encode("utf-8", "replace")).hexdigest()
    summary = next((line for line in found.text.split("\n") if line.strip()), "")
    return Learning(
        id=f"mcp-{digest[:_DIGEST_LENGTH]}",
        category=Category.DOMAIN,
        summary=summary.strip()[:_SUMMARY_LENGTH],
        detail=found.text,
        session_id="",
        timestamp=now.replace(microsecond=0),
        confidence=Confidence.MEDIUM,
    )
