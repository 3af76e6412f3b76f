"""Asking an engine everything on a schedule, and writing down what it answers."""

from collections.abc import Callable, Sequence
from time import perf_counter

from attrs import frozen

from grove_core.evaluation.engines import Answer, Engine
from grove_core.evaluation.measures import SHOWN, Measures, measure
from grove_core.evaluation.schedule import Schedule, Step
from grove_core.retrieval.choosing import choose
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.stats.log_lines import instant


@frozen(kw_only=True)
class Outcome:
    """What became of one query."""

    query_id: str
    relevant: frozenset[str]
    measures: Measures | None
    injected: Sequence[str] | None
    seconds: float
    failed: bool = False


def run(engine: Engine, schedule: Schedule, after_each: Callable[[], None]) -> list[Outcome]:
    """Ask an engine everything."""
    outcomes = []
    for steps in schedule.pools:
        store = engine.open()
        try:
            for step in steps:
                store.admit(step.admitted)
                before = perf_counter()
                answer = store.ask(step.query.query, step.now)
                outcomes.append(_outcome(step, answer, perf_counter() - before))
                after_each()
        finally:
            store.close()
    return outcomes


def injected(answer: Answer, now: int) -> list[str] | None:
    """Return what hooks would show of an answer."""
    if answer.ranked is None:
        return None
    choice = choose(
        answer.ranked, RetrievalStrategy.MODERATE, SHOWN, instant(now), floor=answer.floor
    )
    return [one.entry.id for one in choice.chosen]


def _outcome(step: Step, answer: Answer, seconds: float) -> Outcome:
    return Outcome(
        query_id=step.query.id,
        relevant=step.relevant,
        measures=measure(answer.ids, step.relevant) if step.relevant else None,
        injected=injected(answer, step.now),
        seconds=seconds,
        failed=answer.failed,
    )
