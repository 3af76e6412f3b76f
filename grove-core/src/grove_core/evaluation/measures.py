"""What a ranked list is worth, given what is relevant."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import log2
from typing import Final, NamedTuple

SHOWN: Final = 5
LOOKED_AT: Final = 10


class Measures(NamedTuple):
    """How good one ranked list is; each number is 0 to 1, and more is better.

    Attributes:
        recall: How many of the relevant learnings are among the first five.
        precision: How many of the first five places hold a relevant learning.
        reciprocal_rank: One over the place of the first relevant learning among the first ten.
        gain: The normalised discounted cumulative gain of the first ten, of K. Järvelin and J.
            Kekäläinen (2002), ACM Transactions on Information Systems 20, 422-446.
        hit: 1 when one of the first five is relevant, else 0.
    """

    recall: float
    precision: float
    reciprocal_rank: float
    gain: float
    hit: float


NAMES: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10", "hit@5")
"""What the measures are called in tables and documents, in the order of ``Measures``."""


def measure(ranking: Sequence[str], relevant: AbstractSet[str]) -> Measures:
    """Measure a ranked list.

    Args:
        ranking: Ids of learnings, the best first, each once.
        relevant: Ids of the relevant ones, at least one.

    Returns:
        The measures.
    """
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
