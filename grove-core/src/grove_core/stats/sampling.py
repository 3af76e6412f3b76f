"""Which learnings to ask a person about: those whose rating would teach most."""

from collections.abc import Iterable
from datetime import date
from hashlib import sha256
from math import log2
from typing import Final

from grove_core.model.statistics import LearningStats, Share

_EXPLORED: Final = 4
"""One place in so many goes to any learning at all, so that none is passed over for ever."""
_JITTER: Final = 0.25


def sample(learnings: Iterable[LearningStats], limit: int, day: date) -> tuple[LearningStats, ...]:
    """Choose learnings to be rated: the same all day long, and others on other days.

    Args:
        learnings: How the learnings that may be asked about have fared.
        limit: The most to choose.
        day: The day, which stands for chance.

    Returns:
        The chosen ones, those first whose rating would teach most.
    """
    known = sorted(learnings, key=lambda one: one.learning_id)
    by_worth = sorted(known, key=lambda one: -worth_of_rating(one) * _jitter(one, day))
    explored = min((limit + day.toordinal() % _EXPLORED) // _EXPLORED, limit)
    chosen = by_worth[: limit - explored]
    rest = by_worth[limit - explored :]
    chosen += sorted(rest, key=lambda one: _chance(one, day, "explored"))[:explored]
    return tuple(chosen)


def worth_of_rating(stats: LearningStats) -> float:
    """Tell how much one more rating of a learning would teach.

    It teaches the more, the less is known of how useful the learning is, which is the width of the
    interval that its hit rate and its ratings leave; the more often the learning is shown; and the
    fewer ratings it has.

    Args:
        stats: How the learning has fared.

    Returns:
        A number above 0, to compare with others.
    """
    rated = stats.rated_useful
    observed = Share(stats.hits.count + rated.count, stats.hits.total + rated.total)
    low, high = observed.interval or (0.0, 1.0)
    return (high - low) * log2(2 + stats.surfaced) / (1 + rated.total) ** 2


def _jitter(stats: LearningStats, day: date) -> float:
    """Change places among learnings of much the same worth."""
    return 1 - _JITTER + 2 * _JITTER * _chance(stats, day, "worth")


def _chance(stats: LearningStats, day: date, purpose: str) -> float:
    """Give a number of 0 to 1 that looks like chance and is the same all day."""
    text = f"{purpose} {day.isoformat()} {stats.learning_id}"
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
