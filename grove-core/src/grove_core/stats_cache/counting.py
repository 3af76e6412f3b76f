"""From the cache to the numbers that people and plugins see."""

from datetime import datetime, timedelta

from grove_core.model.statistics import (
    CrossPollination,
    Edges,
    GateStats,
    GoingStale,
    LogFault,
    LogStats,
    ReflectionStats,
    RetrospectiveMiss,
    Share,
    SkipMiss,
    SkipStats,
    Statistics,
    UsageStats,
    WriteGateStats,
)
from grove_core.stats.decay import IMMUNITY_SHOWINGS, UNUSED_SHOWINGS, DecayRule, stale_days
from grove_core.stats.log_lines import instant, microseconds
from grove_core.stats.triggers import TRIGGERS
from grove_core.stats_cache.folding import MOST_LISTED
from grove_core.stats_cache.misses import find_misses
from grove_core.stats_cache.periods import TREND_DAYS, by_status, day_of, groups, kinds_of, weeks
from grove_core.stats_cache.records import RECORDS, StoredRecords, record_of

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

_MOST_LISTED = 50
_MOST_OVERSHOWN = 10
_MOST_EXAMPLES = 5

_TOP = """
WHERE status = 'active' AND referenced
ORDER BY referenced DESC, min(1.0 * referenced / surfaced, 1.0) DESC, catalogue.name LIMIT 10
"""
_OVERSHOWN = """
WHERE status = 'active' AND surfaced >= :showings AND referenced <= :rate * surfaced
ORDER BY surfaced DESC, referenced, catalogue.name
"""
# The rule of `stats.decay` once more, where going through all learnings would take too long.
_STALE = f"""
SELECT {{}}, min(:now, max(
    created, coalesce(last_referenced, created), coalesce(last_restored, created),
    CASE WHEN surfaced >= {UNUSED_SHOWINGS} AND NOT referenced THEN created
        ELSE coalesce(last_surfaced, created) END
)) AS verified
FROM catalogue LEFT JOIN learning USING (learning)
WHERE status = 'active' AND (scope = 'personal') = :personal AND verified < :youngest AND NOT (
    coalesce(surfaced, 0) >= {IMMUNITY_SHOWINGS}
    AND min(1.0 * referenced / surfaced, 1.0) >= :immunity
)
"""
_MOST_URGENT = "ORDER BY verified, catalogue.name LIMIT :most"
_TOTALS = """
SELECT total(surfaced), total(referenced), total(dismissed), total(corrected), total(useful),
    total(useless), total(min(surfaced, referenced))
FROM learning
"""
_OTHER_TICKETS = """
SELECT catalogue.learning, catalogue.name, summary, ticket, tickets - used_at_home AS others
FROM catalogue JOIN learning USING (learning)
WHERE ticket != '' AND tickets > used_at_home ORDER BY others DESC, catalogue.name LIMIT ?
"""
_EDGES = """
SELECT total(number), total(number * (day > :today - :days AND day <= :today)),
    total(number * (day > :today - 2 * :days AND day <= :today - :days))
FROM edge
"""
_EXAMPLES = "SELECT ticket FROM used_for WHERE learning = ? AND ticket != ? ORDER BY 1 LIMIT ?"


def count(
    connection: "sqlite3.Connection",
    now: datetime,
    rule: DecayRule,
    *,
    personal_rule: DecayRule | None = None,
    since: datetime | None = None,
    learnings_bytes: int = 0,
    complete: bool = True,
) -> Statistics:
    """Count everything."""
    counters = dict(connection.execute("SELECT name, sum(number) FROM counter GROUP BY name"))
    pollination = connection.execute(_OTHER_TICKETS, (_MOST_LISTED,)).fetchall()
    kinds = kinds_of(connection)
    overshown = connection.execute(RECORDS + _OVERSHOWN, TRIGGERS["over_surfaced"].limits)
    often = overshown.fetchall()
    stale, urgent = _going_stale(connection, now, rule, personal=False)
    own_stale, own = _going_stale(connection, now, personal_rule or rule, personal=True)
    urgent = sorted((*urgent, *own), key=lambda one: (one.days_left, one.learning_id))
    return Statistics(
        now=now,
        since=since,
        records=StoredRecords(connection),
        by_status=by_status(kinds),
        by_criterion=_by_criterion(connection),
        top=tuple(map(record_of, connection.execute(RECORDS + _TOP))),
        overshown=tuple(map(record_of, often[:_MOST_OVERSHOWN])),
        overshown_count=len(often),
        usage=_usage(connection),
        categories=groups(connection, kinds, "category", now),
        scopes=groups(connection, kinds, "scope", now),
        weeks=weeks(connection, now),
        reflections=_reflections(counters),
        write_gate=_write_gate(connection, counters),
        skips=_skips(connection, counters),
        gate=GateStats(
            by_outcome=_named(counters, "gate:"),
            precision=Share(counters.get("blocked_and_reflected", 0), counters.get("blocked", 0)),
        ),
        edges=_edges(connection, now),
        cross_pollination=tuple(_pollination(connection, *row) for row in pollination),
        going_stale=tuple(urgent[:_MOST_LISTED]),
        going_stale_count=stale + own_stale,
        learnings_bytes=learnings_bytes,
        log=_log(connection, counters, complete=complete),
    )


def _by_criterion(connection: "sqlite3.Connection") -> dict[str, int]:
    numbers: dict[str, int] = {}
    rows = "SELECT criteria, count(*) FROM catalogue GROUP BY 1"
    for criteria, number in connection.execute(rows):
        for criterion in criteria.split():
            numbers[criterion] = numbers.get(criterion, 0) + number
    return numbers


def _usage(connection: "sqlite3.Connection") -> UsageStats:
    totals = [int(number) for number in connection.execute(_TOTALS).fetchone()]
    surfaced, referenced, dismissed, corrected, useful, useless, hits = totals
    return UsageStats(
        surfaced, referenced, dismissed, corrected, useful, useless, Share(hits, surfaced)
    )


def _reflections(counters: "Mapping[str, int]") -> ReflectionStats:
    return ReflectionStats(
        submissions=counters.get("submissions", 0),
        completed=counters.get("completed", 0),
        candidates=counters.get("candidates", 0),
        accepted=counters.get("accepted", 0),
        by_backend=_named(counters, "backend:"),
    )


def _write_gate(connection: "sqlite3.Connection", counters: "Mapping[str, int]") -> WriteGateStats:
    return WriteGateStats(
        passed=Share(counters.get("accepted", 0), counters.get("candidates", 0)),
        rejected_by_stage=_named(counters, "rejected:"),
        misses=tuple(
            RetrospectiveMiss(
                one.summary, instant(one.moment), one.learning_id, instant(one.accepted)
            )
            for one in find_misses(connection)
            if one.learning_id is not None
        ),
    )


def _skips(connection: "sqlite3.Connection", counters: "Mapping[str, int]") -> SkipStats:
    skipped = "SELECT count(skipped), total(accepted > skipped) FROM ticket"
    tickets, missed = connection.execute(skipped).fetchone()
    rows = connection.execute(
        "SELECT * FROM ticket WHERE accepted > skipped ORDER BY skipped DESC, name LIMIT ?",
        (_MOST_LISTED,),
    )
    return SkipStats(
        by_decider=_named(counters, "skip:"),
        tickets=Share(int(missed), tickets),
        misses=tuple(SkipMiss(name, instant(one), instant(other)) for name, one, other in rows),
    )


def _named(counters: "Mapping[str, int]", prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): number
        for name, number in sorted(counters.items())
        if name.startswith(prefix)
    }


def _edges(connection: "sqlite3.Connection", now: datetime) -> Edges:
    terms = {"today": day_of(now), "days": TREND_DAYS}
    return Edges(*(int(number) for number in connection.execute(_EDGES, terms).fetchone()))


def _pollination(
    connection: "sqlite3.Connection", key: int, name: str, summary: str, ticket: str, others: int
) -> CrossPollination:
    examples = connection.execute(_EXAMPLES, (key, ticket, _MOST_EXAMPLES))
    return CrossPollination(name, summary, ticket, others, tuple(one for (one,) in examples))


def _going_stale(
    connection: "sqlite3.Connection", now: datetime, rule: DecayRule, *, personal: bool
) -> tuple[int, list[GoingStale]]:
    """Count what goes stale by a rule, and list the most urgent."""
    soon = rule.passive_days - stale_days(rule.passive_days)
    terms = {
        "now": microseconds(now),
        "youngest": microseconds(now - timedelta(days=soon)),
        "immunity": rule.immunity_hit_rate,
        "personal": personal,
        "most": _MOST_LISTED,
    }
    all_of_it = f"SELECT count(*) FROM ({_STALE.format(1)})"
    number = connection.execute(all_of_it, terms).fetchone()[0]
    most_urgent = _STALE.format("catalogue.name, summary") + _MOST_URGENT
    rows = connection.execute(most_urgent, terms).fetchall() if number else ()
    return number, [
        GoingStale(name, summary, instant(verified), _days_left(instant(verified), now, rule))
        for name, summary, verified in rows
    ]


def _days_left(verified: datetime, now: datetime, rule: DecayRule) -> float:
    return rule.passive_days - (now - verified) / timedelta(days=1)


def _log(
    connection: "sqlite3.Connection", counters: "Mapping[str, int]", *, complete: bool
) -> LogStats:
    faults, files = [], 0
    rows = "SELECT path, lines, torn, unreadable, unknown FROM log ORDER BY path"
    for path, lines, torn, unreadable, unknown in connection.execute(rows).fetchall():
        files += 1
        listed = "SELECT line FROM unreadable WHERE path = ? ORDER BY line"
        numbers = [line for (line,) in connection.execute(listed, (path,))]
        if torn and len(numbers) < MOST_LISTED:
            numbers.append(lines + 1)
        if numbers or unknown:
            faults.append(LogFault(path, tuple(numbers), unreadable + bool(torn), unknown))
    return LogStats(
        events=counters.get("events", 0),
        files=files,
        faults=tuple(faults),
        complete=complete,
    )
