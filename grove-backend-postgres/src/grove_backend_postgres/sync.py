"""Bringing the database and this machine into line."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Final, NamedTuple

from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_backend_postgres.outbox import Entry, StatusChange, new_learnings
from grove_backend_postgres.record import Record
from grove_backend_postgres.store import Store
from grove_backend_postgres.team import Paths
from grove_core import BackendError, Learning, StorageError, locked, replace_text

_BATCH: Final = 200
_BREATH_SECONDS: Final = 0.02
PATIENCE_SECONDS: Final = 10.0
"""How long to wait, at most, for another process that delivers."""
# Of the code of an error: what is wrong is in the values, and others may do better.
_ABOUT_VALUES: Final = ("22", "23", "54")


class Delivered(NamedTuple):
    """What has come of a delivery."""

    ids: tuple[str, ...] = ()
    fault: str = ""


class Sync:
    """What brings both sides into line; one process at a time."""

    def __init__(self, paths: Paths, record: Record, clock: Callable[[], datetime]) -> None:
        self._paths = paths
        self._record = record
        self._outbox = record.outbox
        self._clock = clock

    def pause(self) -> str:
        """Tell why the database is left alone just now; empty when it is not."""
        breaker = self._paths.backoff()
        return breaker.detail if breaker.is_open(self._clock()) else ""

    @contextmanager
    def noting_faults(self) -> Iterator[None]:
        """Remember whether the database has worked, so that nobody waits for one that does not."""
        try:
            yield
        except (DatabaseUnreachableError, DatabaseRefusedError) as error:
            failed = self._paths.backoff().after_failure(self._clock(), str(error))
            failed.write(self._paths.breaker)
            raise
        # Where nothing can be removed, nothing was noted, or it counts for ten minutes at most.
        with suppress(OSError):
            self._paths.breaker.unlink(missing_ok=True)

    def deliver(self, store: Store, *, patience: float = PATIENCE_SECONDS) -> Delivered:
        """Deliver what waits."""
        if not self._outbox.all().entries:
            return Delivered()
        try:
            with self._alone(patience), self.noting_faults():
                return self._deliver(store)
        except (BackendError, StorageError) as error:
            return Delivered(fault=str(error))

    def pull(self, store: Store) -> int:
        """Take in what is new in the database, a page at a time."""
        received, is_all = self._take_pages(store)
        if not is_all:
            # Somebody has put rows there by hand: everything is asked for, once.
            received += self._take_pages(store, anew=True)[0]
        replace_text(self._paths.pulled, "")
        return received

    def _take_pages(self, store: Store, *, anew: bool = False) -> tuple[int, bool]:
        received = 0
        while True:
            with self._alone(PATIENCE_SECONDS), self.noting_faults():
                # Another process may have come further meanwhile.
                mark = "" if anew else self._record.mark()
                page = store.changes_since(mark)
                received += self._record.take_in(page, asked_with=mark)
                if page.is_last:
                    is_all = self._record.is_all(page.total)
                    return received, is_all or self._record.drop_others(store.ids())
            anew = False
            # So that another process that waits for the lock gets it.
            time.sleep(_BREATH_SECONDS)

    @contextmanager
    def _alone(self, patience: float) -> Iterator[None]:
        self._paths.lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self._paths.lock, timeout=patience):
            yield

    def _deliver(self, store: Store) -> Delivered:
        waiting = self._outbox.all().entries
        ids, fault = self._deliver_learnings(store, waiting)
        missing = new_learnings(waiting).keys() - set(ids)
        # What is not there has no status there.
        told = self._tell_statuses(
            store, [one for one in waiting if one.learning_id not in missing]
        )
        return Delivered(tuple(dict.fromkeys([*ids, *told])), fault)

    def _tell_statuses(self, store: Store, waiting: Sequence[Entry]) -> list[str]:
        told: list[Entry] = []
        try:
            for entry in waiting:
                if isinstance(entry.what, StatusChange):
                    store.set_status(entry.learning_id, entry.what)
                    told.append(entry)
        finally:
            self._record.note_delivered(told)
        return [one.learning_id for one in told]

    def _deliver_learnings(self, store: Store, waiting: Sequence[Entry]) -> tuple[list[str], str]:
        """Store learnings together, or one by one where there is one that cannot be stored."""
        learnings = [one for one in waiting if isinstance(one.what, Learning)]
        batches = [learnings[start : start + _BATCH] for start in range(0, len(learnings), _BATCH)]
        ids: list[str] = []
        faults: list[str] = []
        while batches:
            batch = batches.pop(0)
            try:
                store.add(list(new_learnings(batch).values()))
            except DatabaseRefusedError as error:
                if not error.state.startswith(_ABOUT_VALUES):
                    raise
                if len(batch) == 1:
                    faults.append(f"{batch[0].learning_id}: {error}")
                else:
                    batches[:0] = [[one] for one in batch]
                continue
            self._record.note_delivered(batch)
            ids += [one.learning_id for one in batch]
        return ids, "; ".join(faults[:1])
