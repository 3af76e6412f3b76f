"""Candidates that the write gate refused and that another session wrote later after all."""

from grove_core.stats.topics import Topic

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

MOST_REFUSALS = 300
"""How many of the latest refusals are compared: enough to see whether the gate is too strict."""

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
    """A refusal, and the learning about the same topic if another session wrote one later.

    Attributes:
        rejected: The refusal's number in the cache.
        summary: What was refused.
        moment: When, in microseconds since 1970.
        learning_id: The learning; ``None`` without one.
        accepted: When it was written, in microseconds since 1970.
        is_new: Whether it was not compared before.
    """

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
    """Find refusals whose topic another session wrote down later.

    The same session may mend what was refused: then the gate has done its work.

    Args:
        connection: The cache, with the learnings in it.

    Returns:
        The latest refusals, the very latest first; those with a learning were missed.
    """
    rows = connection.execute(_LATEST, (MOST_REFUSALS,)).fetchall()
    later = _later(connection, [row[1] for row in rows if row[5]])
    compared = []
    for rejected, moment, session, summary, tags, is_new, name, accepted in rows:
        miss = Miss(rejected, moment, summary, is_new=is_new)
        if not is_new:
            miss.learning_id, miss.accepted = name, accepted
        else:
            topic = Topic(summary, tags.split())
            for learning, created, writer, other in later:
                if created > moment and writer != session and topic.is_same(other):
                    miss.learning_id, miss.accepted = learning, created
                    break
        compared.append(miss)
    return compared


def remember_misses(connection: "sqlite3.Connection") -> None:
    """Compare the refusals that were not compared yet, and keep the result.

    Args:
        connection: The cache, in a transaction.
    """
    new = (one for one in find_misses(connection) if one.is_new)
    rows = ((one.rejected, one.learning_id, one.accepted) for one in new)
    connection.executemany(_REMEMBER, rows)


def _later(
    connection: "sqlite3.Connection", moments: "Sequence[int]"
) -> "Sequence[tuple[str, int, str, Topic]]":
    """Take the learnings apart that are newer than any of the refusals not compared yet."""
    if not moments:
        return []
    return [
        (name, created, session, Topic(summary, tags.split()))
        for name, created, session, summary, tags in connection.execute(_LATER, (min(moments),))
    ]
