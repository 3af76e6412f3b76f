"""From the cache to the numbers that people and plugins see."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

from grove_core.model.learning import Share
from grove_core.model.statistics import (
    CrossPollination,
    Edges,
    FaredLearning,
    GateStats,
    GoingStale,
    GroupStats,
    LogFault,
    LogStats,
    ReflectionStats,
    RetrospectiveMiss,
    SkipMiss,
    SkipStats,
    Statistics,
    UsageStats,
    WeekStats,
    WriteGateStats,
)
from grove_core.stats.cache import USAGE, Numbers, instant_or_none, stats_of
from grove_core.stats.decay import DecayRule, assess_decay, stale_days
from grove_core.stats.fold import CHANGED_FROM, DERIVED, MICROSECONDS_A_DAY, MISSES, MOST_LISTED
from grove_core.stats.insights import TRIGGERS
from grove_core.stats.lines import instant, microseconds
from grove_core.storage.cache import transaction

TREND_DAYS: Final = 30
GROUP_WEEKS: Final = 12
MOST_WEEKS: Final = 52
_MOST_NAMED: Final = 50
_MOST_OVERSHOWN: Final = 10
_MOST_EXAMPLES: Final = 5
# Of the latest refusals: enough to see whether the gate is too strict.
_MOST_REFUSALS: Final = 300
_WORDS_IN_COMMON: Final = 2
_EPOCH: Final = date(1970, 1, 1)
_MONDAY: Final = 3  # 1970 began on a Thursday

_FARED: Final = """
SELECT catalogue.name, summary, category, referenced, surfaced, tickets, last_referenced
FROM catalogue JOIN usage USING (learning) WHERE status = 'active'
"""
# It is worth waiting for another process that is adding a long log, to count right.
_PATIENT: Final = "PRAGMA busy_timeout = 60000"
_CATALOGUE: Final = "catalogue"
_PUT: Final = "INSERT OR REPLACE INTO catalogue VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
# What is derived of days before the earliest new event stands. The first part asks the index; days
# before 1970 are rounded towards it.
_CHANGED: Final = (
    f"{{0}} > (:day - 1) * {MICROSECONDS_A_DAY} AND {{0}} / {MICROSECONDS_A_DAY} >= :day"
)
_DERIVE: Final = (
    "CREATE INDEX IF NOT EXISTS use_by_surfaced ON use (surfaced)",
    "CREATE INDEX IF NOT EXISTS use_by_referenced ON use (referenced)",
    "CREATE INDEX IF NOT EXISTS used_for_by_moment ON used_for (moment)",
    "DELETE FROM day WHERE day >= :day",
    f"""
INSERT INTO day
SELECT coalesce(category, ''), coalesce(scope, ''), moment / {MICROSECONDS_A_DAY},
    sum(shown), sum(used)
FROM (
    SELECT learning, surfaced AS moment, 1 AS shown, 0 AS used FROM use
    WHERE {_CHANGED.format("surfaced")}
    UNION ALL
    SELECT learning, referenced, 0, 1 FROM use WHERE {_CHANGED.format("referenced")}
) LEFT JOIN catalogue USING (learning)
GROUP BY 1, 2, 3
""",
    """
UPDATE catalogue SET others = (
    SELECT tickets - EXISTS (
        SELECT 1 FROM used_for
        WHERE used_for.learning = catalogue.learning AND used_for.ticket = catalogue.ticket
    )
    FROM usage WHERE usage.learning = catalogue.learning
) WHERE ticket != ''
""",
)
HEAD_CHARACTERS: Final = 120
"""About how many characters are shown around a learning's own text: where it is from, quotes."""
_EVERY_DAY: Final = -(10**6)
_REFUSALS: Final = """
SELECT summary, tags, moment, session FROM rejected
ORDER BY moment DESC, summary, session, tags LIMIT ?
"""
_LATER: Final = """
SELECT summary, tags, created, session, name FROM catalogue WHERE created > ?
ORDER BY created, name
"""
_TOP: Final = f"""{_FARED} AND referenced
ORDER BY referenced DESC, min(1.0 * referenced / surfaced, 1.0) DESC, catalogue.name LIMIT 10
"""
_OVERSHOWN: Final = f"""{_FARED} AND surfaced >= :showings AND referenced <= :rate * surfaced
ORDER BY surfaced DESC, referenced, catalogue.name
"""
# Nothing that is younger can be stale; the rule itself is that of `stats.decay`.
_OLD: Final = f"""
SELECT catalogue.name, summary, scope, created, {USAGE}
FROM catalogue LEFT JOIN usage USING (learning) WHERE status = 'active' AND created < ?
"""
_TOTALS: Final = f"""
SELECT total(surfaced), total(referenced), total(dismissed), total(corrected), total(useful),
    total(useless), total(min(surfaced, referenced)),
    total(surfaced * (length + {HEAD_CHARACTERS}))
FROM usage LEFT JOIN catalogue USING (learning)
"""
_OTHER_TICKETS: Final = """
SELECT learning, name, summary, ticket, others FROM catalogue WHERE others
ORDER BY others DESC, name LIMIT ?
"""
_EXAMPLES: Final = """
SELECT ticket FROM used_for WHERE learning = ? AND ticket != ? ORDER BY 1 LIMIT ?
"""
_EDGES: Final = f"""
SELECT (SELECT total(others) FROM catalogue),
    total(day > :today - :days), total(day <= :today - :days)
FROM (
    SELECT moment / {MICROSECONDS_A_DAY} AS day FROM used_for JOIN catalogue USING (learning)
    WHERE moment > (:today - 2 * :days) * {MICROSECONDS_A_DAY}
        AND catalogue.ticket NOT IN ('', used_for.ticket)
)
WHERE day > :today - 2 * :days AND day <= :today
"""
_GROUPS: Final = """
SELECT {0}, count(*), total(status = 'active'), total(min(surfaced, referenced)), total(surfaced)
FROM catalogue LEFT JOIN usage USING (learning) GROUP BY 1 ORDER BY 1
"""
_WINDOWS: Final = """
SELECT {0}, (:today - day) / :days, sum(referenced), sum(surfaced) FROM day
WHERE day > :today - :days * :windows AND day <= :today GROUP BY 1, 2
"""
_WEEKS: Final = f"""
SELECT (day + {_MONDAY}) / 7, 'used', sum(referenced), sum(surfaced) FROM day
WHERE day >= :first AND day <= :today AND (surfaced OR referenced) GROUP BY 1
UNION ALL
SELECT (day + {_MONDAY}) / 7, name, sum(number), 0 FROM counter
WHERE (name IN ('completed', 'candidates', 'accepted', 'blocks') OR name GLOB 'skip:*')
    AND day >= :first AND day <= :today GROUP BY 1, 2
"""


def statistics(
    numbers: Numbers,
    content: str,
    catalogue: Callable[[], Iterable[Sequence[Any]]],
    now: datetime,
    rule: DecayRule,
    *,
    personal_rule: DecayRule | None = None,
    since: datetime | None = None,
) -> Statistics:
    """Count everything; the catalogue lists all learnings as the table of that name holds them."""
    if not numbers.complete and numbers.until is None:
        numbers.ask(lambda connection: connection.execute(_PATIENT))
        numbers.fill()

    def count(numbers: Numbers) -> Statistics:
        def question(connection: sqlite3.Connection) -> Statistics:
            if not numbers.is_fresh(_CATALOGUE, content):
                rows = catalogue()
                with transaction(connection):
                    connection.execute("DELETE FROM catalogue")
                    connection.executemany(_PUT, rows)
                    numbers.set_fingerprint(_CATALOGUE, content)
            is_known = numbers.is_fresh(DERIVED, content)
            changed = numbers.fingerprint(CHANGED_FROM)
            if changed or not is_known:
                day = int(changed) if is_known else _EVERY_DAY
                with transaction(connection):
                    for statement in _DERIVE:
                        connection.execute(statement, {"day": day})
                    numbers.set_fingerprint(DERIVED, content)
                    connection.execute("DELETE FROM meta WHERE name = ?", (CHANGED_FROM,))
            # Most events are no refusals, and comparing those takes longest.
            refusals = connection.execute("SELECT max(rejected) FROM rejected").fetchone()
            compared = f"{content} {refusals}"
            if not numbers.is_fresh(MISSES, compared):
                with transaction(connection):
                    connection.execute("DELETE FROM miss")
                    misses = list(_misses(connection))
                    connection.executemany("INSERT INTO miss VALUES (?, ?, ?, ?)", misses)
                    numbers.set_fingerprint(MISSES, compared)
            return _count(connection, now, rule, personal_rule or rule)

        counted = numbers.ask(question)
        return counted._replace(log=counted.log._replace(complete=numbers.complete))

    counted = count(numbers)
    if since is None:
        return counted
    # Whether a learning goes stale depends on all that ever happened to it.
    return count(numbers.after(since))._replace(
        since=since,
        going_stale=counted.going_stale,
        going_stale_count=counted.going_stale_count,
    )


def _misses(connection: sqlite3.Connection) -> Iterator[tuple[str, int, str, int]]:
    """Find refusals of the write gate whose topic another session wrote down later."""
    refusals = connection.execute(_REFUSALS, (_MOST_REFUSALS,)).fetchall()
    if not refusals:
        return
    from grove_core.similarity import topic_of

    later: list[Any] = []
    by_word: dict[str, list[int]] = {}
    for summary, tags, *rest in connection.execute(_LATER, (refusals[-1][2],)):
        topic = topic_of(summary, tags.split())
        for word in topic.words:
            by_word.setdefault(word, []).append(len(later))
        later.append((topic, *rest))
    for summary, tags, moment, session in refusals:
        topic = topic_of(summary, tags.split())
        shared = Counter(place for word in topic.words for place in by_word.get(word, ()))
        for place in sorted(one for one, words in shared.items() if words >= _WORDS_IN_COMMON):
            other, created, writer, name = later[place]
            if created > moment and writer != session and topic.is_same(other):
                yield summary, moment, name, created
                break


def _fared(row: Sequence[Any]) -> FaredLearning:
    name, summary, category, referenced, surfaced, tickets, last = row
    hits, used = Share(min(referenced, surfaced), surfaced), instant_or_none(last)
    return FaredLearning(name, summary, category, referenced, hits, tickets, used)


def _count(
    connection: sqlite3.Connection, now: datetime, rule: DecayRule, personal_rule: DecayRule
) -> Statistics:
    """Count everything."""
    ask = connection.execute
    counters = Counter(dict(ask("SELECT name, sum(number) FROM counter GROUP BY name")))
    overshown = ask(_OVERSHOWN, TRIGGERS["over_surfaced"].limits).fetchall()
    stale = _going_stale(connection, now, rule, personal_rule)
    last_month = {"today": _day_of(now), "days": TREND_DAYS}
    return Statistics(
        now=now,
        by_status=dict(ask("SELECT status, count(*) FROM catalogue GROUP BY 1")),
        by_criterion=Counter(
            one for (criteria,) in ask("SELECT criteria FROM catalogue") for one in criteria.split()
        ),
        top=tuple(map(_fared, ask(_TOP))),
        overshown=tuple(map(_fared, overshown[:_MOST_OVERSHOWN])),
        overshown_count=len(overshown),
        usage=_usage(connection),
        categories=_groups(connection, "category", now),
        scopes=_groups(connection, "scope", now),
        weeks=_weeks(connection, now),
        reflections=ReflectionStats(
            submissions=counters["submissions"],
            completed=counters["completed"],
            candidates=counters["candidates"],
            accepted=counters["accepted"],
            by_backend=_named(counters, "backend:"),
        ),
        write_gate=WriteGateStats(
            passed=Share(counters["accepted"], counters["candidates"]),
            rejected_by_stage=_named(counters, "rejected:"),
            misses=tuple(
                RetrospectiveMiss(summary, instant(refused), name, instant(accepted))
                for summary, refused, name, accepted in ask("SELECT * FROM miss")
            ),
        ),
        skips=_skips(connection, counters),
        gate=GateStats(
            by_outcome=_named(counters, "gate:"),
            precision=Share(counters["blocked_and_reflected"], counters["blocked"]),
            blocks=counters["blocks"],
            of_plugins=_plugin_gates(_named(counters, "plugin_gate:")),
        ),
        edges=Edges(*map(int, ask(_EDGES, last_month).fetchone())),
        cross_pollination=tuple(
            CrossPollination(
                *(name, summary, ticket, others),
                tuple(one for (one,) in ask(_EXAMPLES, (learning, ticket, _MOST_EXAMPLES))),
            )
            for learning, name, summary, ticket, others in ask(_OTHER_TICKETS, (_MOST_NAMED,))
        ),
        going_stale=tuple(stale[:_MOST_NAMED]),
        going_stale_count=len(stale),
        log=_log(connection, counters["events"]),
    )


def _usage(connection: sqlite3.Connection) -> UsageStats:
    *totals, hits, characters = map(int, connection.execute(_TOTALS).fetchone())
    numbers = dict(zip(UsageStats._fields, totals, strict=False))
    return UsageStats(**numbers, hits=Share(hits, totals[0]), characters=characters)


def _skips(connection: sqlite3.Connection, counters: Mapping[str, int]) -> SkipStats:
    skipped = "SELECT count(skipped), total(accepted > skipped) FROM ticket"
    tickets, missed = connection.execute(skipped).fetchone()
    rows = connection.execute(
        "SELECT * FROM ticket WHERE accepted > skipped ORDER BY skipped DESC, name LIMIT ?",
        (_MOST_NAMED,),
    )
    return SkipStats(
        by_decider=_named(counters, "skip:"),
        tickets=Share(int(missed), tickets),
        misses=tuple(SkipMiss(name, instant(one), instant(other)) for name, one, other in rows),
    )


def _plugin_gates(counted: Mapping[str, int]) -> dict[str, dict[str, Share]]:
    """Share out what plugins' gates came to, by gate and outcome."""
    gates: dict[str, dict[str, int]] = {}
    for name, number in counted.items():
        gate, _, outcome = name.partition(":")
        gates.setdefault(gate, {})[outcome] = number
    return {
        gate: {name: Share(number, sum(by_outcome.values())) for name, number in by_outcome.items()}
        for gate, by_outcome in gates.items()
    }


def _named(counters: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {
        name.removeprefix(prefix): number
        for name, number in sorted(counters.items())
        if name.startswith(prefix)
    }


def _going_stale(
    connection: sqlite3.Connection, now: datetime, rule: DecayRule, personal_rule: DecayRule
) -> list[GoingStale]:
    """Find the learnings that are due soon, the soonest first."""
    shortest = min(rule.passive_days, personal_rule.passive_days)
    youngest = microseconds(now - timedelta(days=shortest - stale_days(shortest)))
    found = []
    for name, summary, scope, created, *usage in connection.execute(_OLD, (youngest,)):
        stats = None if usage[0] is None else stats_of(name, usage)
        its_rule = personal_rule if scope == "personal" else rule
        aging = assess_decay(instant(created), "active", stats, now, its_rule)
        if aging.is_stale:
            days_left = round(aging.days_left, 1)
            found.append(GoingStale(name, summary, aging.last_verified, days_left))
    return sorted(found, key=lambda one: (one.days_left, one.learning_id))


def _log(connection: sqlite3.Connection, events: int) -> LogStats:
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
    return LogStats(events=events, files=files, faults=tuple(faults))


def _groups(connection: sqlite3.Connection, by: str, now: datetime) -> tuple[GroupStats, ...]:
    """Return the numbers of each category, or of each scope."""
    months = _windows(connection, by, now, TREND_DAYS, 2)
    weeks = _windows(connection, by, now, 7, GROUP_WEEKS)
    return tuple(
        GroupStats(
            name=name,
            learnings=learnings,
            active=int(active),
            hits=Share(int(used), int(shown)),
            recent=months.get((name, 0), Share()),
            before=months.get((name, 1), Share()),
            weeks=tuple(weeks.get((name, ago), Share()) for ago in reversed(range(GROUP_WEEKS))),
        )
        for name, learnings, active, used, shown in connection.execute(_GROUPS.format(by))
    )


def _windows(
    connection: sqlite3.Connection, by: str, now: datetime, days: int, windows: int
) -> dict[tuple[str, int], Share]:
    """Sum up windows of some days each, by group and by how many windows ago; the latest is 0."""
    terms = {"today": _day_of(now), "days": days, "windows": windows}
    rows = connection.execute(_WINDOWS.format(by), terms)
    return {(name, ago): Share(min(used, shown), shown) for name, ago, used, shown in rows}


def _weeks(connection: sqlite3.Connection, now: datetime) -> tuple[WeekStats, ...]:
    """Return what happened week by week."""
    today = _day_of(now)
    this = (today + _MONDAY) // 7
    terms = {"today": today, "first": (this - MOST_WEEKS + 1) * 7 - _MONDAY}
    found: dict[int, Counter[str]] = {}
    for week, name, number, shown in connection.execute(_WEEKS, terms):
        numbers = found.setdefault(week, Counter())
        numbers["skips" if name.startswith("skip:") else name] += number
        numbers["shown"] += shown
    return tuple(
        WeekStats(
            start=_EPOCH + timedelta(days=week * 7 - _MONDAY),
            hits=Share(min(numbers["used"], numbers["shown"]), numbers["shown"]),
            reflections=numbers["completed"],
            candidates=numbers["candidates"],
            accepted=numbers["accepted"],
            skips=numbers["skips"],
            blocks=numbers["blocks"],
        )
        for week in range(min(found, default=this), this + 1)
        for numbers in (found.get(week, Counter()),)
    )


def _day_of(now: datetime) -> int:
    return microseconds(now) // MICROSECONDS_A_DAY
