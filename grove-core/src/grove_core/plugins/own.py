"""What grove itself contributes as a plugin: the first one, called like every other."""

from collections.abc import Sequence
from typing import Final

from grove_core.model.learning import Learning
from grove_core.model.memory import Query
from grove_core.model.statistics import Insight, Statistics
from grove_core.plugins.descriptors import EngineSpec
from grove_core.plugins.markers import GROVE_API, hookimpl
from grove_core.stats.insights import insights_of

grove_api = GROVE_API
# Half of what one keyword is worth.
_RULES_FLOOR: Final = 0.15


@hookimpl
def grove_retrieval_engines() -> Sequence[EngineSpec]:
    """Offer the rules of the design documents, the baseline of every comparison."""
    return (EngineSpec(name="rules", score=_score_by_rules, floor=_RULES_FLOOR),)


def _score_by_rules(
    query: Query, learnings: Sequence[Learning]
) -> Sequence[tuple[float, tuple[str, ...]]]:
    from grove_core.retrieval.rules import rule_relevance

    return [rule_relevance(query, learning) for learning in learnings]


@hookimpl
def grove_insights(statistics: Statistics) -> Sequence[Insight]:
    """Return what grove itself sees in the numbers."""
    return insights_of(statistics)
