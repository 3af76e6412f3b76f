"""The rows of a replica, and what becomes of them when a page of the database is taken in."""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from attrs import evolve

from grove_backend_postgres.outbox import (
    Entry,
    Outbox,
    StatusChange,
    counts,
    new_learnings,
    status_changes,
)
from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.rows import learning_of
from grove_core import Learning, LearningStatus, learning_to_dict

ALL: Final = "SELECT id, document, status FROM learning"


class Row(NamedTuple):
    """A learning as a replica keeps it."""

    status: LearningStatus
    status_at: datetime
    delivered: bool
    document: str


def row_of(connection: sqlite3.Connection, learning_id: str) -> Row | None:
    """Return the row of a learning; ``None`` where there is none."""
    found = connection.execute(
        "SELECT status, status_at, delivered, document FROM learning WHERE id = ?", (learning_id,)
    ).fetchone()
    if found is None:
        return None
    status, at, delivered, document = found
    return Row(LearningStatus(status), datetime.fromisoformat(at), bool(delivered), document)


def put(
    connection: sqlite3.Connection, learning: Learning, status_at: datetime, *, delivered: bool
) -> bool:
    """Put a learning in, or another version of it."""
    document = json.dumps(learning_to_dict(evolve(learning, status=LearningStatus.ACTIVE)))
    at = status_at.astimezone(UTC).isoformat()
    known = row_of(connection, learning.id)
    is_other = known is None or (known.document, known.status) != (document, learning.status)
    if is_other:
        connection.execute(
            "INSERT INTO learning SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM"
            " learning WHERE true ON CONFLICT (id) DO UPDATE SET number = excluded.number,"
            " status = excluded.status, document = excluded.document",
            (learning.id, learning.status.value, at, delivered, not delivered, document),
        )
    connection.execute(
        "UPDATE learning SET status_at = ?, delivered = ? WHERE id = ?",
        (at, delivered, learning.id),
    )
    return is_other


def note_unreadable(connection: sqlite3.Connection, pulled: Pulled) -> None:
    """Keep the ids of what the database has and this version of grove cannot read."""
    if pulled.whole:
        # The pages of everything name them again.
        connection.execute("DELETE FROM unreadable")
    read = [(one.id,) for one in pulled.learnings]
    connection.executemany("DELETE FROM unreadable WHERE id = ?", read)
    ids = [(one,) for one in pulled.unreadable if row_of(connection, one) is None]
    connection.executemany("INSERT OR IGNORE INTO unreadable VALUES (?)", ids)


def count_delivered(connection: sqlite3.Connection) -> int:
    """Count what is known to be in the database."""
    found = connection.execute(
        "SELECT (SELECT count(*) FROM learning WHERE delivered) + (SELECT count(*) FROM unreadable)"
    ).fetchone()
    return int(found[0])


def find(connection: sqlite3.Connection, learning_id: str) -> Learning | None:
    """Return a learning as it is now; ``None`` where there is none."""
    row = connection.execute(f"{ALL} WHERE id = ?", (learning_id,)).fetchone()
    return learning_of(row[1], row[2]) if row else None


def oldest_first(rows: Iterable[tuple[str, str, str]]) -> list[Learning]:
    """Read learnings from rows that ``ALL`` has asked for, in the order they were written in."""
    read = (learning_of(document, status) for _, document, status in rows)
    return sorted((one for one in read if one is not None), key=lambda one: one.timestamp)


def state(connection: sqlite3.Connection, name: str) -> str:
    """Return what a replica knows of itself under a name; empty where that is nothing."""
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def set_state(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Have a replica know something of itself."""
    connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, value))


_UNDER_WAY: Final = "sweep"
_PLAIN, _AFTER_LOSS = "plain", "after a loss"


class Other(NamedTuple):
    """A learning that no page has named."""

    id: str
    delivered: bool
    own: bool


def begin_sweep(connection: sqlite3.Connection, *, has_lost: bool) -> None:
    """Begin again; what an earlier sweep has noted is forgotten."""
    has_lost = has_lost or state(connection, _UNDER_WAY) == _AFTER_LOSS
    connection.execute("CREATE TABLE IF NOT EXISTS told (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM told")
    set_state(connection, _UNDER_WAY, _AFTER_LOSS if has_lost else _PLAIN)


def has_lost(connection: sqlite3.Connection) -> bool:
    """Return whether one is under way since the database has lost changes."""
    return state(connection, _UNDER_WAY) == _AFTER_LOSS


def note_told(connection: sqlite3.Connection, pulled: Pulled) -> None:
    """Note what a page names, while one is under way."""
    if state(connection, _UNDER_WAY):
        ids = [*(one.id for one in pulled.learnings), *pulled.unreadable]
        connection.executemany("INSERT OR IGNORE INTO told VALUES (?)", [(one,) for one in ids])


def end_sweep(connection: sqlite3.Connection) -> list[Other]:
    """End it, and give the learnings that were not named; none where none was under way."""
    if not state(connection, _UNDER_WAY):
        return []
    rows = connection.execute(
        "SELECT id, delivered, own FROM learning WHERE id NOT IN (SELECT id FROM told)"
    ).fetchall()
    connection.execute("DELETE FROM told")
    set_state(connection, _UNDER_WAY, "")
    return [Other(id_, bool(delivered), bool(own)) for id_, delivered, own in rows]


_GENERATION_BYTES: Final = 8


def take_in_page(
    connection: sqlite3.Connection, outbox: Outbox, pulled: Pulled, *, asked_with: str
) -> int:
    """Bring a replica into line with a page, and have wait again what the database has lost."""
    waiting = outbox.all().entries
    if pulled.whole:
        # A database that does not know its own mark has lost its latest changes.
        begin_sweep(connection, has_lost=asked_with != "")
    received = _put_all(connection, outbox, pulled, waiting)
    note_unreadable(connection, pulled)
    note_told(connection, pulled)
    set_state(connection, "mark", pulled.mark)
    if pulled.is_last:
        _drop_others(connection, outbox, waiting)
    return received


def _put_all(
    connection: sqlite3.Connection, outbox: Outbox, pulled: Pulled, waiting: Sequence[Entry]
) -> int:
    received = 0
    changes = list(status_changes(waiting))
    tells_again = has_lost(connection)
    for learning in pulled.learnings:
        told_at = pulled.status_times[learning.id]
        if tells_again:
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
    after_loss, unnamed = has_lost(connection), end_sweep(connection)
    waiting_ids = new_learnings(waiting).keys()
    others = [one for one in unnamed if one.id not in waiting_ids]
    kept = {one.id for one in others if not one.delivered or (after_loss and one.own)}
    lost = [one for one in (find(connection, each) for each in sorted(kept)) if one]
    outbox.add(lost)
    again = [(one.id,) for one in lost]
    connection.executemany("UPDATE learning SET delivered = 0 WHERE id = ?", again)
    gone = [(one.id,) for one in others if one.id not in kept]
    if gone:
        connection.executemany("DELETE FROM learning WHERE id = ?", gone)
        # The next question for changes is answered with everything.
        set_state(connection, "generation", secrets.token_hex(_GENERATION_BYTES))
