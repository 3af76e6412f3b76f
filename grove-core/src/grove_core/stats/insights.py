"""grove's own insights: what the numbers say, each with its evidence and one thing to do."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from grove_core.model.statistics import (
    GroupStats,
    Insight,
    LearningRecord,
    LearningStats,
    Share,
    Statistics,
)
from grove_core.text import counted

_MOST_NAMED: Final = 5
_ROUNDING: Final = 1e-9  # 0.9 of 10 are 9, also where floats have it otherwise


class Trigger(NamedTuple):
    """When an insight shows."""

    priority: int
    when: str
    limits: Mapping[str, float]

    @property
    def condition(self) -> str:
        """The condition with its numbers, for the documentation."""
        return self.when.format(**self.limits)


TRIGGERS: Final[Mapping[str, Trigger]] = {
    "rubber_stamping": Trigger(
        1,
        "there are at least {learnings} learnings, and more than {share:.0%} of them claim the same"
        " criterion",
        {"learnings": 10, "share": 0.9},
    ),
    "decay_warning": Trigger(
        2,
        "at least one learning will be archived within {days} days",
        {"days": 7},
    ),
    "low_gate_precision": Trigger(
        2,
        "agents were stopped in at least {cycles} gate cycles, and fewer than {rate:.0%} of these"
        " led to an accepted learning",
        {"cycles": 10, "rate": 0.3},
    ),
    "low_hit_category": Trigger(
        2,
        "learnings of a category were shown at least {showings} times, and fewer than {rate:.0%}"
        " of the showings were of use",
        {"showings": 10, "rate": 0.3},
    ),
    "over_surfaced": Trigger(
        2,
        "an active learning was shown in at least {showings} sessions, and its uses are at most"
        " {rate:.0%} of its showings; the {most} most shown are named",
        {"showings": 5, "rate": 0.1, "most": 3},
    ),
    "skip_miss": Trigger(
        2,
        "at least {tickets} ticket whose reflection was skipped later produced learnings",
        {"tickets": 1},
    ),
    "stale_top_learning": Trigger(
        2,
        "of the ten most used active learnings, the one with the best record, used in at least"
        " {rate:.0%} of at least {showings} showings, was last used {days} days ago or earlier",
        {"rate": 0.5, "showings": 3, "days": 60},
    ),
    "write_gate_too_loose": Trigger(
        2,
        "of at least {candidates} candidates more than {pass_rate:.0%} were accepted, and of at"
        " least {showings} showings fewer than {hit_rate:.0%} were of use",
        {"candidates": 10, "pass_rate": 0.95, "showings": 10, "hit_rate": 0.3},
    ),
    "write_gate_too_strict": Trigger(
        2,
        "of at least {candidates} candidates fewer than {pass_rate:.0%} were accepted",
        {"candidates": 10, "pass_rate": 0.5},
    ),
    "cross_pollination": Trigger(
        3,
        "learnings were used for at least {uses} tickets besides the ones they came from, and for"
        " more of them in the last {days} days than in the {days} before",
        {"uses": 3, "days": 30},
    ),
    "high_value_rare": Trigger(
        3,
        "a category has fewer than {learnings} active learnings, and of at least {showings}"
        " showings more than {rate:.0%} were of use",
        {"learnings": 5, "showings": 3, "rate": 0.7},
    ),
    "large_learnings_file": Trigger(
        3,
        "a file with learnings holds more than {kilobytes:,} kB",
        {"kilobytes": 500},
    ),
}
"""Every insight with its condition: the one place where these numbers stand."""


def insights_of(statistics: Statistics) -> tuple[Insight, ...]:
    """Return what is worth knowing in the numbers."""
    found: list[Insight] = []
    for look in (
        _rubber_stamping,
        _decay_warning,
        _low_gate_precision,
        _low_hit_categories,
        _over_surfaced,
        _skip_misses,
        _stale_top_learning,
        _write_gate_too_loose,
        _write_gate_too_strict,
        _cross_pollination,
        _high_value_rare,
        _large_learnings_file,
    ):
        found += look(statistics)
    return ranked(found)


def ranked(insights: Iterable[Insight]) -> tuple[Insight, ...]:
    """Put the most urgent first; ties go by kind, then by subject."""
    return tuple(sorted(insights, key=lambda one: (one.priority, one.kind, one.subject)))


def _rubber_stamping(statistics: Statistics) -> Iterator[Insight]:
    limits, total = TRIGGERS["rubber_stamping"].limits, statistics.learnings
    if total < limits["learnings"]:
        return
    for criterion, count in statistics.by_criterion.items():
        share = Share(count, total)
        if _over(share, limits["share"]):
            yield _insight(
                "rubber_stamping",
                f"{count} of {total} learnings claim the same criterion, {criterion}: it may be"
                " ticked without a thought.",
                "Name in the instructions of your agents what each criterion asks for:"
                " `grove reflect --schema` describes them.",
                {"criterion": criterion, **_evidence(share, "claimed", "learnings")},
                subject=criterion,
            )


def _decay_warning(statistics: Statistics) -> Iterator[Insight]:
    days, stale = TRIGGERS["decay_warning"].limits["days"], statistics.going_stale
    due = [one for one in stale if one.days_left <= days]
    if due:
        # The list is cut where the count is not.
        count = max(statistics.going_stale_count, len(due)) if len(due) == len(stale) else len(due)
        yield _insight(
            "decay_warning",
            f"{counted(count, 'learning')} will be archived within {days:.0f} days, as nothing has"
            " used them for long.",
            "`grove list --stale` names them; whichever is used until then stays.",
            {"learnings": count, "examples": [one.learning_id for one in due[:_MOST_NAMED]]},
        )


def _low_gate_precision(statistics: Statistics) -> Iterator[Insight]:
    limits, precision = TRIGGERS["low_gate_precision"].limits, statistics.gate.precision
    if precision.total >= limits["cycles"] and _under(precision, limits["rate"]):
        yield _insight(
            "low_gate_precision",
            f"Stopping the agent led to an accepted learning in {_of(precision, 'gate cycles')}.",
            "Let smaller changes pass: raise gate.auto_skip.line_threshold"
            " (`grove config get gate.auto_skip.line_threshold` shows what it is).",
            _evidence(precision, "accepted", "blocked"),
        )


def _low_hit_categories(statistics: Statistics) -> Iterator[Insight]:
    limits = TRIGGERS["low_hit_category"].limits
    for group in statistics.categories:
        if group.hits.total >= limits["showings"] and _under(group.hits, limits["rate"]):
            yield _insight(
                "low_hit_category",
                f"Learnings of the category {group.name} were used in"
                f" {_of(group.hits, 'showings')}.",
                f"Go through them with `grove review --category {group.name}`, and archive what"
                " does not help.",
                _group_evidence(group),
                subject=group.name,
            )


def _over_surfaced(statistics: Statistics) -> Iterator[Insight]:
    limits = TRIGGERS["over_surfaced"].limits
    found = [
        one
        for one in statistics.overshown
        if one.stats.surfaced >= limits["showings"] and not _over(one.stats.hits, limits["rate"])
    ]
    for record in found[: int(limits["most"])]:
        yield _insight(
            "over_surfaced",
            f"{_named(record)} was shown in {record.stats.surfaced} sessions and used in"
            f" {record.stats.hits.count}.",
            f"If it does not help, archive it: `grove maintain archive {record.learning_id}`.",
            {
                **_evidence(record.stats.hits, "used", "shown"),
                "learnings_like_it": max(statistics.overshown_count, len(found)),
            },
            subject=record.learning_id,
        )


def _skip_misses(statistics: Statistics) -> Iterator[Insight]:
    skips = statistics.skips
    if skips.tickets.count < TRIGGERS["skip_miss"].limits["tickets"]:
        return
    tickets = counted(skips.tickets.count, "ticket")
    yield _insight(
        "skip_miss",
        f"{tickets} whose reflection was skipped later produced learnings.",
        "Before a skip, look at `grove reflect --brief`: it shows what there is to reflect on.",
        {
            **_evidence(skips.tickets, "tickets", "skipped_tickets"),
            "by_decider": dict(skips.by_decider),
            "examples": [one.ticket_id for one in skips.misses[:_MOST_NAMED]],
        },
    )


def _stale_top_learning(statistics: Statistics) -> Iterator[Insight]:
    limits = TRIGGERS["stale_top_learning"].limits
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
        yield _insight(
            "stale_top_learning",
            f"{_named(best)} has the best record, used in {_of(best.stats.hits, 'showings')}, and"
            f" was last used {unused.days} days ago.",
            f"See whether it still holds: `grove show {best.learning_id}`.",
            {**_evidence(best.stats.hits, "used", "shown"), "days_unused": unused.days},
            subject=best.learning_id,
        )


def _write_gate_too_loose(statistics: Statistics) -> Iterator[Insight]:
    limits, passed = TRIGGERS["write_gate_too_loose"].limits, statistics.write_gate.passed
    if (
        passed.total >= limits["candidates"]
        and _over(passed, limits["pass_rate"])
        and statistics.usage.hits.total >= limits["showings"]
        and _under(statistics.usage.hits, limits["hit_rate"])
    ):
        yield _insight(
            "write_gate_too_loose",
            f"{_of(passed, 'candidates')} were accepted, yet learnings were used in"
            f" {_of(statistics.usage.hits, 'showings')}.",
            "See that gate.write_gate.mode is enforce"
            " (`grove config get gate.write_gate.mode`), and archive what does not help.",
            {
                **_evidence(passed, "accepted", "candidates"),
                **_evidence(statistics.usage.hits, "used", "shown", prefix="hit_"),
            },
        )


def _write_gate_too_strict(statistics: Statistics) -> Iterator[Insight]:
    limits, gate = TRIGGERS["write_gate_too_strict"].limits, statistics.write_gate
    if gate.passed.total >= limits["candidates"] and _under(gate.passed, limits["pass_rate"]):
        yield _insight(
            "write_gate_too_strict",
            f"{_of(gate.passed, 'candidates')} were accepted.",
            "`grove list --rejected` names what was refused and why.",
            {
                **_evidence(gate.passed, "accepted", "candidates"),
                "rejected_by_stage": dict(gate.rejected_by_stage),
                "written_later_all_the_same": len(gate.misses),
            },
        )


def _cross_pollination(statistics: Statistics) -> Iterator[Insight]:
    limits = TRIGGERS["cross_pollination"].limits
    learnings, uses = statistics.cross_pollination, statistics.edges
    if learnings and uses.total >= limits["uses"] and uses.recent > uses.before:
        top = learnings[0]
        yield _insight(
            "cross_pollination",
            f"Learnings help more and more with tickets that they did not come from:"
            f" {counted(uses.recent, 'time')} in {limits['days']:.0f} days, {uses.before} in those"
            f" before, {top.learning_id} with {counted(top.tickets, 'ticket')} in all.",
            f"What helps everywhere may belong into the project's own instructions:"
            f" `grove show {top.learning_id}`.",
            {
                "uses": uses.total,
                "last_30_days": uses.recent,
                "30_days_before": uses.before,
                "examples": [one.learning_id for one in learnings[:_MOST_NAMED]],
            },
        )


def _high_value_rare(statistics: Statistics) -> Iterator[Insight]:
    limits = TRIGGERS["high_value_rare"].limits
    for group in statistics.categories:
        if (
            0 < group.active < limits["learnings"]
            and group.hits.total >= limits["showings"]
            and _over(group.hits, limits["rate"])
        ):
            yield _insight(
                "high_value_rare",
                f"The category {group.name} has {counted(group.active, 'active learning')}, used"
                f" in {_of(group.hits, 'showings')}: more of them would help.",
                f"Ask your agents for more of the kind; `grove list --category {group.name}` shows"
                " what there is.",
                _group_evidence(group),
                subject=group.name,
            )


def _large_learnings_file(statistics: Statistics) -> Iterator[Insight]:
    limit = TRIGGERS["large_learnings_file"].limits["kilobytes"]
    kilobytes = statistics.learnings_bytes / 1000
    if kilobytes > limit:
        yield _insight(
            "large_learnings_file",
            f"One file with learnings holds {kilobytes:,.0f} kB, a lot to read and to merge.",
            "Give each learning a file of its own: `grove maintain migrate --layout spread`.",
            {"bytes": statistics.learnings_bytes, "learnings": statistics.learnings},
        )


def _insight(
    kind: str, message: str, suggestion: str, evidence: Mapping[str, object], *, subject: str = ""
) -> Insight:
    priority = TRIGGERS[kind].priority
    return Insight(kind, message, suggestion, evidence, subject, priority)


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


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _of(share: Share, noun: str) -> str:
    rate, (low, high) = share.rate or 0.0, share.interval or (0.0, 0.0)
    return (
        f"{share.count} of {share.total} {noun} ({rate * 100:.0f} %,"
        f" 95 % interval {low * 100:.0f} to {high * 100:.0f} %)"
    )


def _named(record: LearningRecord) -> str:
    return f"“{record.summary}” ({record.learning_id})"
