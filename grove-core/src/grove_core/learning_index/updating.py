"""Putting the learnings of a source into the index, a portion at a time."""

import time
from typing import TYPE_CHECKING, NamedTuple

from grove_core.derived_database import transaction
from grove_core.learning_index import tables
from grove_core.learning_index.additions import Additions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from grove_core.retrieval.entry import Entry

# Between two looks at the clock, and at most lost when the process is killed.
_AT_ONCE = 100


class Progress(NamedTuple):
    """How far the index has come with a source."""

    mark: str
    updates: int


NO_PROGRESS = Progress("", 0)


def progress_of(connection: "sqlite3.Connection", source: str) -> Progress:
    """Return how far the index has come with a source."""
    find = "SELECT mark, updates FROM source WHERE name = ?"
    row = connection.execute(find, (source,)).fetchone()
    return NO_PROGRESS if row is None else Progress(row[0].decode("utf-8", "surrogatepass"), row[1])


class Update:
    """Putting in the learnings of one source."""

    def __init__(
        self,
        connection: "sqlite3.Connection",
        source: str,
        since: Progress,
        wanted: "Mapping[str, tuple[Entry, int]]",
        *,
        whole: bool,
    ) -> None:
        """Prepare; see ``LearningIndex.put``."""
        self._connection = connection
        self._name = source
        self._since = since
        self._wanted = wanted
        self._whole = whole

    def run(self, mark: str, until: float | None) -> bool:
        """Put them in."""
        missing, surplus = self._differences()
        # The newest first: should the time be over, they are what a session wants most.
        missing.sort(key=lambda one: -self._wanted[one][0].created)
        while missing or surplus:
            if until is not None and time.thread_time() > until:
                return False
            if not self._change(missing[:_AT_ONCE], surplus[:_AT_ONCE]):
                return False
            del missing[:_AT_ONCE], surplus[:_AT_ONCE]
        return self._finish(mark)

    def _differences(self) -> tuple[list[str], list[str]]:
        known = dict(self._known())
        missing = [one for one, (_, digest) in self._wanted.items() if known.get(one) != digest]
        surplus = [one for one in known if one not in self._wanted] if self._whole else []
        return missing, surplus

    def _known(self) -> "Iterator[tuple[str, int]]":
        select = "SELECT id, digest FROM learning JOIN source USING (source) WHERE name = ?"
        if self._whole:
            yield from self._connection.execute(select, (self._name,))
            return
        for some in tables.portions(list(self._wanted)):
            chosen = f"{select} AND id IN ({','.join('?' * len(some))})"
            yield from self._connection.execute(chosen, (self._name, *some))

    def _change(self, missing: "Sequence[str]", surplus: "Sequence[str]") -> bool:
        """Put in some and take out some, unless another process has put in all meanwhile."""
        with transaction(self._connection):
            if not self._is_up_to_date():
                return False
            additions = Additions(self._connection, self._number())
            for one in surplus:
                additions.remove(one)
            for one in missing:
                additions.remove(one)
                additions.add(*self._wanted[one])
            additions.settle()
            self._connection.execute("DELETE FROM fact WHERE name = ?", (tables.STAMP,))
        return True

    def _finish(self, mark: str) -> bool:
        with transaction(self._connection):
            # Another process that read the learnings earlier may have put something in between.
            if not self._is_up_to_date() or any(self._differences()):
                return False
            say = "UPDATE source SET mark = ?, updates = updates + 1 WHERE source = ?"
            stored = mark.encode("utf-8", "surrogatepass")
            self._connection.execute(say, (stored, self._number()))
        return True

    def _is_up_to_date(self) -> bool:
        return progress_of(self._connection, self._name) == self._since

    def _number(self) -> int:
        find = "SELECT source FROM source WHERE name = ?"
        row = self._connection.execute(find, (self._name,)).fetchone()
        if row is not None:
            return int(row[0])
        add = "INSERT INTO source (name, mark, updates) VALUES (?, x'', 0)"
        return self._connection.execute(add, (self._name,)).lastrowid or 0
