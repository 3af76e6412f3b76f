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
    """A change of a learning's status, as somebody made it who may not have known of others."""

    status: LearningStatus
    at: datetime
    was: LearningStatus
    note: str = ""


def counts(change: StatusChange, stored: LearningStatus, stored_at: datetime | None) -> bool:
    """Return whether a change counts, in whatever order changes arrive."""
    if stored is _SUPERSEDED and _SUPERSEDED not in (change.status, change.was):
        return False
    if stored_at is None or (stored is _ARCHIVED and change.status is _SUPERSEDED):
        return True
    return (change.at, _FINALITY[change.status]) >= (stored_at, _FINALITY[stored])
