"""The rule of decay: its table, its borders, and a naive second opinion on any history."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.learning import LearningStatus
from grove_core.model.statistics import LearningStats
from grove_core.stats.decay import DecayRule, DecayState, judge_decay, verification

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
    return judge_decay(ago(created), status, stats, NOW, rule)


FRESH, DUE, IMMUNE = DecayState.FRESH, DecayState.DUE, DecayState.IMMUNE

# (created days ago, how it fared) -> (state, what last spoke for it, days left)
TABLE = [
    (89, None, FRESH, "written", 1),
    (90, None, FRESH, "written", 0),
    (91, None, DUE, "written", -1),
    (0, None, FRESH, "written", 90),
    (400, fared(1, 0, shown=10), FRESH, "shown", 80),
    (400, fared(4, 0, shown=10), FRESH, "shown", 80),
    (400, fared(5, 0, shown=10), DUE, "written", -310),
    (80, fared(5, 0, shown=1), FRESH, "written", 10),
    (400, fared(50, 1, shown=3, used=200), FRESH, "shown", 87),
    (400, fared(5, 1, shown=100, used=20), FRESH, "used", 70),
    (400, fared(0, 1, used=20), FRESH, "used", 70),
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
    (400, fared(9, 0, shown=1, restored=91), DUE, "restored", -1),
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


@pytest.mark.parametrize("status", LearningStatus)
def test_every_status_has_a_verdict(status):
    assert judge(1, status=status.value).reason


def test_it_is_due_after_the_last_day_and_not_before():
    created = NOW - timedelta(days=90)
    assert judge_decay(created, "active", None, NOW, RULE).state is FRESH
    assert judge_decay(created - SECOND, "active", None, NOW, RULE).state is DUE


def test_the_configuration_decides():
    assert judge(31, rule=DecayRule(30, 0.8)).state is DUE
    assert judge(200, rule=DecayRule(365, 0.8)).state is FRESH
    half = fared(4, 2, shown=200, used=200)
    assert judge(400, half, rule=DecayRule(90, 0.5)).state is IMMUNE
    assert judge(400, half, rule=DecayRule(90, 0.51)).state is DUE
    assert judge(400, fared(3, 0, shown=200), rule=DecayRule(90, 0.0)).state is IMMUNE


@pytest.mark.parametrize(
    ("created", "stale"), [(82, False), (83, False), (84, True), (90, True), (200, True)]
)
def test_stale_is_what_is_due_within_a_week(created, stale):
    assert judge(created).is_stale is stale
    assert not judge(created, fared(3, 3, shown=created, used=created)).is_stale


@pytest.mark.parametrize(
    ("created", "stats", "words"),
    [
        (
            60,
            None,
            "written 2030-04-02, 60 days ago; archived in 30 days unless it is shown or used",
        ),
        (0.1, None, "written 2030-06-01, 0 days ago; archived in 90 days"),
        (88.5, None, "88 days ago; archived in 2 days"),
        (89.5, None, "89 days ago; archived within a day unless it is shown or used"),
        (1, None, "written 2030-05-31, 1 day ago"),
        (
            300,
            fared(1, 0, shown=91),
            "last shown 2030-03-02, 91 days ago, and 90 days are the limit",
        ),
        (300, fared(2, 1, shown=99, used=95), "last used 2030-02-26, 95 days ago"),
        (60, fared(6, 0, shown=1), "being shown does not count: 6 sessions were, and none used it"),
        (60, fared(6, 0, shown=1), "archived in 30 days unless it is used"),
        (
            300,
            fared(5, 4, shown=9, used=9),
            "shown in 5 sessions, used in 4 (80 %,",
        ),
        (300, fared(restored=2), "last restored 2030-05-30, 2 days ago"),
    ],
)
def test_the_reason_says_it_in_words_and_numbers(created, stats, words):
    assert words in judge(created, stats).reason


def test_a_learning_from_the_future_and_one_from_the_end_of_the_calendar():
    assert judge(-10).state is FRESH
    assert judge(-10).last_verified == NOW
    assert judge(-10).days_left == RULE.passive_days
    assert judge(-10).reason.startswith(
        "written in the future, which counts as now; archived in 90"
    )
    assert judge(-10, rule=DecayRule(7, 0.8)).reason.endswith(
        "in 7 days unless it is shown or used"
    )
    shown = judge(300, fared(1, 0, shown=-3650))
    assert shown.reason.startswith("last shown in the future, which counts as now; archived in 90")
    far = datetime.max.replace(tzinfo=UTC)
    assert judge_decay(far, "active", None, NOW, RULE).state is FRESH
    early = datetime.min.replace(tzinfo=UTC)
    assert judge_decay(early, "active", None, NOW, RULE).state is DUE


def test_ranking_measures_recency_from_the_same_instant():
    from grove_core.model.learning import Category, Learning
    from grove_core.retrieval.entries import entry_of
    from grove_core.retrieval.ranking import last_verified

    for created, stats, *_ in TABLE:
        learning = Learning(
            id="cl_one",
            category=Category.PITFALL,
            summary="S",
            detail="D",
            session_id="s",
            timestamp=ago(created),
        )
        verified = verification(ago(created), stats, NOW)
        entry = entry_of(learning, backend="markdown", personal=False)
        assert last_verified(entry, stats, NOW) == verified.at


# --- any history --------------------------------------------------------------------------------

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


@settings(max_examples=300, deadline=None)
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
