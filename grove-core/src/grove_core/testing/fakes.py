"""A memory backend for tests that keeps everything in memory."""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final
from uuid import uuid4

from attrs import define, evolve, field

from grove_core.errors import LearningNotFoundError, UnsupportedError
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Capability,
    Changes,
    Filters,
    Health,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
)
from grove_core.retrieval.rules import rule_hits

_CAPABILITIES: Final = frozenset(
    {
        Capability.GET,
        Capability.ITERATE,
        Capability.SET_STATUS,
        Capability.PERSONAL,
        Capability.EPHEMERAL,
        Capability.CHANGES,
    }
)


@define(eq=False)
class InMemoryStorage:
    """What several in-memory backends have in common, as others have a file or a table.

    Attributes:
        learnings: What is stored, by id, in the order of writing.
        changed: The id of what was written or changed, one for each mark but the first.
        marks: What stands for the state after each of these changes.
        lock: Anyone who changes the rest holds it.
    """

    learnings: dict[str, Learning] = field(factory=dict)
    changed: list[str] = field(factory=list)
    marks: list[str] = field(factory=lambda: [uuid4().hex])
    lock: Lock = field(factory=Lock)


class InMemoryBackend:
    """What every backend must do, with all capabilities that need neither files nor a server.

    Args:
        name: The backend's name.
        capabilities: What it says it can do; all but ``FILES``, ``NOTES`` and ``SLOW`` by default.
        storage: What it shares with other backends; its own by default.
    """

    def __init__(
        self,
        name: str = "memory",
        capabilities: frozenset[Capability] = _CAPABILITIES,
        storage: InMemoryStorage | None = None,
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self._storage = InMemoryStorage() if storage is None else storage

    def write(self, learning: Learning) -> Receipt:
        """Store a learning; one whose id is known changes nothing."""
        with self._storage.lock:
            known = learning.id in self._storage.learnings
            if not known:
                self._keep(learning)
        status = ReceiptStatus.DUPLICATE if known else ReceiptStatus.STORED
        return Receipt(learning_id=learning.id, status=status, backend=self.name)

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Score every learning that the filters admit; an empty query finds all of them."""
        return rule_hits(query, self._all(), filters)

    def ping(self) -> Health:
        """Tell how many learnings there are."""
        return Health(ok=True, detail=f"{len(self._all())} learnings in memory")

    def get(self, learning_id: str) -> Learning | None:
        """Fetch one learning of any status."""
        self._need(Capability.GET)
        return self._storage.learnings.get(learning_id)

    def iterate(self) -> Iterable[Learning]:
        """Go through all learnings, oldest first."""
        self._need(Capability.ITERATE)
        return sorted(self._all(), key=lambda one: one.timestamp)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Change a learning's status; the note is for people and is not kept here."""
        del note
        self._need(Capability.SET_STATUS)
        with self._storage.lock:
            known = self._storage.learnings.get(learning_id)
            if known is None:
                raise LearningNotFoundError(f"no learning has the id {learning_id}")
            changed = evolve(known, status=status)
            self._keep(changed)
        return changed

    def changes(self, mark: str) -> Changes:
        """Tell what was written or changed since an earlier answer about the same storage."""
        self._need(Capability.CHANGES)
        storage = self._storage
        with storage.lock:
            whole = mark not in storage.marks
            ids = storage.learnings if whole else storage.changed[storage.marks.index(mark) :]
            learnings = tuple(storage.learnings[each] for each in dict.fromkeys(ids))
            return Changes(learnings=learnings, mark=storage.marks[-1], whole=whole)

    def _all(self) -> list[Learning]:
        with self._storage.lock:
            return list(self._storage.learnings.values())

    def _keep(self, learning: Learning) -> None:
        self._storage.learnings[learning.id] = learning
        self._storage.changed.append(learning.id)
        self._storage.marks.append(uuid4().hex)

    def _need(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise UnsupportedError(f"the backend {self.name} cannot {capability.value}")
