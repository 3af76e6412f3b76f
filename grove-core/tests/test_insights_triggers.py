"""Each insight just below, at and above its numbers."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from grove_core.cli.main import COMMANDS
from grove_core.model.learning import Share
from grove_core.model.statistics import (
    CrossPollination,
    Edges,
    FaredLearning,
    GateStats,
    GoingStale,
    GroupStats,
    SkipMiss,
    SkipStats,
    Statistics,
    UsageStats,
    WriteGateStats,
)
from grove_core.stats.insights import TRIGGERS, insights_of

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
NUMBERS = count()


def ago(days):
    return NOW - timedelta(days=days)


def fared(surfaced, referenced, *, unused=1.0):
    name, hits = f"cl_{next(NUMBERS):06}", Share(referenced, surfaced)
    used = ago(unused) if referenced else None
    return FaredLearning(name, "Something worth knowing", "pitfall", referenced, hits, 0, used)


def group(used, shown, active=6, name="pitfall"):
    return GroupStats(name, active, active, Share(used, shown), Share(), Share(), ())


def numbers(**parts):
    return Statistics(now=NOW, **parts)


def category(*arguments, **parts):
    return numbers(categories=(group(*arguments, **parts),))


def criteria(same, others):
    by_criterion = {"stable_fact": same, "decision_rationale": others}
    return numbers(by_status={"active": same, "archived": others}, by_criterion=by_criterion)


def passed(accepted, candidates, used=0, shown=0):
    gate = WriteGateStats(passed=Share(accepted, candidates))
    return numbers(write_gate=gate, usage=UsageStats(hits=Share(used, shown)))


def misses(many):
    missed = SkipMiss(ticket_id="T-1", skipped_at=ago(9), accepted_at=ago(3))
    return numbers(skips=SkipStats({"agent": many}, Share(many, many + 3), (missed,) * many))


def stale(many):
    old = GoingStale(learning_id="cl_1", summary="Old", last_verified=ago(83), days_left=7)
    return numbers(going_stale=(old,) * many, going_stale_count=many)


def pollination(*tickets, before=0):
    helped = tuple(
        CrossPollination(
            learning_id=f"cl_{index}",
            summary="Helps",
            origin_ticket="T-0",
            tickets=many,
            examples=("T-1",),
        )
        for index, many in enumerate(tickets)
    )
    edges = Edges(sum(tickets), sum(tickets) - before, before)
    return numbers(edges=edges, cross_pollination=helped)


def shown(*arguments):
    return numbers(overshown=(fared(*arguments),), overshown_count=1)


def used(*arguments, **fields):
    return numbers(top=(fared(*arguments, **fields),))


def precision(accepted, blocked):
    return numbers(gate=GateStats(precision=Share(accepted, blocked)))


CASES = [
    # What is seen, and what is not, around each number.
    ("rubber_stamping", False, criteria(9, 0)),
    ("rubber_stamping", True, criteria(10, 0)),
    ("rubber_stamping", True, criteria(19, 2)),
    ("decay_warning", False, stale(2)),
    ("decay_warning", True, stale(3)),
    ("low_gate_precision", False, precision(0, 9)),
    ("low_gate_precision", True, precision(2, 10)),
    ("low_gate_precision", False, precision(3, 10)),
    ("low_hit_category", False, category(0, 9)),
    ("low_hit_category", True, category(2, 10)),
    ("low_hit_category", False, category(3, 10)),
    ("high_value_rare", False, category(7, 10, active=4)),
    ("high_value_rare", True, category(8, 10, active=4)),
    ("high_value_rare", False, category(8, 10, active=5)),
    ("high_value_rare", True, category(3, 3, active=1)),
    ("high_value_rare", False, category(2, 2, active=1)),
    ("over_surfaced", True, shown(5, 0)),
    ("skip_miss", False, misses(2)),
    ("skip_miss", True, misses(3)),
    ("stale_top_learning", False, used(4, 2, unused=59.9)),
    ("stale_top_learning", True, used(4, 2, unused=60)),
    ("stale_top_learning", False, used(2, 2, unused=61)),
    ("stale_top_learning", True, used(3, 3, unused=61)),
    ("write_gate_too_loose", False, passed(9, 9, 0, 10)),
    ("write_gate_too_loose", True, passed(10, 10, 2, 10)),
    ("write_gate_too_loose", False, passed(10, 10, 3, 10)),
    ("write_gate_too_loose", False, passed(10, 10, 2, 9)),
    ("write_gate_too_strict", False, passed(0, 9)),
    ("write_gate_too_strict", True, passed(4, 10)),
    ("write_gate_too_strict", False, passed(5, 10)),
    ("cross_pollination", False, pollination(1, 1)),
    ("cross_pollination", True, pollination(2, 1)),
    ("cross_pollination", True, pollination(3, 2, before=2)),
    ("cross_pollination", False, pollination(2, 2, before=2)),
    ("large_learnings_file", False, numbers(learnings_bytes=500_000)),
    ("large_learnings_file", True, numbers(learnings_bytes=500_001)),
]


@pytest.mark.parametrize(("kind", "shows", "statistics"), CASES)
def test_an_insight_shows_when_its_numbers_say_so(kind, shows, statistics):
    kinds = [one.kind for one in insights_of(statistics)]
    assert kinds == ([kind] if shows else [])
    assert kind in TRIGGERS


@pytest.mark.parametrize("statistics", [statistics for _, shows, statistics in CASES if shows])
def test_an_insight_says_numbers_and_names_one_command(statistics):
    (seen,) = insights_of(statistics)
    assert any(isinstance(value, int | float | Share) for value in seen.evidence.values())
    (command,) = seen.suggestion.split("`")[1::2]
    assert command.split()[1] in {*COMMANDS, "maintain", "review"}


def test_the_most_urgent_comes_first_and_the_rest_is_in_order():
    statistics = Statistics(
        now=NOW,
        by_status={"active": 12},
        by_criterion={"stable_fact": 12},
        categories=(group(1, 20, name="process"), group(1, 20, name="debugging")),
        learnings_bytes=900_000,
    )
    assert [(one.priority, one.kind, one.subject) for one in insights_of(statistics)] == [
        (1, "rubber_stamping", "stable_fact"),
        (2, "low_hit_category", "debugging"),
        (2, "low_hit_category", "process"),
        (3, "large_learnings_file", ""),
    ]
