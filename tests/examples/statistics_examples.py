"""Statistics made by hand: a project with a past, one with a single event, one with nothing."""

from datetime import UTC, date, datetime, timedelta

from grove_core.model.statistics import (
    CrossPollination,
    Edges,
    GateStats,
    GoingStale,
    GroupStats,
    Insight,
    LearningRecord,
    LearningStats,
    LogFault,
    LogStats,
    ReflectionStats,
    RetrospectiveMiss,
    Share,
    SkipMiss,
    SkipStats,
    Statistics,
    UsageStats,
    WeekStats,
    WriteGateStats,
)

NOW = datetime(2030, 6, 14, 9, 30, tzinfo=UTC)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"alert(1)\">"
SUMMARIES = (
    "Close the export's cursor before the transaction ends, or the driver keeps the whole result",
    "注文の締め処理は日本時間の午前零時ではなく、倉庫の現地時間で行う必要がある",
    "يجب إغلاق الاتصال قبل إعادة المحاولة",
    HOSTILE,
    "`make test` needs LANG=C.UTF-8",
    "The ledger's migrations run in the order of their names, not of their dates 🧾",
    "Retries of the payment client multiply: its own three times those of the queue, that is nine",
    "Fixtures of the import tests share one temporary directory",
)
CATEGORIES = ("convention", "debugging", "dependency", "domain", "pattern", "pitfall", "process")
ACTIVE = (3, 9, 2, 6, 5, 14, 4)
HITS = (Share(1, 3), Share(9, 31), Share(0, 4), Share(22, 41), Share(12, 20), Share(61, 118))
RECENT = (Share(), Share(2, 11), Share(0, 4), Share(9, 14), Share(4, 7), Share(24, 40), Share(1, 6))
BEFORE = (Share(1, 1), Share(5, 9), Share(), Share(8, 15), Share(4, 7), Share(17, 39), Share(1, 8))


def learning_id(number):
    return f"cl_20300{1 + number % 5}{10 + number % 18}_{'abcdefgh'[number % 8]}{number:05d}"


def record(number, **fields):
    surfaced = max(0, 24 - number)
    values = {
        "learning_id": learning_id(number),
        "summary": SUMMARIES[number % len(SUMMARIES)],
        "category": CATEGORIES[number % len(CATEGORIES)],
        "scope": "personal" if number % 9 == 0 else "project",
        "status": {43: "archived", 44: "archived", 45: "archived", 46: "superseded"}.get(
            number, "active"
        ),
        "confidence": "high",
        "criteria": ("stable_fact",),
        "tags": ("orders", "export"),
        "created": NOW - timedelta(days=150 - number),
        "session_id": f"session-{number}",
        "ticket_id": f"shop-{number}",
        "backend": "markdown",
        "stats": LearningStats(
            learning_id=learning_id(number),
            surfaced=surfaced,
            referenced=max(0, surfaced - number),
            dismissed=min(number, surfaced),
            last_surfaced=NOW - timedelta(days=number),
            last_referenced=NOW - timedelta(days=2 * number) if number < 12 else None,
            referencing_tickets=max(0, 7 - number),
            useful_ratings=3 if number == 1 else 0,
            useless_ratings=1 if number == 1 else 0,
        ),
        **fields,
    }
    return LearningRecord(**values)


def group(number, name):
    hits = (*HITS, Share(2, 17))[number]
    weeks = tuple(
        Share() if (week + number) % 5 == 0 else Share((week * (number + 2)) % 5, 4 + week % 3)
        for week in range(12)
    )
    return GroupStats(
        name=name,
        learnings=ACTIVE[number] + number % 3,
        active=ACTIVE[number],
        hits=hits,
        recent=RECENT[number],
        before=BEFORE[number],
        weeks=weeks,
    )


def week(number):
    return WeekStats(
        start=date(2030, 3, 25) + timedelta(weeks=number),
        hits=Share() if number == 3 else Share(4 + number, 17 + (number * 7) % 11),
        reflections=(number * 3) % 5,
        candidates=(number * 5) % 9 + (number * 3) % 5,
        accepted=(number * 5) % 7,
        skips=number % 3,
        blocks=1 + number % 4,
    )


INSIGHTS = (
    Insight(
        kind="low_hit_category",
        subject="process",
        message="Learnings of the category process are seldom used.",
        evidence={"category": "process", "surfaced": 17, "referenced": 2, "hit_rate": 0.1176},
        suggestion="Look through them with `grove review --category process` and archive the rest.",
        priority=1,
    ),
    Insight(
        kind="skip_misses",
        message="Two tickets whose reflection was skipped have taught something after all.",
        evidence={"tickets": ["shop-31", "shop-44"], "skips": 11},
        suggestion="Ask the agent to write one candidate before it skips.",
        priority=2,
    ),
    Insight(
        kind="cross_pollination",
        message="Learnings help beyond the ticket they came from.",
        evidence={"uses": 9, "learnings": 3},
        suggestion="Keep writing down what holds for more than one ticket.",
        priority=3,
    ),
)


def rich_example():
    """Seven categories, twelve weeks, misses, stale ones, a corrupt log, texts of any kind."""
    return Statistics(
        now=NOW,
        records=tuple(record(number) for number in range(47)),
        by_status={"active": 43, "archived": 3, "superseded": 1},
        by_criterion={"stable_fact": 47},
        top=tuple(record(number) for number in range(10)),
        overshown=tuple(record(number) for number in (12, 13, 14)),
        overshown_count=8,
        going_stale_count=7,
        usage=UsageStats(234, 112, 127, 1, 3, 1, Share(107, 234)),
        edges=Edges(9, 5, 2),
        categories=tuple(group(number, name) for number, name in enumerate(CATEGORIES)),
        scopes=(group(3, "personal"), group(5, "project")),
        weeks=tuple(week(number) for number in range(12)),
        reflections=ReflectionStats(
            submissions=31, completed=27, candidates=64, accepted=43, by_backend={"markdown": 27}
        ),
        write_gate=WriteGateStats(
            passed=Share(43, 64),
            rejected_by_stage={
                "schema": 3,
                "specificity": 9,
                "duplicate": 6,
                "secrets": 1,
                "plugin": 2,
            },
            misses=(
                RetrospectiveMiss(
                    summary=SUMMARIES[6],
                    rejected_at=NOW - timedelta(days=40),
                    learning_id=learning_id(6),
                    accepted_at=NOW - timedelta(days=12),
                ),
            ),
        ),
        skips=SkipStats(
            by_decider={"agent": 6, "auto": 4, "user": 1},
            tickets=Share(2, 9),
            misses=(
                SkipMiss("shop-31", NOW - timedelta(days=33), NOW - timedelta(days=30)),
                SkipMiss("shop-44", NOW - timedelta(days=21), NOW - timedelta(days=2)),
            ),
        ),
        gate=GateStats(
            by_outcome={"reflected": 27, "skipped": 7, "breaker": 1, "no_change": 4, "blocked": 2},
            precision=Share(21, 29),
        ),
        cross_pollination=(
            CrossPollination(
                learning_id(0), SUMMARIES[0], "shop-0", 6, ("shop-12", "shop-13", "shop-9")
            ),
            CrossPollination(learning_id(1), SUMMARIES[1], "shop-1", 2, ("shop-20", "shop-31")),
            CrossPollination(learning_id(3), SUMMARIES[3], "shop-3", 1, ("shop-40",)),
        ),
        going_stale=tuple(
            GoingStale(
                learning_id(number),
                SUMMARIES[number % len(SUMMARIES)],
                NOW - timedelta(days=94 - 2 * index),
                -4 + 2.0 * index,
            )
            for index, number in enumerate((20, 25, 26, 30, 31, 33, 35))
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
    one = record(0, stats=LearningStats(learning_id(0), surfaced=1, last_surfaced=NOW))
    once = GroupStats(
        one.category, 1, 1, Share(0, 1), Share(0, 1), Share(), (Share(),) * 11 + (Share(0, 1),)
    )
    return Statistics(
        now=NOW,
        records=(one,),
        by_status={"active": 1},
        by_criterion={"stable_fact": 1},
        usage=UsageStats(surfaced=1, hits=Share(0, 1)),
        categories=(once,),
        scopes=(once._replace(name=one.scope),),
        weeks=(WeekStats(date(2030, 6, 10), hits=Share(0, 1)),),
        learnings_bytes=612,
        log=LogStats(events=1, files=1),
    )


def empty_example():
    """A project that has just begun."""
    return Statistics(now=NOW)


def long_example():
    """Two years, counts in the millions, texts without a place to break."""
    whole = rich_example()
    return whole._replace(
        since=NOW - timedelta(days=730),
        records=(),
        top=tuple(
            one._replace(summary="x" * 400, learning_id=f"imported_{'y' * 100}{number}")
            for number, one in enumerate(whole.top)
        ),
        usage=UsageStats(4_812_345, 1_000_001, 3_812_344, 0, 0, 0, Share(1_000_001, 4_812_345)),
        weeks=tuple(
            week(number % 12)._replace(start=NOW.date() - timedelta(weeks=104 - number))
            for number in range(104)
        ),
        cross_pollination=tuple(
            one._replace(origin_ticket="z" * 300, examples=("z" * 300,))
            for one in whole.cross_pollination
        ),
        write_gate=whole.write_gate._replace(
            rejected_by_stage={"a-plugin's/stage~" + "w" * 60: 100_000, "schema": 5}
        ),
        log=LogStats(faults=(LogFault("/" + "p" * 300, tuple(range(1, 101)), 4_000, 1),)),
    )
