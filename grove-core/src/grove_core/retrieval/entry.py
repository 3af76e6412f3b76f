"""A learning as the index keeps it and as hooks rank it: plain values only."""

import json
from typing import Any, NamedTuple

from grove_core.retrieval.indexed_text import IndexedText, indexed_text
from grove_core.retrieval.relevance import Relevance


class Entry(NamedTuple):
    """A learning, and where it comes from.

    Attributes:
        id: Its id.
        backend: The name of the backend that has it.
        personal: Whether it is one of the user's own.
        status: Where it stands in its life.
        scope: Who it is for.
        category: What kind of knowledge it is.
        confidence: How sure its author was.
        created: When it was written, in microseconds since 1970, UTC.
        complete: Whether all its fields are the stored ones.
        document: All of it, as JSON.
    """

    id: str
    backend: str
    personal: bool
    status: str
    scope: str
    category: str
    confidence: str
    created: int
    complete: bool
    document: str

    def fields(self) -> dict[str, Any]:
        """Read the learning's fields, as ``learning_to_dict`` names them."""
        fields: dict[str, Any] = json.loads(self.document)
        return fields


class Found(NamedTuple):
    """A learning that was found.

    Attributes:
        entry: The learning.
        text: Its terms.
        relevance: How well it fits what was looked for.
    """

    entry: Entry
    text: IndexedText
    relevance: Relevance


def text_of(entry: Entry) -> IndexedText:
    """Make an entry into terms.

    Args:
        entry: The entry.

    Returns:
        Its terms.
    """
    fields = entry.fields()
    return indexed_text(
        summary=fields["summary"],
        detail=fields["detail"],
        category=entry.category,
        tags=fields["tags"],
        files=fields["context_files"],
        ticket_id=fields["ticket_id"] or "",
    )
