"""Ratings that somebody sent: read one by one, and what cannot be used is named by its place."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from grove_core.identifiers import is_learning_id
from grove_core.model.value import Value
from grove_core.reflection.wording import kind_of


@frozen(kw_only=True, eq=False, repr=False)
class Rating(Value):
    """What somebody thinks of a learning."""

    learning_id: str
    useful: bool


@frozen(kw_only=True, eq=False, repr=False)
class RatingsRead(Value):
    """What was read of ratings that somebody sent."""

    ratings: tuple[Rating, ...] = ()
    problems: tuple[str, ...] = ()


def read_each(entries: Sequence[Any]) -> RatingsRead:
    """Read ratings."""
    problems: list[str] = []
    ratings: dict[str, Rating] = {}
    for position, entry in enumerate(entries):
        rating = _read(entry)
        if isinstance(rating, Rating):
            ratings[rating.learning_id] = rating
        else:
            problems.append(f"ratings[{position}] does not count: {rating}")
    return RatingsRead(ratings=tuple(ratings.values()), problems=tuple(problems))


def _read(entry: Any) -> Rating | str:  # noqa: ANN401 - any JSON value
    """Read one rating, or tell what is wrong with it; what is no id is not quoted."""
    if not isinstance(entry, dict):
        return f"it is {kind_of(entry)}, not an object with id and useful"
    learning_id, useful = entry.get("id"), entry.get("useful")
    if not isinstance(learning_id, str) or not is_learning_id(learning_id.strip()):
        return f"id is {kind_of(learning_id)}, not the id of a learning"
    if not isinstance(useful, bool):
        return f"useful of {learning_id.strip()} is {kind_of(useful)}, neither true nor false"
    return Rating(learning_id=learning_id.strip(), useful=useful)
