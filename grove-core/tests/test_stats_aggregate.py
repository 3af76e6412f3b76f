"""From events to numbers."""

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.events import (
    Archived,
    Corrected,
    Dismissed,
    GateCycle,
    Rated,
    Referenced,
    Reflection,
    Rejected,
    Restored,
    Skip,
    Surfaced,
)
from grove_core.model.statistics import AggregateStats, LearningStats
from grove_core.stats.aggregate import aggregate

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def at(days):
    return NOW + timedelta(days=days)


def surfaced(learning="a", session="s", day=0):
    return Surfaced(ts=at(day), learning_id=learning, session_id=session)


def referenced(learning="a", session="s", day=0, ticket=None):
    return Referenced(ts=at(day), learning_id=learning, session_id=session, ticket_id=ticket)


def dismissed(learning="a", session="s", day=0):
    return Dismissed(ts=at(day), learning_id=learning, session_id=session)


def of(*events, learning="a"):
    return aggregate(events).learnings[learning]


def test_nothing_gives_nothing():
    assert aggregate([]) == AggregateStats()


def test_once_per_learning_and_session():
    stats = of(surfaced(), surfaced(day=1), referenced(), referenced(day=2), surfaced(session="t"))
    assert (stats.surfaced, stats.referenced, stats.dismissed) == (2, 1, 0)
    assert stats.hit_rate == 0.5
    assert (stats.last_surfaced, stats.last_referenced) == (at(1), at(2))


def test_a_reference_cancels_a_dismissal_of_its_session_only():
    stats = of(dismissed(), dismissed(), dismissed(session="t"), referenced(session="t", day=3))
    assert stats.dismissed == 1


def test_learnings_are_counted_apart():
    numbers = aggregate([surfaced("a"), surfaced("b"), referenced("b")])
    assert numbers.learnings["a"].referenced == 0
    assert numbers.learnings["b"].referenced == 1


def test_tickets_that_used_a_learning():
    stats = of(referenced(ticket="T1"), referenced(ticket="T2", session="t"), referenced())
    assert stats.referencing_tickets == {"T1", "T2"}


def test_corrections_and_ratings():
    stats = of(
        Corrected(ts=NOW, learning_id="a", session_id="s"),
        Corrected(ts=NOW, learning_id="a", session_id="s"),
        Rated(ts=NOW, learning_id="a", useful=True),
        Rated(ts=NOW, learning_id="a", useful=False),
        Rated(ts=NOW, learning_id="a", useful=True),
    )
    assert (stats.corrected, stats.useful_ratings, stats.useless_ratings) == (2, 2, 1)
    assert stats.hit_rate is None


def test_a_hit_rate_is_at_most_one_although_more_was_used_than_shown():
    stats = of(surfaced(), referenced(session="x"), referenced(session="y"))
    assert stats.hit_rate == 1.0


def test_reflections_rejections_skips_and_cycles():
    numbers = aggregate(
        [
            Reflection(ts=NOW, session_id="s", candidates=3, accepted=2, backend="markdown"),
            Reflection(ts=NOW, session_id="s", candidates=2, accepted=0, backend=""),
            Rejected(ts=NOW, session_id="s", summary="x", stage="write_gate"),
            Rejected(ts=NOW, session_id="s", summary="x", stage="write_gate"),
            Rejected(ts=NOW, session_id="s", summary="x"),
            Skip(ts=NOW, session_id="s", reason="r", decider="auto"),
            Skip(ts=NOW, session_id="s", reason="r", decider="agent"),
            Skip(ts=NOW, session_id="s", reason="r", decider="agent"),
            GateCycle(ts=NOW, session_id="s", outcome="reflected"),
            Archived(ts=NOW, learning_id="a"),
            Restored(ts=NOW, learning_id="a"),
        ]
    )
    reflections = numbers.reflections
    assert (reflections.completed, reflections.candidates, reflections.accepted) == (1, 5, 2)
    assert reflections.rejected_by_stage == {"write_gate": 2, "schema": 1}
    assert reflections.by_backend == {"markdown": 1, "": 1}
    assert (numbers.skips.by_decider, numbers.skips.total) == ({"auto": 1, "agent": 2}, 3)
    assert numbers.cycles_by_outcome == {"reflected": 1}
    assert numbers.events == 11
    assert numbers.learnings == {}


NAMES, DAYS = st.sampled_from("ab"), st.integers(0, 9)
EVENTS = st.lists(
    st.one_of(
        st.builds(surfaced, NAMES, NAMES, DAYS),
        st.builds(referenced, NAMES, NAMES, DAYS, st.sampled_from(["T1", None])),
        st.builds(dismissed, NAMES, NAMES, DAYS),
        st.builds(lambda one: Corrected(ts=NOW, learning_id=one, session_id="s"), NAMES),
        st.builds(
            lambda one, yes: Rated(ts=NOW, learning_id=one, useful=yes), NAMES, st.booleans()
        ),
    ),
    max_size=25,
)


@given(events=EVENTS, seed=st.integers(0, 99))
def test_the_order_of_events_does_not_matter(events, seed):
    mixed = list(events)
    random.Random(seed).shuffle(mixed)
    assert aggregate(mixed) == aggregate(events)


@given(events=EVENTS)
def test_repeated_uses_change_no_count(events):
    uses = [one for one in events if not isinstance(one, Corrected | Rated)]
    once, twice = aggregate(uses), aggregate(uses + uses)
    assert once.learnings == twice.learnings
    assert twice.events == 2 * once.events


@given(events=EVENTS)
def test_against_a_plain_count(events):
    for name, stats in aggregate(events).learnings.items():
        sessions = {
            kind: {
                one.session_id
                for one in events
                if isinstance(one, kind) and one.learning_id == name
            }
            for kind in (Surfaced, Referenced, Dismissed)
        }
        assert isinstance(stats, LearningStats)
        assert stats.surfaced == len(sessions[Surfaced])
        assert stats.referenced == len(sessions[Referenced])
        assert stats.dismissed == len(sessions[Dismissed] - sessions[Referenced])
