"""Retrieval engines of plugins, called safely."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeGuard

from grove_core.model.learning import Learning
from grove_core.model.memory import Query
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import EngineSpec
from grove_core.plugins.facade import Plugins, Provided

SECONDS: Final = 5.0
"""How long an engine may take over one query; less where a hook's own deadline comes first."""

_FAILED: Final = object()

Scores = Sequence[tuple[float, tuple[str, ...]]]


@frozen(kw_only=True)
class Engine:
    """An engine that can be called without fear."""

    name: str
    floor: float
    score: Callable[[Query, Sequence[Learning]], Scores]


def find_engine(plugins: Plugins, name: str) -> Engine | None:
    """Find the engine of a name."""
    for provided in plugins.retrieval_engines():
        if provided.value.name == name:
            if _is_relevance(provided.value.floor):
                return engine_of(plugins, provided)
            plugins.complain(provided, f"floor of {name}", "is no number from 0 to 1")
    return None


def scoring(name: str) -> str:
    """Return what an engine is asked for, as it is reported when it fails."""
    return f"score of {name}"


def engine_of(plugins: Plugins, provided: Provided[EngineSpec]) -> Engine:
    """Make an engine safe to call."""
    spec = provided.value
    what = scoring(spec.name)

    def score(query: Query, learnings: Sequence[Learning]) -> Scores:
        answer: object = plugins.call(
            provided,
            spec.score,
            query,
            tuple(learnings),
            seconds=SECONDS,
            default=_FAILED,
            what=what,
        )
        if answer is _FAILED:
            return ()
        if _are_scores(answer) and len(answer) == len(learnings):
            return answer
        plugins.complain(provided, what, "returned no score from 0 to 1 for each learning")
        return ()

    return Engine(name=spec.name, floor=spec.floor, score=score)


def _are_scores(answer: object) -> TypeGuard[Scores]:
    return isinstance(answer, list | tuple) and all(map(_is_score, answer))


def _is_score(one: Any) -> bool:  # noqa: ANN401 - whatever a plugin returns
    match one:
        case (value, tuple() as reasons):
            return _is_relevance(value) and all(isinstance(reason, str) for reason in reasons)
    return False


def _is_relevance(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1
