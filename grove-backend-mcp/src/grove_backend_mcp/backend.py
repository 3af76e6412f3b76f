"""The memory backend itself."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_backend_mcp.discovery.choose import choose
from grove_backend_mcp.discovery.repository import project_name
from grove_backend_mcp.mappings.assessment import can_update
from grove_backend_mcp.sync.connection import ServerConnection
from grove_backend_mcp.sync.journal import Journal
from grove_backend_mcp.sync.record import Contents, Paths
from grove_backend_mcp.sync.server import RemoteServer
from grove_core import (
    BackendContext,
    Capability,
    Changes,
    Filters,
    Freshness,
    Health,
    Hit,
    Learning,
    LearningNotFoundError,
    LearningStatus,
    Query,
    Receipt,
    ReceiptStatus,
    Synchronised,
    best_first,
    check_storable,
    rule_hits,
)

NAME: Final = "mcp"
_NOW: Final = partial(datetime.now, UTC)
_WRITE_SECONDS: Final = 60.0
_SEARCH_SECONDS: Final = 25.0
_CAPABILITIES: Final = frozenset(
    {
        Capability.GET,
        Capability.ITERATE,
        Capability.SET_STATUS,
        Capability.FILES,
        Capability.CHANGES,
        Capability.SLOW,
        Capability.SYNCHRONISE,
    }
)


class McpBackend:
    """Learnings in grove's own record, and on a memory server that is brought into line with it."""

    def __init__(self, context: BackendContext, *, clock: Callable[[], datetime] = _NOW) -> None:
        choice = choose(context)
        project, used = project_name(context), choice.used
        digest = used.entry.digest if used is not None else ""
        paths = Paths(context, digest)
        self._in_hook = context.in_hook
        self._write_until: float | None = None
        self._clock = clock
        self._paths = paths
        self._contents = Contents(paths)
        # Under another name of the project, the server has nothing of it yet.
        self._journal = Journal(paths.journal, f"{digest}:{project}")
        self._remote: RemoteServer | None = None
        if used is not None:
            updates = can_update(context, used.entry, used.profile)
            connection = ServerConnection(
                context, used.entry, project, paths.breaker, clock, can_update=updates
            )
            self._remote = RemoteServer(
                paths, self._contents, self._journal, connection, project, clock
            )
        self._why_none = choice.why_none

    @property
    def name(self) -> str:
        """The backend's name."""
        return NAME

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do besides write, search and ping."""
        return _CAPABILITIES

    def write(self, learning: Learning) -> Receipt:
        """Record a learning, unless its id is recorded, and bring it to the server."""
        check_storable(learning)
        # What is wanted and not recorded counts for nothing; the other way round it would
        # never get to the server, if this process ended between the two.
        is_known = self._contents.get(learning.id) is not None
        self._journal.want(learning.id, self._clock(), is_due=not is_known)
        is_new = self._contents.record.add(learning, self._clock())
        if is_new and not is_known and self._remote is not None:
            self._remote.expect(learning.id)
        note = self._bring(learning.id)
        status = ReceiptStatus.QUEUED if note else ReceiptStatus.STORED
        return Receipt(
            learning_id=learning.id,
            status=status if is_new else ReceiptStatus.DUPLICATE,
            backend=NAME,
            location=f"{self._paths.record}",
            note=note,
        )

    def _bring(self, learning_id: str) -> str:
        """Bring what waits to the server; say why one learning is not there now."""
        if self._remote is None:
            return f"it waits for a memory server: {self._why_none}"
        if self._in_hook:
            return f"it waits for {self._remote.name}: hooks do not"
        if self._write_until is None:
            self._write_until = time.monotonic() + _WRITE_SECONDS
        left = self._write_until - time.monotonic()
        # Somebody waits for all that this process writes, not only for the first of it.
        why = self._remote.deliver(left)[1] if left > 0 else "there was no time for it"
        if not self._remote.waits(learning_id):
            return ""
        return f"it waits for {self._remote.name}: {why or 'it has failed before'}"

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Search the local record and, outside hooks, the server."""
        hits = {
            hit.learning.id: hit
            for hit in rule_hits(query, self._contents.learnings(), evolve(filters, limit=None))
        }
        if self._remote is not None and not self._in_hook and not query.is_empty:
            for hit in self._remote.search(query, _SEARCH_SECONDS):
                known = hits.get(hit.learning.id)
                if filters.admit(hit.learning) and (
                    known is None or known.relevance < hit.relevance
                ):
                    hits[hit.learning.id] = hit
        return best_first(hits.values())[: filters.limit]

    def ping(self) -> Health:
        """Look whether learnings can be recorded, and whether the server answers."""
        from grove_backend_mcp.health import look_at

        return look_at(self._paths, self._contents, self._journal, self._remote, self._why_none)

    def get(self, learning_id: str) -> Learning | None:
        """Fetch a learning of any status."""
        return self._contents.get(learning_id)

    def iterate(self) -> Sequence[Learning]:
        """Go through grove's learnings of any status, oldest first."""
        return sorted(self._contents.learnings(), key=lambda learning: learning.timestamp)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning; the server is told when it is asked next."""
        learning = self._contents.get(learning_id)
        if learning is None:
            raise LearningNotFoundError(
                f"there is no learning {learning_id} in {self._paths.record}"
            )
        if learning.status is not status:
            # Of what others have written, the server is only told that it is superseded.
            is_own = learning_id in self._contents.record.state().learnings
            if is_own or status is LearningStatus.SUPERSEDED:
                self._journal.want(learning_id, self._clock(), status=status)
            self._contents.record.add_status(learning_id, status, self._clock(), note)
        return evolve(learning, status=status)

    def files(self) -> Sequence[Path]:
        """Name the record, and what is kept of others' learnings."""
        return [self._paths.record, self._paths.seen]

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        return self._contents.changes(mark)

    def freshness(self) -> Freshness:
        """Return how well what is kept here stands for what the server has; asks no one."""
        remote = self._remote
        return Freshness(
            source=remote.name if remote else "",
            mark=self._paths.synchronised,
            waiting=tuple(one.id for one in remote.waiting()) if remote else self._undelivered(),
            fault=remote.connection.breaker().detail if remote else self._why_none,
        )

    def _undelivered(self) -> tuple[str, ...]:
        recorded = self._contents.record.state().learnings
        return tuple(one for one in self._journal.undelivered() if one in recorded)

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Deliver what waits, and take in what is new on the server."""
        remote = self._remote
        if remote is None:
            waiting = self._undelivered()
            return Synchronised(waiting=waiting, fault=self._why_none if waiting else "")
        return remote.synchronise(seconds, asked=asked)
