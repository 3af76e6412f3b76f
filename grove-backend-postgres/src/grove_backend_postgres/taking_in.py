"""What becomes of a replica when a page of what the database has told is taken in."""

import secrets
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from attrs import evolve

from grove_backend_postgres import sweep
from grove_backend_postgres.changing import StatusChange, counts
from grove_backend_postgres.outbox import Entry, Outbox, new_learnings, status_changes
from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.replica_rows import find, note_unreadable, put, row_of, set_state
from grove_core import Learning

_GENERATION_BYTES: Final = 8


def take_in_page(
    connection: sqlite3.Connection, outbox: Outbox, pulled: Pulled, *, asked_with: str
) -> int:
    """Bring a replica into line with a page, and have wait again what the database has lost."""
    waiting = outbox.all().entries
    if pulled.whole:
        # A database that does not know its own mark has lost its latest changes.
        sweep.begin(connection, has_lost=asked_with != "")
    received = _put_all(connection, outbox, pulled, waiting)
    note_unreadable(connection, pulled)
    sweep.note_told(connection, pulled)
    set_state(connection, "mark", pulled.mark)
    if pulled.is_last:
        _drop_others(connection, outbox, waiting)
    return received


def _put_all(
    connection: sqlite3.Connection, outbox: Outbox, pulled: Pulled, waiting: Sequence[Entry]
) -> int:
    received = 0
    changes = list(status_changes(waiting))
    has_lost = sweep.has_lost(connection)
    for learning in pulled.learnings:
        told_at = pulled.status_times[learning.id]
        if has_lost:
            _tell_status_again(connection, outbox, learning, told_at)
        final, at = _with_changes(learning, told_at, changes)
        received += put(connection, final, at, delivered=True)
    return received


def _tell_status_again(
    connection: sqlite3.Connection, outbox: Outbox, told: Learning, told_at: datetime
) -> None:
    """Have the database told once more of a status that it has lost."""
    row = row_of(connection, told.id)
    if row is None or row.status is told.status or row.status_at <= told_at:
        return
    change = StatusChange(status=row.status, at=row.status_at, was=told.status)
    outbox.add_change(told.id, change)


def _with_changes(
    learning: Learning, at: datetime, changes: Sequence[tuple[str, StatusChange]]
) -> tuple[Learning, datetime]:
    """Return a learning the status that it has here, where a change waits that counts more."""
    status = learning.status
    for learning_id, change in changes:
        if learning_id == learning.id and counts(change, status, at):
            status, at = change.status, change.at
    return evolve(learning, status=status), at


def _drop_others(connection: sqlite3.Connection, outbox: Outbox, waiting: Sequence[Entry]) -> None:
    """Forget what the database has no longer; what was written here, it may have lost."""
    has_lost, unnamed = sweep.has_lost(connection), sweep.end(connection)
    waiting_ids = new_learnings(waiting).keys()
    others = [one for one in unnamed if one.id not in waiting_ids]
    kept = {one.id for one in others if not one.delivered or (has_lost and one.own)}
    lost = [one for one in (find(connection, each) for each in sorted(kept)) if one]
    outbox.add(lost)
    again = [(one.id,) for one in lost]
    connection.executemany("UPDATE learning SET delivered = 0 WHERE id = ?", again)
    gone = [(one.id,) for one in others if one.id not in kept]
    if gone:
        connection.executemany("DELETE FROM learning WHERE id = ?", gone)
        # Whoever asks what has changed is to be told everything.
        set_state(connection, "generation", secrets.token_hex(_GENERATION_BYTES))
