"""The server as the backend uses it: something to deliver to, to search and to take in."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from attrs import evolve

from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.storage.contents import MOST_NOTES, Contents
from grove_backend_mcp.storage.journal import Journal
from grove_backend_mcp.storage.places import Places
from grove_backend_mcp.sync.courier import Courier, Delivered
from grove_backend_mcp.sync.link import Link
from grove_core import (
    BackendError,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
    StorageError,
    Synchronised,
    replace_text,
)

NAME: Final = "mcp"
_MOST_FOUND: Final = 20
_LEAST_SECONDS: Final = 1.0
_SHARE: Final = 0.8


class Remote:
    """The server of one project."""

    def __init__(
        self,
        places: Places,
        contents: Contents,
        journal: Journal,
        link: Link,
        *,
        project: str,
        clock: Callable[[], datetime],
    ) -> None:
        """Connect to nothing yet."""
        self.link = link
        self._places = places
        self._contents = contents
        self._journal = journal
        self._project = project
        self._clock = clock
        self._courier = Courier(places, contents, journal, link, project, clock)

    @property
    def name(self) -> str:
        """What the server is called, for people."""
        return f"the memory server “{self.link.entry.name}”"

    def waiting(self) -> Sequence[str]:
        """Name what the server has yet to get."""
        return [one.id for one in self._courier.waiting()]

    def waits(self, learning_id: str) -> bool:
        """Return whether the server has yet to get a learning."""
        learning = self._contents.get(learning_id)
        return learning is not None and self._courier.waits(learning)

    def expect(self, learning_id: str) -> None:
        """Note that a learning is new in this process, so that nobody else can have it yet."""
        self._courier.expect(learning_id)

    def deliver(self, seconds: float, *, asked: bool = False) -> Delivered:
        """Deliver what waits, as far as the time goes."""
        return self._courier.deliver(seconds, asked=asked)

    def search(self, query: Query, seconds: float) -> Sequence[Hit]:
        """Ask the server what it finds."""
        from grove_backend_mcp.hits import hits_of  # no hook searches a server

        with self.link.server(seconds) as server:
            found = server.search(query, _MOST_FOUND) if self.link.abilities.searches else ()
            found = [evolve(one, text=self.link.masked(one.text)) for one in found]
        self.link.has_worked()
        known = hits_of(found, query, self._contents, self._project, self._clock())
        # Whoever has been shown one of these may ask for it by its id.
        self._contents.seen.add(known.others)
        self._contents.notes.add(known.notes, most=MOST_NOTES)
        return known.hits

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Deliver what waits, and take in what is new on the server."""
        until = time.monotonic() + seconds
        self.link.reserve(seconds)
        if asked:
            self._want_all()
        delivered = self._courier.deliver(max(_LEAST_SECONDS, seconds * _SHARE), asked=asked)
        ids, why, received = delivered.ids, delivered.why, 0
        if not delivered.fault:
            try:
                received = self._take_in(until, asked=asked)
            except ServerFaultError as one:
                why = one.detail
            else:
                # What it has not kept is known only now, and whether it can be told a status.
                again = self._courier.deliver(max(_LEAST_SECONDS, until - time.monotonic()))
                ids, why = tuple(dict.fromkeys((*ids, *again.ids))), again.why
        self._keep_oddities()
        return Synchronised(
            delivered=tuple(self._receipt(one) for one in ids),
            received=received,
            waiting=tuple(self.waiting()),
            fault=why,
        )

    def _want_all(self) -> None:
        """Have everything delivered that is recorded and that this machine has not delivered."""
        for learning_id in self._contents.record.contents().learnings:
            if self._journal.delivery(learning_id).status is None:
                self._journal.want(learning_id, self._clock(), is_due=True)

    def _take_in(self, until: float, *, asked: bool) -> int:
        from grove_backend_mcp.sync.pulling import Pull

        left = max(_LEAST_SECONDS, until - time.monotonic())
        with self._courier.alone(left), self.link.server(left, asked=asked) as server:
            pull = Pull(
                server,
                self._contents,
                self._journal,
                self._project,
                can_update=self.link.abilities.updates,
                until=until,
                now=self._clock(),
            )
            received = pull.run(asked=asked)
        self.link.has_worked()
        replace_text(self._places.synchronised, "")
        return received

    def _receipt(self, learning_id: str) -> Receipt:
        handle = self._journal.delivery(learning_id).handle
        return Receipt(
            learning_id=learning_id,
            status=ReceiptStatus.STORED,
            backend=NAME,
            location=f"{self.link.entry.name}: {handle or learning_id}",
        )

    def _keep_oddities(self) -> None:
        lines = self.link.oddities()
        with suppress(StorageError, BackendError, OSError):
            if lines:
                replace_text(self._places.oddities, "".join(f"{one}\n" for one in lines))
            else:
                self._places.oddities.unlink(missing_ok=True)
