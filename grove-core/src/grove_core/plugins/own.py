"""What grove itself contributes as a plugin: the first one, called like every other."""

from collections.abc import Sequence

from grove_core.model.statistics import Insight, Statistics
from grove_core.plugins.markers import GROVE_API, hookimpl
from grove_core.stats.insights import insights_of

grove_api = GROVE_API


@hookimpl
def grove_insights(statistics: Statistics) -> Sequence[Insight]:
    """Tell what grove itself sees in the numbers."""
    return insights_of(statistics)
