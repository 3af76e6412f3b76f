"""Which learnings to ask a person about: those whose rating would teach most."""

from collections.abc import Iterable
from datetime import date
from hashlib import sha256
from math import log2
from typing import Final

from grove_core.model.usage import LearningStats, Share

_EXPLORED: Final = 4
"""One place in so many goes to any learning at all, so that none is passed over for ever."""
_JITTER: Final = 0.25


def sample(learnings: Iterable[LearningStats], limit: int, day: date) -> tuple[LearningStats, ...]:
    """Choose learnings to be rated: the same all day long, and others on other days."""
    known = sorted(learnings, key=lambda one: one.learning_id)
    by_worth = sorted(known, key=lambda one: -worth_of_rating(one) * _jitter(one, day))
    explored = min((limit + day.toordinal() % _EXPLORED) // _EXPLORED, limit)
    chosen = by_worth[: limit - explored]
    rest = by_worth[limit - explored :]
    chosen += sorted(rest, key=lambda one: _chance(one, day, "explored"))[:explored]
    return tuple(chosen)


def worth_of_rating(stats: LearningStats) -> float:
    """Return how much one more rating of a learning would teach."""
    rated = stats.rated_useful
    observed = Share(stats.hits.count + rated.count, stats.hits.total + rated.total)
    low, high = observed.interval or (0.0, 1.0)
    return (high - low) * log2(2 + stats.surfaced) / (1 + rated.total) ** 2


def _jitter(stats: LearningStats, day: date) -> float:
    """Change places among learnings of much the same worth."""
    return 1 - _JITTER + 2 * _JITTER * _chance(stats, day, "worth")


def _chance(stats: LearningStats, day: date, purpose: str) -> float:
    """Return a number of 0 to 1 that looks like chance and is the same all day."""
    text = f"{purpose} {day.isoformat()} {stats.learning_id}"
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
