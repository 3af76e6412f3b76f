"""grove's own insights: what the numbers say, each with its evidence and one thing to do."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_core.model.learning import LearningStats, Share
from grove_core.model.statistics import GroupStats, Insight, LearningRecord, Statistics
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


def insights_of(statistics: Statistics) -> tuple[Insight, ...]:
    """Return what is worth knowing in the numbers."""
    found: list[Insight] = []
    for kind, look in _LOOKS.items():
        trigger = TRIGGERS[kind]
        for subject, evidence, words in look(statistics, trigger.limits):
            message = trigger.message.format(**words)
            suggestion = trigger.suggestion.format(**words)
            found.append(Insight(kind, message, suggestion, evidence, subject, trigger.priority))
    return ranked(found)


def ranked(insights: Iterable[Insight]) -> tuple[Insight, ...]:
    """Put the most urgent first; ties go by kind, then by subject."""
    return tuple(sorted(insights, key=lambda one: (one.priority, one.kind, one.subject)))


Limits = Mapping[str, float]
Seen = Iterator[tuple[str, Mapping[str, object], Mapping[str, Any]]]
"""What an insight is about, its evidence, and what is put into its texts."""


def _rubber_stamping(statistics: Statistics, limits: Limits) -> Seen:
    total = statistics.learnings
    if total < limits["learnings"]:
        return
    for criterion, count in statistics.by_criterion.items():
        share = Share(count, total)
        if _over(share, limits["share"]):
            evidence = {"criterion": criterion, **_evidence(share, "claimed", "learnings")}
            yield criterion, evidence, {"count": count, "total": total, "criterion": criterion}


def _decay_warning(statistics: Statistics, limits: Limits) -> Seen:
    stale = statistics.going_stale
    due = [one for one in stale if one.days_left <= limits["days"]]
    # The list is cut where the count is not.
    count = max(statistics.going_stale_count, len(due)) if len(due) == len(stale) else len(due)
    if count >= limits["learnings"]:
        examples = [one.learning_id for one in due[:_MOST_NAMED]]
        words = {"learnings": counted(count, "learning"), "days": limits["days"]}
        yield "", {"learnings": count, "examples": examples}, words


def _low_gate_precision(statistics: Statistics, limits: Limits) -> Seen:
    precision = statistics.gate.precision
    if precision.total >= limits["cycles"] and _under(precision, limits["rate"]):
        evidence = _evidence(precision, "accepted", "blocked")
        yield "", evidence, {"cycles": _of(precision, "gate cycles")}


def _low_hit_category(statistics: Statistics, limits: Limits) -> Seen:
    low = [
        one
        for one in statistics.categories
        if one.hits.total >= limits["showings"] and _under(one.hits, limits["rate"])
    ]
    for group in sorted(low, key=lambda one: -one.hits.total)[: int(limits["most"])]:
        yield group.name, _group_evidence(group), _group_words(group)


def _over_surfaced(statistics: Statistics, limits: Limits) -> Seen:
    found = [
        one
        for one in statistics.overshown
        if one.stats.surfaced >= limits["showings"] and not _over(one.stats.hits, limits["rate"])
    ]
    for record in found[:1]:
        many = max(statistics.overshown_count, len(found))
        evidence = {**_evidence(record.stats.hits, "used", "shown"), "learnings_like_it": many}
        hits = {"shown": record.stats.surfaced, "used": record.stats.hits.count}
        like_it = f", and {many - 1:,} more fared like it" if many > 1 else ""
        yield record.learning_id, evidence, {**_named(record), **hits, "like_it": like_it}


def _skip_miss(statistics: Statistics, limits: Limits) -> Seen:
    skips = statistics.skips
    if skips.tickets.count >= limits["tickets"]:
        evidence = {
            **_evidence(skips.tickets, "tickets", "skipped_tickets"),
            "by_decider": dict(skips.by_decider),
            "examples": [one.ticket_id for one in skips.misses[:_MOST_NAMED]],
        }
        yield "", evidence, {"tickets": counted(skips.tickets.count, "ticket")}


def _stale_top_learning(statistics: Statistics, limits: Limits) -> Seen:
    best = max(
        (
            one
            for one in statistics.top
            if one.stats.surfaced >= limits["showings"]
            and not _under(one.stats.hits, limits["rate"])
        ),
        key=lambda one: (_certain_rate(one.stats), one.stats.referenced, one.learning_id),
        default=None,
    )
    if best is None or best.stats.last_referenced is None:
        return
    unused = statistics.now - best.stats.last_referenced
    if unused >= timedelta(days=limits["days"]):
        hits = best.stats.hits
        evidence = {**_evidence(hits, "used", "shown"), "days_unused": unused.days}
        words = {**_named(best), "showings": _of(hits, "showings"), "days": unused.days}
        yield best.learning_id, evidence, words


def _write_gate_too_loose(statistics: Statistics, limits: Limits) -> Seen:
    passed, hits = statistics.write_gate.passed, statistics.usage.hits
    if (
        passed.total >= limits["candidates"]
        and _over(passed, limits["pass_rate"])
        and hits.total >= limits["showings"]
        and _under(hits, limits["hit_rate"])
    ):
        evidence = {
            **_evidence(passed, "accepted", "candidates"),
            **_evidence(hits, "used", "shown", prefix="hit_"),
        }
        words = {"candidates": _of(passed, "candidates"), "showings": _of(hits, "showings")}
        yield "", evidence, words


def _write_gate_too_strict(statistics: Statistics, limits: Limits) -> Seen:
    gate = statistics.write_gate
    if gate.passed.total >= limits["candidates"] and _under(gate.passed, limits["pass_rate"]):
        evidence = {
            **_evidence(gate.passed, "accepted", "candidates"),
            "rejected_by_stage": dict(gate.rejected_by_stage),
            "written_later_all_the_same": len(gate.misses),
        }
        yield "", evidence, {"candidates": _of(gate.passed, "candidates")}


def _cross_pollination(statistics: Statistics, limits: Limits) -> Seen:
    learnings, uses = statistics.cross_pollination, statistics.edges
    if learnings and uses.total >= limits["uses"] and uses.recent > uses.before:
        evidence = {
            "uses": uses.total,
            "last_30_days": uses.recent,
            "30_days_before": uses.before,
            "examples": [one.learning_id for one in learnings[:_MOST_NAMED]],
        }
        words = {
            "times": counted(uses.recent, "time"),
            "days": limits["days"],
            "before": uses.before,
            "id": learnings[0].learning_id,
            "tickets": counted(learnings[0].tickets, "ticket"),
        }
        yield "", evidence, words


def _high_value_rare(statistics: Statistics, limits: Limits) -> Seen:
    for group in statistics.categories:
        if (
            0 < group.active < limits["learnings"]
            and group.hits.total >= limits["showings"]
            and _over(group.hits, limits["rate"])
        ):
            yield group.name, _group_evidence(group), _group_words(group)


def _large_learnings_file(statistics: Statistics, limits: Limits) -> Seen:
    kilobytes = statistics.learnings_bytes / 1000
    if kilobytes > limits["kilobytes"]:
        evidence = {"bytes": statistics.learnings_bytes, "learnings": statistics.learnings}
        yield "", evidence, {"kilobytes": kilobytes}


_LOOKS: Final = {
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


def _over(share: Share, rate: float) -> bool:
    return share.total > 0 and share.count > rate * share.total + _ROUNDING


def _under(share: Share, rate: float) -> bool:
    return share.total > 0 and share.count < rate * share.total - _ROUNDING


def _certain_rate(stats: LearningStats) -> float:
    """The least that the hit rate may be: nine of ten are better than one of one."""
    interval = stats.hits.interval
    return interval[0] if interval else 0.0


def _evidence(share: Share, count: str, total: str, *, prefix: str = "") -> dict[str, object]:
    low, high = share.interval or (None, None)
    return {
        count: share.count,
        total: share.total,
        f"{prefix}rate": _rounded(share.rate),
        f"{prefix}low": _rounded(low),
        f"{prefix}high": _rounded(high),
    }


def _group_evidence(group: GroupStats) -> dict[str, object]:
    return {
        **_evidence(group.hits, "used", "shown"),
        "learnings": group.learnings,
        "active": group.active,
    }


def _group_words(group: GroupStats) -> dict[str, str]:
    return {
        "category": group.name,
        "learnings": counted(group.active, "active learning"),
        "showings": _of(group.hits, "showings"),
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _of(share: Share, noun: str) -> str:
    rate, (low, high) = share.rate or 0.0, share.interval or (0.0, 0.0)
    return (
        f"{share.count:,} of {share.total:,} {noun},"
        f" {rate * 100:.0f} % ({low * 100:.0f}–{high * 100:.0f} %)"
    )


def _named(record: LearningRecord) -> dict[str, Any]:
    named = f"“{record.summary}” ({record.learning_id})"
    return {"learning": named, "id": record.learning_id}
