"""Learnings to what the index keeps of them, and back."""

import json

from grove_core.codec.session_json import learning_from_dict, learning_to_dict
from grove_core.model.learning import Learning
from grove_core.retrieval.entry import Entry
from grove_core.stats.log_lines import microseconds


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
