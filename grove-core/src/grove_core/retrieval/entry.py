"""A learning as the index keeps it and as hooks rank it: plain values only."""

import json
from typing import Any, NamedTuple

from grove_core.retrieval.indexed_text import IndexedText, indexed_text
from grove_core.retrieval.relevance import Relevance


class Entry(NamedTuple):
    """A learning, and where it comes from."""

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
    """A learning that was found."""

    entry: Entry
    text: IndexedText
    relevance: Relevance


def text_of(entry: Entry) -> IndexedText:
    """Make an entry into terms."""
    fields = entry.fields()
    return indexed_text(
        summary=fields["summary"],
        detail=fields["detail"],
        category=entry.category,
        tags=fields["tags"],
        files=fields["context_files"],
        ticket_id=fields["ticket_id"] or "",
    )
