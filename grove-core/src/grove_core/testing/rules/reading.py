"""Seeing what a backend holds, whatever it is able to do, and what a test may leave out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Hit, Query, Receipt, ReceiptStatus
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.samples import UNKNOWN_ID

Opener: TypeAlias = Callable[[], MemoryBackend]
"""Opens the backend, on the same storage each time."""

EVERYTHING: Final = Filters(statuses=frozenset(LearningStatus))
CALLS: Final[Mapping[Capability, Callable[[Any], object]]] = {
    Capability.GET: lambda backend: backend.get(UNKNOWN_ID),
    Capability.ITERATE: lambda backend: list(backend.iterate()),
    Capability.SET_STATUS: lambda backend: backend.set_status(UNKNOWN_ID, LearningStatus.ACTIVE),
    Capability.FILES: lambda backend: backend.files(),
    Capability.CHANGES: lambda backend: backend.changes(""),
    Capability.SYNCHRONISE: lambda backend: backend.synchronise(1.0, asked=False),
}
"""By what a backend may be able to do, a call of the method that is called as it."""


def need(open_backend: Opener, capability: Capability) -> Any:  # noqa: ANN401 - a wider protocol
    """Open a backend, or skip the test when it does not say that it can do something."""
    backend = open_backend()
    if capability not in backend.capabilities:
        pytest.skip(f"the backend {backend.name} does not declare {capability.value}")
    return backend


def own_hits(
    backend: MemoryBackend, query: Query | None = None, filters: Filters = EVERYTHING
) -> list[Hit]:
    """Search, and leave out notes of others."""
    has_notes = Capability.NOTES in backend.capabilities
    hits = backend.search(query or Query(), filters)
    return [hit for hit in hits if hit.complete or not has_notes]


def ids_of(hits: Iterable[Hit]) -> list[str]:
    """Name what was found, in order."""
    return [hit.learning.id for hit in hits]


def listing(backend: MemoryBackend) -> Sequence[Learning]:
    """List what a backend holds: by ``iterate``, or by a search for everything."""
    if Capability.ITERATE in backend.capabilities:
        return list(backend.iterate())
    return [hit.learning for hit in own_hits(backend)]


def ids_in(backend: MemoryBackend) -> list[str]:
    """List the ids of what a backend holds, sorted; one that is there twice is there twice."""
    return sorted(one.id for one in listing(backend))


def fetch(backend: MemoryBackend, learning_id: str) -> Learning | None:
    """Fetch one learning: by ``get``, or from all of them."""
    if Capability.GET in backend.capabilities:
        return backend.get(learning_id)
    return next((one for one in listing(backend) if one.id == learning_id), None)


def write_all(open_backend: Opener, learnings: Iterable[Learning]) -> None:
    """Write learnings one by one."""
    backend = open_backend()
    for learning in learnings:
        backend.write(learning)


def is_new(backend: MemoryBackend, receipt: Receipt) -> bool:
    """Return whether a receipt says that a learning was not there before."""
    queues = Capability.SYNCHRONISE in backend.capabilities
    is_queued = queues and receipt.status is ReceiptStatus.QUEUED
    return is_queued or receipt.status is ReceiptStatus.STORED


def expect_as_written(backend: MemoryBackend, learnings: Sequence[Learning]) -> None:
    """Ask that learnings are there as they were written."""
    has_get = Capability.GET in backend.capabilities
    there = {} if has_get else {one.id: one for one in listing(backend)}
    for learning in learnings:
        assert (backend.get(learning.id) if has_get else there.get(learning.id)) == learning


def expect_only(open_backend: Opener, learnings: Sequence[Learning]) -> None:
    """Ask that learnings are there as they were written, each once, and nothing else."""
    backend = open_backend()
    expect_as_written(backend, learnings)
    assert ids_in(backend) == sorted(one.id for one in learnings)
