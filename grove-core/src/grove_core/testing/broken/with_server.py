"""Memory backends whose learnings a server holds: a sound one, and those with a fault in that."""

# ruff: noqa: D102 - each class says what is wrong with its methods

import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.testing.broken.in_file import InFile


class WithServer(InFile):
    """A sound one: what is written waits in a file for another one, which stands for the server.

    Args:
        folder: Where both lie, and the mark.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "kept.json")
        self.capabilities |= {Capability.SYNCHRONISE}
        self._mark = folder / "synchronised"
        self._server = InFile(folder / "server.json")

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        if receipt.status is ReceiptStatus.STORED:
            return evolve(receipt, status=ReceiptStatus.QUEUED)
        return receipt

    def freshness(self) -> Freshness:
        return Freshness(source="the other file", mark=self._mark, waiting=self._waiting())

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        del seconds, asked
        waiting = self._waiting()
        delivered = [self._server.write(one) for one in self._all() if one.id in waiting]
        received = [super(WithServer, self).write(one) for one in self._server.iterate()]
        self._mark.touch()
        return Synchronised(
            delivered=tuple(delivered),
            received=sum(one.status is ReceiptStatus.STORED for one in received),
        )

    def _waiting(self) -> tuple[str, ...]:
        there = {one.id for one in self._server.iterate()}
        return tuple(one.id for one in self._all() if one.id not in there)


class SaysThatItIsThere(WithServer):
    """Says of what waits that it is stored."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        is_queued = receipt.status is ReceiptStatus.QUEUED
        return evolve(receipt, status=ReceiptStatus.STORED) if is_queued else receipt


class ForgetsWhatWaits(WithServer):
    """Delivers one learning at a time, and forgets the others."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        done = super().synchronise(seconds, asked=asked)
        return evolve(done, delivered=done.delivered[:1])


class DoesNotSayWhy(WithServer):
    """Delivers nothing, and says that all is well."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        del seconds, asked
        return Synchronised(waiting=self._waiting())


class DeliversAgain(WithServer):
    """Delivers everything each time."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        done = super().synchronise(seconds, asked=asked)
        stored = ReceiptStatus.STORED
        receipts = [
            Receipt(learning_id=one.id, status=stored, backend=self.name) for one in self._all()
        ]
        return evolve(done, delivered=tuple(receipts))


class ReceivesItsOwn(WithServer):
    """Counts what it has delivered as received."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        done = super().synchronise(seconds, asked=asked)
        return evolve(done, received=done.received + len(done.delivered))


class KeepsNothingHere(WithServer):
    """Clears away here what the server has, and lists only what is here."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        done = super().synchronise(seconds, asked=asked)
        self._path.unlink(missing_ok=True)
        return done


class TakesEverythingForActive(WithServer):
    """Lists what has got to the server as active: the server knows no status."""

    def iterate(self) -> Iterable[Learning]:
        there = {one.id for one in self._server.iterate()}
        for one in super().iterate():
            yield evolve(one, status=LearningStatus.ACTIVE) if one.id in there else one

    def get(self, learning_id: str) -> Learning | None:
        return next((one for one in self.iterate() if one.id == learning_id), None)


class AsksWhatIsKept(WithServer):
    """Asks its server before it tells how fresh all is."""

    def freshness(self) -> Freshness:
        with suppress(OSError), socket.socket() as connection:
            connection.settimeout(0.0)
            connection.connect(("127.0.0.1", 9))
        return super().freshness()


class AsksInOrderToList(WithServer):
    """Asks its server for what it lists."""

    def iterate(self) -> Iterable[Learning]:
        with suppress(OSError), socket.socket() as connection:
            connection.settimeout(0.0)
            connection.connect(("127.0.0.1", 9))
        return super().iterate()


class MarkIsRelative(WithServer):
    """Names its mark as it is called in the folder where grove happens to run."""

    def freshness(self) -> Freshness:
        return evolve(super().freshness(), mark=Path("synchronised"))


class MarksTheFirstTimeOnly(WithServer):
    """Leaves its mark alone where it is there already."""

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        mark, self._mark = self._mark, self._mark.with_name("elsewhere")
        done = super().synchronise(seconds, asked=asked)
        self._mark = mark
        if not mark.exists():
            mark.touch()
        return done


class SynchronisesUndeclared(WithServer):
    """Does not say that it can synchronise, and does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.capabilities -= {Capability.SYNCHRONISE}
