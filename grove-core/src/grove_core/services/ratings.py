"""Rating learnings: which to ask about, what was answered, and keeping it in the event logs."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from grove_core.errors import GroveError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Rated
from grove_core.model.learning import Category, LearningStatus
from grove_core.model.usage import LearningStats
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.reflection.candidates import kind_of
from grove_core.reflection.submission import (
    SUBMISSION_BYTES_MAX,
    Rating,
    RatingsRead,
    read_each_rating,
)
from grove_core.stats.sampling import sample

RATINGS_FORMAT: Final = '{"ratings": [{"id": "cl_…", "useful": true}]}'


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


def read_ratings(data: bytes) -> RatingsRead:
    """Read ratings sent as JSON."""
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
    areas = _areas_of(project, [one.learning_id for one in ratings])
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


def _areas_of(project: Project, ids: Sequence[str]) -> Mapping[str, Area]:
    """Find whose learnings these are; what no backend has is left out."""
    wanted = set(ids)
    listed = project.library.iterate() if wanted else ()
    areas = {one.hit.learning.id: one.area for one in listed if one.hit.learning.id in wanted}
    for learning_id in wanted - set(areas):
        found = project.library.get(learning_id)
        if found is not None:
            areas[learning_id] = found.area
    return areas
