"""A learning as the index keeps it and as it is ranked: plain values only."""

import json
from typing import Any, NamedTuple

from grove_core.codec import learning_from_dict, learning_to_dict
from grove_core.model.learning import Learning
from grove_core.retrieval.terms import IndexedText, indexed_text
from grove_core.stats.lines import microseconds


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

    @property
    def summary(self) -> str:
        """What it says in one line."""
        return str(self.fields()["summary"])


def entry_of(learning: Learning, *, backend: str, personal: bool, complete: bool = True) -> Entry:
    """Make a learning into what the index keeps."""
    return Entry(
        id=learning.id,
        backend=backend,
        personal=personal,
        status=learning.status.value,
        scope=learning.scope.value,
        category=learning.category.value,
        confidence=learning.confidence.value,
        created=microseconds(learning.timestamp),
        complete=complete,
        document=json.dumps(learning_to_dict(learning), separators=(",", ":")),
    )


def learning_of(entry: Entry) -> Learning:
    """Make an entry into a learning again."""
    return learning_from_dict(entry.fields())


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
