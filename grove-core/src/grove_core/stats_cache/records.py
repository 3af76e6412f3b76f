"""The learnings in the cache, each with how it has fared."""

from collections.abc import Sequence

from grove_core.model.statistics import LearningRecord, LearningStats
from grove_core.stats.log_lines import instant

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

_USAGE = (
    "learning.name, surfaced, referenced, dismissed, corrected, last_surfaced, last_referenced,"
    " last_restored, tickets, useful, useless"
)
RECORDS = f"""
SELECT catalogue.name, summary, category, scope, status, confidence, criteria, tags, created,
    session, ticket, backend, {_USAGE}
FROM catalogue LEFT JOIN learning USING (learning)
"""
"""Selects what ``record_of`` reads; conditions and an order may follow."""

_BY_NAME = "ORDER BY catalogue.name"


def usage(
    connection: "sqlite3.Connection", keys: Sequence[int] | None = None
) -> dict[str, LearningStats]:
    """Return how learnings have fared."""
    chosen = "" if keys is None else f"WHERE learning IN ({','.join(map(str, keys))})"
    rows = connection.execute(f"SELECT {_USAGE} FROM learning {chosen}")
    return {row[0]: _stats(row[0], row) for row in rows}


class StoredRecords(Sequence[LearningRecord]):
    """All learnings with how they have fared, read from the cache when one is first asked for."""

    def __init__(self, connection: "sqlite3.Connection") -> None:
        """Read nothing yet."""
        self._connection = connection
        self._records: tuple[LearningRecord, ...] | None = None

    def __getitem__(self, index: "Any") -> "Any":  # noqa: ANN401 - as for any sequence
        """Return a learning, or a slice of them."""
        return self._read()[index]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._read())

    def _read(self) -> tuple[LearningRecord, ...]:
        if self._records is None:
            rows = self._connection.execute(RECORDS + _BY_NAME)
            self._records = tuple(map(record_of, rows))
        return self._records


def record_of(row: "Sequence[Any]") -> LearningRecord:
    """Read a row of ``RECORDS``."""
    name, summary, category, scope, status, confidence = row[:6]
    criteria, tags, created, session, ticket, backend = row[6:12]
    return LearningRecord(
        name,
        summary,
        category,
        scope,
        status,
        confidence,
        tuple(criteria.split()),
        tuple(tags.split()),
        instant(created),
        session,
        ticket or None,
        backend,
        _stats(name, row[12:]) if row[12] is not None else LearningStats(name),
    )


def _stats(name: str, row: Sequence[int | None]) -> LearningStats:
    surfaced, referenced, restored = (
        None if moment is None else instant(moment) for moment in row[5:8]
    )
    counts = [number or 0 for number in (*row[1:5], *row[8:11])]
    return LearningStats(
        name,
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        surfaced,
        referenced,
        restored,
        counts[4],
        counts[5],
        counts[6],
    )
