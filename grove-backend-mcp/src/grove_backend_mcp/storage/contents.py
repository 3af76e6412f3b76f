"""All learnings of a project that are known here: grove's own, and what others have written."""

from collections.abc import Iterator
from typing import Final

from grove_backend_mcp.storage.cached import CachedLearnings
from grove_backend_mcp.storage.places import Places
from grove_backend_mcp.storage.record import Record
from grove_core import Learning

MOST_NOTES: Final = 200


class Contents:
    """What is kept here, read when it has changed and not before."""

    def __init__(self, places: Places) -> None:
        """Read nothing yet."""
        self.record = Record(places.record, places.root)
        self.seen = CachedLearnings(places.seen)
        self.notes = CachedLearnings(places.notes)

    def get(self, learning_id: str) -> Learning | None:
        """Return a learning as it is now; of two that have an id, grove's own."""
        recorded = self.record.contents()
        own = recorded.get(learning_id)
        if own is not None:
            return own
        other = self.seen.learnings().get(learning_id)
        return None if other is None else recorded.now(other)

    def learnings(self) -> Iterator[Learning]:
        """Return all learnings as they are now, each once."""
        recorded = self.record.contents()
        yield from map(recorded.now, recorded.learnings.values())
        for learning_id, learning in self.seen.learnings().items():
            if learning_id not in recorded.learnings:
                yield recorded.now(learning)
