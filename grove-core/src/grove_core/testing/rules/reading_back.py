"""Seeing what a backend holds, whatever it is able to do."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Hit, Query, Receipt, ReceiptStatus
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect

Opener: TypeAlias = Callable[[], MemoryBackend]
"""Opens the backend, on the same storage each time."""

EVERYTHING: Final = Filters(statuses=frozenset(LearningStatus))


def need(backend: MemoryBackend, capability: Capability) -> None:
    """Skip the test when a backend does not say that it can do something."""
    if capability not in backend.capabilities:
        pytest.skip(NotDeclared(f"the backend {backend.name} does not declare {capability.value}"))


def listing(backend: MemoryBackend) -> Sequence[Learning]:
    """List what a backend holds: by ``iterate``, or by a search for everything."""
    if Capability.ITERATE in backend.capabilities:
        return list(backend.iterate())
    return [hit.learning for hit in backend.search(Query(), EVERYTHING) if hit.complete]


def ids_in(backend: MemoryBackend) -> list[str]:
    """List the ids of what a backend holds, sorted; one that is there twice is there twice."""
    if Capability.ITERATE in backend.capabilities:
        return sorted(one.id for one in backend.iterate())
    return sorted(hit.learning.id for hit in own_hits(backend, backend.search(Query(), EVERYTHING)))


def own_hits(backend: MemoryBackend, hits: Sequence[Hit]) -> list[Hit]:
    """Leave out notes of others."""
    foreign = Capability.NOTES in backend.capabilities
    return [hit for hit in hits if hit.complete or not foreign]


def fetch(backend: MemoryBackend, learning_id: str) -> Learning | None:
    """Fetch one learning: by ``get``, or from all of them."""
    if Capability.GET in backend.capabilities:
        return backend.get(learning_id)
    for learning in listing(backend):
        if learning.id == learning_id:
            return learning
    if learning_id in ids_in(backend):
        pytest.skip(f"the backend {backend.name} shows its learnings in part only")
    return None


def write_all(backend: MemoryBackend, learnings: Sequence[Learning]) -> None:
    """Write learnings one by one."""
    for learning in learnings:
        backend.write(learning)


def is_new(backend: MemoryBackend, receipt: Receipt) -> bool:
    """Return whether a receipt says that a learning was not there before."""
    queues = Capability.SYNCHRONISE in backend.capabilities
    is_queued = queues and receipt.status is ReceiptStatus.QUEUED
    return is_queued or receipt.status is ReceiptStatus.STORED


def expect_new(backend: MemoryBackend, receipt: Receipt, about: str) -> None:
    """Ask that a receipt says that a learning was not there before."""
    if not is_new(backend, receipt):
        expect(receipt.status, ReceiptStatus.STORED, about)


def expect_untouched(backend: MemoryBackend, learnings: Sequence[Learning]) -> None:
    """Look whether learnings are there as they were written."""
    there: dict[str, Learning] = {}
    if Capability.GET not in backend.capabilities:
        there = {one.id: one for one in listing(backend)}
    for learning in learnings:
        found = there.get(learning.id) or fetch(backend, learning.id)
        expect(found, learning, f"the learning {learning.id}")
