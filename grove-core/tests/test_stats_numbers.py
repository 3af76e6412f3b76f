"""From events to numbers, case by case."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from attrs import NOTHING, evolve, fields
from core_worlds import NOW, a_learning, count_all

from grove_core.codec import event_to_line
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
from grove_core.model.learning import LearningStats, LearningStatus, Share
from grove_core.model.statistics import Edges, ReflectionStats, SkipMiss
from grove_core.stats.cache import Numbers
from grove_core.stats.lines import EventLine, read_lines
from grove_core.storage.cache import Cache


def at(days):
    return NOW + timedelta(days=days)


def surfaced(learning="a", session="s", day=0):
    return Surfaced(ts=at(day), learning_id=learning, session_id=session)


def referenced(learning="a", session="s", day=0, ticket=None):
    return Referenced(ts=at(day), learning_id=learning, session_id=session, ticket_id=ticket)


def dismissed(learning="a", session="s", day=0):
    return Dismissed(ts=at(day), learning_id=learning, session_id=session)


def learning(name="a", days=0, **fields):
    """One of the writer's, whose statuses stand as texts."""
    status = LearningStatus(fields.pop("status", "active"))
    usual = {"summary": name, "session_id": "writer"}
    return a_learning(name, timestamp=at(days), status=status, **{**usual, **fields})


@pytest.fixture
def count(tmp_path):
    """Counts events by way of a log; the learnings stand beside them."""

    def counted(*events, learnings=()):
        log = tmp_path / "stats.log"
        log.write_text("".join(event_to_line(event, "0.1.0") for event in events))
        return count_all(Cache(), [log], learnings)

    return counted


def test_once_per_learning_and_session(count):
    twice = surfaced(), surfaced(day=1), referenced(), referenced(day=2)
    stats = count(*twice, surfaced(session="t"))[1]["a"]
    assert (stats.surfaced, stats.referenced, stats.dismissed) == (2, 1, 0)
    assert stats.hit_rate == 0.5
    assert (stats.last_surfaced, stats.last_referenced) == (at(1), at(2))


@pytest.mark.parametrize(
    ("fields", "missed"),
    [
        ({}, True),
        ({"session_id": "s"}, False),
        ({"days": -3}, False),
        ({"summary": "Index the table of prices"}, False),
        ({"summary": "Export, orders: think about speed"}, False),
        ({"summary": "Export, orders: think about speed", "tags": ("io",)}, True),
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
    misses = count(refusal, learnings=[learning("later", **values)])[0].write_gate.misses
    assert [one.learning_id for one in misses] == ["later"] * missed


@pytest.mark.parametrize(
    ("day", "window"),
    [(0, "recent"), (-29, "recent"), (-30, "before"), (-59, "before"), (-60, ""), (1, "")],
)
def test_the_windows_of_a_trend(count, day, window):
    (group,) = count(surfaced(day=day), referenced(day=day), learnings=[learning()])[0].categories
    assert group.recent == (Share(1, 1) if window == "recent" else Share())
    assert group.before == (Share(1, 1) if window == "before" else Share())
    assert group.hits == Share(1, 1)


VALUES = {"int": 3, "float": 1.5, "bool": True, "str": "text"}
ODD = [None, True, 3, 1.5, "text", ["a"], [1], {}, 2**31, -(2**31), 10**400]


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=EVENT_TYPES)
def test_the_fast_reader_reads_what_the_codec_reads(kind):
    """Each field, with its own type and with each other one."""
    names = [one.name for one in fields(kind) if one.name != "ts"]
    required = {
        one.name: VALUES[one.type.__name__]
        for one in fields(kind)
        if one.name in names and one.default is NOTHING
    }
    head = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": kind.event, "grove": "1"}
    documents = [{**head, **required}]
    for name in names:
        documents.append({key: value for key, value in documents[0].items() if key != name})
        documents += [{**documents[0], name: value} for value in ODD]
    lines = [json.dumps(document).encode() for document in documents]
    # Under an older version's name a line is read by the codec.
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
    assert numbers.reflections == ReflectionStats(2, 1, 5, 2, {"markdown": 1})
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
        *(skip("T5", -5), reflection("T5", -4, 1)),
    )[0].skips
    assert skips.tickets == Share(2, 4)
    assert set(skips.misses) == {SkipMiss("T1", at(-5), at(-3)), SkipMiss("T5", at(-5), at(-4))}


def test_corrections_and_ratings(count):
    stats = count(
        Corrected(ts=NOW, learning_id="a", session_id="s"),
        Corrected(ts=NOW, learning_id="a", session_id="t"),
        Corrected(ts=at(1), learning_id="a", session_id="t", why="sent again"),
        Rated(ts=NOW, learning_id="a", useful=True),
        Rated(ts=NOW, learning_id="a", useful=False),
        Rated(ts=at(1), learning_id="a", useful=True),
    )[1]["a"]
    assert (stats.corrected, stats.useful_ratings, stats.useless_ratings) == (2, 2, 1)
    assert stats.hit_rate is None


def test_tickets_that_used_a_learning(count):
    events = [
        referenced(ticket="T1"),
        referenced(ticket="T2", session="t"),
        referenced(ticket="T2", session="u"),
        referenced(),
    ]
    numbers, usage = count(*events, learnings=[learning(ticket_id="T1")])
    assert usage["a"].referencing_tickets == 2
    (other,) = numbers.cross_pollination
    assert (other.origin_ticket, other.tickets, other.examples) == ("T1", 1, ("T2",))
    assert numbers.edges.total == 1


def test_a_reference_cancels_a_dismissal_of_its_session_only(count):
    events = dismissed(), dismissed(session="t"), referenced(session="t", day=3)
    assert count(*events)[1]["a"].dismissed == 1


def test_a_use_counts_on_the_first_day_of_its_session(count):
    weeks = count(surfaced(day=-7), surfaced(day=-1), referenced(day=-1))[0].weeks
    assert [(week.start.day, week.hits) for week in weeks] == [(26, Share(0, 1)), (2, Share(0, 0))]


def test_what_is_listed_is_in_its_order(count):
    """Used most, shown in vain most often, due soonest, and used by most tickets."""
    events = [
        *(referenced("a", session, -1, ticket="T9") for session in "12"),
        *(referenced("b", session, -40, ticket=f"T{session}") for session in "123"),
        *(surfaced("c", str(number), -100) for number in range(5)),
        *(surfaced("d", str(number), -100) for number in range(9)),
        *(surfaced("f", str(number), -1) for number in range(4)),
        *(surfaced("g", str(number), -1) for number in range(9)),
        referenced("g", day=-1),
    ]
    learnings = [
        learning("a", -95, ticket_id="T1"),
        learning("b", -95, ticket_id="T1"),
        learning("c", -85),
        learning("d", -88),
        learning("e", -300, status="archived"),
        *(learning(name, -1) for name in "fg"),
    ]
    numbers, _ = count(*events, learnings=learnings)
    assert [one.learning_id for one in numbers.top] == ["b", "a", "g"]
    assert [one.learning_id for one in numbers.overshown] == ["d", "c"]
    assert [one.learning_id for one in numbers.going_stale] == ["d", "c"]
    crossed = [(one.learning_id, one.tickets) for one in numbers.cross_pollination]
    assert crossed == [("b", 2), ("a", 1)]
    assert numbers.edges == Edges(3, 1, 2)
    assert numbers.by_status == {"active": 6, "archived": 1}


def test_a_week_has_what_happened_in_it(count):
    week = count(
        Reflection(ts=at(-2), session_id="s", candidates=3, accepted=2),
        Reflection(ts=at(-9), session_id="s", candidates=3, accepted=2),
        Skip(ts=at(-1), session_id="s", reason="r", decider="auto"),
        GateCycle(ts=at(-1), session_id="s", outcome="reflected", blocks=2),
        GateCycle(ts=at(-1), session_id="t", outcome="reflected"),
        surfaced(day=-3),
        referenced(day=-3),
    )[0].weeks[-1]
    assert (week.start, week.hits) == (date(2026, 2, 2), Share(1, 1))
    assert (week.reflections, week.candidates, week.accepted) == (1, 3, 2)
    assert (week.skips, week.blocks) == (1, 2)


def test_a_line_that_stands_in_two_files_counts_once_and_what_is_older_not_at_all(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.log", "b.log")]
    for path in paths:
        lines = [surfaced(), surfaced("b", day=-5)]
        Path(path).write_text("".join(event_to_line(event, "0.1.0") for event in lines))
    for since, names in ((None, {"a", "b"}), (at(-1), {"a"})):
        usage = Numbers(Cache(), paths, since=since).usage()
        assert {name: one.surfaced for name, one in usage.items()} == dict.fromkeys(names, 1)


def test_what_others_logged_counts_and_stands_apart(tmp_path):
    own, foreign = (tmp_path / name for name in ("own.jsonl", "foreign.jsonl"))

    def put(path, *events):
        path.write_text("".join(event_to_line(event, "0.1.0") for event in events))

    cache, options = Cache(), {"foreign": [str(foreign)]}
    wrong = Corrected(ts=at(3), learning_id="a", session_id="s")
    put(foreign, referenced(day=1), surfaced("b"), surfaced("a", "t"), wrong)
    numbers = Numbers(cache, [str(own), str(foreign)], **options)
    assert numbers.usage()["a"].own == LearningStats("a")
    assert numbers.corrections(at(0)) == [("a", None, at(3), None, False)]
    put(own, surfaced(), wrong, evolve(wrong, ts=at(4)))
    stats = Numbers(cache, [str(own), str(foreign)], **options).usage()["a"]
    assert (stats.surfaced, stats.referenced, stats.last_referenced) == (2, 1, at(1))
    assert stats.own == LearningStats("a", surfaced=1, corrected=1, last_surfaced=at(0))
    assert Numbers(cache, [str(own), str(foreign)], **options).corrections(at(0)) == [
        ("a", None, at(3), at(0), False),
        ("a", None, at(4), at(0), True),
    ]


def test_a_hit_rate_is_at_most_one_although_more_was_used_than_shown(count):
    events = surfaced(), referenced(session="x"), referenced(session="y")
    numbers, usage = count(*events, learnings=[learning()])
    assert usage["a"].hit_rate == 1.0
    assert numbers.usage.hits == Share(1, 1)
