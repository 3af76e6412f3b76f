"""The rows of a replica."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, NamedTuple

from attrs import evolve

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
        # The pages of everything name them anew.
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
