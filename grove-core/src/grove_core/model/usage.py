"""How a learning has fared: shown, used, dismissed, corrected, rated."""

from datetime import datetime
from typing import Final, NamedTuple

# The two-sided 95 % quantile of the normal distribution.
_QUANTILE: Final = 1.959964


class Share(NamedTuple):
    """How many of how many.

    Attributes:
        count: How many, at most ``total``.
        total: Of how many.
    """

    count: int = 0  # type: ignore[assignment]  # a tuple's own count is of no use here
    total: int = 0

    @property
    def rate(self) -> float | None:
        """The share, 0 to 1; ``None`` of nothing."""
        return self.count / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the underlying rate, 0 to 1; ``None`` of nothing.

        The score interval of E. B. Wilson (1927), Journal of the American Statistical Association
        22, 209-212, which holds for few observations and for shares near 0 and 1 as well.
        """
        if not self.total:
            return None
        share, square = self.count / self.total, _QUANTILE * _QUANTILE
        spread = share * (1 - share) / self.total + square / (4 * self.total * self.total)
        divisor = 1 + square / self.total
        middle = (share + square / (2 * self.total)) / divisor
        half = _QUANTILE * spread**0.5 / divisor
        return max(0.0, middle - half), min(1.0, middle + half)


class LearningStats(NamedTuple):
    """How one learning has fared."""

    learning_id: str
    surfaced: int = 0
    referenced: int = 0
    dismissed: int = 0
    corrected: int = 0
    last_surfaced: datetime | None = None
    last_referenced: datetime | None = None
    last_restored: datetime | None = None
    referencing_tickets: int = 0
    useful_ratings: int = 0
    useless_ratings: int = 0

    @property
    def hit_rate(self) -> float | None:
        """Used over shown, 0 to 1; ``None`` when it was never shown."""
        return self.hits.rate

    @property
    def hits(self) -> Share:
        """Used of shown; it may be used without being shown, after a search."""
        return Share(min(self.referenced, self.surfaced), self.surfaced)

    @property
    def rated_useful(self) -> Share:
        """Ratings that call it useful, of all its ratings."""
        return Share(self.useful_ratings, self.useful_ratings + self.useless_ratings)
