"""Since when a learning has been archived or superseded."""

from collections.abc import Iterable
from datetime import datetime

from attrs import frozen

from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import LearningStatus
from grove_core.model.value import Value
from grove_core.text import clean_line

_LONGEST = 300


@frozen(kw_only=True, eq=False, repr=False)
class Standing(Value):
    """What has become of a learning, and when."""

    status: str
    events: tuple[StatsEvent, ...] = ()

    @classmethod
    def of(cls, learning_id: str, status: str, events: Iterable[StatsEvent]) -> "Standing":
        """Pick what the log says of one learning."""
        own = (one for one in events if getattr(one, "learning_id", "") == learning_id)
        return cls(status=status, events=tuple(own))

    @property
    def is_active(self) -> bool:
        """Whether it may be shown now."""
        return self.status == LearningStatus.ACTIVE.value

    def objection(self, at: datetime) -> str:
        """Say why it could not be shown at some moment."""
        turns = [one for one in self.events if isinstance(one, Archived | Restored | Corrected)]
        # What decays at a start decays after learnings were considered, in the same second.
        past = [one for one in turns if one.ts < at]
        if past and isinstance(past[-1], Archived):
            return _since("archived", past[-1].ts, past[-1].reason)
        if self.is_active:
            return ""
        if self.status == LearningStatus.SUPERSEDED.value:
            corrections = [one for one in turns if isinstance(one, Corrected)]
            final = [one for one in corrections if one.superseded_by] or corrections[-1:]
            if final and final[0].ts >= at:
                return ""
            if final:
                why = final[0].superseded_by or final[0].why or ""
                return _since("superseded", final[0].ts, why)
        elif any(isinstance(one, Archived) and one.ts >= at for one in turns):
            return ""
        return f"it is {self.status}; no event says since when"


def _since(what: str, ts: datetime, why: str) -> str:
    detail = f": {clean_line(why, _LONGEST)}" if why else ""
    return f"it has been {what} since {ts:%Y-%m-%d %H:%M:%S} UTC{detail}"
