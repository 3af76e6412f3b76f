"""Candidates that the write gate refused and that another session wrote later after all."""

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from grove_core.similarity import Topic

MOST_REFUSALS = 300
"""How many of the latest refusals are compared: enough to see whether the gate is too strict."""

_MOST_COMPARED = 2000
_LATEST = """
SELECT rejected.rejected, moment, session, summary, tags, miss.rejected IS NULL, name, accepted
FROM rejected LEFT JOIN miss USING (rejected)
    LEFT JOIN (SELECT learning, name FROM catalogue) USING (learning)
ORDER BY moment DESC, summary, session, tags LIMIT ?
"""
_LATER = """
SELECT name, created, session, summary, tags FROM catalogue WHERE created > ?
ORDER BY created, name
"""
_REMEMBER = """
INSERT OR REPLACE INTO miss VALUES (?1, (SELECT learning FROM catalogue WHERE name = ?2), ?3)
"""


class Miss:
    """A refusal, and the learning about the same topic if another session wrote one later."""

    __slots__ = ("accepted", "is_new", "learning_id", "moment", "rejected", "summary")

    def __init__(self, rejected: int, moment: int, summary: str, *, is_new: bool) -> None:
        """Begin with the refusal."""
        self.is_new = is_new
        self.rejected = rejected
        self.moment = moment
        self.summary = summary
        self.learning_id: str | None = None
        self.accepted = 0


def find_misses(connection: "sqlite3.Connection") -> "Sequence[Miss]":
    """Find refusals whose topic another session wrote down later."""
    rows = connection.execute(_LATEST, (MOST_REFUSALS,)).fetchall()
    later = _Later(connection, [row[1] for row in rows if row[5]])
    compared = []
    for rejected, moment, session, summary, tags, is_new, name, accepted in rows:
        miss = Miss(rejected, moment, summary, is_new=is_new)
        if is_new:
            name, accepted = later.find(summary, tags, moment, session)  # noqa: PLW2901
        miss.learning_id, miss.accepted = name, accepted
        compared.append(miss)
    return compared


def any_is_new(connection: "sqlite3.Connection") -> bool:
    """Return whether there are refusals that were not compared yet."""
    return any(row[5] for row in connection.execute(_LATEST, (MOST_REFUSALS,)))


def remember_misses(connection: "sqlite3.Connection") -> None:
    """Compare the refusals that were not compared yet, and keep the result."""
    new = (one for one in find_misses(connection) if one.is_new)
    rows = ((one.rejected, one.learning_id, one.accepted) for one in new)
    connection.executemany(_REMEMBER, rows)


class _Later:
    """The learnings that are newer than the oldest of some refusals, found by their words."""

    def __init__(self, connection: "sqlite3.Connection", moments: "Sequence[int]") -> None:
        self._learnings: list[tuple[str, int, str, Topic]] = []
        self._by_word: dict[str, list[int]] = {}
        if not moments:
            return
        rows = connection.execute(_LATER, (min(moments),))
        for place, (name, created, session, summary, tags) in enumerate(rows):
            topic = self._topic(summary, tags)
            self._learnings.append((name, created, session, topic))
            for word in topic.words:
                self._by_word.setdefault(word, []).append(place)

    @staticmethod
    def _topic(summary: str, tags: str) -> "Topic":
        from grove_core.similarity import topic_of

        return topic_of(summary, tags.split())

    def find(self, summary: str, tags: str, moment: int, session: str) -> "tuple[str | None, int]":
        """Find the first learning about a topic that another session wrote after a moment."""
        topic = self._topic(summary, tags)
        for place in self._places(topic):
            name, created, writer, other = self._learnings[place]
            if created > moment and writer != session and topic.is_same(other):
                return name, created
        return None, 0

    def _places(self, topic: "Topic") -> "Sequence[int]":
        """Return which learnings may be about it: two words are common at least."""
        known = [self._by_word[word] for word in topic.words if word in self._by_word]
        rarest_first = sorted(known, key=len)[: max(1, len(topic.words) - 1)]
        return sorted({place for places in rarest_first for place in places})[:_MOST_COMPARED]
