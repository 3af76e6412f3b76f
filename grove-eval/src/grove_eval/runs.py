"""Ask engines everything on a schedule, and sum up what they answer."""

from collections.abc import Mapping, Sequence
from operator import sub
from statistics import fmean, median
from time import perf_counter
from typing import Final

from attrs import frozen

from grove_core import Share
from grove_eval.collection import CollectedLearning, CollectedQuery
from grove_eval.engines import RULES, Engine
from grove_eval.measures import Bootstrap, Estimates, measure
from grove_eval.schedule import Schedule

REFERENCES: Final = (RULES, "bm25f")
"""What every engine is compared with; where neither is measured, the first engine is."""


@frozen(kw_only=True)
class Outcome:
    """What became of one query."""

    relevant: frozenset[str]
    measures: Sequence[float] | None
    injected: Sequence[str] | None
    seconds: float


@frozen(kw_only=True)
class Injection:
    """What sessions would be shown."""

    answered: Share
    relevant: Share
    recall: float
    silent: Share


@frozen(kw_only=True)
class EngineSummary:
    """How an engine has done."""

    measures: Estimates
    milliseconds: float
    injection: Injection | None


@frozen(kw_only=True)
class Summary:
    """How all engines have done, and how much better one is than another on the same queries."""

    engines: Mapping[str, EngineSummary]
    differences: Mapping[tuple[str, str], Estimates]


def run(engine: Engine, schedule: Schedule) -> list[Outcome]:
    """Ask an engine everything."""
    outcomes = []
    for steps in schedule.pools:
        store = engine()
        for step in steps:
            store.admit(step.admitted)
            before = perf_counter()
            answer = store.ask(step.query.query, step.now)
            seconds = perf_counter() - before
            outcomes.append(
                Outcome(
                    relevant=step.relevant,
                    measures=measure(answer.ids, step.relevant) if step.relevant else None,
                    injected=answer.injected(step.now),
                    seconds=seconds,
                )
            )
    return outcomes


def summarise(outcomes: Mapping[str, Sequence[Outcome]]) -> Summary:
    """Sum up what engines have done on one schedule."""
    rows = {
        name: [one.measures for one in found if one.measures is not None]
        for name, found in outcomes.items()
    }
    bootstrap = Bootstrap(len(next(iter(rows.values()))))
    engines = {
        name: EngineSummary(
            measures=bootstrap.estimates(rows[name]),
            milliseconds=1000 * median(one.seconds for one in found),
            injection=injection_of(found),
        )
        for name, found in outcomes.items()
    }
    differences = {
        (engine, reference): bootstrap.estimates(
            [
                list(map(sub, row, other))
                for row, other in zip(rows[engine], rows[reference], strict=True)
            ]
        )
        for engine, reference in _comparisons(list(outcomes))
    }
    return Summary(engines=engines, differences=differences)


def injection_of(outcomes: Sequence[Outcome]) -> Injection | None:
    """Sum up what sessions would be shown."""
    shown = [(set(one.injected), one.relevant) for one in outcomes if one.injected is not None]
    if not shown:
        return None
    answerable = [(found, relevant) for found, relevant in shown if relevant]
    others = [found for found, relevant in shown if not relevant]
    right = [(len(found & relevant), len(relevant)) for found, relevant in answerable]
    return Injection(
        answered=Share(sum(bool(found) for found, _ in answerable), len(answerable)),
        relevant=Share(sum(one for one, _ in right), sum(len(found) for found, _ in answerable)),
        recall=fmean(one / most for one, most in right) if right else 0.0,
        silent=Share(sum(not found for found in others), len(others)),
    )


def _comparisons(names: Sequence[str]) -> list[tuple[str, str]]:
    references = [name for name in REFERENCES if name in names] or names[:1]
    pairs = [(name, reference) for reference in references for name in names if name != reference]
    # Of two references one is compared with the other, and not the other way round as well.
    return [pair for pair in pairs if pair != tuple(references)]


# --- noise: queries of one project asked against another, where silence is right -----------------


Noise = Mapping[tuple[str, str], Share]
"""By the queries' project and the learnings' one: of how many queries something was injected."""
Projects = Mapping[str, Sequence[CollectedLearning]]
"""The learnings of projects by their titles."""


def projects_of(learnings: Sequence[CollectedLearning], collection: str = "") -> Projects:
    """Sort learnings into projects; one of another collection is named after that."""
    found: dict[str, list[CollectedLearning]] = {}
    for one in sorted(learnings, key=lambda each: each.project):
        title = "/".join(filter(None, (collection, one.project)))
        found.setdefault(title, []).append(one)
    return found


def noise(
    engine: Engine,
    queries: Sequence[CollectedQuery],
    projects: Projects,
) -> Noise:
    """Ask each query of each project that is not its own."""
    found: dict[tuple[str, str], Share] = {}
    for title, learnings in projects.items():
        store = engine()
        store.admit(learnings)
        newest = max(one.created for one in learnings)
        for query in queries:
            if query.project != title:
                now = max(query.asked, newest)
                injected = bool(store.ask(query.query, now).injected(now))
                before = found.get((query.project, title), Share())
                found[query.project, title] = Share(before.count + injected, before.total + 1)
    return dict(sorted(found.items()))
