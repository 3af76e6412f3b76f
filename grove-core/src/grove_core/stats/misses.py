"""Refusals of the write gate whose topic another session wrote down later after all."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from grove_core.similarity import Topic, topic_of
from grove_core.storage.cache import transaction

MOST_REFUSALS: Final = 300
"""How many of the latest refusals are compared: enough to see whether the gate is too strict."""

_MOST_COMPARED: Final = 2000
_LATEST_REFUSALS: Final = """
SELECT rejected.rejected, moment, session, summary, tags, miss.rejected IS NULL, name, accepted
FROM rejected LEFT JOIN miss USING (rejected)
    LEFT JOIN (SELECT learning, name FROM catalogue) USING (learning)
ORDER BY moment DESC, summary, session, tags LIMIT ?
"""
_LATER: Final = """
SELECT name, created, session, summary, tags FROM catalogue WHERE created > ?
ORDER BY created, name
"""
_REMEMBER: Final = """
INSERT OR REPLACE INTO miss VALUES (?1, (SELECT learning FROM catalogue WHERE name = ?2), ?3)
"""


class Miss(NamedTuple):
    """A refusal, and the learning about the same topic if another session wrote one later."""

    rejected: int
    moment: int
    summary: str
    learning_id: str | None
    accepted: int


def find_misses(connection: sqlite3.Connection) -> list[Miss]:
    """Find refusals whose topic another session wrote down later; compare each refusal once."""
    rows = connection.execute(_LATEST_REFUSALS, (MOST_REFUSALS,)).fetchall()
    later = _Later(connection, [row[1] for row in rows if row[5]])
    misses, new = [], []
    for rejected, moment, session, summary, tags, is_new, name, accepted in rows:
        miss = Miss(rejected, moment, summary, name, accepted)
        if is_new:
            found = later.find(topic_of(summary, tags.split()), moment, session)
            miss = Miss(rejected, moment, summary, *found)
            new.append((rejected, *found))
        misses.append(miss)
    # Where another process is adding something, they are compared the next time once more.
    if new:
        with suppress(sqlite3.OperationalError), transaction(connection):
            connection.executemany(_REMEMBER, new)
    return misses


class _Later:
    """The learnings that are newer than the oldest of some refusals, found by their words."""

    def __init__(self, connection: sqlite3.Connection, moments: Sequence[int]) -> None:
        self._learnings: list[tuple[str, int, str, Topic]] = []
        self._by_word: dict[str, list[int]] = {}
        rows = connection.execute(_LATER, (min(moments),)) if moments else ()
        for place, (name, created, session, summary, tags) in enumerate(rows):
            topic = topic_of(summary, tags.split())
            self._learnings.append((name, created, session, topic))
            for word in topic.words:
                self._by_word.setdefault(word, []).append(place)

    def find(self, topic: Topic, moment: int, session: str) -> tuple[str | None, int]:
        """Find the first learning about a topic that another session wrote after a moment."""
        for place in self._places(topic):
            name, created, writer, other = self._learnings[place]
            if created > moment and writer != session and topic.is_same(other):
                return name, created
        return None, 0

    def _places(self, topic: Topic) -> Iterator[int]:
        """List which learnings may be about it: two words are common at least."""
        known = [self._by_word[word] for word in topic.words if word in self._by_word]
        rarest_first = sorted(known, key=len)[: max(1, len(topic.words) - 1)]
        yield from sorted({place for places in rarest_first for place in places})[:_MOST_COMPARED]
