"""What a reflection or a skip left behind in a session."""

from datetime import datetime
from enum import Enum

from grove_core.model.learning import RejectedCandidate
from grove_core.model.value import Value, frozen


class SkipDecider(Enum):
    """Who decided that there was nothing to write down."""

    AGENT = "agent"
    USER = "user"
    AUTO = "auto"


@frozen(kw_only=True, eq=False, repr=False)
class SkipDecision(Value):
    """A reason for not reflecting."""

    reason: str
    decider: SkipDecider
    timestamp: datetime
    lines_changed: int | None = None


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionResult(Value):
    """What became of one submission."""

    learning_ids: tuple[str, ...]
    rejected: tuple[RejectedCandidate, ...]
    candidates_produced: int
    completed_at: datetime

    @property
    def candidates_accepted(self) -> int:
        """How many candidates were accepted."""
        return len(self.learning_ids)
