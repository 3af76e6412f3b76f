"""Decay: when a learning that nobody is shown or uses any more is archived. No I/O, no clock."""

from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum
from math import ceil, floor
from typing import Final, NamedTuple

from grove_core.model.statistics import LearningStats
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


class DecayVerdict(NamedTuple):
    """How a learning stands to the rule, with the numbers behind it."""

    state: DecayState
    reason: str
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
    def explanation(self) -> str:
        """The reason, and what comes of it here."""
        if self.hidden_since is None:
            return self.reason
        return (
            f"{self.reason}; hidden here since {self.hidden_since:%Y-%m-%d}, and archived with the"
            " next learning that is stored"
        )

    @property
    def is_stale(self) -> bool:
        """Whether it is due now or soon."""
        goes = self.state in (DecayState.FRESH, DecayState.DUE)
        return goes and self.days_left < stale_days(self.passive_days)


def stale_days(passive_days: int) -> float:
    """Return how long before it is due a learning counts as going stale."""
    return min(STALE_DAYS, passive_days / 2)


def verification(created: datetime, stats: LearningStats | None, now: datetime) -> Verification:
    """Return what last spoke for a learning."""
    stats = stats or LearningStats(learning_id="")
    fast_track = stats.surfaced >= UNUSED_SHOWINGS and not stats.referenced
    known = [
        (moment, by)
        for moment, by in (
            (stats.last_referenced, "used"),
            (None if fast_track else stats.last_surfaced, "shown"),
            (stats.last_restored, "restored"),
            (created, "written"),
        )
        if moment is not None
    ]
    at, by = max(known, key=lambda one: one[0])
    return Verification(at=min(at, now), by=by, fast_track=fast_track, from_future=at > now)


def judge_decay(
    created: datetime, status: str, stats: LearningStats | None, now: datetime, rule: DecayRule
) -> DecayVerdict:
    """Judge one learning."""
    verified = verification(created, stats, now)
    days_since = (now - verified.at) / _DAY
    stats = stats or LearningStats(learning_id="")
    verdict = DecayVerdict(
        state=DecayState.FRESH,
        reason="",
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
    verdict = verdict._replace(state=_state(verdict, status))
    return verdict._replace(reason=_REASONS[verdict.state](verdict))


def _state(verdict: DecayVerdict, status: str) -> DecayState:
    if status != _ACTIVE:
        return DecayState(status)
    proven = verdict.surfaced >= IMMUNITY_SHOWINGS and verdict.hit_rate is not None
    if proven and (verdict.hit_rate or 0.0) >= verdict.immunity_hit_rate:
        return DecayState.IMMUNE
    return DecayState.DUE if verdict.days_left < 0 else DecayState.FRESH


def _fresh(verdict: DecayVerdict) -> str:
    unless = "used" if verdict.fast_track else "shown or used"
    days_left = verdict.days_left
    when = f"in {counted(ceil(days_left), 'day')}" if days_left >= 1 else "within a day"
    return f"{_since(verdict)}; archived {when} unless it is {unless}"


def _due(verdict: DecayVerdict) -> str:
    return f"{_since(verdict)}, and {counted(verdict.passive_days, 'day')} are the limit"


def _immune(verdict: DecayVerdict) -> str:
    rate = f"{100 * (verdict.hit_rate or 0.0):.0f} %"
    limit = f"{100 * verdict.immunity_hit_rate:.0f} %"
    # A search may have found it: those who used it need not be those who were shown it.
    return (
        f"immune: shown in {verdict.surfaced} sessions, used in {verdict.referenced}"
        f" ({rate}, and {limit} is enough); {_since(verdict)}"
    )


def _since(verdict: DecayVerdict) -> str:
    """Return what last spoke for it, and how long ago."""
    last = "" if verdict.verified_by == "written" else "last "
    when = f"{verdict.last_verified:%Y-%m-%d}, {counted(floor(verdict.days_since), 'day')} ago"
    if verdict.from_future:
        when = "in the future, which counts as now"
    words = f"{last}{verdict.verified_by} {when}"
    if verdict.fast_track:
        words += (
            f" (being shown does not count: {verdict.surfaced} sessions were, and none used it)"
        )
    return words


_REASONS: Final[dict[DecayState, Callable[[DecayVerdict], str]]] = {
    DecayState.FRESH: _fresh,
    DecayState.DUE: _due,
    DecayState.IMMUNE: _immune,
    DecayState.ARCHIVED: lambda _: "archived already; `grove maintain restore` takes it back",
    DecayState.SUPERSEDED: lambda _: "superseded, which is final",
}
