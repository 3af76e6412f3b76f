"""Memory backends with a fault in what they say of themselves, or in listing."""

# ruff: noqa: D102 - each class says what is wrong with its methods

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Capability,
    Filters,
    Health,
    Hit,
    Query,
)
from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage


class RaisesInPing(InMemoryBackend):
    """Raises when it is asked how it is."""

    def ping(self) -> Health:
        raise ConnectionError("no route to the store")


class AsksAndDoesNotSaySo(InMemoryBackend):
    """Starts a program in each search, and hooks would wait for it."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        subprocess.run(["true"], check=True)
        return super().search(query, filters)


class ClaimsWhatItCannot(InMemoryBackend):
    """Says that its learnings lie in files, and names none."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self.capabilities |= {Capability.FILES}


class AnswersWhatItDoesNotDeclare(InMemoryBackend):
    """Does without the capability what it should refuse."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(capabilities=frozenset({Capability.ITERATE}), storage=storage)

    def get(self, learning_id: str) -> Learning | None:
        return self._storage.learnings.get(learning_id)


class ListsItsCapabilities(InMemoryBackend):
    """Says what it can do by a list."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        capabilities: Any = list(self.capabilities)
        self.capabilities = capabilities


class ListsInOrderOfWriting(InMemoryBackend):
    """Lists learnings as they came, whatever their time."""

    def iterate(self) -> Iterable[Learning]:
        return self._all()


class RaisesForUnknownIds(InMemoryBackend):
    """Raises KeyError where there is no learning."""

    def get(self, learning_id: str) -> Learning | None:
        return self._storage.learnings[learning_id]


class FilesNeverChange(InMemoryBackend):
    """Names a folder that has nothing to do with what it stores."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self.capabilities |= {Capability.FILES}

    def files(self) -> Sequence[Path]:
        """Name the folder."""
        return [Path(__file__).parent]


class FilesAreRelative(FilesNeverChange):
    """Names a file as it is called in the folder where grove happens to run."""

    def files(self) -> Sequence[Path]:
        """Name the file."""
        return [Path("learnings.md")]


class HasNoName(InMemoryBackend):
    """Has no name."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(name="", storage=storage)


class FetchesActiveOnesOnly(InMemoryBackend):
    """Fetches no learning that is archived."""

    def get(self, learning_id: str) -> Learning | None:
        learning = super().get(learning_id)
        return learning if learning and learning.status is LearningStatus.ACTIVE else None
