"""The rule of decay: its table, its borders, and a naive second opinion on any history."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import LearningStats
from grove_core.stats.decay import DecayRule, DecayState, assess_decay

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)
RULE = DecayRule(passive_days=90, immunity_hit_rate=0.8)
SECOND = timedelta(seconds=1)


def ago(days):
    return NOW - timedelta(days=days)


def fared(surfaced=0, referenced=0, shown=None, used=None, restored=None):
    return LearningStats(
        learning_id="cl_one",
        surfaced=surfaced,
        referenced=referenced,
        last_surfaced=None if shown is None else ago(shown),
        last_referenced=None if used is None else ago(used),
        last_restored=None if restored is None else ago(restored),
    )


def judge(created, stats=None, status="active", rule=RULE):
    return assess_decay(ago(created), status, stats, NOW, rule)


FRESH, DUE, IMMUNE = DecayState.FRESH, DecayState.DUE, DecayState.IMMUNE

# (created days ago, how it fared) -> (state, what last spoke for it, days left)
TABLE = [
    (90, None, FRESH, "written", 0),
    (91, None, DUE, "written", -1),
    (400, fared(4, 0, shown=10), FRESH, "shown", 80),
    (400, fared(5, 0, shown=10), DUE, "written", -310),
    (400, fared(50, 1, shown=3, used=200), FRESH, "shown", 87),
    (400, fared(1, 1, shown=120, used=100), DUE, "used", -10),
    # Immune from three showings on, and from the rate on.
    (400, fared(2, 2, shown=200, used=200), DUE, "used", -110),
    (400, fared(3, 3, shown=200, used=200), IMMUNE, "used", -110),
    (400, fared(5, 4, shown=200, used=201), IMMUNE, "shown", -110),
    (400, fared(4, 3, shown=200, used=200), DUE, "used", -110),
    (400, fared(3, 7, shown=200, used=150), IMMUNE, "used", -60),
    # Restoring starts the time again, whatever came before.
    (400, fared(restored=10), FRESH, "restored", 80),
    (400, fared(9, 0, shown=1, restored=10), FRESH, "restored", 80),
]


@pytest.mark.parametrize(("created", "stats", "state", "by", "left"), TABLE)
def test_the_table(created, stats, state, by, left):
    verdict = judge(created, stats)
    assert (verdict.state, verdict.verified_by, verdict.days_left) == (state, by, left)


@pytest.mark.parametrize("stats", [None, fared(9, 0, shown=1), fared(9, 9, shown=1, used=1)])
@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_is_out_of_sight_never_decays(status, stats):
    verdict = judge(4000, stats, status)
    assert verdict.state is DecayState(status)
    assert not verdict.is_stale


def test_it_is_due_after_the_last_day_and_not_before():
    created = NOW - timedelta(days=90)
    assert assess_decay(created, "active", None, NOW, RULE).state is FRESH
    assert assess_decay(created - SECOND, "active", None, NOW, RULE).state is DUE


@pytest.mark.parametrize(
    ("created", "stale"), [(82, False), (83, False), (84, True), (90, True), (200, True)]
)
def test_stale_is_what_is_due_within_a_week(created, stale):
    assert judge(created).is_stale is stale
    assert not judge(created, fared(3, 3, shown=created, used=created)).is_stale


@pytest.mark.parametrize(
    ("created", "stats", "words"),
    [
        (60, fared(6, 0, shown=1), "archived in 30 days unless it is used"),
        (300, fared(5, 4, shown=9, used=9), "shown in 5 sessions, used in 4 (80 %,"),
    ],
)
def test_the_reason_says_it_in_words_and_numbers(created, stats, words):
    assert words in judge(created, stats).reason


def test_a_learning_from_the_future_is_as_new_as_can_be():
    assert judge(-10).state is FRESH
    assert judge(-10).last_verified == NOW
    assert judge(-10).days_left == RULE.passive_days
    assert "in the future, which counts as now; archived in 90" in judge(-10).reason


DAYS = st.floats(min_value=0, max_value=400, allow_nan=False)
MOMENTS = st.none() | DAYS


HISTORIES = st.fixed_dictionaries(
    {
        "surfaced": st.integers(0, 12),
        "referenced": st.integers(0, 12),
        "shown": MOMENTS,
        "used": MOMENTS,
        "restored": MOMENTS,
    }
)
RULES = st.builds(DecayRule, st.integers(1, 400), st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0]))


@settings(deadline=None)
@given(created=DAYS, history=HISTORIES, rule=RULES)
def test_a_naive_second_opinion(created, history, rule):
    surfaced, referenced, shown = history["surfaced"], history["referenced"], history["shown"]
    verdict = judge(created, fared(**history), rule=rule)
    ages = [created]
    ages += [age for age in (history["used"], history["restored"]) if age is not None]
    if shown is not None and not (surfaced > 4 and referenced == 0):
        ages.append(shown)
    overdue = NOW - timedelta(days=rule.passive_days) > max(ago(age) for age in ages)
    if surfaced >= 3 and min(referenced, surfaced) >= rule.immunity_hit_rate * surfaced:
        assert verdict.state is IMMUNE
    else:
        assert verdict.state is (DUE if overdue else FRESH)
    assert (verdict.days_left < 0) is overdue
