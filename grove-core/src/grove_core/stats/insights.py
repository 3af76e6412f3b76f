"""grove's own insights: what the numbers say, each with its evidence and one thing to do."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from string import Formatter
from typing import Any, Final, NamedTuple

from grove_core.model.learning import Share
from grove_core.model.statistics import FaredLearning, GroupStats, Insight, Statistics
from grove_core.text import counted

_MOST_NAMED: Final = 5
_ROUNDING: Final = 1e-9  # 0.9 of 10 are 9, also where floats have it otherwise


class Trigger(NamedTuple):
    """When an insight shows, and what it says then."""

    priority: int
    when: str
    limits: Mapping[str, float]
    message: str
    suggestion: str

    @property
    def condition(self) -> str:
        """The condition with its numbers, for the documentation."""
        return self.when.format(**self.limits)


TRIGGERS: Final[Mapping[str, Trigger]] = {
    kind: Trigger(**fields)
    for kind, fields in json.loads(
        Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    ).items()
}
"""Every insight with its condition: the one place where these numbers stand."""


class _Texts(Formatter):
    """Writes numbers with what they count: ``{hits:showings}``, ``{learnings:learning}``."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as there
        if isinstance(value, Share):
            rate, (low, high) = value.rate or 0.0, value.interval or (0.0, 0.0)
            return (
                f"{value.count:,} of {value.total:,} {format_spec},"
                f" {rate * 100:.0f} % ({low * 100:.0f}–{high * 100:.0f} %)"
            )
        is_noun = format_spec.replace(" ", "").isalpha()
        return counted(value, format_spec) if is_noun else format(value, format_spec)


def insights_of(statistics: Statistics) -> tuple[Insight, ...]:
    """Return what is worth knowing in the numbers, the most urgent first."""
    found: list[Insight] = []
    for kind, look in _LOOKS.items():
        trigger = TRIGGERS[kind]
        for subject, evidence in look(statistics, trigger.limits):
            words = {**trigger.limits, **evidence, "subject": subject}
            message, suggestion = (
                _Texts().vformat(text, (), words) for text in (trigger.message, trigger.suggestion)
            )
            found.append(Insight(kind, message, suggestion, evidence, subject, trigger.priority))
    return tuple(sorted(found, key=lambda one: (one.priority, one.kind, one.subject)))


Limits = Mapping[str, float]
Seen = Iterator[tuple[str, Mapping[str, Any]]]
"""What an insight is about, and its evidence, which its texts name."""


def _rubber_stamping(statistics: Statistics, limits: Limits) -> Seen:
    for criterion, count in statistics.by_criterion.items():
        claims = Share(count, statistics.learnings)
        if _over(claims, limits["share"], limits["learnings"]):
            yield criterion, {"claims": claims}


def _decay_warning(statistics: Statistics, limits: Limits) -> Seen:
    if statistics.going_stale_count >= limits["learnings"]:
        examples = [one.learning_id for one in statistics.going_stale[:_MOST_NAMED]]
        yield "", {"learnings": statistics.going_stale_count, "examples": examples}


def _low_gate_precision(statistics: Statistics, limits: Limits) -> Seen:
    precision = statistics.gate.precision
    if _under(precision, limits["rate"], limits["cycles"]):
        yield "", {"precision": precision}


def _low_hit_category(statistics: Statistics, limits: Limits) -> Seen:
    groups = statistics.categories
    low = [one for one in groups if _under(one.hits, limits["rate"], limits["showings"])]
    for group in sorted(low, key=lambda one: -one.hits.total)[: int(limits["most"])]:
        yield group.name, _of_group(group)


def _high_value_rare(statistics: Statistics, limits: Limits) -> Seen:
    for group in statistics.categories:
        is_rare = 0 < group.active < limits["learnings"]
        if is_rare and _over(group.hits, limits["rate"], limits["showings"]):
            yield group.name, _of_group(group)


def _of_group(group: GroupStats) -> Mapping[str, Any]:
    return {"hits": group.hits, "learnings": group.learnings, "active": group.active}


def _over_surfaced(statistics: Statistics, _: Limits) -> Seen:
    for one in statistics.overshown[:1]:
        yield one.learning_id, _of(one) | {"learnings": statistics.overshown_count}


def _skip_miss(statistics: Statistics, limits: Limits) -> Seen:
    skips = statistics.skips
    if skips.tickets.count >= limits["tickets"]:
        examples = [one.ticket_id for one in skips.misses[:_MOST_NAMED]]
        yield "", {"tickets": skips.tickets, "examples": examples}


def _stale_top_learning(statistics: Statistics, limits: Limits) -> Seen:
    proven = (
        one
        for one in statistics.top
        if one.hits.total >= limits["showings"] and not _under(one.hits, limits["rate"])
    )
    best = max(proven, key=_certainty, default=None)
    if best is None or best.last_referenced is None:
        return
    unused = statistics.now - best.last_referenced
    if unused >= timedelta(days=limits["days"]):
        yield best.learning_id, _of(best) | {"days_unused": unused.days}


def _certainty(one: FaredLearning) -> tuple[float, int, str]:
    """Return what a record is worth: nine uses of ten showings are more than one of one."""
    least, _ = one.hits.interval or (0.0, 0.0)
    return least, one.referenced, one.learning_id


def _of(one: FaredLearning) -> dict[str, Any]:
    return {"summary": one.summary, "hits": one.hits}


def _write_gate_too_loose(statistics: Statistics, limits: Limits) -> Seen:
    passed, hits = statistics.write_gate.passed, statistics.usage.hits
    lets_pass = _over(passed, limits["pass_rate"], limits["candidates"])
    if lets_pass and _under(hits, limits["hit_rate"], limits["showings"]):
        yield "", {"passed": passed, "hits": hits}


def _write_gate_too_strict(statistics: Statistics, limits: Limits) -> Seen:
    gate = statistics.write_gate
    if _under(gate.passed, limits["pass_rate"], limits["candidates"]):
        yield "", {"passed": gate.passed, "written_later_all_the_same": len(gate.misses)}


def _cross_pollination(statistics: Statistics, limits: Limits) -> Seen:
    learnings, uses = statistics.cross_pollination, statistics.edges
    if learnings and uses.total >= limits["uses"] and uses.recent > uses.before:
        evidence = {"uses": uses.total, "last_30_days": uses.recent, "30_days_before": uses.before}
        examples = [one.learning_id for one in learnings[:_MOST_NAMED]]
        yield "", {**evidence, "most": learnings[0].tickets, "examples": examples}


def _large_learnings_file(statistics: Statistics, limits: Limits) -> Seen:
    if statistics.learnings_bytes > 1000 * limits["kilobytes"]:
        yield "", {"kilobytes": statistics.learnings_bytes / 1000}


_LOOKS: Final[Mapping[str, Callable[[Statistics, Limits], Seen]]] = {
    "rubber_stamping": _rubber_stamping,
    "decay_warning": _decay_warning,
    "low_gate_precision": _low_gate_precision,
    "low_hit_category": _low_hit_category,
    "over_surfaced": _over_surfaced,
    "skip_miss": _skip_miss,
    "stale_top_learning": _stale_top_learning,
    "write_gate_too_loose": _write_gate_too_loose,
    "write_gate_too_strict": _write_gate_too_strict,
    "cross_pollination": _cross_pollination,
    "high_value_rare": _high_value_rare,
    "large_learnings_file": _large_learnings_file,
}


def _over(share: Share, rate: float, least: float = 1) -> bool:
    """Return whether at least so many show a higher rate."""
    return share.total >= least and share.count > rate * share.total + _ROUNDING


def _under(share: Share, rate: float, least: float = 1) -> bool:
    return share.total >= least and share.count < rate * share.total - _ROUNDING
