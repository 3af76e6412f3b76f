"""From events to numbers, case by case; random logs are counted in test_stats_cache_recount.py."""

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from attrs import fields
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.codec import event_to_line
from grove_core.derived_database import IN_MEMORY
from grove_core.model.events import (
    EVENT_TYPES,
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
from grove_core.model.statistics import LearningRecord, LearningStats, Share, SkipMiss
from grove_core.stats.decay import DecayRule, judge_decay
from grove_core.stats.fingerprints import fingerprint
from grove_core.stats.log_lines import EventLine, read_lines
from grove_core.stats_cache.cache import StatsCache

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)  # a Friday
RULE = DecayRule(90, 0.8)


def at(days):
    return NOW + timedelta(days=days)


def surfaced(learning="a", session="s", day=0):
    return Surfaced(ts=at(day), learning_id=learning, session_id=session)


def referenced(learning="a", session="s", day=0, ticket=None):
    return Referenced(ts=at(day), learning_id=learning, session_id=session, ticket_id=ticket)


def dismissed(learning="a", session="s", day=0):
    return Dismissed(ts=at(day), learning_id=learning, session_id=session)


def record(name="a", days=0, **fields):
    usual = {
        "summary": name, "category": "pitfall", "scope": "project", "status": "active",
        "confidence": "high", "criteria": (), "tags": (), "session_id": "writer",
        "ticket_id": None, "backend": "markdown",
    }  # fmt: skip
    values = {**usual, **fields}
    return LearningRecord(learning_id=name, created=at(days), stats=LearningStats(name), **values)


@pytest.fixture
def count(tmp_path):
    """Counts events by way of a log; the learnings stand beside them."""

    def counted(*events, records=(), rule=RULE):
        log = tmp_path / "stats.log"
        log.write_text("".join(event_to_line(event, "0.1.0") for event in events))
        return numbers_of(log, records, rule)

    return counted


def numbers_of(log, records=(), rule=RULE):
    cache = StatsCache(IN_MEMORY, [str(log)])
    cache.refresh()
    cache.put_learnings(sorted(records, key=lambda one: one.learning_id), "")
    numbers = cache.count(NOW, rule)
    numbers = numbers._replace(records=tuple(numbers.records))
    usage = cache.usage()
    cache.close()
    return numbers, usage


def test_nothing_gives_nothing(count):
    numbers, usage = count()
    assert usage == {}
    assert (numbers.learnings, numbers.usage.hits.rate, numbers.log.events) == (0, None, 0)
    assert [week.start for week in numbers.weeks] == [date(2026, 2, 2)]


def test_once_per_learning_and_session(count):
    twice = surfaced(), surfaced(day=1), referenced(), referenced(day=2)
    stats = count(*twice, surfaced(session="t"))[1]["a"]
    assert (stats.surfaced, stats.referenced, stats.dismissed) == (2, 1, 0)
    assert stats.hit_rate == 0.5
    assert (stats.last_surfaced, stats.last_referenced) == (at(1), at(2))


def test_a_reference_cancels_a_dismissal_of_its_session_only(count):
    events = dismissed(), dismissed(session="t"), referenced(session="t", day=3)
    assert count(*events)[1]["a"].dismissed == 1


def test_learnings_are_counted_apart(count):
    usage = count(surfaced("a"), surfaced("b"), referenced("b"))[1]
    assert (usage["a"].referenced, usage["b"].referenced) == (0, 1)


def test_tickets_that_used_a_learning(count):
    events = [
        referenced(ticket="T1"),
        referenced(ticket="T2", session="t"),
        referenced(ticket="T2", session="u"),
        referenced(),
    ]
    numbers, usage = count(*events, records=[record(ticket_id="T1")])
    assert usage["a"].referencing_tickets == 2
    (other,) = numbers.cross_pollination
    assert (other.origin_ticket, other.tickets, other.examples) == ("T1", 1, ("T2",))
    assert numbers.edges.total == 1


def test_corrections_and_ratings(count):
    stats = count(
        Corrected(ts=NOW, learning_id="a", session_id="s"),
        Corrected(ts=NOW, learning_id="a", session_id="t"),
        Rated(ts=NOW, learning_id="a", useful=True),
        Rated(ts=NOW, learning_id="a", useful=False),
        Rated(ts=at(1), learning_id="a", useful=True),
    )[1]["a"]
    assert (stats.corrected, stats.useful_ratings, stats.useless_ratings) == (2, 2, 1)
    assert stats.hit_rate is None


def test_a_hit_rate_is_at_most_one_although_more_was_used_than_shown(count):
    events = surfaced(), referenced(session="x"), referenced(session="y")
    assert count(*events)[1]["a"].hit_rate == 1.0


def test_reflections_rejections_skips_and_cycles(count):
    numbers, usage = count(
        Reflection(ts=NOW, session_id="s", candidates=3, accepted=2, backend="markdown"),
        Reflection(ts=NOW, session_id="s", candidates=2, accepted=0, backend="markdown"),
        Rejected(ts=NOW, session_id="s", summary="x", stage="write_gate"),
        Rejected(ts=NOW, session_id="s", summary="y", stage="write_gate"),
        Rejected(ts=NOW, session_id="s", summary="x"),
        Skip(ts=NOW, session_id="s", reason="r", decider="auto"),
        Skip(ts=NOW, session_id="s", reason="r", decider="agent"),
        Skip(ts=NOW, session_id="t", reason="r", decider="agent"),
        GateCycle(ts=NOW, session_id="s", outcome="reflected", blocks=1),
        GateCycle(ts=NOW, session_id="t", outcome="skipped", blocks=2),
        GateCycle(ts=NOW, session_id="u", outcome="reflected"),
        Archived(ts=NOW, learning_id="a"),
        Restored(ts=NOW, learning_id="a"),
    )
    reflections = numbers.reflections
    assert (reflections.submissions, reflections.completed) == (2, 1)
    assert (reflections.candidates, reflections.accepted) == (5, 2)
    assert reflections.by_backend == {"markdown": 1}
    assert numbers.write_gate.passed == Share(2, 5)
    assert numbers.write_gate.rejected_by_stage == {"write_gate": 2, "schema": 1}
    assert (numbers.skips.by_decider, numbers.skips.total) == ({"auto": 1, "agent": 2}, 3)
    assert numbers.gate.by_outcome == {"reflected": 2, "skipped": 1}
    assert numbers.gate.precision == Share(1, 2)
    assert numbers.log.events == 13
    assert usage == {"a": LearningStats("a", last_restored=NOW)}


def test_a_skipped_ticket_that_later_produced_something(count):
    def skip(ticket, day):
        return Skip(ts=at(day), session_id="s", reason="r", decider="agent", ticket_id=ticket)

    def reflection(ticket, day, accepted):
        return Reflection(
            ts=at(day), session_id="t", candidates=1, accepted=accepted, ticket_id=ticket
        )

    skips = count(
        *(skip("T1", -5), skip("T1", -1), reflection("T1", -3, 1)),
        *(skip("T2", -2), reflection("T2", -3, 1)),
        *(skip("T3", -5), reflection("T3", -3, 0)),
        reflection("T4", -3, 1),
    )[0].skips
    assert skips.tickets == Share(1, 3)
    assert skips.misses == (SkipMiss("T1", at(-5), at(-3)),)


@pytest.mark.parametrize(
    ("fields", "missed"),
    [
        ({}, True),
        ({"session_id": "s"}, False),
        ({"days": -3}, False),
        ({"summary": "Index the table of prices"}, False),
        ({"summary": "Export, orders: think about retries"}, False),
        ({"summary": "Export, orders: think about retries", "tags": ("io",)}, True),
    ],
    ids=["another", "same-session", "earlier", "other-topic", "near", "near-with-tag"],
)
def test_a_refusal_whose_topic_was_written_later(count, fields, missed):
    refusal = Rejected(
        ts=at(-2),
        session_id="s",
        summary="Retry the export of orders",
        tags=("io",),
        stage="write_gate",
    )
    values = {"summary": "The export of orders needs a retry", "days": -1, **fields}
    misses = count(refusal, records=[record("later", **values)])[0].write_gate.misses
    assert [one.learning_id for one in misses] == ["later"] * missed


@pytest.mark.parametrize(
    ("day", "window"),
    [(0, "recent"), (-29, "recent"), (-30, "before"), (-59, "before"), (-60, ""), (1, "")],
)
def test_the_windows_of_a_trend(count, day, window):
    (group,) = count(surfaced(day=day), referenced(day=day), records=[record()])[0].categories
    assert group.recent == (Share(1, 1) if window == "recent" else Share())
    assert group.before == (Share(1, 1) if window == "before" else Share())
    assert group.hits == Share(1, 1)


def test_a_use_counts_on_the_first_day_of_its_session(count):
    weeks = count(surfaced(day=-7), surfaced(day=-1), referenced(day=-1))[0].weeks
    assert [(week.start.day, week.hits) for week in weeks] == [(26, Share(0, 1)), (2, Share(0, 0))]


def test_at_most_a_year_of_weeks(count):
    weeks = count(surfaced(day=-1000), surfaced(day=-350, session="t"))[0].weeks
    assert len(weeks) == 51
    assert weeks[0].hits == Share(0, 1)


DAYS = st.integers(-200, 3)


@settings(max_examples=150, deadline=None)
@given(
    created=DAYS,
    status=st.sampled_from(["active", "active", "archived", "superseded"]),
    events=st.lists(
        st.one_of(
            st.builds(surfaced, st.just("a"), st.sampled_from("123456"), DAYS),
            st.builds(referenced, st.just("a"), st.sampled_from("123456"), DAYS),
            st.builds(lambda day: Restored(ts=at(day), learning_id="a"), DAYS),
        ),
        max_size=12,
    ),
    rule=st.builds(DecayRule, st.sampled_from([1, 7, 8, 30, 90, 36_500]), st.sampled_from([0, 0.5, 0.8, 1])),
)  # fmt: skip
def test_going_stale_is_what_decay_says(tmp_path_factory, created, status, events, rule):
    log = Path(tmp_path_factory.getbasetemp()) / "decay.log"
    log.write_text("".join(event_to_line(event, "0.1.0") for event in events))
    numbers, usage = numbers_of(log, [record(days=created, status=status)], rule)
    verdict = judge_decay(at(created), status, usage.get("a"), NOW, rule)
    found = [(one.last_verified, one.days_left) for one in numbers.going_stale]
    assert found == [(verdict.last_verified, verdict.days_left)] * verdict.is_stale


# --- what makes it fast -------------------------------------------------------------------------

VALUES = {"int": 3, "float": 1.5, "bool": True, "str": "text", "tuple[str, ...]": ["a", "b"]}


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_the_fast_reader_knows_every_event_of_the_model(kind):
    """Each field, with its own type and with each other one: as the codec has it."""
    own = {
        one.name: VALUES[str(getattr(one.type, "__name__", one.type)).split(" ")[0]]
        if one.type is not str
        else "text"
        for one in fields(kind)
        if one.name != "ts" and not str(one.type).startswith(("tuple", "str |", "int |"))
    }
    head = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": kind.event, "grove": "1"}
    names = [one.name for one in fields(kind) if one.name != "ts"]
    documents = [{**head, **own}]
    for name in names:
        documents.append({key: value for key, value in documents[0].items() if key != name})
        odd = [None, True, 3, 1.5, "text", ["a"], [1], {}, 2**31, -(2**31), 10**400]
        documents += [{**documents[0], name: value} for value in odd]
    lines = [json.dumps(document).encode() for document in documents]
    # A field that the fast reader does not know sends a line the other way.
    slow = [json.dumps({**document, "grove_version": "1"}).encode() for document in documents]
    for fast, slowly in zip(read_lines(lines), read_lines(slow), strict=True):
        if not isinstance(fast, EventLine):
            assert fast == slowly
            continue
        assert (fast.event, fast.moment) == (slowly.event, slowly.moment)
        for name, value in fast.fields.items():
            if name in names:
                read = slowly.fields[name]
                assert value == (list(read) if isinstance(value, list) else read), name


@pytest.mark.parametrize("length", [10, 18, 36, 150, 300])
def test_no_bit_of_a_text_is_lost_on_its_fingerprint(length):
    """It is linear: with full rank, equally long texts share it as seldom as 64 bits can."""
    nothing = fingerprint(bytes(length))
    pivots = {}
    for place in range(8 * length):
        text = (1 << place).to_bytes(length, "big")
        row = (fingerprint(text) ^ nothing) & (2**64 - 1)
        while row and row.bit_length() in pivots:
            row ^= pivots[row.bit_length()]
        if row:
            pivots[row.bit_length()] = row
    assert len(pivots) == 64
    assert -(2**63) <= fingerprint(b"") < 2**63
