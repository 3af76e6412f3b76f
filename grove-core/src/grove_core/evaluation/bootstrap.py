"""Bootstrap intervals: how much a mean over queries would change with other queries of the kind."""

from collections.abc import Sequence
from random import Random
from typing import Final

RESAMPLES: Final = 1000
SEED: Final = 7
_TAIL: Final = 0.025


class Resamples:
    """Queries drawn with replacement, again and again, the same for whatever is asked."""

    def __init__(self, size: int, *, count: int = RESAMPLES, seed: int = SEED) -> None:
        generator = Random(seed)  # noqa: S311 - nothing here is secret
        everyone = range(size)
        self._draws = [generator.choices(everyone, k=size) for _ in range(count)]

    def means(self, values: Sequence[float]) -> list[float]:
        """Return the mean of each resample."""
        value_of = values.__getitem__
        return [sum(map(value_of, draw)) / len(draw) for draw in self._draws]


def interval(means: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile interval."""
    ordered = sorted(means)
    return _quantile(ordered, _TAIL), _quantile(ordered, 1 - _TAIL)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
