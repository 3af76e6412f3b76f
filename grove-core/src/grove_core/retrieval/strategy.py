"""How generous injection is, and what scores learnings."""

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


DEFAULT_ENGINE = RetrievalEngine.DEFAULT.value
