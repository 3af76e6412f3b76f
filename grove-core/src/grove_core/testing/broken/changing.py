"""Memory backends with a fault in changing, telling what is new or giving back."""

# ruff: noqa: D102 - each class says what is wrong with its methods

from uuid import uuid4

from attrs import evolve

from grove_core.errors import LearningNotFoundError
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import (
    Changes,
    Receipt,
    ReceiptStatus,
)
from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage
from grove_core.testing.samples import example_learning


class KeepsStatusToItself(InMemoryBackend):
    """Remembers a changed status as long as it is open."""

    def __init__(self, storage: InMemoryStorage) -> None:
        super().__init__(storage=storage)
        self._statuses: dict[str, LearningStatus] = {}

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        learning = super().set_status(learning_id, LearningStatus.ACTIVE, note)
        self._statuses[learning_id] = status
        return evolve(learning, status=status)

    def get(self, learning_id: str) -> Learning | None:
        learning = super().get(learning_id)
        status = self._statuses.get(learning_id)
        return evolve(learning, status=status) if learning and status else learning


class ChangesNeighbours(InMemoryBackend):
    """Changes the status of every learning whose id begins with the one that is named."""

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        for known in list(self._storage.learnings):
            if known.startswith(learning_id):
                super().set_status(known, status, note)
        return super().set_status(learning_id, status, note)


class KeepsNoteInDetail(InMemoryBackend):
    """Puts the note on a change of status into the detail."""

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        learning = super().set_status(learning_id, status, note)
        if note:
            learning = evolve(learning, detail=f"{learning.detail}\n({note})")
            self._storage.learnings[learning_id] = learning
        return learning


class ArchivesWhatIsNotThere(InMemoryBackend):
    """Takes a change of an unknown learning for done."""

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        if learning_id not in self._storage.learnings:
            return evolve(example_learning(), id=learning_id, status=status)
        return super().set_status(learning_id, status, note)


class ForgetsStatusChanges(InMemoryBackend):
    """Tells new learnings, and not that old ones have changed."""

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        marks, changed = [*self._storage.marks], [*self._storage.changed]
        learning = super().set_status(learning_id, status, note)
        self._storage.marks[:], self._storage.changed[:] = marks, changed
        return learning


class TellsTheLatestOnly(InMemoryBackend):
    """Tells of everything that is new only what came last."""

    def changes(self, mark: str) -> Changes:
        answer = super().changes(mark)
        return answer if answer.whole else evolve(answer, learnings=answer.learnings[-1:])


class BelievesEveryMark(InMemoryBackend):
    """Takes a mark that it does not know for the latest."""

    def changes(self, mark: str) -> Changes:
        known = mark in {*self._storage.marks, ""}
        return super().changes(mark if known else self._storage.marks[-1])


class NothingIsGone(InMemoryBackend):
    """Says nothing of what was taken out."""

    def withdraw(self, learning: Learning) -> bool:
        marks, changed = [*self._storage.marks], [*self._storage.changed]
        taken = super().withdraw(learning)
        if taken:
            pairs = [
                pair for pair in zip(changed, marks[1:], strict=True) if pair[0] != learning.id
            ]
            self._storage.changed[:] = [one for one, _ in pairs]
            self._storage.marks[:] = [marks[0], *(mark for _, mark in pairs)]
        return taken


class WithdrawsById(InMemoryBackend):
    """Takes out what somebody has worked on."""

    def withdraw(self, learning: Learning) -> bool:
        stored = self._storage.learnings.get(learning.id)
        return stored is not None and super().withdraw(stored)


class RestoresWhatIsWrittenAgain(InMemoryBackend):
    """Makes a learning active again when somebody writes it once more."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        if receipt.status is ReceiptStatus.DUPLICATE:
            self.set_status(learning.id, LearningStatus.ACTIVE)
        return receipt


class NeverWhole(InMemoryBackend):
    """Tells everything at first, and does not say so."""

    def changes(self, mark: str) -> Changes:
        return evolve(super().changes(mark), whole=False)


class AlwaysWhole(InMemoryBackend):
    """Tells everything each time."""

    def changes(self, mark: str) -> Changes:
        del mark
        return super().changes("")


class WithdrawsTheLatest(InMemoryBackend):
    """Takes out what was written last."""

    def withdraw(self, learning: Learning) -> bool:
        latest = next(reversed(self._storage.learnings.values()), learning)
        return super().withdraw(latest)


class RaisesForWhatIsGone(InMemoryBackend):
    """Raises where there is nothing to take out."""

    def withdraw(self, learning: Learning) -> bool:
        if not super().withdraw(learning):
            raise LearningNotFoundError(f"no learning has the id {learning.id}")
        return True


class WithdrawsWhateverItsStatus(InMemoryBackend):
    """Takes out what has been archived since."""

    def withdraw(self, learning: Learning) -> bool:
        stored = self._storage.learnings.get(learning.id, learning)
        return super().withdraw(evolve(learning, status=stored.status))


class RemembersWhatIsGone(InMemoryBackend):
    """Takes what was taken out for something it has."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        if learning.id in self._storage.changed[:-1]:
            return evolve(receipt, status=ReceiptStatus.DUPLICATE)
        return receipt

    def withdraw(self, learning: Learning) -> bool:
        taken = super().withdraw(learning)
        if taken:
            self._storage.changed.append(learning.id)
            self._storage.marks.append(uuid4().hex)
        return taken
