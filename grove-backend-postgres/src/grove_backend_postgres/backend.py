"""The memory backend itself."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_backend_postgres.record import Record
from grove_backend_postgres.sync import PATIENCE_SECONDS, Delivered, Sync
from grove_backend_postgres.team import Team
from grove_core import (
    BackendContext,
    BackendError,
    Capability,
    Changes,
    Filters,
    Freshness,
    Health,
    Hit,
    Learning,
    LearningStatus,
    Query,
    Receipt,
    ReceiptStatus,
    StorageError,
    Synchronised,
    best_first,
    is_learning_id,
    rule_hits,
)

NAME: Final = "postgres"
_WRITE_SECONDS: Final = 60.0
_STATUS_SECONDS: Final = 3.0
_SEARCH_SECONDS: Final = 12.0


def utc_now() -> datetime:
    """Tell the time."""
    return datetime.now(UTC)


class PostgresBackend:
    """Learnings in a database, and what this machine knows of it."""

    name = NAME
    capabilities = frozenset(
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

    def __init__(self, context: BackendContext, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._team = Team(context)
        self._in_hook = context.in_hook
        self._clock = clock
        self._paths = self._team.paths
        self._record = Record(self._paths)
        self._sync = Sync(self._paths, self._record, clock)

    def write(self, learning: Learning) -> Receipt:
        """Keep a learning here, unless its id is known, and bring it to the database."""
        if not is_learning_id(learning.id):
            raise BackendError(f"{learning.id!a} is no id of a learning")
        self._paths.introduce()
        is_new = self._record.add(learning)
        note = self._bring(learning.id, _WRITE_SECONDS) if is_new else ""
        status = ReceiptStatus.QUEUED if note else ReceiptStatus.STORED
        return self._receipt(learning.id, status if is_new else ReceiptStatus.DUPLICATE, note)

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Have the database search where no hook waits, and search here where it cannot."""
        if self._in_hook or query.is_empty or self._sync.pause():
            return rule_hits(query, self._record.learnings(), filters)
        try:
            return self._search_there(query, filters)
        except (BackendError, StorageError):
            # It has been noted, and `grove backends` says so.
            return rule_hits(query, self._record.learnings(), filters)

    def ping(self) -> Health:
        """Look whether learnings can be kept here, and whether the database answers."""
        from grove_backend_postgres.health import look_at

        return look_at(self._team, self._record, self._sync)

    def get(self, learning_id: str) -> Learning | None:
        """Fetch a learning of any status, as it is known here."""
        if not is_learning_id(learning_id):
            return None
        return self._record.get(learning_id)

    def iterate(self) -> Sequence[Learning]:
        """Go through the learnings of any status that are known here, oldest first."""
        return self._record.learnings()

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning, and tell the database."""
        self._paths.introduce()
        changed = self._record.set_status(learning_id, status, self._clock(), note)
        self._bring(learning_id, _STATUS_SECONDS)
        return changed

    def files(self) -> Sequence[Path]:
        """Name what is known here, and what waits."""
        return [self._paths.outbox, self._paths.replica]

    def changes(self, mark: str) -> Changes:
        """Return what has changed here since an earlier answer."""
        return self._record.changes(mark)

    def freshness(self) -> Freshness:
        """Return how well what is known here stands for what the database has; asks no one."""
        return Freshness(
            source=self._team.label,
            mark=self._paths.pulled,
            waiting=self._waiting(),
            fault=self._paths.backoff().detail,
        )

    def synchronise(self, seconds: float, *, asked: bool) -> Synchronised:
        """Deliver what waits, and take in what is new in the database."""
        pause = "" if asked else self._sync.pause()
        if pause:
            return Synchronised(waiting=self._waiting(), fault=pause)
        self._paths.introduce()
        ids, received, fault = self._both_ways(seconds)
        receipts = tuple(map(self._receipt, ids))
        if asked:
            fault = "; ".join(filter(None, (fault, *self._paths.waiting_elsewhere())))
        return Synchronised(
            delivered=receipts, received=received, waiting=self._waiting(), fault=fault
        )

    def _both_ways(self, seconds: float) -> tuple[Sequence[str], int, str]:
        """Deliver, pull, and deliver what the database turns out to have lost."""
        with self._team.store(seconds, with_vectors=True) as store:
            first, received, again = self._sync.deliver(store), 0, Delivered()
            fault = first.fault
            try:
                if not fault or not self._sync.pause():
                    received = self._sync.pull(store)
                    again = self._sync.deliver(store)
                    store.embed_missing()
            except (BackendError, StorageError) as error:
                fault = fault or str(error)
        return tuple(dict.fromkeys([*first.ids, *again.ids])), received, fault or again.fault

    def _search_there(self, query: Query, filters: Filters) -> Sequence[Hit]:
        waiting = {one.id: one for one in self._record.undelivered()}
        limit = None if filters.limit is None else filters.limit + len(waiting)
        store = self._team.store(_SEARCH_SECONDS, with_vectors=True)
        with store, self._sync.noting_faults():
            hits = store.search(query, evolve(filters, limit=limit))
        # One of these may be asked for by its id later. What was found counts more.
        with suppress(BackendError, StorageError):
            self._record.take_in_found([hit.learning for hit in hits])
        there = [hit for hit in hits if hit.learning.id not in waiting]
        here = rule_hits(query, waiting.values(), filters)
        return best_first([*there, *here])[: filters.limit]

    def _bring(self, learning_id: str, seconds: float) -> str:
        """Bring what waits to the database; say why one learning is not there now."""
        if self._in_hook:
            return f"it waits for {self._team.label}: hooks do not"
        if pause := self._sync.pause():
            return f"it waits: {pause}"
        with self._team.store(seconds) as store:
            why = self._sync.deliver(store, patience=min(seconds, PATIENCE_SECONDS) / 2).fault
        if learning_id not in self._waiting():
            return ""
        return f"it waits: {why or f'another process delivers to {self._team.label}'}"

    def _waiting(self) -> tuple[str, ...]:
        return self._record.outbox.all().ids

    def _receipt(
        self, learning_id: str, status: ReceiptStatus = ReceiptStatus.STORED, note: str = ""
    ) -> Receipt:
        return Receipt(
            learning_id=learning_id,
            status=status,
            backend=NAME,
            location=str(self._paths.outbox) if note else self._team.label,
            note=note,
        )
