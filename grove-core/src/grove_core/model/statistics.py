"""Numbers derived from the event log."""

from collections.abc import Mapping
from datetime import datetime

from attrs import field, frozen

from grove_core.model.value import Value


@frozen(kw_only=True, eq=False, repr=False)
class LearningStats(Value):
    """How one learning has fared.

    Attributes:
        learning_id: Its id.
        surfaced: In how many sessions it was shown.
        referenced: In how many sessions it was used.
        dismissed: In how many sessions it was shown and not used.
        corrected: How often it was found wrong.
        last_surfaced: When it was last shown, UTC.
        last_referenced: When it was last used, UTC.
        referencing_tickets: Tickets whose work used it.
        useful_ratings: How often it was rated useful.
        useless_ratings: How often it was rated not useful.
    """

    learning_id: str
    surfaced: int = 0
    referenced: int = 0
    dismissed: int = 0
    corrected: int = 0
    last_surfaced: datetime | None = None
    last_referenced: datetime | None = None
    referencing_tickets: frozenset[str] = frozenset()
    useful_ratings: int = 0
    useless_ratings: int = 0

    @property
    def hit_rate(self) -> float | None:
        """Used over shown, 0 to 1; ``None`` when it was never shown."""
        return min(1.0, self.referenced / self.surfaced) if self.surfaced else None


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionStats(Value):
    """What the write gate saw.

    Attributes:
        completed: Reflections that accepted something.
        candidates: Candidates in all reflections.
        accepted: Candidates accepted.
        rejected_by_stage: Candidates refused, by stage.
        by_backend: Reflections by the backend they went to.
    """

    completed: int = 0
    candidates: int = 0
    accepted: int = 0
    rejected_by_stage: Mapping[str, int] = field(factory=dict)
    by_backend: Mapping[str, int] = field(factory=dict)


@frozen(kw_only=True, eq=False, repr=False)
class SkipStats(Value):
    """Skips by who decided them.

    Attributes:
        by_decider: Number of skips by agent, user, auto.
    """

    by_decider: Mapping[str, int] = field(factory=dict)

    @property
    def total(self) -> int:
        """All skips."""
        return sum(self.by_decider.values())


@frozen(kw_only=True, eq=False, repr=False)
class AggregateStats(Value):
    """Everything one pass over the log yields.

    Attributes:
        learnings: Per learning, by id.
        reflections: What the write gate saw.
        skips: Skips by decider.
        cycles_by_outcome: Finished gate cycles by outcome.
        events: How many events were read.
    """

    learnings: Mapping[str, LearningStats] = field(factory=dict)
    reflections: ReflectionStats = ReflectionStats()
    skips: SkipStats = SkipStats()
    cycles_by_outcome: Mapping[str, int] = field(factory=dict)
    events: int = 0
