"""Bringing what waits to the server: one process at a time, each learning until it is there."""

import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from attrs import Factory, define

from grove_backend_mcp.faults import ABOUT_ONE_LEARNING, FaultKind, ServerFaultError
from grove_backend_mcp.storage.contents import Contents, Paths
from grove_backend_mcp.storage.journal import Delivery, Journal
from grove_backend_mcp.sync.connection import ServerConnection
from grove_core import Learning, StorageError, append_text, locked

if TYPE_CHECKING:
    from grove_backend_mcp.protocol.memory_server import MemoryServer

_LOCK_SECONDS: Final = 10.0
_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(days=1)
_LONGEST_EXPONENT: Final = 11
_MOST_NAMED: Final = 3


@define
class Delivered:
    """What came of a delivery."""

    ids: list[str] = Factory(list)
    refused: list[str] = Factory(list)
    fault: str = ""

    @property
    def why(self) -> str:
        """Why something has not got there; empty when all has."""
        more = len(self.refused) - _MOST_NAMED
        named = [*self.refused[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])]
        return "; ".join([self.fault, *named] if self.fault else named)


def is_due(delivery: Delivery, now: datetime) -> bool:
    """Return whether a learning is to be tried, or put off since it has failed."""
    if not delivery.failures or delivery.tried_at is None:
        return True
    pause = _FIRST_PAUSE * 2 ** min(delivery.failures - 1, _LONGEST_EXPONENT)
    return not delivery.tried_at <= now < delivery.tried_at + min(pause, _LONGEST_PAUSE)


def _untroubled(one: tuple[Delivery, Learning]) -> tuple[int, bool]:
    return one[0].failures, one[0].is_open


class Deliverer:
    """Delivers the learnings of one project to its server."""

    def __init__(
        self,
        paths: Paths,
        contents: Contents,
        journal: Journal,
        connection: ServerConnection,
        project: str,
        clock: Callable[[], datetime],
    ) -> None:
        self._paths = paths
        self._contents = contents
        self._journal = journal
        self._connection = connection
        self._project = project
        self._just_written: set[str] = set()
        self._clock = clock

    def expect(self, learning_id: str) -> None:
        """Note that a learning is new in this process, so that no server can have it yet."""
        self._just_written.add(learning_id)

    def waiting(self) -> Sequence[Learning]:
        """Return what the server has yet to get, in the order in which it was written."""
        learnings = (self._contents.get(one) for one in self._journal.wanted())
        return [one for one in learnings if one is not None and self.waits(one)]

    def waits(self, learning: Learning) -> bool:
        """Return whether the server has yet to get a learning, or its status."""
        return self._journal.waits(learning, can_update=self._connection.abilities.updates)

    def deliver(self, seconds: float, *, asked: bool = False) -> Delivered:
        """Deliver what waits, as far as the time goes."""
        until, tried, done = time.monotonic() + seconds, set[str](), Delivered()
        if self._due(asked=asked):
            try:
                with self.alone(min(_LOCK_SECONDS, seconds)):
                    while self._go(done, tried, until, asked=asked or bool(done.ids)):
                        pass
            except ServerFaultError as fault:
                done.fault = fault.detail
        if not done.fault:
            done.refused += self._put_off(tried)
        return done

    def _go(self, done: Delivered, tried: set[str], until: float, *, asked: bool) -> bool:
        """Deliver until all is tried or the server fails; return whether to begin again then."""
        before = len(done.ids)
        try:
            with self._connection.server(until - time.monotonic(), asked=asked) as server:
                for learning in self._due(asked=asked):
                    if learning.id in tried:
                        continue
                    if time.monotonic() >= until:
                        done.fault = "there was no time for more"
                        break
                    tried.add(learning.id)
                    self._try(server, learning, done)
        except ServerFaultError as fault:
            # A server that did something before it failed is worth starting once more.
            if len(done.ids) > before and time.monotonic() < until:
                # What it failed at is not tried again now: that it waits is said all the same.
                done.refused.append(fault.detail)
                return True
            done.fault = fault.detail
            return False
        if len(done.ids) > before:
            self._connection.has_worked()
        return False

    def _try(self, server: "MemoryServer", learning: Learning, done: Delivered) -> None:
        try:
            self._bring(server, learning)
        except ServerFaultError as fault:
            # What the server fails at by itself is not the learning's fault.
            if fault.kind not in ABOUT_ONE_LEARNING:
                raise
            self._journal.fail(learning.id, self._clock(), fault.detail)
            done.refused.append(f"{learning.id}: {fault.detail}")
        else:
            done.ids.append(learning.id)

    @contextmanager
    def alone(self, seconds: float) -> Iterator[None]:
        """Keep other processes from talking to the server about this project meanwhile."""
        with ExitStack() as stack:
            try:
                # This makes its folder, and waits for the lock itself, so only where there is none.
                if not self._paths.lock.exists():
                    append_text(self._paths.lock, "")
                stack.enter_context(locked(self._paths.lock, timeout=seconds))
            except StorageError as error:
                raise ServerFaultError(
                    FaultKind.TIMED_OUT, f"another process may be delivering to it: {error}"
                ) from error
            yield

    def _due(self, *, asked: bool) -> Sequence[Learning]:
        """Return what is to be tried now; what has failed or ended badly before comes last."""
        now, journal = self._clock(), self._journal
        waiting = [(journal.delivery(one.id), one) for one in self.waiting()]
        due = [one for one in waiting if asked or is_due(one[0], now)]
        return [learning for _, learning in sorted(due, key=_untroubled)]

    def _put_off(self, tried: Container[str]) -> list[str]:
        """Say why each learning waits that was not tried now, since it has failed before."""
        put_off = [one.id for one in self.waiting() if one.id not in tried]
        reasons = [(one, self._journal.delivery(one).why) for one in put_off]
        return [f"{learning_id}: {why}" for learning_id, why in reasons if why]

    def _bring(self, server: "MemoryServer", learning: Learning) -> None:
        delivery, journal = self._journal.delivery(learning.id), self._journal
        handle, status = delivery.handle, learning.status
        if delivery.status is not None:
            server.update(learning, handle)
            journal.deliver(learning.id, self._clock(), handle, learning.status)
            return
        # What waits may have come to another clone with git, and from there to the server.
        may_be_there = learning.id not in self._just_written or delivery.is_open
        journal.begin(learning.id, self._clock())
        from grove_backend_mcp.protocol.memory_server import Found

        found = server.holds(learning.id, handle, learning.summary) if may_be_there else None
        if not isinstance(found, Found):
            handle = server.store(learning)
        else:
            handle = found.handle or handle
            is_same = found.learning == learning and found.project == self._project
            if not is_same and self._connection.abilities.updates:
                server.update(learning, handle)
            elif found.learning is not None:
                status = found.learning.status
        journal.deliver(learning.id, self._clock(), handle, status)
