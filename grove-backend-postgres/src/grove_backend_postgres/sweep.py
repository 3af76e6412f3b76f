"""What a replica has of everything that a database has: found out page by page."""

import sqlite3
from typing import Final, NamedTuple

from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.replica_rows import set_state, state

_UNDER_WAY: Final = "sweep"
_PLAIN, _AFTER_LOSS = "plain", "after a loss"


class Other(NamedTuple):
    """A learning that no page has named."""

    id: str
    delivered: bool
    own: bool


def begin(connection: sqlite3.Connection, *, has_lost: bool) -> None:
    """Begin anew; what an earlier one has noted is forgotten."""
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


def end(connection: sqlite3.Connection) -> list[Other]:
    """End it, and give the learnings that were not named; none where none was under way."""
    if not state(connection, _UNDER_WAY):
        return []
    rows = connection.execute(
        "SELECT id, delivered, own FROM learning WHERE id NOT IN (SELECT id FROM told)"
    ).fetchall()
    connection.execute("DELETE FROM told")
    set_state(connection, _UNDER_WAY, "")
    return [Other(id_, bool(delivered), bool(own)) for id_, delivered, own in rows]
