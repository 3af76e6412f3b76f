"""The server as the backend uses it: something to deliver to, to search and to take in."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from attrs import evolve

from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.storage.contents import MOST_NOTES, Contents, Paths
from grove_backend_mcp.storage.journal import Journal
from grove_backend_mcp.sync.connection import ServerConnection
from grove_backend_mcp.sync.deliver import Deliverer
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


class RemoteServer:
    """The server of one project."""

    def __init__(
        self,
        paths: Paths,
        contents: Contents,
        journal: Journal,
        connection: ServerConnection,
        *,
        project: str,
        clock: Callable[[], datetime],
    ) -> None:
        self.connection = connection
        self._paths = paths
        self._contents = contents
        self._journal = journal
        self._project = project
        self._clock = clock
        self.deliverer = Deliverer(paths, contents, journal, connection, project, clock)

    @property
    def name(self) -> str:
        """What the server is called, for people."""
        return f"the memory server “{self.connection.entry.name}”"

    def waiting(self) -> Sequence[str]:
        """Name what the server has yet to get."""
        return [one.id for one in self.deliverer.waiting()]

    def waits(self, learning_id: str) -> bool:
        """Check whether the server has yet to get a learning."""
        learning = self._contents.get(learning_id)
        return learning is not None and self.deliverer.waits(learning)

    def search(self, query: Query, seconds: float) -> Sequence[Hit]:
        """Ask the server what it finds."""
        from grove_backend_mcp.hits import hits_of  # no hook searches a server

        with self.connection.server(seconds) as server:
            found = server.search(query, _MOST_FOUND) if self.connection.abilities.searches else ()
            found = [evolve(one, text=self.connection.masked(one.text)) for one in found]
        self.connection.has_worked()
        known = hits_of(found, query, self._contents, self._project, self._clock())
        # One of these may be asked for by its id later.
        self._contents.seen.add(known.others)
        self._contents.notes.add(known.notes, most=MOST_NOTES)
        return known.hits

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Deliver what waits, and take in what is new on the server."""
        until = time.monotonic() + seconds
        self.connection.reserve(seconds)
        if asked:
            self._want_all()
        delivered = self.deliverer.deliver(max(_LEAST_SECONDS, seconds * _SHARE), asked=asked)
        ids, why, received = tuple(delivered.ids), delivered.why, 0
        if not delivered.fault:
            try:
                received = self._take_in(until, asked=asked)
            except ServerFaultError as one:
                why = one.detail
            else:
                # What it has not kept is known only now, and whether it can be told a status.
                again = self.deliverer.deliver(max(_LEAST_SECONDS, until - time.monotonic()))
                ids, why = tuple(dict.fromkeys((*ids, *again.ids))), again.why
        self._keep_warnings()
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
        from grove_backend_mcp.sync.pull import Pull

        left = max(_LEAST_SECONDS, until - time.monotonic())
        with self.deliverer.alone(left), self.connection.server(left, asked=asked) as server:
            pull = Pull(
                server,
                self._contents,
                self._journal,
                self._project,
                can_update=self.connection.abilities.updates,
                until=until,
                now=self._clock(),
            )
            received = pull.run(asked=asked)
        self.connection.has_worked()
        replace_text(self._paths.synchronised, "")
        return received

    def _receipt(self, learning_id: str) -> Receipt:
        handle = self._journal.delivery(learning_id).handle
        return Receipt(
            learning_id=learning_id,
            status=ReceiptStatus.STORED,
            backend=NAME,
            location=f"{self.connection.entry.name}: {handle or learning_id}",
        )

    def _keep_warnings(self) -> None:
        lines = self.connection.warnings()
        with suppress(StorageError, BackendError, OSError):
            if lines:
                replace_text(self._paths.warnings, "".join(f"{one}\n" for one in lines))
            else:
                self._paths.warnings.unlink(missing_ok=True)
