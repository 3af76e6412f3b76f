"""Rating learnings: which to ask about, what was answered, and keeping it in the event logs."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from hashlib import sha256
from math import log2
from typing import Final

from grove_core.errors import GroveError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Rated
from grove_core.model.learning import Category, LearningStatus
from grove_core.model.usage import LearningStats, Share
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.reflection.candidates import kind_of
from grove_core.reflection.submission import (
    SUBMISSION_BYTES_MAX,
    Rating,
    read_each_rating,
)

RATINGS_FORMAT: Final = '{"ratings": [{"id": "cl_…", "useful": true}]}'
_EXPLORED: Final = 4
"""One place in so many goes to any learning at all, so that none is passed over for ever."""
_JITTER: Final = 0.25


@frozen(kw_only=True)
class Question:
    """A learning that somebody is asked about."""

    found: FoundLearning
    stats: LearningStats


@frozen(kw_only=True)
class RatingOutcome:
    """Which ratings count, and the ids that name no learning."""

    counted: Sequence[Rating]
    unknown: Sequence[str]


def choose_questions(
    project: Project, limit: int, categories: Collection[Category] = ()
) -> tuple[Sequence[Question], int]:
    """Choose learnings to be rated; the second result says of how many."""
    usage = project.usage()
    found = {
        one.hit.learning.id: one
        for one in project.library.iterate()
        if one.hit.learning.status is LearningStatus.ACTIVE
        and (not categories or one.hit.learning.category in categories)
    }
    fared = [usage.get(learning_id) or LearningStats(learning_id) for learning_id in found]
    chosen = sample(fared, limit, project.now.date())
    return [Question(found=found[one.learning_id], stats=one) for one in chosen], len(found)


def read_ratings(data: bytes) -> tuple[list[Rating], list[str]]:
    """Read ratings sent as JSON; the second result says which do not count."""
    if len(data) > SUBMISSION_BYTES_MAX:
        raise GroveError(f"the ratings are longer than {SUBMISSION_BYTES_MAX} bytes; send fewer")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        reason = f"the ratings are not valid JSON: {error}"
        raise GroveError(f"{reason}; send {RATINGS_FORMAT}") from error
    entries = value.get("ratings") if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise GroveError(f"{kind_of(entries)}, not an array of ratings; send {RATINGS_FORMAT}")
    return read_each_rating(entries)


def keep_ratings(project: Project, ratings: Sequence[Rating]) -> RatingOutcome:
    """Write ratings into the log of the project, or of the user for personal learnings."""
    areas: dict[str, Area] = {}
    for one in ratings:
        if (found := project.library.get(one.learning_id)) is not None:
            areas[one.learning_id] = found.area
    known = [one for one in ratings if one.learning_id in areas]
    for area in Area:
        events = [
            Rated(ts=project.now, learning_id=one.learning_id, useful=one.useful)
            for one in known
            if areas[one.learning_id] is area
        ]
        if events and area is Area.PROJECT and not project.files.initialised:
            raise StorageError(f"{project.root} has no .grove to keep ratings in: grove init")
        if events:
            project.append_events(events, personal=area is Area.PERSONAL)
    unknown = [one.learning_id for one in ratings if one.learning_id not in areas]
    return RatingOutcome(counted=known, unknown=unknown)


# --- which to ask about ---------------------------------------------------------------------------


def sample(learnings: Iterable[LearningStats], limit: int, day: date) -> tuple[LearningStats, ...]:
    """Choose learnings to be rated: the same all day long, and others on other days."""
    known = sorted(learnings, key=lambda one: one.learning_id)

    def worth(one: LearningStats) -> float:
        # Learnings of much the same worth change places from day to day.
        jitter = 1 - _JITTER + 2 * _JITTER * _chance(one, day, "worth")
        return worth_of_rating(one) * jitter

    by_worth = sorted(known, key=worth, reverse=True)
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


def _chance(stats: LearningStats, day: date, purpose: str) -> float:
    """Return a number of 0 to 1 that looks like chance and is the same all day."""
    text = f"{purpose} {day.isoformat()} {stats.learning_id}"
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
