"""What this machine knows of a project's learnings, so that nobody has to wait for the database."""

import re
import sqlite3
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeVar

from attrs import evolve

from grove_backend_postgres.outbox import (
    Outbox,
    StatusChange,
    Tail,
    counts,
    new_learnings,
    status_changes,
)
from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.replica_file import ReplicaFile
from grove_backend_postgres.replica_rows import (
    ALL,
    count_delivered,
    find,
    oldest_first,
    put,
    row_of,
    set_state,
    state,
    take_in_page,
)
from grove_core import (
    BackendError,
    Changes,
    Learning,
    LearningNotFoundError,
    LearningStatus,
)

T = TypeVar("T")

_MARK: Final = re.compile(r"(0|[1-9][0-9]{0,17}):([0-9a-f]+)")
_GENERATION_BYTES: Final = 8
_NEXT: Final = timedelta(microseconds=1)


class Taken(NamedTuple):
    """What has come of a pull."""

    received: int
    is_last: bool
    is_all: bool


class Replica:
    """The replica of one project; each call reads or changes the file at once or not at all."""

    def __init__(self, file: ReplicaFile, outbox: Outbox) -> None:
        self.file = file
        self._outbox = outbox

    def learnings(self) -> list[Learning]:
        """Return all learnings, oldest first."""
        return oldest_first(self._reading(lambda connection: connection.execute(ALL).fetchall()))

    def get(self, learning_id: str) -> Learning | None:
        """Find a learning."""
        return self._reading(lambda connection: find(connection, learning_id))

    def changes(self, mark: str) -> Changes:
        """Return what has changed since an earlier answer."""
        return self._reading(lambda connection: _changes(connection, mark))

    def add(self, learning: Learning) -> bool:
        """Have a learning wait for the database, unless its id is known."""
        is_new = False

        def add(connection: sqlite3.Connection) -> bool:
            nonlocal is_new
            self._take_in_outbox(connection)
            if row_of(connection, learning.id) is None:
                # From here on it is safe, whatever becomes of this process.
                self._outbox.add([learning])
                self._take_in_outbox(connection)
                is_new = True
            return is_new

        return self.file.writing(add)

    def set_status(
        self, learning_id: str, status: LearningStatus, now: datetime, note: str = ""
    ) -> Learning:
        """Change a learning's status, and have that wait for the database."""

        def change(connection: sqlite3.Connection) -> Learning:
            self._take_in_outbox(connection)
            row, learning = row_of(connection, learning_id), find(connection, learning_id)
            if row is None or learning is None:
                raise LearningNotFoundError(
                    f"there is no learning {learning_id} in {self.file.path}"
                )
            if learning.status is not status:
                at = max(now, _after(row.status_at))
                waiting = StatusChange(status=status, at=at, was=learning.status, note=note)
                self._outbox.add_change(learning_id, waiting)
                self._take_in_outbox(connection)
            return evolve(learning, status=status)

        return self.file.writing(change)

    def mark(self) -> str:
        """Return the mark of the latest pull; empty before the first."""
        return self._reading(lambda connection: state(connection, "mark"))

    def undelivered(self) -> list[Learning]:
        """Return the learnings that the database has not got, or not with the status they have."""
        waiting = {one.learning_id for one in self._outbox.all().entries}
        return [one for one in self.learnings() if one.id in waiting] if waiting else []

    def note_delivered(self, learning_ids: Iterable[str]) -> None:
        """Note that the database has learnings."""
        ids = [(one,) for one in learning_ids]

        def note(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE learning SET delivered = 1 WHERE id = ?", ids)
            self._take_in_outbox(connection)

        self.file.writing(note)

    def take_in_found(self, learnings: Iterable[Learning]) -> None:
        """Keep learnings that a search has found in the database before a pull has brought them."""
        found = {one.id: one for one in learnings}

        def new(connection: sqlite3.Connection) -> list[str]:
            return [one for one in found if row_of(connection, one) is None]

        def keep(connection: sqlite3.Connection) -> None:
            for learning_id in new(connection):
                learning = found[learning_id]
                put(connection, learning, learning.timestamp, delivered=True)

        if self.file.reading(new):
            self.file.writing(keep)

    def take_in(self, pulled: Pulled, *, asked_with: str) -> Taken:
        """Bring the replica into line with a page of what the database has told."""

        def take(connection: sqlite3.Connection) -> Taken:
            self._take_in_outbox(connection)
            received = take_in_page(connection, self._outbox, pulled, asked_with=asked_with)
            self._take_in_outbox(connection)
            # Counting reads the whole file.
            counted = None if pulled.total is None else count_delivered(connection)
            return Taken(received, pulled.is_last, is_all=counted == pulled.total)

        return self.file.writing(take)

    def complaint(self) -> str:
        """Look whether the file can be written and is sound; say what is wrong."""

        def look(connection: sqlite3.Connection) -> str:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            return ""

        return self.file.writing(look)

    def _reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Look, once what another process has left in the outbox is taken in."""

        def look(connection: sqlite3.Connection) -> list[T]:
            return [] if self._news(connection).entries else [work(connection)]

        def take_in_and_look(connection: sqlite3.Connection) -> list[T]:
            self._take_in_outbox(connection)
            return [work(connection)]

        found = self.file.reading(look)
        if not found:
            try:
                found = self.file.writing(take_in_and_look)
            except BackendError:
                # The disk is full, say. What is known is still good for something.
                found = [self.file.reading(work)]
        return found[0]

    def _news(self, connection: sqlite3.Connection) -> Tail:
        return self._outbox.since(state(connection, "outbox"))

    def _take_in_outbox(self, connection: sqlite3.Connection) -> None:
        tail = self._news(connection)
        for learning in new_learnings(tail.entries).values():
            if row_of(connection, learning.id) is None:
                put(connection, learning, learning.timestamp, delivered=False)
        for learning_id, change in status_changes(tail.entries):
            row, known = row_of(connection, learning_id), find(connection, learning_id)
            if row is not None and known is not None and counts(change, row.status, row.status_at):
                learning = evolve(known, status=change.status)
                put(connection, learning, change.at, delivered=row.delivered)
        set_state(connection, "outbox", tail.mark)


def _changes(connection: sqlite3.Connection, mark: str) -> Changes:
    number = connection.execute("SELECT coalesce(max(number), 0) FROM learning").fetchone()[0]
    generation = state(connection, "generation")
    known = _MARK.fullmatch(mark)
    since = int(known[1]) if known and known[2] == generation else number + 1
    whole = since > number
    rows = connection.execute(f"{ALL} WHERE number > ?", (0 if whole else since,)).fetchall()
    learnings = tuple(oldest_first(rows))
    return Changes(learnings=learnings, mark=f"{number}:{generation}", whole=whole)


def _after(instant: datetime) -> datetime:
    try:
        return instant + _NEXT
    except OverflowError:
        return instant  # somebody has written down the end of time
