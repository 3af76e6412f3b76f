"""The numbers of the cache are those of a naive recount, however the logs came into it."""

import json
from collections import Counter, defaultdict
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_core.codec import event_from_line
from grove_core.derived_database import IN_MEMORY
from grove_core.errors import CodecError
from grove_core.model.events import (
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
from grove_core.model.statistics import (
    CrossPollination,
    Edges,
    GateStats,
    GoingStale,
    GroupStats,
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
from grove_core.stats.decay import DecayRule, judge_decay
from grove_core.stats.document import statistics_document
from grove_core.stats.insights import insights_of
from grove_core.stats.topics import Topic
from grove_core.stats.triggers import TRIGGERS
from grove_core.stats_cache import folding
from grove_core.stats_cache.cache import StatsCache

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
RULE = DecayRule(90, 0.8)

# --- the recount ------------------------------------------------------------------------------


def readable(text):
    """Half a surrogate pair cannot be written anywhere; it is shown as a question mark."""
    return text.encode("utf-8", "replace").decode()


def is_countable(event):
    """No event of grove counts to two thousand million."""
    numbers = (getattr(event, name, 0) for name in ("candidates", "accepted", "blocks"))
    return all(-(2**31) < number < 2**31 for number in numbers)


def read(path, content, seen, since):
    """One file line by line: its events, its fault, and how many lines hold one."""
    events, unreadable, unknown, lines = [], [], 0, 0
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            event = event_from_line(line.decode())
        except (CodecError, UnicodeDecodeError):
            unreadable.append(number)
            continue
        if event is None:
            unknown += 1
        elif not is_countable(event):
            unreadable.append(number)
        elif since is not None and event.ts < since:
            continue
        else:
            lines += 1
            if line.strip() not in seen:
                seen.add(line.strip())
                events.append(event)
    return events, LogFault(path, tuple(unreadable), len(unreadable), unknown), lines


class Recount:
    """Everything that `Statistics` holds, from its words, with nothing clever."""

    def __init__(self, logs, records, now=NOW, rule=RULE, since=None):
        self.now, self.rule, self.since = now, rule, since
        self.today, seen = day_of(now), set()
        self.events, self.faults, self.lines = [], [], 0
        for path, content in sorted(logs.items()):
            events, fault, lines = read(path, content, seen, since)
            self.events += events
            self.lines += lines
            if fault.unreadable or fault.unknown:
                self.faults.append(fault)
        self.files = len(logs)
        self.stats = {
            one.learning_id: self.fared(one.learning_id)
            for one in self.events
            if hasattr(one, "learning_id")
        }
        self.records = tuple(
            one._replace(stats=self.stats.get(one.learning_id, LearningStats(one.learning_id)))
            for one in sorted(records, key=lambda one: one.learning_id)
        )

    def of(self, kind, **fields):
        return [
            one
            for one in self.events
            if isinstance(one, kind)
            and all(getattr(one, name) == value for name, value in fields.items())
        ]

    def fared(self, name):
        shown, used = self.of(Surfaced, learning_id=name), self.of(Referenced, learning_id=name)
        used_in = {one.session_id for one in used}
        dismissed = {one.session_id for one in self.of(Dismissed, learning_id=name)}
        return LearningStats(
            learning_id=name,
            surfaced=len({one.session_id for one in shown}),
            referenced=len(used_in),
            dismissed=len(dismissed - used_in),
            corrected=len(self.of(Corrected, learning_id=name)),
            last_surfaced=max((one.ts for one in shown), default=None),
            last_referenced=max((one.ts for one in used), default=None),
            last_restored=max(
                (one.ts for one in self.of(Restored, learning_id=name)), default=None
            ),
            referencing_tickets=len(self.tickets_of(name)),
            useful_ratings=len(self.of(Rated, learning_id=name, useful=True)),
            useless_ratings=len(self.of(Rated, learning_id=name, useful=False)),
        )

    def tickets_of(self, name):
        used = self.of(Referenced, learning_id=name)
        return {readable(one.ticket_id) for one in used if one.ticket_id}

    def firsts(self, kind):
        """For each learning and session the day when it was first shown, or used."""
        moments = defaultdict(list)
        for one in self.of(kind):
            moments[one.learning_id, one.session_id].append(one.ts)
        return [(name, day_of(min(those))) for (name, _), those in moments.items()]

    def share(self, names, first_day, last_day):
        def count(kind):
            return sum(
                first_day <= day <= last_day and (names is None or name in names)
                for name, day in self.firsts(kind)
            )

        return Share(min(count(Referenced), count(Surfaced)), count(Surfaced))

    def groups(self, by):
        found = defaultdict(list)
        for one in self.records:
            found[getattr(one, by)].append(one)
        return tuple(self.group(name, found[name]) for name in sorted(found))

    def group(self, name, records):
        names = {one.learning_id for one in records}
        today = self.today
        return GroupStats(
            name=name,
            learnings=len(records),
            active=sum(one.status == "active" for one in records),
            hits=summed(one.stats for one in records),
            recent=self.share(names, today - 29, today),
            before=self.share(names, today - 59, today - 30),
            weeks=tuple(
                self.share(names, today - 7 * ago - 6, today - 7 * ago)
                for ago in reversed(range(12))
            ),
        )

    def weeks(self):
        this = monday_of(self.today)
        counted = self.of((Reflection, Skip))
        counted += [one for one in self.of(GateCycle) if one.blocks > 0]
        days = [day_of(one.ts) for one in counted]
        days += [day for kind in (Surfaced, Referenced) for _, day in self.firsts(kind)]
        oldest = this - 51 * 7
        first = min((monday_of(day) for day in days if oldest <= day <= self.today), default=this)
        return tuple(self.week(start) for start in range(first, this + 1, 7))

    def week(self, start):
        last = min(start + 6, self.today)

        def of(kind):
            return [one for one in self.of(kind) if start <= day_of(one.ts) <= last]

        return WeekStats(
            start=date(1970, 1, 1) + timedelta(days=start),
            hits=self.share(None, start, last),
            reflections=len(of(Reflection)),
            candidates=sum(candidates_of(one) for one in of(Reflection)),
            accepted=sum(accepted_of(one) for one in of(Reflection)),
            skips=len(of(Skip)),
            blocks=sum(one.blocks > 0 for one in of(GateCycle)),
        )

    def reflections(self):
        submitted = self.of(Reflection)
        completed = [one for one in submitted if accepted_of(one) > 0]
        return ReflectionStats(
            submissions=len(submitted),
            completed=len(completed),
            candidates=sum(candidates_of(one) for one in submitted),
            accepted=sum(accepted_of(one) for one in submitted),
            by_backend=counted(readable(one.backend) for one in completed if one.backend),
        )

    def write_gate(self):
        reflections = self.reflections()
        return WriteGateStats(
            passed=Share(reflections.accepted, reflections.candidates),
            rejected_by_stage=counted(readable(one.stage) or "schema" for one in self.of(Rejected)),
            misses=tuple(self.misses()),
        )

    def misses(self):
        refused = [
            (-one.ts.timestamp(), readable(one.summary), one.session_id, " ".join(one.tags), one)
            for one in self.of(Rejected, stage="write_gate")
        ]
        for *_, one in sorted(refused, key=lambda row: row[:-1])[:300]:
            topic = Topic(one.summary, one.tags)
            later = [
                (record.created, record.learning_id)
                for record in self.records
                if record.created > one.ts
                and record.session_id != one.session_id
                and topic.is_same(Topic(record.summary, record.tags))
            ]
            if later:
                created, name = min(later)
                yield RetrospectiveMiss(readable(one.summary), one.ts, name, created)

    def skips(self):
        skipped, accepted = {}, {}
        for one in self.of(Skip):
            if one.ticket_id:
                ticket = readable(one.ticket_id)
                skipped[ticket] = min(one.ts, skipped.get(ticket, one.ts))
        for one in self.of(Reflection):
            if one.ticket_id and accepted_of(one) > 0:
                ticket = readable(one.ticket_id)
                accepted[ticket] = max(one.ts, accepted.get(ticket, one.ts))
        misses = [
            SkipMiss(ticket, moment, accepted[ticket])
            for ticket, moment in skipped.items()
            if ticket in accepted and accepted[ticket] > moment
        ]
        misses.sort(key=lambda one: (-one.skipped_at.timestamp(), one.ticket_id))
        return SkipStats(
            by_decider=counted(readable(one.decider) for one in self.of(Skip)),
            tickets=Share(len(misses), len(skipped)),
            misses=tuple(misses[:50]),
        )

    def gate(self):
        blocked = [one for one in self.of(GateCycle) if one.blocks > 0]
        return GateStats(
            by_outcome=counted(readable(one.outcome) for one in self.of(GateCycle)),
            precision=Share(sum(one.outcome == "reflected" for one in blocked), len(blocked)),
        )

    def edges(self):
        origins = {one.learning_id: one.ticket_id for one in self.records if one.ticket_id}
        firsts = defaultdict(list)
        for one in self.of(Referenced):
            origin = origins.get(one.learning_id)
            if origin and one.ticket_id and readable(one.ticket_id) != origin:
                firsts[one.learning_id, readable(one.ticket_id)].append(day_of(one.ts))
        days = [min(those) for those in firsts.values()]
        return Edges(
            len(days),
            sum(self.today - 30 < day <= self.today for day in days),
            sum(self.today - 60 < day <= self.today - 30 for day in days),
        )

    def others(self):
        found = []
        for one in self.records:
            tickets = sorted(self.tickets_of(one.learning_id) - {one.ticket_id})
            if one.ticket_id and tickets:
                found.append(
                    CrossPollination(
                        one.learning_id,
                        one.summary,
                        one.ticket_id,
                        len(tickets),
                        tuple(tickets[:5]),
                    )
                )
        return sorted(found, key=lambda one: (-one.tickets, one.learning_id))

    def stale(self):
        judged = [
            (one, judge_decay(one.created, one.status, one.stats, self.now, self.rule))
            for one in self.records
        ]
        found = [
            GoingStale(one.learning_id, one.summary, verdict.last_verified, verdict.days_left)
            for one, verdict in judged
            if verdict.is_stale
        ]
        return sorted(found, key=lambda one: (one.last_verified, one.learning_id))

    def top(self):
        used = [one for one in self.records if one.is_active and one.stats.referenced]
        used.sort(
            key=lambda one: (-one.stats.referenced, -(one.stats.hit_rate or 0), one.learning_id)
        )
        return used[:10]

    def overshown(self):
        limits = TRIGGERS["over_surfaced"].limits
        found = [
            one
            for one in self.records
            if one.is_active
            and one.stats.surfaced >= limits["showings"]
            and one.stats.referenced / one.stats.surfaced <= limits["rate"]
        ]
        found.sort(key=lambda one: (-one.stats.surfaced, one.stats.referenced, one.learning_id))
        return found

    def statistics(self):
        overshown, stale, others = self.overshown(), self.stale(), self.others()
        return Statistics(
            now=self.now,
            since=self.since,
            records=self.records,
            by_status=counted(one.status for one in self.records),
            by_criterion=counted(name for one in self.records for name in one.criteria),
            top=tuple(self.top()),
            overshown=tuple(overshown[:10]),
            overshown_count=len(overshown),
            usage=self.usage(),
            categories=self.groups("category"),
            scopes=self.groups("scope"),
            weeks=self.weeks(),
            reflections=self.reflections(),
            write_gate=self.write_gate(),
            skips=self.skips(),
            gate=self.gate(),
            edges=self.edges(),
            cross_pollination=tuple(others[:50]),
            going_stale=tuple(stale[:50]),
            going_stale_count=len(stale),
            learnings_bytes=0,
            log=LogStats(self.lines, self.files, tuple(self.faults)),
        )

    def usage(self):
        stats = self.stats.values()
        return UsageStats(
            surfaced=sum(one.surfaced for one in stats),
            referenced=sum(one.referenced for one in stats),
            dismissed=sum(one.dismissed for one in stats),
            corrected=sum(one.corrected for one in stats),
            useful_ratings=sum(one.useful_ratings for one in stats),
            useless_ratings=sum(one.useless_ratings for one in stats),
            hits=summed(stats),
        )


def candidates_of(reflection):
    return max(0, reflection.candidates)


def accepted_of(reflection):
    return min(max(0, reflection.accepted), candidates_of(reflection))


def day_of(moment):
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(days=1)


def monday_of(day):
    return day - (date(1970, 1, 1) + timedelta(days=day)).weekday()


def counted(names):
    return dict(Counter(names))


def summed(stats):
    stats = list(stats)
    shown = sum(one.surfaced for one in stats)
    return Share(sum(min(one.surfaced, one.referenced) for one in stats), shown)


# --- random logs and learnings ------------------------------------------------------------------

LEARNINGS = st.sampled_from(["cl_a", "cl_b", "cl_c", "cl_d", "cl_gone"])
SESSIONS = st.sampled_from(["s1", "s2", "s3", "s4", "s5", "s6"])
TICKETS = st.sampled_from(["T1", "T2", "T3", "", None, "\ud800"])
CATEGORIES = ["pitfall", "pattern", "domain"]
TEXTS = [
    "Retry the export of orders after a timeout",
    "The export of orders needs a retry after each timeout",
    "Index orders before the export",
    "The cache keeps stale prices \ud83d of the shop",
    "",
]
TAGS = st.lists(st.sampled_from(["orders", "cache"]), max_size=2)
INSTANTS = st.builds(
    lambda days, seconds: NOW - timedelta(days=days, seconds=seconds),
    st.sampled_from([0, 0, 1, 2, 6, 7, 8, 20, 29, 30, 31, 59, 60, 80, 83, 84, 90, 150, 360, 400, -3]),
    st.sampled_from([0, 0, 1, 36_000, 36_001, 80_000]),
)  # fmt: skip
STAMPS = st.one_of(
    INSTANTS.map(lambda one: one.strftime("%Y-%m-%dT%H:%M:%SZ")),
    INSTANTS.map(lambda one: one.strftime("%Y-%m-%dT%H:%M:%SZ")),
    INSTANTS.map(lambda one: one.strftime("%Y-%m-%dT%H:%M:%S+01:00")),
    INSTANTS.map(lambda one: one.strftime("%Y-%m-%dT%H%M%S.5Z")),
    st.sampled_from(["2026-W05-3T10:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"]),
    st.sampled_from(["yesterday", "2026-13-01T10:00:00Z", "0001-01-01T00:00:00+01:00", 5, None]),
)
COUNTS = st.sampled_from([0, 1, 2, 3, 7])
ODD = st.sampled_from([None, True, 1, -1, 1.5, "text", [], {}, [1], 2**40, 10**400])


def maybe(strategy):
    """Usually a value; sometimes none, and sometimes one that does not belong there."""
    return st.one_of(strategy, strategy, strategy, strategy, strategy, st.just(...), ODD)


def event(name, **fields):
    head = {
        "v": st.sampled_from([1] * 12 + [0, 2, 1.0, True, "1", ...]),
        "ts": STAMPS,
        "event": st.just(name),
        "grove": st.sampled_from(["0.1.0", "0.1.0", "9.0", ...]),
        "grove_version": st.sampled_from([...] * 9 + ["0.10.0"]),
        "later": st.sampled_from([...] * 5 + [{"a": [1]}, "{"]),
    }
    return st.fixed_dictionaries({**head, **{key: maybe(one) for key, one in fields.items()}})


USE = {"learning_id": LEARNINGS, "session_id": SESSIONS}
EVENTS = st.one_of(
    event("surfaced", **USE, via=st.just("start"), score=st.sampled_from([0, 0.5, 1])),
    event("surfaced", **USE),
    event("surfaced", **USE),
    event("referenced", **USE, ticket_id=TICKETS, how=st.just("it helped")),
    event("referenced", **USE, ticket_id=TICKETS),
    event("dismissed", **USE),
    event("corrected", **USE, superseded_by=LEARNINGS),
    event(
        "reflection",
        session_id=SESSIONS,
        candidates=COUNTS,
        accepted=COUNTS,
        ticket_id=TICKETS,
        categories=st.lists(st.sampled_from(CATEGORIES), max_size=2),
        backend=st.sampled_from(["markdown", "other", ""]),
    ),
    event(
        "rejected",
        session_id=SESSIONS,
        summary=st.sampled_from(TEXTS),
        tags=TAGS,
        stage=st.sampled_from(["write_gate", "write_gate", "duplicate", ""]),
    ),
    event(
        "skip",
        session_id=SESSIONS,
        reason=st.just("small"),
        decider=st.sampled_from(["agent", "user", "auto", "autothreshold"]),
        lines_changed=COUNTS,
        ticket_id=TICKETS,
    ),
    event("archived", learning_id=LEARNINGS),
    event("restored", learning_id=LEARNINGS),
    event("rated", learning_id=LEARNINGS, useful=st.booleans()),
    event(
        "gate",
        session_id=SESSIONS,
        outcome=st.sampled_from(["reflected", "skipped", "breaker"]),
        blocks=COUNTS,
        seconds=st.sampled_from([0, 1.5]),
    ),
    event("novel", learning_id=LEARNINGS),
    event(3),
).map(lambda fields: {name: value for name, value in fields.items() if value is not ...})


def plainly(document):
    return json.dumps(document, separators=(",", ":")).encode()


def in_unicode(document):
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")


GOOD = (
    '{"v":1,"ts":"2026-02-05T10:00:00Z","event":"skip","session_id":"s","reason":"","decider":"%s"}'
)
OTHERS = st.sampled_from(
    [
        b"", b"  ", b"\r", b"<<<<<<< HEAD", b"=======", b">>>>>>> theirs", b"{", b"}", b"{}", b"[]",
        b"{}, {}", b'{"a": [1', b"2]}", b"7", b"null", b'{"event": "surfaced"', b"NaN", b"[" * 2000,
        b"\xff\xfe", b'{"v":1,"ts":"2026-02-05T10:00:00Z","event":"surfaced","learning_id":"cl_a"',
        # Three lines that are three objects only when they are put together.
        b'{"a":[{}', b"{}]}", (GOOD % "agent" + "," + GOOD % "user").encode(),
    ]
)  # fmt: skip
LINES = st.one_of(*[EVENTS.map(plainly)] * 7, EVENTS.map(in_unicode), OTHERS)
ENDS = st.sampled_from([b"\n"] * 8 + [b"\r\n", b" \n"])


@st.composite
def logs(draw):
    """Some files: each a list of pieces, at whose borders the cache is refreshed."""
    lines = draw(st.lists(LINES, min_size=1, max_size=30))
    again = draw(st.lists(st.sampled_from(lines), max_size=6))
    names = ["stats.log", "stats/a.jsonl", "stats/b.jsonl"][: draw(st.integers(1, 3))]
    files = dict.fromkeys(names, b"")
    for line in lines + again:
        files[draw(st.sampled_from(names))] += line + draw(ENDS)
    if draw(st.booleans()):
        files[names[0]] += draw(LINES)[: draw(st.sampled_from([5, 40, 100_000]))]
    return files


RECORDS = st.lists(
    st.builds(
        LearningRecord,
        learning_id=st.sampled_from(["cl_a", "cl_b", "cl_c", "cl_d", "cl_e", "cl_f"]),
        summary=st.sampled_from([readable(text) for text in TEXTS]),
        category=st.sampled_from(CATEGORIES),
        scope=st.sampled_from(["project", "personal"]),
        status=st.sampled_from(["active", "active", "active", "archived", "superseded"]),
        confidence=st.sampled_from(["high", "low"]),
        criteria=st.sampled_from([(), ("decision_rationale",), ("decision_rationale", "stable_fact")]),
        tags=TAGS.map(tuple),
        created=INSTANTS,
        session_id=SESSIONS,
        ticket_id=st.sampled_from(["T1", "T2", None]),
        backend=st.just("markdown"),
        stats=st.just(LearningStats("")),
    ),
    unique_by=lambda one: one.learning_id,
    max_size=6,
).map(lambda records: sorted(records, key=lambda one: one.learning_id))  # fmt: skip

# --- both ways ----------------------------------------------------------------------------------


def write(folder, files):
    (folder / "stats").mkdir(exist_ok=True)
    for name in ("stats.log", "stats/a.jsonl", "stats/b.jsonl"):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return {str(folder / name): content for name, content in files.items()}


def counted_by(cache, records, since=None):
    assert cache.complete
    cache.put_learnings(records, "")
    numbers = cache.count(NOW, RULE)
    assert numbers.since == since
    return numbers._replace(records=tuple(numbers.records))


def assert_same(found, expected):
    for name, value in expected._asdict().items():
        assert getattr(found, name) == value, name
    documents = [statistics_document(one, insights_of(one)) for one in (found, expected)]
    assert documents[0] == documents[1]


def folded(paths, records, path=IN_MEMORY, since=None):
    cache = StatsCache(path, paths, since=since)
    try:
        cache.refresh()
        return counted_by(cache, records, since)
    finally:
        cache.close()


@pytest.fixture
def small_portions(monkeypatch):
    """A few hundred bytes are read at once, so that short logs are read in portions as well."""
    monkeypatch.setattr(folding, "_PORTION", 400)
    monkeypatch.setattr(folding, "_FLUSHED_AT", 3)


SETTINGS = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SETTINGS
@given(files=logs(), records=RECORDS)
def test_read_at_once(tmp_path, files, records):
    contents = write(tmp_path, files)
    expected = Recount(contents, records).statistics()
    assert_same(folded(list(contents), records), expected)
    assert_same(folded(list(reversed(contents)), records), expected)


@SETTINGS
@given(files=logs(), records=RECORDS)
def test_read_in_small_portions(tmp_path, small_portions, files, records):
    contents = write(tmp_path, files)
    assert_same(folded(list(contents), records), Recount(contents, records).statistics())


@SETTINGS
@given(files=logs(), records=RECORDS, data=st.data())
def test_read_whenever_something_was_appended(tmp_path, files, records, data):
    contents = write(tmp_path, dict.fromkeys(files, b""))
    cache = StatsCache(IN_MEMORY, list(contents))
    left = {str(tmp_path / name): content for name, content in files.items()}
    had = dict.fromkeys(left, b"")
    early = data.draw(RECORDS)
    while any(left.values()):
        path = data.draw(st.sampled_from([name for name, content in left.items() if content]))
        size = data.draw(st.sampled_from([1, 50, 300, 700, 2000, 100_000]))
        piece, left[path] = left[path][:size], left[path][size:]
        had[path] += piece
        with open(path, "ab") as file:
            file.write(piece)
        cache.refresh()
        if data.draw(st.booleans()):
            found = counted_by(cache, early)
            assert_same(found, Recount(had, early).statistics())
    assert_same(counted_by(cache, records), Recount(had, records).statistics())
    cache.close()


@SETTINGS
@given(files=logs(), records=RECORDS, data=st.data())
def test_stopped_after_every_portion(tmp_path, small_portions, files, records, data):
    contents = write(tmp_path, files)
    path = tmp_path / "cache.sqlite"
    path.unlink(missing_ok=True)
    for _ in range(len(b"".join(files.values())) + len(files) + 2):
        cache = StatsCache(str(path), list(contents))
        cache.refresh(until=0.0)
        done = cache.complete
        cache.close()
        if done:
            break
    found = folded(list(contents), records, str(path))
    assert done
    assert_same(found, Recount(contents, records).statistics())


@SETTINGS
@given(files=logs(), records=RECORDS, since=INSTANTS)
def test_only_what_happened_since(tmp_path, files, records, since):
    contents = write(tmp_path, files)
    expected = Recount(contents, records, since=since).statistics()
    assert_same(folded(list(contents), records, since=since), expected)


@SETTINGS
@given(files=logs(), records=RECORDS, others=RECORDS)
def test_learnings_that_change_while_the_log_stays(tmp_path, files, records, others):
    contents = write(tmp_path, files)
    cache = StatsCache(IN_MEMORY, list(contents))
    cache.refresh()
    for stored in (others, records, records, [], records):
        assert_same(counted_by(cache, stored), Recount(contents, stored).statistics())
    cache.close()


@SETTINGS
@given(before=logs(), after=logs(), records=RECORDS)
def test_other_logs_in_the_place_of_those_before(tmp_path, before, after, records):
    path = tmp_path / "cache.sqlite"
    path.unlink(missing_ok=True)
    first = write(tmp_path, before)
    assert_same(folded(list(first), records, str(path)), Recount(first, records).statistics())
    then = write(tmp_path, after)
    assert_same(folded(list(then), records, str(path)), Recount(then, records).statistics())
