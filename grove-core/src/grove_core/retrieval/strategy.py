"""How generous injection is."""

from enum import Enum


class RetrievalStrategy(Enum):
    """How freely learnings are shown (``retrieval.strategy``)."""

    CONSERVATIVE = "conservative"
    MODERATE = "moderate"
    AGGRESSIVE = "aggressive"
