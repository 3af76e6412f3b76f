"""The verdict on a candidate: a learnt sum, a few plain refusals, and words that help."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from grove_core.model.learning import Candidate, Rejection
from grove_core.model.value import Value
from grove_core.reflection.write_gate.advice import (
    CLAIMS,
    FOREIGN,
    MANIPULATION,
    OUTPUT,
    advice,
)
from grove_core.reflection.write_gate.foreign import is_worth_keeping
from grove_core.reflection.write_gate.manipulation import commands_reader
from grove_core.reflection.write_gate.measures import Measures, measure
from grove_core.reflection.write_gate.phrases import phrases
from grove_core.reflection.write_gate.plausibility import implausible_claim
from grove_core.reflection.write_gate.reading import Reading, is_raw_output, read
from grove_core.reflection.write_gate.weights import Weights, load_weights

_SHOWN: Final = 4
"""How many phrases that speak for a candidate, and how many against it, are told apart."""
_OTHER_WORDS: Final = "other words"


@frozen(kw_only=True, eq=False, repr=False)
class Component(Value):
    """One term of the score."""

    name: str
    value: float
    points: float


@frozen(kw_only=True, eq=False, repr=False)
class Judgement(Value):
    """What the write gate thinks of a candidate."""

    rejection: Rejection | None
    score: float
    threshold: float
    components: tuple[Component, ...]


def judge(candidate: Candidate) -> Judgement:
    """Judge whether a candidate says something specific, of the kind that it claims."""
    reading = read(candidate.summary, candidate.detail)
    measures = measure(reading)
    weights = load_weights()
    components = _components(reading, measures, weights) if reading.is_english else ()
    score = round(sum(component.points for component in components), 3)
    reason = _reason(candidate, reading, measures, is_scored_low=score < weights.threshold)
    return Judgement(
        rejection=None if reason is None else Rejection(reason=reason[1], field=reason[0]),
        score=score,
        threshold=weights.threshold,
        components=components,
    )


def _components(reading: Reading, measures: Measures, weights: Weights) -> tuple[Component, ...]:
    measured = (
        Component(name=name, value=round(value, 3), points=round(value * weights.measures[name], 3))
        for name, value in measures.items()
    )
    return (*measured, *_words(phrases(reading), weights.phrases))


def _words(said: frozenset[str], weights: Mapping[str, float]) -> tuple[Component, ...]:
    """Return what the words add: those that weigh most on either side, and the rest in one sum."""
    weighed = sorted((weights[phrase], phrase) for phrase in said if phrase in weights)
    against = [pair for pair in weighed[:_SHOWN] if pair[0] < 0]
    speaking = [pair for pair in weighed[-_SHOWN:] if pair[0] > 0]
    shown = [*reversed(speaking), *against]
    rest = sum(points for points, _ in weighed) - sum(points for points, _ in shown)
    share = (len(weighed) - len(shown)) / max(len(said), 1)
    return (
        *(Component(name=f'"{phrase}"', value=1, points=points) for points, phrase in shown),
        Component(name=_OTHER_WORDS, value=round(share, 3), points=round(rest, 3)),
    )


def _reason(
    candidate: Candidate, reading: Reading, measures: Measures, *, is_scored_low: bool
) -> tuple[str, str] | None:
    """Find the field at fault and what to do about it."""
    if commands_reader(f"{candidate.summary}\n{candidate.detail}"):
        return "detail", MANIPULATION
    if is_raw_output(reading):
        return "detail", OUTPUT
    if not reading.is_english:
        return None if is_worth_keeping(reading) else ("detail", FOREIGN)
    if is_scored_low:
        return "detail", advice(reading, measures)
    doubted = implausible_claim(reading, candidate.criteria_met)
    return None if doubted is None else ("criteria_met", CLAIMS[doubted])
