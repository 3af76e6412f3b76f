"""What outcomes come to: means with intervals, what would be injected, and who is better."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from attrs import frozen

from grove_core.evaluation.bootstrap import Resamples, interval
from grove_core.evaluation.engines import RULES
from grove_core.evaluation.measures import NAMES
from grove_core.evaluation.protocol import Outcome
from grove_core.model.statistics import Share

REFERENCES: Final = (RULES, "bm25f")
"""What every engine is compared with; where neither is measured, the first engine is."""


@frozen(kw_only=True)
class Estimate:
    """A mean over queries."""

    value: float
    low: float
    high: float


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

    name: str
    measures: Mapping[str, Estimate]
    milliseconds: float
    injection: Injection | None
    failed: Share


@frozen(kw_only=True)
class Difference:
    """How much better an engine is than another on the same queries."""

    engine: str
    reference: str
    measures: Mapping[str, Estimate]


@frozen(kw_only=True)
class Summary:
    """How all engines have done."""

    engines: Sequence[EngineSummary]
    differences: Sequence[Difference]


def summarise(outcomes: Mapping[str, Sequence[Outcome]]) -> Summary:
    """Sum up what engines have done on one schedule."""
    columns = {name: _columns(found) for name, found in outcomes.items()}
    resamples = Resamples(len(next(iter(columns.values()))[0]))
    # Differences are taken between the same resamples, which is what makes them paired.
    means = {
        name: [[_mean(values), *resamples.means(values)] for values in found]
        for name, found in columns.items()
    }
    return Summary(
        engines=[
            EngineSummary(
                name=name,
                measures=_estimates(means[name]),
                milliseconds=1000 * median(one.seconds for one in found),
                injection=injection_of(found),
                failed=Share(sum(one.failed for one in found), len(found)),
            )
            for name, found in outcomes.items()
        ],
        differences=[
            Difference(
                engine=engine,
                reference=reference,
                measures=_estimates(_less(means[engine], means[reference])),
            )
            for engine, reference in _comparisons(list(outcomes))
        ],
    )


def injection_of(outcomes: Sequence[Outcome]) -> Injection | None:
    """Sum up what sessions would be shown."""
    shown = [(set(one.injected), one.relevant) for one in outcomes if one.injected is not None]
    if not shown:
        return None
    answerable = [(found, relevant) for found, relevant in shown if relevant]
    others = [found for found, relevant in shown if not relevant]
    right = [len(found & relevant) for found, relevant in answerable]
    recalls = [count / len(one[1]) for count, one in zip(right, answerable, strict=True)]
    return Injection(
        answered=Share(sum(bool(found) for found, _ in answerable), len(answerable)),
        relevant=Share(sum(right), sum(len(found) for found, _ in answerable)),
        recall=_mean(recalls),
        silent=Share(sum(not found for found in others), len(others)),
    )


def _columns(outcomes: Sequence[Outcome]) -> list[list[float]]:
    """Return the values of each measure, a query each."""
    rows = [one.measures for one in outcomes if one.measures is not None]
    return [list(column) for column in zip(*rows, strict=True)]


def _estimates(means: Sequence[Sequence[float]]) -> Mapping[str, Estimate]:
    """Name the measures; of each there are the mean itself, and then those of the resamples."""
    estimates = {}
    for name, (value, *resampled) in zip(NAMES, means, strict=True):
        low, high = interval(resampled)
        estimates[name] = Estimate(value=value, low=low, high=high)
    return estimates


def _less(
    means: Sequence[Sequence[float]], others: Sequence[Sequence[float]]
) -> Sequence[Sequence[float]]:
    return [
        [one - other for one, other in zip(column, subtracted, strict=True)]
        for column, subtracted in zip(means, others, strict=True)
    ]


def _comparisons(names: Sequence[str]) -> list[tuple[str, str]]:
    references = [name for name in REFERENCES if name in names] or names[:1]
    pairs = [(name, reference) for reference in references for name in names if name != reference]
    # Of two references one is compared with the other, and not the other way round as well.
    return [pair for pair in pairs if pair != tuple(references)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
