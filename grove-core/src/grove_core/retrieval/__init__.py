"""Finding and ranking the learnings that fit the work at hand."""

from enum import Enum


class RetrievalStrategy(Enum):
    """How freely learnings are shown (``retrieval.strategy``)."""

    CONSERVATIVE = "conservative"
    MODERATE = "moderate"
    AGGRESSIVE = "aggressive"


class RetrievalEngine(Enum):
    """What scores how well learnings fit (``retrieval.engine``)."""

    DEFAULT = "default"
    RULES = "rules"
