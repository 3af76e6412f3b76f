"""What this machine knows of a project's learnings, so that nobody has to wait for the database.

The replica is what the database has told, with what waits in the outbox on top. It can be made anew
from the two any time. Each change of it has a number, so that it can tell what is new.
"""

import re
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeVar

from attrs import evolve

from grove_backend_postgres.changing import StatusChange, counts
from grove_backend_postgres.outbox import Outbox, Tail, new_learnings, status_changes
from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.replica_file import ReplicaFile
from grove_backend_postgres.replica_rows import (
    ALL,
    count_delivered,
    find,
    note_unreadable,
    oldest_first,
    put,
    row_of,
    set_state,
    state,
)
from grove_core import (
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
    """What has come of a pull.

    Attributes:
        received: How many learnings are new here or other than before.
        is_all: Whether as many are here now as the database has.
    """

    received: int
    is_all: bool


class Replica:
    """The replica of one project; each call reads or changes the file at once or not at all."""

    def __init__(self, file: ReplicaFile, outbox: Outbox) -> None:
        """Read nothing yet.

        Args:
            file: The file.
            outbox: What waits for the database.
        """
        self.file = file
        self._outbox = outbox

    def learnings(self) -> list[Learning]:
        """Give all learnings, oldest first."""
        return oldest_first(self._reading(lambda connection: connection.execute(ALL).fetchall()))

    def get(self, learning_id: str) -> Learning | None:
        """Find a learning.

        Args:
            learning_id: Its id.
        """
        return self._reading(lambda connection: find(connection, learning_id))

    def changes(self, mark: str) -> Changes:
        """Tell what has changed since an earlier answer.

        Args:
            mark: The mark of that answer; any other text asks for everything.

        Returns:
            What has changed, or everything, oldest first.
        """
        return self._reading(lambda connection: _changes(connection, mark))

    def add(self, learning: Learning) -> bool:
        """Have a learning wait for the database, unless its id is known.

        Args:
            learning: The learning.

        Returns:
            Whether it is new.
        """
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

    def set_status(self, learning_id: str, status: LearningStatus, now: datetime) -> Learning:
        """Change a learning's status, and have that wait for the database.

        Args:
            learning_id: Its id.
            status: The new status.
            now: The time, UTC.

        Returns:
            The learning with its new status.

        Raises:
            LearningNotFoundError: There is none of that id.
        """

        def change(connection: sqlite3.Connection) -> Learning:
            self._take_in_outbox(connection)
            row, learning = row_of(connection, learning_id), find(connection, learning_id)
            if row is None or learning is None:
                raise LearningNotFoundError(
                    f"there is no learning {learning_id} in {self.file.path}"
                )
            if learning.status is not status:
                at = max(now, _after(row.status_at))
                waiting = StatusChange(status=status, at=at, was=learning.status)
                self._outbox.add_change(learning_id, waiting)
                self._take_in_outbox(connection)
            return evolve(learning, status=status)

        return self.file.writing(change)

    def mark(self) -> str:
        """Give the mark of the latest pull; empty before the first."""
        return self._reading(lambda connection: state(connection, "mark"))

    def undelivered(self) -> list[Learning]:
        """Give the learnings that the database has not got, or not with the status they have."""
        waiting = {one.learning_id for one in self._outbox.all().entries}
        return [one for one in self.learnings() if one.id in waiting] if waiting else []

    def note_delivered(self, learning_ids: Iterable[str]) -> None:
        """Note that the database has learnings.

        Args:
            learning_ids: Their ids.
        """
        ids = [(one,) for one in learning_ids]

        def note(connection: sqlite3.Connection) -> None:
            connection.executemany("UPDATE learning SET delivered = 1 WHERE id = ?", ids)
            self._take_in_outbox(connection)

        self.file.writing(note)

    def take_in_found(self, learnings: Iterable[Learning]) -> None:
        """Keep learnings that a search has found in the database before a pull has brought them.

        Args:
            learnings: The learnings.
        """
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
        """Bring the replica into line with what the database has told.

        Args:
            pulled: What it has told.
            asked_with: The mark that it was asked with.

        Returns:
            What has come of it.
        """

        def take(connection: sqlite3.Connection) -> Taken:
            waiting = self._outbox.all()
            self._take_in_outbox(connection)
            received = 0
            changes = list(status_changes(waiting.entries))
            # A database that does not know its own mark has lost its latest changes.
            has_lost = pulled.whole and asked_with != ""
            for learning in pulled.learnings:
                told_at = pulled.status_times[learning.id]
                if has_lost:
                    self._tell_status_again(connection, learning, told_at)
                final, at = _with_changes(learning, told_at, changes)
                received += put(connection, final, at, delivered=True)
            if pulled.whole:
                told = {one.id for one in pulled.learnings} | set(pulled.unreadable)
                told |= new_learnings(waiting.entries).keys()
                self._drop_others(connection, told, has_lost=has_lost)
            note_unreadable(connection, pulled)
            set_state(connection, "mark", pulled.mark)
            self._take_in_outbox(connection)
            return Taken(received, is_all=count_delivered(connection) == pulled.total)

        return self.file.writing(take)

    def complaint(self) -> str:
        """Look whether the file can be written and is sound; say what is wrong."""
        found = self.file.writing(
            lambda connection: connection.execute("PRAGMA quick_check(1)").fetchone()
        )
        return "" if found == ("ok",) else f"{self.file.path}: {found}"

    def _tell_status_again(
        self, connection: sqlite3.Connection, told: Learning, told_at: datetime
    ) -> None:
        """Have the database told once more of a status that it has lost."""
        row = row_of(connection, told.id)
        if row is None or row.status is told.status or row.status_at <= told_at:
            return
        change = StatusChange(status=row.status, at=row.status_at, was=told.status)
        self._outbox.add_change(told.id, change)

    def _drop_others(
        self, connection: sqlite3.Connection, told: set[str], *, has_lost: bool
    ) -> None:
        """Forget what the database has no longer; what was written here, it may have lost."""
        rows = connection.execute("SELECT id, delivered, own FROM learning").fetchall()
        others = [row for row in rows if row[0] not in told]
        kept = {row[0] for row in others if not row[1] or (has_lost and row[2])}
        lost = [one for one in (find(connection, each) for each in sorted(kept)) if one]
        self._outbox.add(lost)
        again = [(one.id,) for one in lost]
        connection.executemany("UPDATE learning SET delivered = 0 WHERE id = ?", again)
        gone = [(row[0],) for row in others if row[0] not in kept]
        if gone:
            connection.executemany("DELETE FROM learning WHERE id = ?", gone)
            # Whoever asks what has changed is to be told everything.
            set_state(connection, "generation", secrets.token_hex(_GENERATION_BYTES))

    def _reading(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Look, once what another process has left in the outbox is taken in."""

        def look(connection: sqlite3.Connection) -> list[T]:
            return [] if self._news(connection).entries else [work(connection)]

        def take_in_and_look(connection: sqlite3.Connection) -> list[T]:
            self._take_in_outbox(connection)
            return [work(connection)]

        (found,) = self.file.reading(look) or self.file.writing(take_in_and_look)
        return found

    def _news(self, connection: sqlite3.Connection) -> Tail:
        token, end = state(connection, "token"), int(state(connection, "end") or 0)
        return self._outbox.since(token, end)

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
        set_state(connection, "token", tail.token)
        set_state(connection, "end", str(tail.end))


def _with_changes(
    learning: Learning, at: datetime, changes: Sequence[tuple[str, StatusChange]]
) -> tuple[Learning, datetime]:
    """Give a learning the status that it has here, where a change waits that counts more."""
    status = learning.status
    for learning_id, change in changes:
        if learning_id == learning.id and counts(change, status, at):
            status, at = change.status, change.at
    return evolve(learning, status=status), at


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
