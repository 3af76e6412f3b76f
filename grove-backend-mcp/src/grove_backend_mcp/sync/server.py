"""The server of one project: what waits is brought to it, by one process at a time."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import define, field

from grove_backend_mcp.servers import ABOUT_ONE_LEARNING, FaultKind, ServerFaultError
from grove_backend_mcp.sync.connection import ServerConnection
from grove_backend_mcp.sync.journal import Journal
from grove_backend_mcp.sync.record import Contents, Paths
from grove_core import (
    Hit,
    Learning,
    LearningStatus,
    Query,
    Receipt,
    ReceiptStatus,
    StorageError,
    Synchronised,
    append_text,
    locked,
    replace_text,
    rule_relevance,
)

if TYPE_CHECKING:
    from grove_backend_mcp.protocol.memory_server import MemoryServer
    from grove_backend_mcp.protocol.results import Found

_T = TypeVar("_T")

NAME: Final = "mcp"
_BY_MEANING: Final = "the server finds it close in meaning"
_FIRST_BY_MEANING: Final = 0.2
_STEP: Final = 0.9
_MOST_FOUND: Final = 20
_LEAST_SECONDS: Final = 1.0
_SHARE: Final = 0.5
_LOCK_SECONDS: Final = 10.0
_MOST_NAMED: Final = 3
_MOST_LOOKED_FOR: Final = 50
_MOST_NEW: Final = 200


@define(eq=False)
class RemoteServer:
    """The server of one project, and what of the project it has."""

    paths: Paths
    contents: Contents
    journal: Journal
    connection: ServerConnection
    project: str
    clock: Callable[[], datetime]
    _just_written: set[str] = field(factory=set, init=False)

    @property
    def name(self) -> str:
        """What the server is called, for people."""
        return f"the memory server “{self.connection.entry.name}”"

    def expect(self, learning_id: str) -> None:
        """Note that a learning is new in this process, so that no server can have it yet."""
        self._just_written.add(learning_id)

    def waiting(self) -> Sequence[Learning]:
        """Return what the server has yet to get, in the order in which it was written."""
        learnings = (self.contents.get(one) for one in self.journal.wanted())
        return [one for one in learnings if one is not None and self._waits(one)]

    def waits(self, learning_id: str) -> bool:
        """Check whether the server has yet to get a learning."""
        learning = self.contents.get(learning_id)
        return learning is not None and self._waits(learning)

    def _waits(self, learning: Learning) -> bool:
        return self.journal.waits(learning, can_update=self.connection.can_update)

    def search(self, query: Query, seconds: float) -> Sequence[Hit]:
        """Ask the server what it finds."""
        with self.connection.server(seconds) as server:
            found = server.search(query, _MOST_FOUND)
        self.connection.has_worked()
        hits, others = hits_of(found, query, self.contents, self.project)
        # One of these may be asked for by its id later.
        self.contents.seen.add(others)
        return hits

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Take in what is new on the server, and deliver what waits."""
        until, received, why, ids = time.monotonic() + seconds, 0, "", list[str]()
        is_reached = True
        try:
            received = self._take_in(max(_LEAST_SECONDS, seconds * _SHARE), asked=asked)
        except ServerFaultError as fault:
            why, is_reached = fault.detail, fault.kind in ABOUT_ONE_LEARNING
        if is_reached:
            left = max(_LEAST_SECONDS, until - time.monotonic())
            ids, said = self.deliver(left, asked=asked)
            why = said or why
        return Synchronised(
            delivered=tuple(map(self._receipt, ids)),
            received=received,
            waiting=tuple(one.id for one in self.waiting()),
            fault=why,
        )

    def _take_in(self, seconds: float, *, asked: bool) -> int:
        until = time.monotonic() + seconds
        with self._alone(seconds), self.connection.server(seconds, asked=asked) as server:
            listed = server.listing()
            ids = {one.learning_id for one in listed or () if one.learning_id}
            if asked:
                self._look_for_lost(server, ids, until)
            # What is not done when the time is up is done next time.
            received = (
                0 if listed is None else self._receive(server, listed, ids, until, asked=asked)
            )
        self.connection.has_worked()
        replace_text(self.paths.synchronised, "")
        return received

    def _receive(
        self,
        server: "MemoryServer",
        listed: Sequence["Found"],
        ids: Collection[str],
        until: float,
        *,
        asked: bool,
    ) -> int:
        """Take over what others have written and put away; return how much is new."""
        whole = (one for one in self._made_whole(server, listed, until) if one.learning_id)
        found = {one.learning_id: one for one in whole if one.project == self.project}
        received = self._put_away(found) if self.connection.can_update and asked else 0
        known = {one.id: one for one in self.contents.seen.state().values()}
        missing = [one for one in known.values() if one.id not in ids]
        for one in _some(missing, until):  # a list may be only one page
            if server.holds(one.id, one.id, one.summary) is None:
                del known[one.id]
        others = [*known.values(), *(one.learning for one in found.values() if one.learning)]
        return received + self.contents.seen.hold(one for one in others if self._is_of_others(one))

    def _is_of_others(self, learning: Learning) -> bool:
        """Return whether others have written a learning: not so what was deleted here by hand."""
        is_recorded = learning.id in self.contents.record.state().learnings
        return not is_recorded and self.journal.delivery(learning.id).status is None

    def _made_whole(
        self, server: "MemoryServer", listed: Sequence["Found"], until: float
    ) -> Sequence["Found"]:
        """Fetch what a server lists without all that belongs to it: what is new here first."""
        cut = [one for one in listed if one.learning_id and one.learning is None]
        new = [one for one in cut if self.contents.get(one.learning_id or "") is None]
        by_id: dict[str | None, Found] = {}
        for one in (*new[:_MOST_NEW], *_some(cut, until)):
            by_id |= {each.learning_id: each for each in server.fetched([one], 1)}
        return [by_id.get(one.learning_id, one) if one.learning_id else one for one in listed]

    def _put_away(self, found: Mapping[str | None, "Found"]) -> int:
        """Take over statuses that somebody else has given learnings of ours on the server."""
        changed, now, recorded = 0, self.clock(), self.contents.record.state()
        for learning_id in recorded.learnings.keys() & found.keys():
            theirs, ours = found[learning_id].learning, recorded.get(learning_id)
            before = self.journal.delivery(learning_id)
            if theirs is None or ours is None or theirs.status is before.status:
                continue
            if before.status is ours.status is not LearningStatus.SUPERSEDED:
                self.journal.want(learning_id, now, status=theirs.status)
                self.contents.record.add_status(learning_id, theirs.status, now, "as on the server")
                self.journal.deliver(learning_id, now, before.handle, theirs.status)
                changed += 1
        return changed

    def _look_for_lost(self, server: "MemoryServer", ids: Collection[str], until: float) -> None:
        """Find what is recorded and not on the server: lost there, deleted, or never delivered."""
        own, now = self.contents.record.state().learnings, self.clock()
        missing: list[str] = []
        for learning_id in own:
            if self.journal.delivery(learning_id).status is None:
                self.journal.want(learning_id, now, is_due=True)
            elif learning_id not in ids:
                missing.append(learning_id)
        for learning_id in _some(missing, until):
            handle = self.journal.delivery(learning_id).handle
            if server.holds(learning_id, handle, own[learning_id].summary) is None:
                self.journal.lose(learning_id, now)

    def _receipt(self, learning_id: str) -> Receipt:
        handle = self.journal.delivery(learning_id).handle
        return Receipt(
            learning_id=learning_id,
            status=ReceiptStatus.STORED,
            backend=NAME,
            location=f"{self.connection.entry.name}: {handle or learning_id}",
        )

    def deliver(self, seconds: float, *, asked: bool = False) -> tuple[list[str], str]:
        """Deliver what waits, as far as the time goes; say what got there, and why not all."""
        until, ids, why = time.monotonic() + seconds, list[str](), ""
        try:
            if self._due():
                with self._alone(min(_LOCK_SECONDS, seconds)):
                    why = self._deliver_some(ids, until, asked=asked)
        except ServerFaultError as fault:
            why = fault.detail
        if ids:
            self.connection.has_worked()
        return ids, why or self._refused()

    def _deliver_some(self, ids: list[str], until: float, *, asked: bool) -> str:
        with self.connection.server(until - time.monotonic(), asked=asked) as server:
            # Another process may have delivered some meanwhile.
            for learning in self._due():
                if time.monotonic() >= until:
                    return "there was no time for more"
                try:
                    self._bring(server, learning)
                    ids.append(learning.id)
                except ServerFaultError as fault:
                    # What the server fails at by itself is not the learning's fault.
                    if fault.kind not in ABOUT_ONE_LEARNING:
                        raise
                    self.journal.fail(learning.id, self.clock(), fault.detail)
        return ""

    def _refused(self) -> str:
        """Say why learnings wait that the server has not taken."""
        known = ((one.id, self.journal.delivery(one.id).why) for one in self.waiting())
        said = [f"{learning_id}: {why}" for learning_id, why in known if why]
        more = len(said) - _MOST_NAMED
        return "; ".join([*said[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])

    @contextmanager
    def _alone(self, seconds: float) -> Iterator[None]:
        """Keep other processes from talking to the server about this project meanwhile."""
        with ExitStack() as stack:
            try:
                # This makes its folder, and waits for the lock itself, so only where there is none.
                if not self.paths.lock.exists():
                    append_text(self.paths.lock, "")
                stack.enter_context(locked(self.paths.lock, timeout=seconds))
            except StorageError as error:
                raise ServerFaultError(
                    FaultKind.TIMED_OUT, f"another process may be delivering to it: {error}"
                ) from error
            yield

    def _due(self) -> Sequence[Learning]:
        """Return what is to be tried: what has failed or ended badly before comes last."""
        waiting = [(self.journal.delivery(one.id), one) for one in self.waiting()]
        by_faults = sorted(waiting, key=lambda one: (one[0].failures, one[0].is_open))
        return [one for _, one in by_faults]

    def _bring(self, server: "MemoryServer", learning: Learning) -> None:
        delivery, journal = self.journal.delivery(learning.id), self.journal
        handle, status = delivery.handle, learning.status
        if delivery.status is not None:
            server.update(learning, handle)
            journal.deliver(learning.id, self.clock(), handle, learning.status)
            return
        # What waits may have come to another clone with git, and from there to the server.
        may_be_there = learning.id not in self._just_written or delivery.is_open
        journal.begin(learning.id, self.clock())
        from grove_backend_mcp.protocol.results import Found

        found = server.holds(learning.id, handle, learning.summary) if may_be_there else None
        if not isinstance(found, Found):
            handle = server.store(learning)
        else:
            handle = found.handle or handle
            is_same = found.learning == learning and found.project == self.project
            if not is_same and self.connection.can_update:
                server.update(learning, handle)
            elif found.learning is not None:
                status = found.learning.status
        journal.deliver(learning.id, self.clock(), handle, status)


def hits_of(
    found: Sequence["Found"], query: Query, contents: Contents, project: str
) -> tuple[Sequence[Hit], Sequence[Learning]]:
    """Resolve what a server has found to hits; return as well what others have written of it."""
    from grove_backend_mcp.protocol.query import whole_query  # no hook searches a server

    assessed: list[tuple[Hit, bool]] = []
    others, recorded = list[Learning](), contents.record.state()
    words = whole_query(query).casefold().split()
    for rank, one in enumerate(found):
        known = contents.get(one.learning_id) if one.learning_id else None
        if known is not None:
            assessed.append(_hit(query, words, known, rank))
        elif one.learning is not None and one.project == project:
            others.append(one.learning)
            assessed.append(_hit(query, words, recorded.now(one.learning), rank))
    end = max((place for place, (_, fits) in enumerate(assessed, start=1) if fits), default=0)
    return [hit for hit, _ in assessed[:end]], others


def _hit(query: Query, words: Iterable[str], learning: Learning, rank: int) -> tuple[Hit, bool]:
    """Judge a result; tell as well whether anything but its place in the list speaks for it."""
    relevance, reasons = rule_relevance(query, learning)
    fits = relevance > 0
    if not fits:
        text = f"{learning.summary}\n{learning.detail}".casefold()
        fits = any(word in text for word in words)
        relevance, reasons = _FIRST_BY_MEANING * _STEP**rank, (_BY_MEANING,)
    return Hit(learning=learning, relevance=relevance, reasons=reasons), fits


def _some(all_of_them: Sequence[_T], until: float) -> Iterator[_T]:
    """Choose a few, others each time, as long as there is time."""
    from random import sample  # no hook looks at a server

    few = sample(all_of_them, min(len(all_of_them), _MOST_LOOKED_FOR))
    return takewhile(lambda _: time.monotonic() < until, few)
