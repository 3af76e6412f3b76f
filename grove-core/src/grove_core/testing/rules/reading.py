"""Seeing what a backend holds, whatever it is able to do, and what a test may leave out."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Hit, Query, Receipt, ReceiptStatus
from grove_core.plugins.descriptors import MemoryBackend

Opener: TypeAlias = Callable[[], MemoryBackend]
"""Opens the backend, on the same storage each time."""

EVERYTHING: Final = Filters(statuses=frozenset(LearningStatus))


def need(open_backend: Opener, capability: Capability) -> Any:  # noqa: ANN401 - a wider protocol
    """Open a backend, or skip the test when it does not say that it can do something."""
    backend = open_backend()
    if capability not in backend.capabilities:
        pytest.skip(f"the backend {backend.name} does not declare {capability.value}")
    return backend


def listing(backend: MemoryBackend) -> Sequence[Learning]:
    """List what a backend holds: by ``iterate``, or by a search for everything."""
    if Capability.ITERATE in backend.capabilities:
        return list(backend.iterate())
    return [hit.learning for hit in backend.search(Query(), EVERYTHING) if hit.complete]


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


def ids_in(backend: MemoryBackend) -> list[str]:
    """List the ids of what a backend holds, sorted; one that is there twice is there twice."""
    if Capability.ITERATE in backend.capabilities:
        return sorted(one.id for one in backend.iterate())
    return sorted(ids_of(own_hits(backend)))


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
        found = there.get(learning.id) or fetch(backend, learning.id)
        assert found == learning


def expect_only(open_backend: Opener, learnings: Sequence[Learning]) -> None:
    """Ask that learnings are there as they were written, each once, and nothing else."""
    backend = open_backend()
    expect_as_written(backend, learnings)
    assert ids_in(backend) == sorted(one.id for one in learnings)


def bounds(examples: int) -> dict[str, Any]:
    """Return how long hypothesis may look for something that breaks a rule."""
    from hypothesis import Phase

    return {
        "max_examples": examples,
        "deadline": None,
        "report_multiple_bugs": False,
        "phases": (Phase.reuse, Phase.generate),
    }
