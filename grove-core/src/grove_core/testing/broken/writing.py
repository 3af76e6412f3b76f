"""Memory backends with a fault in writing."""

# ruff: noqa: D102 - each class says what is wrong with its methods

from collections.abc import Iterable
from threading import get_ident
from time import sleep
from typing import Final

from attrs import evolve

from grove_core.errors import BackendError
from grove_core.model.learning import Learning
from grove_core.model.memory import (
    Receipt,
    ReceiptStatus,
)
from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage

_SWITCH_SECONDS: Final = 0.001


class WritesTwice(InMemoryBackend):
    """Lists a learning that was written twice twice."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self._again: list[Learning] = []

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        if receipt.status is ReceiptStatus.DUPLICATE:
            self._again.append(learning)
        return receipt

    def iterate(self) -> Iterable[Learning]:
        return [*super().iterate(), *self._again]


class LastOneWins(InMemoryBackend):
    """Lets another text take the place of what was written first."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        self._storage.learnings[learning.id] = learning
        return receipt


class BelievesItsCache(InMemoryBackend):
    """Reads what is stored once, when it is opened."""

    def __init__(self, storage: InMemoryStorage) -> None:
        own = InMemoryStorage(learnings=dict(storage.learnings))
        super().__init__(storage=own)
        self._shared = storage

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        self._shared.learnings[learning.id] = learning
        return receipt


class FoldsCase(InMemoryBackend):
    """Takes ids that differ in case only for the same."""

    def write(self, learning: Learning) -> Receipt:
        for known in self._storage.learnings:
            if known.casefold() == learning.id.casefold():
                status = ReceiptStatus.DUPLICATE
                return Receipt(learning_id=learning.id, status=status, backend=self.name)
        return super().write(learning)


class FindsIdsInTexts(InMemoryBackend):
    """Takes an id that another learning names for one that is stored."""

    def write(self, learning: Learning) -> Receipt:
        if any(learning.id in one.detail for one in self._all()):
            status = ReceiptStatus.DUPLICATE
            return Receipt(learning_id=learning.id, status=status, backend=self.name)
        return super().write(learning)


class EverythingIsDuplicate(InMemoryBackend):
    """Says of everything that it is a duplicate."""

    def write(self, learning: Learning) -> Receipt:
        return evolve(super().write(learning), status=ReceiptStatus.DUPLICATE)


class WritesInItsSleep(InMemoryBackend):
    """Reads what is stored, adds to it and puts it back, without a lock."""

    def write(self, learning: Learning) -> Receipt:
        known = dict(self._storage.learnings)
        sleep(_SWITCH_SECONDS)
        status = ReceiptStatus.DUPLICATE if learning.id in known else ReceiptStatus.STORED
        self._storage.learnings = {learning.id: learning, **known}
        return Receipt(learning_id=learning.id, status=status, backend=self.name)


class ChangesWhatItIsGiven(InMemoryBackend):
    """Tidies up the caller's learning."""

    def write(self, learning: Learning) -> Receipt:
        object.__setattr__(learning, "tags", tuple(sorted(learning.tags)))
        return super().write(learning)


class KnowsTextsOnly(InMemoryBackend):
    """Takes a learning of the same text for the same."""

    def write(self, learning: Learning) -> Receipt:
        if any(
            one.detail == learning.detail and one.summary == learning.summary for one in self._all()
        ):
            status = ReceiptStatus.DUPLICATE
            return Receipt(learning_id=learning.id, status=status, backend=self.name)
        return super().write(learning)


class ChecksTooEarly(InMemoryBackend):
    """Looks first whether an id is known, and writes later."""

    def write(self, learning: Learning) -> Receipt:
        known = learning.id in self._storage.learnings
        sleep(_SWITCH_SECONDS)
        if not known:
            with self._storage.lock:
                self._keep(learning)
        status = ReceiptStatus.DUPLICATE if known else ReceiptStatus.STORED
        return Receipt(learning_id=learning.id, status=status, backend=self.name)

    def iterate(self) -> Iterable[Learning]:
        return [self._storage.learnings[each] for each in self._storage.changed]


class BelongsToItsThread(InMemoryBackend):
    """Works only in the thread that first used it, as some connections do."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self._thread: int | None = None

    def write(self, learning: Learning) -> Receipt:
        self._check()
        return super().write(learning)

    def get(self, learning_id: str) -> Learning | None:
        self._check()
        return super().get(learning_id)

    def _check(self) -> None:
        self._thread = self._thread or get_ident()
        if self._thread != get_ident():
            raise BackendError("this connection was made in another thread")
