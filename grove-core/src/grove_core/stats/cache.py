"""What a project's event logs add up to, in its cache."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from grove_core.model.learning import LearningStats
from grove_core.stats.fold import fold
from grove_core.stats.lines import instant, microseconds
from grove_core.storage.cache import Cache, CachedPart, places, portions
from grove_core.storage.files import is_readable
from grove_core.text import key_of

USAGE: Final = (
    "usage.name, surfaced, referenced, dismissed, corrected, last_surfaced, last_referenced,"
    " last_restored, tickets, useful, useless"
)
_CORRECTIONS: Final = """
SELECT name, successor, moment, own, (
    SELECT max(own_surfaced) FROM use
    WHERE use.learning = correction.learning AND own_surfaced <= correction.moment
)
FROM correction JOIN usage USING (learning) WHERE moment >= ? ORDER BY moment, name, successor
"""


class Correction(NamedTuple):
    """A learning that was found to be wrong."""

    learning_id: str
    superseded_by: str | None
    corrected_at: datetime
    last_surfaced_before: datetime | None
    is_own: bool
    """Whether it was logged on this machine."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others of a session."""
        return self.learning_id, self.superseded_by or ""


class Numbers(CachedPart):
    """The event logs of one project, counted."""

    def __init__(
        self,
        cache: Cache,
        logs: Sequence[str],
        *,
        personal: str = "",
        foreign: Collection[str] = (),
        since: datetime | None = None,
        until: float | None = None,
    ) -> None:
        """Open nothing yet; in the personal log only learnings count, others wrote the foreign."""
        super().__init__(cache)
        self._logs = [log for log in logs if is_readable(log)]
        self._personal, self._foreign = personal, foreign
        self._since = since
        self.until = until
        self._complete = False

    def fill(self) -> None:
        """Add what the logs hold by now."""
        since = None if self._since is None else microseconds(self._since)
        connection = self.cache.open()
        try:
            self._complete = fold(
                connection,
                self._logs,
                personal=self._personal,
                foreign=self._foreign,
                since=since,
                until=self.until,
            )
        except OSError:
            self._complete = False  # a log that is there and cannot be read

    def after(self, since: datetime) -> "Numbers":
        """Count in memory what happened from a moment on."""
        return Numbers(Cache(), self._logs, personal=self._personal, since=since, until=self.until)

    @property
    def complete(self) -> bool:
        """Whether everything was read; a hook may have run out of time."""
        self.ask(lambda _: None)
        return self._complete

    def usage(self, learning_ids: Iterable[str] | None = None) -> dict[str, LearningStats]:
        """Return how learnings have fared; what others wrote of them stands apart."""
        usage = self._usage("usage", learning_ids)
        if not self._foreign:
            return usage
        own = self._usage("own_usage", usage)
        return {
            name: stats._replace(own=own.get(name, LearningStats(name)))
            for name, stats in usage.items()
        }

    def _usage(self, table: str, learning_ids: Iterable[str] | None) -> dict[str, LearningStats]:
        wanted: Sequence[Sequence[int]] = [()]
        if learning_ids is not None:
            wanted = list(portions([key_of(one) for one in learning_ids]))

        def question(connection: sqlite3.Connection) -> list[Sequence[Any]]:
            found: list[Sequence[Any]] = []
            for some in wanted:
                chosen = f" WHERE learning IN ({places(some)})" if some else ""
                found += connection.execute(f"SELECT {USAGE} FROM {table} AS usage{chosen}", some)
            return found

        rows = self.ask(question)
        return {row[0]: stats_of(row[0], row) for row in rows}

    def corrections(self, since: datetime) -> list[Correction]:
        """Find what was corrected lately."""
        terms = (microseconds(since),)
        rows = self.ask(lambda connection: connection.execute(_CORRECTIONS, terms).fetchall())
        return [
            Correction(name, successor or None, instant(moment), instant_or_none(shown), bool(own))
            for name, successor, moment, own, shown in rows
        ]


def stats_of(name: str, row: Sequence[Any]) -> LearningStats:
    """Read the columns ``USAGE`` of a row."""
    return LearningStats(name, *row[1:5], *map(instant_or_none, row[5:8]), *row[8:11])


def instant_or_none(moment: int | None) -> datetime | None:
    """Return the instant of a number, if there is one."""
    return None if moment is None else instant(moment)
