"""A complete memory backend that keeps everything in memory: the reference for plugin authors."""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import uuid4

from attrs import evolve

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
from grove_core.retrieval.rules import rule_relevance

_CAPABILITIES: Final = frozenset(Capability) - {Capability.FILES}


class InMemoryBackend:
    """What every backend must do, with all capabilities that need no storage.

    Args:
        name: The backend's name.
        capabilities: What it says it can do; all but ``FILES`` by default.
    """

    def __init__(
        self, name: str = "memory", capabilities: frozenset[Capability] = _CAPABILITIES
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self._learnings: dict[str, Learning] = {}
        self._marks = [uuid4().hex]
        self._changed: list[str] = []

    def write(self, learning: Learning) -> Receipt:
        """Store a learning; one whose id is known changes nothing."""
        known = learning.id in self._learnings
        if not known:
            self._keep(learning)
        status = ReceiptStatus.DUPLICATE if known else ReceiptStatus.STORED
        return Receipt(learning_id=learning.id, status=status, backend=self.name)

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Score every learning that the filters admit; an empty query finds all of them."""
        hits: list[Hit] = []
        for learning in filter(filters.admit, self._learnings.values()):
            relevance, reasons = rule_relevance(query, learning)
            if relevance > 0 or query.is_empty:
                hits.append(Hit(learning=learning, relevance=relevance, reasons=reasons))
        return sorted(hits, key=lambda hit: -hit.relevance)[: filters.limit]

    def ping(self) -> Health:
        """Tell how many learnings there are."""
        return Health(ok=True, detail=f"{len(self._learnings)} learnings in memory")

    def get(self, learning_id: str) -> Learning | None:
        """Fetch one learning of any status."""
        self._need(Capability.GET)
        return self._learnings.get(learning_id)

    def iterate(self) -> Iterable[Learning]:
        """Go through all learnings, oldest first."""
        self._need(Capability.ITERATE)
        return sorted(self._learnings.values(), key=lambda one: one.timestamp)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Change a learning's status; the note is for people and is not kept here."""
        del note
        self._need(Capability.SET_STATUS)
        known = self._learnings.get(learning_id)
        if known is None:
            raise LearningNotFoundError(f"no learning has the id {learning_id}")
        changed = evolve(known, status=status)
        self._keep(changed)
        return changed

    def changes(self, mark: str) -> Changes:
        """Tell what was written or changed since an earlier answer of this very backend."""
        self._need(Capability.CHANGES)
        whole = mark not in self._marks
        ids = self._learnings if whole else self._changed[self._marks.index(mark) :]
        return Changes(
            learnings=tuple(self._learnings[each] for each in dict.fromkeys(ids)),
            mark=self._marks[-1],
            whole=whole,
        )

    def _keep(self, learning: Learning) -> None:
        self._learnings[learning.id] = learning
        self._changed.append(learning.id)
        self._marks.append(uuid4().hex)

    def _need(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise UnsupportedError(f"the backend {self.name} cannot {capability.value}")
