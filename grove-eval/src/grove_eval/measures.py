"""What ranked lists are worth, and how sure a mean over queries is."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import log2
from random import Random
from statistics import fmean
from typing import Final, NamedTuple

SHOWN: Final = 5
RANKED: Final = 10
RESAMPLES: Final = 1000
_SEED: Final = 7
_TAIL: Final = 0.025

NAMES: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10", "hit@5")
"""The measures, in the order of the values of ``measure``."""


def measure(ranking: Sequence[str], relevant: AbstractSet[str]) -> tuple[float, ...]:
    """Measure a ranked list; each value is 0 to 1, and more is better."""
    places = [place for place, one in enumerate(ranking[:RANKED]) if one in relevant]
    found = sum(place < SHOWN for place in places)
    ideal = sum(map(_discount, range(min(RANKED, len(relevant)))))
    return (
        found / len(relevant),
        found / SHOWN,
        1 / (places[0] + 1) if places else 0.0,
        sum(map(_discount, places)) / ideal,
        1.0 if found else 0.0,
    )


def _discount(place: int) -> float:
    return 1 / log2(place + 2)


class Estimate(NamedTuple):
    """A mean over queries, with its 95 % interval."""

    value: float
    low: float
    high: float


Estimates = Mapping[str, Estimate]
"""An estimate of each measure, by its name."""


class Bootstrap:
    """Queries drawn with replacement, again and again, the same draws for whatever is compared."""

    def __init__(self, size: int) -> None:
        generator = Random(_SEED)  # noqa: S311 - nothing here is secret
        self._draws = [generator.choices(range(size), k=size) for _ in range(RESAMPLES)]

    def estimates(self, rows: Sequence[Sequence[float]]) -> Estimates:
        """Estimate each measure from one row of values per query."""
        columns = zip(NAMES, zip(*rows, strict=True), strict=True)
        return {name: self._estimate(values) for name, values in columns}

    def _estimate(self, values: Sequence[float]) -> Estimate:
        value_of = values.__getitem__
        means = [sum(map(value_of, draw)) / len(draw) for draw in self._draws]
        return Estimate(fmean(values), *interval(means))


def interval(means: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile interval."""
    ordered = sorted(means)
    return _quantile(ordered, _TAIL), _quantile(ordered, 1 - _TAIL)


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
