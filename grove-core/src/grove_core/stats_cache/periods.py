"""The numbers of categories and scopes, and of weeks, from the days in the cache."""

from datetime import date, datetime, timedelta

from grove_core.model.statistics import GroupStats, Share, WeekStats
from grove_core.stats.batch import MICROSECONDS_A_DAY
from grove_core.stats.log_lines import microseconds

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from typing import Any

    Kinds = Sequence[Sequence[Any]]

TREND_DAYS = 30
GROUP_WEEKS = 12
MOST_WEEKS = 52
_GROUPED_BY = ("category", "scope", "status")
_EPOCH = date(1970, 1, 1)
_MONDAY = 3  # 1970 began on a Thursday

_KINDS = """
SELECT category, scope, status, count(*), total(min(surfaced, referenced)), total(surfaced)
FROM catalogue LEFT JOIN learning USING (learning) GROUP BY 1, 2, 3
"""
_WINDOWS = """
SELECT {0}, (:today - day) / :days, sum(referenced), sum(surfaced) FROM day
WHERE day > :today - :days * :windows AND day <= :today GROUP BY 1, 2
"""
_WEEKS = f"""
SELECT (day + {_MONDAY}) / 7, 'used', sum(referenced), sum(surfaced) FROM day
WHERE day >= :first AND day <= :today AND (surfaced OR referenced) GROUP BY 1
UNION ALL
SELECT (day + {_MONDAY}) / 7, name, sum(number), 0 FROM counter
WHERE (name IN ('submissions', 'candidates', 'accepted', 'blocked') OR name GLOB 'skip:*')
    AND day >= :first AND day <= :today GROUP BY 1, 2
"""


def kinds_of(connection: "sqlite3.Connection") -> "Kinds":
    """Sum up the learnings of each category, scope and status."""
    return connection.execute(_KINDS).fetchall()


def groups(
    connection: "sqlite3.Connection", kinds: "Kinds", by: str, now: datetime
) -> tuple[GroupStats, ...]:
    """Return the numbers of each category, or of each scope."""
    months = _windows(connection, by, now, TREND_DAYS, 2)
    weeks = _windows(connection, by, now, 7, GROUP_WEEKS)
    column = _GROUPED_BY.index(by)
    groups = []
    for name in sorted({kind[column] for kind in kinds}):
        own = [kind for kind in kinds if kind[column] == name]
        groups.append(
            GroupStats(
                name=name,
                learnings=sum(kind[3] for kind in own),
                active=sum(kind[3] for kind in own if kind[2] == "active"),
                hits=Share(int(sum(kind[4] for kind in own)), int(sum(kind[5] for kind in own))),
                recent=months.get((name, 0), Share()),
                before=months.get((name, 1), Share()),
                weeks=tuple(
                    weeks.get((name, ago), Share()) for ago in reversed(range(GROUP_WEEKS))
                ),
            )
        )
    return tuple(groups)


def by_status(kinds: "Kinds") -> dict[str, int]:
    """Return the number of learnings by status."""
    statuses = sorted({kind[2] for kind in kinds})
    return {one: sum(kind[3] for kind in kinds if kind[2] == one) for one in statuses}


def weeks(connection: "sqlite3.Connection", now: datetime) -> tuple[WeekStats, ...]:
    """Return what happened week by week."""
    today = day_of(now)
    this = (today + _MONDAY) // 7
    terms = {"today": today, "first": (this - MOST_WEEKS + 1) * 7 - _MONDAY}
    found: dict[int, dict[str, int]] = {}
    for week, name, number, shown in connection.execute(_WEEKS, terms):
        numbers = found.setdefault(week, {})
        kind = "skips" if name.startswith("skip:") else name
        numbers[kind] = numbers.get(kind, 0) + number
        numbers["shown"] = numbers.get("shown", 0) + shown
    return tuple(
        _week(week, found.get(week, {})) for week in range(min(found, default=this), this + 1)
    )


def _week(week: int, numbers: "Mapping[str, int]") -> WeekStats:
    shown = numbers.get("shown", 0)
    return WeekStats(
        start=_EPOCH + timedelta(days=week * 7 - _MONDAY),
        hits=Share(min(numbers.get("used", 0), shown), shown),
        reflections=numbers.get("submissions", 0),
        candidates=numbers.get("candidates", 0),
        accepted=numbers.get("accepted", 0),
        skips=numbers.get("skips", 0),
        blocks=numbers.get("blocked", 0),
    )


def _windows(
    connection: "sqlite3.Connection", by: str, now: datetime, days: int, windows: int
) -> dict[tuple[str, int], Share]:
    """Sum up windows of some days each, by group and by how many windows ago; the latest is 0."""
    terms = {"today": day_of(now), "days": days, "windows": windows}
    rows = connection.execute(_WINDOWS.format(by), terms)
    return {(name, ago): Share(min(used, shown), shown) for name, ago, used, shown in rows}


def day_of(now: datetime) -> int:
    """Number the day, in UTC."""
    return microseconds(now) // MICROSECONDS_A_DAY
