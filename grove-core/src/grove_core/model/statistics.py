"""Numbers derived from the event log and from the learnings it is about."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple

from grove_core.model.learning import Share


class FaredLearning(NamedTuple):
    """An active learning and how it has fared."""

    learning_id: str
    summary: str
    category: str
    referenced: int
    hits: Share
    tickets: int
    last_referenced: datetime | None


class GroupStats(NamedTuple):
    """The learnings of one category or scope together."""

    name: str
    learnings: int
    active: int
    hits: Share
    recent: Share
    before: Share
    weeks: tuple[Share, ...]

    @property
    def trend(self) -> float | None:
        """By how much the rate of the last 30 days is above that of the 30 before."""
        if self.recent.rate is None or self.before.rate is None:
            return None
        return round(self.recent.rate - self.before.rate, 4)


class WeekStats(NamedTuple):
    """What happened in one week."""

    start: date
    hits: Share = Share()
    reflections: int = 0
    candidates: int = 0
    accepted: int = 0
    skips: int = 0
    blocks: int = 0


class RetrospectiveMiss(NamedTuple):
    """A candidate that the write gate refused and whose topic was accepted later."""

    summary: str
    rejected_at: datetime
    learning_id: str
    accepted_at: datetime


class SkipMiss(NamedTuple):
    """A ticket whose reflection was skipped and that later produced learnings."""

    ticket_id: str
    skipped_at: datetime
    accepted_at: datetime


class CrossPollination(NamedTuple):
    """A learning that was used for other tickets than the one it came from."""

    learning_id: str
    summary: str
    origin_ticket: str
    tickets: int
    examples: tuple[str, ...]


class Edges(NamedTuple):
    """Pairs of a learning and another ticket than its own that used it."""

    total: int = 0
    recent: int = 0
    before: int = 0


class GoingStale(NamedTuple):
    """A learning that will be archived unless it is used or shown."""

    learning_id: str
    summary: str
    last_verified: datetime
    days_left: float


class UsageStats(NamedTuple):
    """How learnings were used, all together, those included that are stored no more."""

    surfaced: int = 0
    referenced: int = 0
    dismissed: int = 0
    corrected: int = 0
    useful_ratings: int = 0
    useless_ratings: int = 0
    hits: Share = Share()
    characters: int = 0
    """About how much the showings of the stored ones were."""


class ReflectionStats(NamedTuple):
    """What agents submitted."""

    submissions: int = 0
    completed: int = 0
    candidates: int = 0
    accepted: int = 0
    by_backend: Mapping[str, int] = {}


class WriteGateStats(NamedTuple):
    """What the pipeline made of the candidates."""

    passed: Share = Share()
    rejected_by_stage: Mapping[str, int] = {}
    misses: tuple[RetrospectiveMiss, ...] = ()


class SkipStats(NamedTuple):
    """Skipped reflections."""

    by_decider: Mapping[str, int] = {}
    tickets: Share = Share()
    misses: tuple[SkipMiss, ...] = ()

    @property
    def total(self) -> int:
        """All skips."""
        return sum(self.by_decider.values())


class GateStats(NamedTuple):
    """What came of the gate."""

    by_outcome: Mapping[str, int] = {}
    precision: Share = Share()
    blocks: int = 0
    of_plugins: Mapping[str, Mapping[str, Share]] = {}


class LogFault(NamedTuple):
    """Faults in an event log."""

    path: str
    unreadable: tuple[int, ...] = ()
    unreadable_count: int = 0
    unknown: int = 0


class LogStats(NamedTuple):
    """The event logs themselves."""

    events: int = 0
    files: int = 0
    faults: tuple[LogFault, ...] = ()
    complete: bool = True


class Statistics(NamedTuple):
    """Everything that grove counts, for a project and its user.

    The count of a list that is cut stands beside it.
    """

    now: datetime
    since: datetime | None = None
    by_status: Mapping[str, int] = {}
    by_criterion: Mapping[str, int] = {}
    top: tuple[FaredLearning, ...] = ()
    overshown: tuple[FaredLearning, ...] = ()
    overshown_count: int = 0
    usage: UsageStats = UsageStats()
    categories: tuple[GroupStats, ...] = ()
    scopes: tuple[GroupStats, ...] = ()
    weeks: tuple[WeekStats, ...] = ()
    reflections: ReflectionStats = ReflectionStats()
    write_gate: WriteGateStats = WriteGateStats()
    skips: SkipStats = SkipStats()
    gate: GateStats = GateStats()
    edges: Edges = Edges()
    cross_pollination: tuple[CrossPollination, ...] = ()
    going_stale: tuple[GoingStale, ...] = ()
    going_stale_count: int = 0
    learnings_bytes: int = 0
    log: LogStats = LogStats()

    @property
    def learnings(self) -> int:
        """How many learnings are stored, of any status."""
        return sum(self.by_status.values())


class Insight(NamedTuple):
    """Something worth knowing in the numbers; what has priority 1 should be looked at first."""

    kind: str
    message: str
    suggestion: str
    evidence: Mapping[str, object]
    subject: str = ""
    priority: int = 2
