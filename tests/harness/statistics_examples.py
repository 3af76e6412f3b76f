"""Statistics made by hand: a project with a past, one with a single event, one with nothing."""

from datetime import UTC, date, datetime, timedelta

from grove_core.model.learning import (
    Category,
    Criterion,
    Learning,
    LearningStatus,
    Share,
)
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
from grove_core.report.page import ReadableLearning

NOW = datetime(2030, 6, 14, 9, 30, tzinfo=UTC)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"alert(1)\">"
SUMMARIES = (
    "Close the export's cursor before the transaction ends, or the driver keeps the whole result",
    "注文の締め処理は日本時間の午前零時ではなく、倉庫の現地時間で行う必要がある",
    "يجب إغلاق الاتصال قبل إعادة المحاولة",
    HOSTILE,
    "`make test` needs LANG=C.UTF-8 🧾",
)
# Each category with its active learnings, how often they helped, and of late, and before.
GROUPS = {
    "convention": (3, Share(1, 3), Share(), Share(1, 1)),
    "debugging": (9, Share(9, 31), Share(2, 11), Share(5, 9)),
    "domain": (6, Share(22, 41), Share(9, 14), Share(8, 15)),
    "pattern": (5, Share(12, 20), Share(4, 7), Share(4, 7)),
    "pitfall": (20, Share(63, 139), Share(24, 40), Share(17, 39)),
}


def days_ago(days):
    return NOW - timedelta(days=days)


def fared(number, **fields):
    shown = max(0, 24 - number)
    values = {
        "learning_id": f"cl_20300110_aaa{number:03}",
        "summary": SUMMARIES[number % len(SUMMARIES)],
        "category": tuple(GROUPS)[number % len(GROUPS)],
        "referenced": max(0, shown - number),
        "hits": Share(max(0, shown - number), shown),
        "tickets": max(0, 7 - number),
        "last_referenced": days_ago(2 * number) if number < 12 else None,
    }
    return FaredLearning(**{**values, **fields})


def group(number, name):
    active, hits, recent, before = GROUPS[name]
    weeks = tuple(
        Share() if (week + number) % 5 == 0 else Share((week * (number + 2)) % 5, 4 + week % 3)
        for week in range(12)
    )
    return GroupStats(name, active + number % 3, active, hits, recent, before, weeks)


def week(number):
    return WeekStats(
        start=date(2030, 3, 25) + timedelta(weeks=number),
        hits=Share() if number == 3 else Share(4 + number % 12, 17 + (number * 7) % 11),
        reflections=(number * 3) % 5,
        candidates=(number * 5) % 9 + (number * 3) % 5,
        accepted=(number * 5) % 7,
        skips=number % 3,
        blocks=1 + number % 4,
    )


def shared(number, count, *tickets):
    """A learning that tickets other than its own used."""
    one = fared(number)
    return CrossPollination(one.learning_id, one.summary, f"shop-{number}", count, tickets)


def rich_example():
    """Five categories, twelve weeks, misses, stale ones, a corrupt log, texts of any kind."""
    records = tuple(fared(number) for number in range(15))
    groups = tuple(group(number, name) for number, name in enumerate(GROUPS))
    return Statistics(
        now=NOW,
        by_status={"active": 43, "archived": 3, "superseded": 1},
        by_criterion={"stable_fact": 47},
        top=records[:10],
        overshown=records[12:],
        overshown_count=8,
        going_stale_count=7,
        usage=UsageStats(234, 112, 127, 1, 3, 1, Share(107, 234)),
        edges=Edges(9, 5, 2),
        categories=groups,
        scopes=(groups[3]._replace(name="personal"), groups[4]._replace(name="project")),
        weeks=tuple(week(number) for number in range(12)),
        reflections=ReflectionStats(31, 27, 64, 43, {"markdown": 27}),
        write_gate=WriteGateStats(
            passed=Share(43, 64),
            rejected_by_stage={"schema": 3, "specificity": 9, "duplicate": 6, "plugin": 2},
            misses=(
                RetrospectiveMiss(SUMMARIES[1], days_ago(40), records[6].learning_id, days_ago(12)),
            ),
        ),
        skips=SkipStats(
            by_decider={"agent": 6, "auto": 4, "user": 1},
            tickets=Share(2, 9),
            misses=(
                SkipMiss("shop-31", days_ago(33), days_ago(30)),
                SkipMiss("shop-44", days_ago(21), days_ago(2)),
            ),
        ),
        gate=GateStats(
            by_outcome={"reflected": 27, "skipped": 7, "breaker": 1, "no_change": 4, "blocked": 2},
            precision=Share(21, 29),
        ),
        cross_pollination=(
            shared(0, 6, "shop-12", "shop-13", "shop-9"),
            shared(3, 1, "shop-40"),
        ),
        going_stale=tuple(
            GoingStale(
                records[number].learning_id,
                records[number].summary,
                days_ago(94 - 2 * number),
                -4 + 2.0 * number,
            )
            for number in range(7)
        ),
        learnings_bytes=48_213,
        log=LogStats(
            events=1_893,
            files=3,
            faults=(
                LogFault("/srv/shop/.grove/stats.log", (17, 18, 1204), 3, 0),
                LogFault("/srv/shop/.grove/stats/k3f9.jsonl", (), 0, 5),
            ),
        ),
    )


def single_example():
    """One learning that was shown once."""
    shown = Share(0, 1)
    return Statistics(
        now=NOW,
        by_status={"active": 1},
        usage=UsageStats(surfaced=1, hits=shown),
        categories=(GroupStats("convention", 1, 1, shown, shown, Share(), (shown,)),),
        weeks=(WeekStats(date(2030, 6, 10), hits=shown),),
        log=LogStats(events=1, files=1),
    )


def empty_example():
    """A project that has just begun."""
    return Statistics(now=NOW)


def long_example():
    """Two years, counts in the millions, texts without a place to break."""
    whole = rich_example()
    return whole._replace(
        since=days_ago(730),
        top=(fared(0, summary="x" * 400, learning_id=f"imported_{'y' * 100}"),),
        usage=UsageStats(4_812_345, 1_000_001, 3_812_344, 0, 0, 0, Share(1_000_001, 4_812_345)),
        weeks=tuple(week(number) for number in range(104)),
        cross_pollination=(shared(0, 1, "z" * 300)._replace(origin_ticket="z" * 300),),
        write_gate=WriteGateStats(rejected_by_stage={"a-plugin's/stage~" + "w" * 60: 100_000}),
        log=LogStats(faults=(LogFault("/" + "p" * 300, tuple(range(1, 101)), 4_000, 1),)),
    )


def readable_examples(many):
    """Learnings as the page shows them, the newest first."""
    categories, made = list(Category), []
    for number in range(many):
        learning = Learning(
            id=f"cl_20300110_aaa{number:03}",
            category=categories[number % len(categories)],
            summary=SUMMARIES[number % len(SUMMARIES)],
            detail=f"Detail number {number}, with `code` and {HOSTILE}.",
            tags=("orders", f"part-{number % 50}"),
            context_files=(f"shop/file-{number % 200}.py",),
            criteria_met=frozenset({Criterion.STABLE_FACT}),
            status=LearningStatus.ARCHIVED if number % 10 == 0 else LearningStatus.ACTIVE,
            session_id="s",
            timestamp=NOW - timedelta(hours=number),
        )
        facts = [("Decay", "last used 2030-06-01"), ("Origin", "ticket shop-1")]
        made.append(ReadableLearning(learning, "used 3 of 5", facts, ["2030-06-01 used"]))
    return made
