"""The index of a project's learnings: brought up to date, asked, and made anew when broken."""

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from grove_core.derived_database import IN_MEMORY, DerivedDatabase, is_busy
from grove_core.learning_index import finding, tables
from grove_core.learning_index.updating import NO_PROGRESS, Progress, Update, progress_of
from grove_core.retrieval.entry import Entry, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeVar

    from grove_core.retrieval.query_terms import QueryTerms

    T = TypeVar("T")

PATIENCE_SECONDS = 3.0
MOST_NEWEST = 50
"""How many learnings are looked at where nothing is known of the work."""

_NEWEST = f"""
SELECT {tables.STORED_COLUMNS} FROM learning
WHERE number > 0 AND personal <= ? AND {tables.NOT_PUT_AWAY} ORDER BY created DESC, id
"""
_OLDER = f"""
SELECT DISTINCT id, created FROM learning
WHERE number > 0 AND personal = ? AND created < ? AND {tables.NOT_PUT_AWAY} ORDER BY created
"""
_NOTED_FILES = f"""
SELECT DISTINCT path, id FROM noted_file JOIN learning USING (number)
WHERE {tables.NOT_PUT_AWAY} ORDER BY path, id
"""
# The last one of an id counts: of the first source, but before it what a source has put away.
_COUNTING_LAST = "number > 0 DESC, source DESC"


class LearningIndex:
    """The index of one project."""

    def __init__(
        self,
        path: str,
        *,
        patience: float = PATIENCE_SECONDS,
        fill: "Callable[[LearningIndex], object] | None" = None,
    ) -> None:
        """Open nothing yet."""
        self._database = DerivedDatabase(
            path, schema=tables.schema(), version=tables.schema_version(), patience=patience
        )
        self._fill = fill

    @property
    def path(self) -> str:
        """The file; ``IN_MEMORY`` when nothing is kept, or nothing can be."""
        return self._database.path

    @property
    def stamp(self) -> str:
        """How the learnings' files looked when all of them had been put in; empty for never."""
        find = "SELECT value FROM fact WHERE name = ?"

        def question(connection: sqlite3.Connection) -> str:
            row = connection.execute(find, (tables.STAMP,)).fetchone()
            return row[0] if row else ""

        return self._attempt(question, "")

    def set_stamp(self, stamp: str) -> None:
        """Say that everything has been put in; what cannot be said now is said the next time."""
        put = "INSERT OR REPLACE INTO fact VALUES (?, ?)"
        with suppress(sqlite3.Error):
            self._database.open().execute(put, (tables.STAMP, stamp))

    def progress(self, source: str) -> Progress:
        """Return how far the index has come with a source."""
        return self._attempt(lambda connection: progress_of(connection, source), NO_PROGRESS)

    def put(
        self,
        source: str,
        entries: "Iterable[Entry]",
        mark: str,
        *,
        whole: bool,
        since: Progress | None = None,
        until: float | None = None,
    ) -> bool:
        """Put in the learnings of a source."""
        known = self.progress(source) if since is None else since
        wanted = {one.id: (one, tables.digest_of(one)) for one in entries}

        def work(connection: sqlite3.Connection) -> bool:
            return Update(connection, source, known, wanted, whole=whole).run(mark, until)

        try:
            return work(self._database.open())
        except sqlite3.Error as error:
            if until is None or not is_busy(error):
                self._database.mend(error)
            return False

    def forget_others(self, sources: "Iterable[str]", until: float | None = None) -> bool:
        """Take out the learnings of sources that there are no more."""
        known: list[str] = self._attempt(tables.sources, [])
        gone = sorted(set(known).difference(sources))
        # Another process may have begun with the same source anew.
        forget = (
            "DELETE FROM source WHERE name = ? AND NOT EXISTS"
            " (SELECT 1 FROM learning WHERE learning.source = source.source)"
        )
        complete = True
        for name in gone:
            complete = self.put(name, (), "", whole=True, until=until) and complete
            with suppress(sqlite3.Error):
                self._database.open().execute(forget, (name,))
        return complete

    def find(
        self,
        query: "QueryTerms",
        *,
        most: int = finding.MOST_CANDIDATES,
        all_statuses: bool = False,
        admits: "Callable[[Entry], bool] | None" = None,
    ) -> list[Found]:
        """Find the learnings that have something in common with what is looked for."""
        search = finding.Search(query, most, all_statuses=all_statuses, admits=admits)
        return self._ask(lambda connection: finding.find(connection, search))

    def entries(self) -> list[Entry]:
        """List all learnings of any status, each once."""
        select = f"SELECT {tables.STORED_COLUMNS} FROM learning ORDER BY {_COUNTING_LAST}, created"
        return self._ask(lambda connection: list(_unique(connection.execute(select)).values()))

    def newest(self, most: int = MOST_NEWEST, *, personal: bool = True) -> list[Entry]:
        """List the newest learnings that may be shown."""

        def question(connection: sqlite3.Connection) -> list[Entry]:
            found: dict[str, Entry] = {}
            for row in connection.execute(_NEWEST, (personal,)):
                if len(found) >= most:
                    break
                found.setdefault(row[0], tables.entry_of(row))
            return list(found.values())

        return self._ask(question)

    def written_before(self, moment: int, *, personal: bool) -> list[tuple[str, int]]:
        """List the learnings that may be shown and are older than a moment."""
        return self._ask(
            lambda connection: connection.execute(_OLDER, (personal, moment)).fetchall()
        )

    def get(self, learning_id: str) -> Entry | None:
        """Fetch a learning of any status."""
        columns = tables.STORED_COLUMNS
        select = f"SELECT {columns} FROM learning WHERE id = ? ORDER BY {_COUNTING_LAST}"
        return self._ask(
            lambda connection: _unique(connection.execute(select, (learning_id,))).get(learning_id)
        )

    def noted_files(self) -> list[tuple[str, str]]:
        """List the files that a pitfall or convention which may be shown names."""
        return self._ask(lambda connection: connection.execute(_NOTED_FILES).fetchall())

    def __len__(self) -> int:
        """Return how many learnings of any status are in."""
        count = "SELECT documents FROM total WHERE own = 0"
        return self._ask(lambda connection: int(connection.execute(count).fetchone()[0]))

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _ask(self, question: "Callable[[sqlite3.Connection], T]") -> "T":
        """Ask; should the file be damaged, it is made anew and filled."""
        while True:
            try:
                return question(self._database.open())
            except sqlite3.Error as error:
                self._database.mend(error)
            if self._fill is not None:
                self._fill(self)

    def _attempt(self, question: "Callable[[sqlite3.Connection], T]", empty: "T") -> "T":
        """Ask; should the file be damaged, it is made anew, and the answer is of an empty one."""
        try:
            return question(self._database.open())
        except sqlite3.Error as error:
            self._database.mend(error)
            return empty


def _unique(rows: "Iterable[Sequence[object]]") -> dict[str, Entry]:
    """Read learnings; of several with one id the last stays, in the place of the first."""
    entries = map(tables.entry_of, rows)
    return {one.id: one for one in entries}


__all__ = ["IN_MEMORY", "LearningIndex"]
