"""The statistics cache of a project: brought up to date, asked, and made anew when it is broken."""

import sqlite3
from contextlib import suppress
from datetime import datetime

from grove_core.derived_database import (
    BUSY_SECONDS,
    DerivedDatabase,
    transaction,
)
from grove_core.stats.batch import key_of, storable
from grove_core.stats.log_lines import instant, microseconds
from grove_core.stats_cache import database, records
from grove_core.stats_cache.folding import refresh
from grove_core.storage.files import is_readable

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    from grove_core.model.statistics import LearningRecord, LearningStats, Statistics
    from grove_core.stats.decay import DecayRule

    T = TypeVar("T")

_STAMP = "learnings"
PATIENCE_SECONDS = 60.0
"""How long it is worth waiting for another process that is adding a long log, to count right."""

_USUAL_PATIENCE_SECONDS = 3.0
_PUT = "INSERT OR REPLACE INTO catalogue VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
_GET = """
SELECT learning, name, summary, category, scope, status, confidence, criteria, tags, created,
    session, ticket, backend
FROM catalogue ORDER BY name
"""
_CORRECTIONS = """
SELECT name, successor, moment, (
    SELECT max(surfaced) FROM use
    WHERE use.learning = correction.learning AND surfaced <= correction.moment
)
FROM correction JOIN learning USING (learning) WHERE moment >= ? ORDER BY moment, name, successor
"""


class StatsCache:
    """The cache of one project."""

    def __init__(
        self,
        path: str,
        logs: "Sequence[str]",
        *,
        personal: str | None = None,
        since: datetime | None = None,
    ) -> None:
        """Open nothing yet."""
        self._database = DerivedDatabase(
            path,
            schema=database.SCHEMA,
            version=database.SCHEMA_VERSION,
            temporary=database.TEMPORARY,
            patience=_USUAL_PATIENCE_SECONDS,
        )
        self._logs = [log for log in logs if is_readable(log)]
        self._personal = personal
        self._since = since
        self._until: float | None = None
        self.complete = False

    @property
    def path(self) -> str:
        """The file; ``IN_MEMORY`` when nothing is kept, or nothing can be."""
        return self._database.path

    def refresh(self, until: float | None = None, *, patience: float | None = None) -> None:
        """Add what the logs hold by now; what is damaged is made anew."""
        self._until = until
        usual = _USUAL_PATIENCE_SECONDS if until is None else BUSY_SECONDS
        self._database.patience = usual if patience is None else patience
        since = microseconds(self._since) if self._since is not None else None
        for _ in range(3):
            try:
                connection = self._database.open()
                connection.execute(f"PRAGMA busy_timeout = {round(1000 * self._database.patience)}")
                self.complete = refresh(
                    connection, self._logs, personal=self._personal, since=since, until=until
                )
            except OSError:
                self.complete = False  # a log that is there and cannot be read
            except sqlite3.Error as error:
                self._database.mend(error)
                continue
            return

    def renew(self, error: sqlite3.DatabaseError) -> None:
        """Count anew after a question has failed; the learnings have to be put in again."""
        self._database.mend(error)
        self.refresh(self._until, patience=self._database.patience)

    def usage(self, learning_ids: "Iterable[str] | None" = None) -> "dict[str, LearningStats]":
        """Return how learnings have fared."""
        keys = None if learning_ids is None else [key_of(one) for one in learning_ids]
        return self._ask(lambda connection: records.usage(connection, keys))

    def corrections(
        self, since: datetime
    ) -> "list[tuple[str, str | None, datetime, datetime | None]]":
        """Find what was corrected lately."""
        terms = (microseconds(since),)
        rows = self._ask(lambda connection: connection.execute(_CORRECTIONS, terms).fetchall())
        return [
            (name, successor or None, instant(moment), None if shown is None else instant(shown))
            for name, successor, moment, shown in rows
        ]

    def count(
        self,
        now: datetime,
        rule: "DecayRule",
        *,
        personal_rule: "DecayRule | None" = None,
        learnings_bytes: int = 0,
    ) -> "Statistics":
        """Count everything."""
        # Hooks count nothing.
        from grove_core.stats_cache import counting

        connection = self._database.open()
        _compare_refusals(connection)
        return counting.count(
            connection,
            now,
            rule,
            personal_rule=personal_rule,
            since=self._since,
            learnings_bytes=learnings_bytes,
            complete=self.complete,
        )

    @property
    def stamp(self) -> str:
        """What was said of the learnings when they were last put in; empty for never."""
        find = "SELECT value FROM fact WHERE name = ?"
        row = self._ask(lambda connection: connection.execute(find, (_STAMP,)).fetchone())
        return row[0] if row else ""

    def put_learnings(self, records: "Iterable[LearningRecord]", stamp: str) -> None:
        """Put in the stored learnings, in the place of those before."""
        rows = [_row_of(one) for one in records]
        self._ask(lambda connection: _put(connection, rows, stamp))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _ask(self, question: "Callable[[sqlite3.Connection], T]") -> "T":
        """Ask for what a refresh has not looked at; should that be damaged, all is made anew."""
        try:
            return question(self._database.open())
        except sqlite3.DatabaseError as error:
            self.renew(error)
            return question(self._database.open())


def _compare_refusals(connection: sqlite3.Connection) -> None:
    """Keep what came of new refusals, so that they need not be compared each time."""
    from grove_core.stats_cache.misses import any_is_new, remember_misses

    if any_is_new(connection):
        # Where another process is adding something, they are compared the next time once more.
        with suppress(sqlite3.OperationalError), transaction(connection):
            remember_misses(connection)


def _put(
    connection: sqlite3.Connection, rows: "Sequence[tuple[int | str, ...]]", stamp: str
) -> None:
    with transaction(connection):
        if rows != connection.execute(_GET).fetchall():
            connection.execute("DELETE FROM catalogue")
            connection.executemany(_PUT, rows)
            database.join_anew(connection)
        connection.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (_STAMP, stamp))


def _row_of(one: "LearningRecord") -> tuple[int | str, ...]:
    return (
        key_of(one.learning_id),
        one.learning_id,
        storable(one.summary),
        one.category,
        one.scope,
        one.status,
        one.confidence,
        " ".join(one.criteria),
        " ".join(one.tags),
        microseconds(one.created),
        one.session_id,
        one.ticket_id or "",
        one.backend,
    )
