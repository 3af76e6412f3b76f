"""Which of two changes of a learning's status counts."""

from datetime import datetime
from typing import Final

from attrs import frozen

from grove_core import LearningStatus

_ACTIVE, _ARCHIVED, _SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
_FINALITY: Final = {_ACTIVE: 0, _ARCHIVED: 1, _SUPERSEDED: 2}


@frozen(kw_only=True)
class StatusChange:
    """A change of a learning's status, as somebody made it who may not have known of others.

    Attributes:
        status: The new status.
        at: When it was made.
        was: The status as it was known there.
        note: Why, in a few words for people.
    """

    status: LearningStatus
    at: datetime
    was: LearningStatus
    note: str = ""


def counts(change: StatusChange, stored: LearningStatus, stored_at: datetime | None) -> bool:
    """Tell whether a change counts, in whatever order changes arrive.

    The later one does. Besides, who archives a learning, since it was of no use for long, does not
    know better than who has written the one that supersedes it.

    Args:
        change: The change.
        stored: The status that the learning has.
        stored_at: When that was set; ``None`` where it is as it was written.

    Returns:
        Whether the learning takes the new status.
    """
    if stored is _SUPERSEDED and _SUPERSEDED not in (change.status, change.was):
        return False
    if stored_at is None or (stored is _ARCHIVED and change.status is _SUPERSEDED):
        return True
    return (change.at, _FINALITY[change.status]) >= (stored_at, _FINALITY[stored])
