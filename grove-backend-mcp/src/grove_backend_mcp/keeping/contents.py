"""All learnings of a project that are known here: grove's own, and what others have written."""

from collections.abc import Iterator
from typing import Final

from grove_backend_mcp.keeping.cached import CachedLearnings
from grove_backend_mcp.keeping.places import Places
from grove_backend_mcp.keeping.record import Record
from grove_core import Learning

MOST_NOTES: Final = 200


class Contents:
    """What is kept here, read when it has changed and not before.

    Attributes:
        record: grove's own record.
        seen: What others have written to the server.
        notes: What is on the server and not grove's, as far as searches have shown it.
    """

    def __init__(self, places: Places) -> None:
        """Read nothing yet.

        Args:
            places: Where the files lie.
        """
        self.record = Record(places.record, places.root)
        self.seen = CachedLearnings(places.seen)
        self.notes = CachedLearnings(places.notes)

    def get(self, learning_id: str) -> Learning | None:
        """Give a learning as it is now; of two that have an id, grove's own.

        Args:
            learning_id: Its id.

        Raises:
            BackendError: A file cannot be read.
        """
        recorded = self.record.contents()
        own = recorded.get(learning_id)
        if own is not None:
            return own
        other = self.seen.learnings().get(learning_id)
        return None if other is None else recorded.now(other)

    def learnings(self) -> Iterator[Learning]:
        """Give all learnings as they are now, each once.

        Raises:
            BackendError: A file cannot be read.
        """
        recorded = self.record.contents()
        yield from map(recorded.now, recorded.learnings.values())
        for learning_id, learning in self.seen.learnings().items():
            if learning_id not in recorded.learnings:
                yield recorded.now(learning)
