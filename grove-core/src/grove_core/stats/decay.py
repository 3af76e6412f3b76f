"""Decay: when a learning that is shown or used no more is archived. No I/O, no clock."""

from datetime import datetime, timedelta
from enum import Enum
from math import ceil, floor
from typing import Final, NamedTuple

from grove_core.model.learning import LearningStats
from grove_core.text import counted

# Shown so often and never used, a learning no longer becomes younger by being shown.
UNUSED_SHOWINGS: Final = 5
# Over fewer showings a hit rate says nothing.
IMMUNITY_SHOWINGS: Final = 3
# So long before it is due, a learning counts as going stale.
STALE_DAYS: Final = 7
_DAY: Final = timedelta(days=1)
_ACTIVE: Final = "active"


class DecayRule(NamedTuple):
    """What the configuration says about decay."""

    passive_days: int
    immunity_hit_rate: float


class DecayState(Enum):
    """How a learning stands to the rule."""

    FRESH = "fresh"
    """It has days left."""
    DUE = "due"
    """It is to be archived now."""
    IMMUNE = "immune"
    """It was used so often that it stays."""
    ARCHIVED = "archived"
    """It was archived already."""
    SUPERSEDED = "superseded"
    """Another one has taken its place, and that is final."""


class Verification(NamedTuple):
    """What last spoke for a learning."""

    at: datetime
    by: str
    fast_track: bool = False
    from_future: bool = False


class DecayAssessment(NamedTuple):
    """How a learning stands to the rule, with the numbers behind it."""

    state: DecayState
    last_verified: datetime
    verified_by: str
    days_since: float
    days_left: float
    passive_days: int
    fast_track: bool
    from_future: bool
    immunity_hit_rate: float
    surfaced: int
    referenced: int
    hit_rate: float | None
    hidden_since: datetime | None = None

    @property
    def is_stale(self) -> bool:
        """Whether it is due now or soon."""
        goes = self.state in (DecayState.FRESH, DecayState.DUE)
        return goes and self.days_left < stale_days(self.passive_days)

    @property
    def reason(self) -> str:
        """The state in a few words, with its numbers."""
        match self.state:
            case DecayState.ARCHIVED:
                return "archived already; `grove maintain restore` takes it back"
            case DecayState.SUPERSEDED:
                return "superseded, which is final"
            case DecayState.IMMUNE:
                return f"{self._immunity}; {self._since}"
            case DecayState.DUE:
                return f"{self._since}, and {counted(self.passive_days, 'day')} are the limit"
        unless = "used" if self.fast_track else "shown or used"
        when = (
            f"in {counted(ceil(self.days_left), 'day')}" if self.days_left >= 1 else "within a day"
        )
        return f"{self._since}; archived {when} unless it is {unless}"

    @property
    def explanation(self) -> str:
        """The reason, and what comes of it here."""
        if self.hidden_since is None:
            return self.reason
        return (
            f"{self.reason}; hidden here since {self.hidden_since:%Y-%m-%d}, and archived with the"
            " next learning that is stored"
        )

    @property
    def _immunity(self) -> str:
        rate, limit = self.hit_rate or 0.0, self.immunity_hit_rate
        # A search may have found it: those who used it need not be those who were shown it.
        return (
            f"immune: shown in {self.surfaced} sessions, used in {self.referenced}"
            f" ({100 * rate:.0f} %, and {100 * limit:.0f} % is enough)"
        )

    @property
    def _since(self) -> str:
        """What last spoke for it, and how long ago."""
        when = f"{self.last_verified:%Y-%m-%d}, {counted(floor(self.days_since), 'day')} ago"
        if self.from_future:
            when = "in the future, which counts as now"
        words = f"{'' if self.verified_by == 'written' else 'last '}{self.verified_by} {when}"
        if self.fast_track:
            shown = self.surfaced
            words += f" (shown in {shown} sessions and never used, so being shown no longer counts)"
        return words


def stale_days(passive_days: int) -> float:
    """Return how long before it is due a learning counts as going stale."""
    return min(STALE_DAYS, passive_days / 2)


def verification(created: datetime, stats: LearningStats | None, now: datetime) -> Verification:
    """Return what last spoke for a learning."""
    at, by = created, "written"
    fast_track = False
    if stats is not None:
        fast_track = stats.surfaced >= UNUSED_SHOWINGS and not stats.referenced
        for moment, what in (
            (stats.last_restored, "restored"),
            (None if fast_track else stats.last_surfaced, "shown"),
            (stats.last_referenced, "used"),
        ):
            if moment is not None and moment >= at:
                at, by = moment, what
    return Verification(min(at, now), by, fast_track, at > now)


def assess_decay(
    created: datetime, status: str, stats: LearningStats | None, now: datetime, rule: DecayRule
) -> DecayAssessment:
    """Return how one learning stands to the rule."""
    verified = verification(created, stats, now)
    days_since = (now - verified.at) / _DAY
    stats = stats or LearningStats(learning_id="")
    return DecayAssessment(
        state=_state(status, stats, days_since, rule),
        last_verified=verified.at,
        verified_by=verified.by,
        days_since=days_since,
        days_left=rule.passive_days - days_since,
        passive_days=rule.passive_days,
        fast_track=verified.fast_track,
        from_future=verified.from_future,
        immunity_hit_rate=rule.immunity_hit_rate,
        surfaced=stats.surfaced,
        referenced=stats.referenced,
        hit_rate=stats.hit_rate,
    )


def _state(status: str, stats: LearningStats, days_since: float, rule: DecayRule) -> DecayState:
    if status != _ACTIVE:
        return DecayState(status)
    if stats.surfaced >= IMMUNITY_SHOWINGS and (stats.hit_rate or 0) >= rule.immunity_hit_rate:
        return DecayState.IMMUNE
    return DecayState.DUE if rule.passive_days - days_since < 0 else DecayState.FRESH
