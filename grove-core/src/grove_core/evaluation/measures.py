"""What a ranked list is worth, given what is relevant."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import Final, NamedTuple

SHOWN: Final = 5
LOOKED_AT: Final = 10


class Measures(NamedTuple):
    """How good one ranked list is; each number is 0 to 1, and more is better."""

    recall: float
    precision: float
    reciprocal_rank: float
    gain: float
    hit: float


NAMES: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10", "hit@5")
"""What the measures are called in tables and documents, in the order of ``Measures``."""


def measure(ranking: Sequence[str], relevant: AbstractSet[str]) -> Measures:
    """Measure a ranked list."""
    places = [place for place, one in enumerate(ranking[:LOOKED_AT]) if one in relevant]
    found = sum(place < SHOWN for place in places)
    ideal = sum(map(_discount, range(min(LOOKED_AT, len(relevant)))))
    return Measures(
        recall=found / len(relevant),
        precision=found / SHOWN,
        reciprocal_rank=1 / (places[0] + 1) if places else 0.0,
        gain=sum(map(_discount, places)) / ideal,
        hit=1.0 if found else 0.0,
    )


def _discount(place: int) -> float:
    return 1 / log2(place + 2)
