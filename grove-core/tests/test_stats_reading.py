"""Logs that are read piece by piece, and what is kept of them."""

import json
import os
from datetime import datetime, timedelta

import pytest
from core_worlds import NOW, a_learning, count_all, damage_tables
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Category, Criterion, LearningStatus, Scope
from grove_core.stats import fold
from grove_core.stats.cache import Numbers
from grove_core.storage.cache import IN_MEMORY, Cache

LEARNINGS = st.sampled_from(["cl_a", "cl_b", "cl_c", "cl_gone"])
SESSIONS = st.sampled_from(["s1", "s2", "s3", "s4"])
TICKETS = st.sampled_from(["T1", "T2", "T3", "", None, "\ud800"])
TEXTS = [
    "Retry the export of orders after a timeout",
    "The export of orders needs a retry after each timeout",
    "The cache keeps stale prices of the shop",
]
TAGS = st.lists(st.sampled_from(["orders", "retries"]), max_size=2, unique=True)
INSTANTS = st.integers(-500, 5).map(lambda days: NOW + timedelta(days=days))
COUNTS = st.sampled_from([0, 1, 2, 7])
ODD = st.sampled_from([None, True, -1, 1.5, "text", [], {}, 2**40])


def event(name, **fields):
    """Mostly sound; sometimes with a field missing, or of a type that does not belong there."""
    head = {
        "v": st.sampled_from([1] * 12 + [0, 2, "1", ...]),
        "ts": INSTANTS.map(datetime.isoformat),
        "event": st.just(name),
        "grove": st.sampled_from(["0.1.0", "0.1.0", "9.0", ...]),
    }
    own = {key: st.one_of(*[one] * 5, st.just(...), ODD) for key, one in fields.items()}
    return st.fixed_dictionaries({**head, **own})


USE = {"learning_id": LEARNINGS, "session_id": SESSIONS}
WORK = {"session_id": SESSIONS, "ticket_id": TICKETS}
EVENTS = st.one_of(
    event("surfaced", **USE, via=st.just("start"), score=st.sampled_from([0, 0.5, 1])),
    event("referenced", **USE, ticket_id=TICKETS),
    event("dismissed", **USE),
    event("corrected", **USE, superseded_by=LEARNINGS),
    event("reflection", **WORK, candidates=COUNTS, accepted=COUNTS, backend=st.just("markdown")),
    event(
        "rejected", **WORK, summary=st.sampled_from(TEXTS), tags=TAGS, stage=st.just("write_gate")
    ),
    event("skip", **WORK, reason=st.just("small"), decider=st.sampled_from(["agent", "auto"])),
    event("restored", learning_id=LEARNINGS),
    event("rated", learning_id=LEARNINGS, useful=st.booleans()),
    event("gate", session_id=SESSIONS, outcome=st.just("reflected"), blocks=COUNTS),
    event("novel", learning_id=LEARNINGS),
).map(lambda fields: {name: value for name, value in fields.items() if value is not ...})
OTHERS = st.sampled_from(
    [b"", b"\r", b"<<<<<<< HEAD", b"{", b"{}, {}", b"2]}", b"\xff\xfe", b"[" * 900]
)
LINES = st.one_of(*[EVENTS.map(lambda one: json.dumps(one).encode())] * 7, OTHERS)


@st.composite
def logs(draw):
    """Some files, of which the first may end within a line; some lines stand there twice."""
    lines = draw(st.lists(LINES, min_size=1, max_size=25))
    again = draw(st.lists(st.sampled_from(lines), max_size=4))
    names = ["a.log", "b.log"][: draw(st.integers(1, 2))]
    files = dict.fromkeys(names, b"")
    for line in lines + again:
        files[draw(st.sampled_from(names))] += line + draw(st.sampled_from([b"\n", b"\n", b"\r\n"]))
    files[names[0]] += draw(LINES)[: draw(st.sampled_from([0, 5, 40]))]
    return files


LEARNED = st.lists(
    st.builds(
        a_learning,
        st.sampled_from(["cl_a", "cl_b", "cl_c", "cl_d"]),
        summary=st.sampled_from(TEXTS),
        category=st.sampled_from(list(Category)[:3]),
        scope=st.sampled_from([Scope.PROJECT, Scope.PERSONAL]),
        status=st.sampled_from([LearningStatus.ACTIVE, *LearningStatus]),
        criteria_met=st.sets(st.sampled_from(Criterion), max_size=2).map(frozenset),
        tags=TAGS.map(tuple),
        timestamp=INSTANTS,
        session_id=SESSIONS,
        ticket_id=st.sampled_from(["T1", "T2", None]),
    ),
    unique_by=lambda one: one.id,
    max_size=4,
)


def write(folder, files):
    for name in ("a.log", "b.log"):
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in files]


def folded(paths, learnings, path=IN_MEMORY):
    cache = Cache(path)
    try:
        return count_all(cache, paths, learnings)
    finally:
        cache.close()


SETTINGS = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


CYCLES = [
    b'{"v":1,"ts":"2026-02-05T10:00:00Z","event":"gate","grove":"1","session_id":"s%d",'
    b'"outcome":"reflected"}\n' % number
    for number in range(9)
]


@SETTINGS
@given(files=logs(), learnings=LEARNED)
@example(files={"a.log": b"".join([*CYCLES, CYCLES[0]])}, learnings=[])
def test_stopped_after_every_portion(tmp_path, monkeypatch, files, learnings):
    paths = write(tmp_path, files)
    expected = folded(paths, learnings)
    path = tmp_path / "cache.sqlite"
    path.unlink(missing_ok=True)
    with monkeypatch.context() as patch:
        patch.setattr(fold, "_PORTION", 400)
        patch.setattr(fold, "_FLUSHED_AT", 3)
        for _ in range(len(b"".join(files.values())) + len(files) + 2):
            cache = Cache(str(path))
            done = Numbers(cache, paths, until=0.0).complete
            cache.close()
            if done:
                break
    assert done
    assert folded(paths, learnings, str(path)) == expected
    assert folded(list(reversed(paths)), learnings) == expected


@SETTINGS
@given(files=logs(), learnings=LEARNED, data=st.data())
def test_read_whenever_something_was_appended(tmp_path, files, learnings, data):
    paths = write(tmp_path, dict.fromkeys(files, b""))
    cache = Cache()
    left = dict(zip(paths, files.values(), strict=True))
    while any(left.values()):
        path = data.draw(st.sampled_from([name for name, content in left.items() if content]))
        size = data.draw(st.sampled_from([1, 50, 300, 700, 100_000]))
        piece, left[path] = left[path][:size], left[path][size:]
        with open(path, "ab") as file:
            file.write(piece)
        Numbers(cache, paths).usage()
        if data.draw(st.booleans()):
            count_all(cache, paths, learnings)  # what follows from it is kept, too
    for some in (learnings, []):
        assert count_all(cache, paths, some) == folded(paths, some)


def line(number, event="surfaced", **fields):
    head = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": event, "grove": "0.1.0"}
    own = {"learning_id": f"cl_{number % 3}", "session_id": f"s{number:06}"}
    return json.dumps({**head, **own, **fields}, separators=(",", ":")).encode() + b"\n"


def lines(first, last):
    return b"".join(line(number) for number in range(first, last))


class Project:
    """Logs, and a cache of them that is opened anew each time, as by a process."""

    def __init__(self, folder):
        self.folder = folder / "logs"
        self.folder.mkdir()
        self.cache = folder / "cache" / "cache.sqlite"
        self.cache.parent.mkdir()

    @property
    def log(self):
        return self.folder / "stats.log"

    def logs(self):
        return sorted(str(path) for path in self.folder.iterdir())

    def count(self, path=None):
        cache = Cache(path or str(self.cache))
        try:
            return count_all(cache, self.logs(), [a_learning()])
        finally:
            cache.close()

    def is_right(self):
        found, expected = self.count(), self.count(IN_MEMORY)
        assert found == expected
        return found[0].log


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    made.log.write_bytes(lines(0, 300))
    assert made.is_right().events == 300
    return made


def edit_in_the_middle(project):
    content = project.log.read_bytes()
    assert content.count(b"s000100") == 1
    project.log.write_bytes(content.replace(b"s000100", b"s000097"))


def cut_off(project):
    os.truncate(project.log, 1000)


def add_a_file(project):
    (project.folder / "a.jsonl").write_bytes(lines(200, 400))


def write_on_a_torn_line(project):
    with project.log.open("ab") as file:
        file.write(line(300)[:40])
    assert project.is_right().faults[0].unreadable == (301,)
    with project.log.open("ab") as file:
        file.write(line(300)[40:])


CHANGES = {
    edit_in_the_middle: (299 + 1, ()),
    cut_off: (1000 // len(line(0)), (1000 // len(line(0)) + 1,)),
    add_a_file: (400 + 100, ()),
    write_on_a_torn_line: (301, ()),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_log_that_changes(project, change):
    change(project)
    log = project.is_right()
    unreadable = log.faults[0].unreadable if log.faults else ()
    assert (log.events, unreadable) == CHANGES[change]
    with (project.folder / "later.jsonl").open("ab") as file:
        file.write(line(9000))
    assert project.is_right().events == CHANGES[change][0] + 1


def test_every_unreadable_line_is_counted_and_the_first_hundred_are_named(project):
    project.log.write_bytes(b"garbage\n" * 150 + line(1) + b"torn")
    (fault,) = project.is_right().faults
    assert fault.unreadable == tuple(range(1, 101))
    assert fault.unreadable_count == 151


def test_a_log_of_events_that_only_a_newer_grove_knows(project):
    newer = line(1, event="novel") + line(2, v=7, mood="good") + line(3, event="novel")[:-1]
    project.log.write_bytes(newer)
    log = project.is_right()
    assert log.events == 1
    assert log.faults[0].unknown == 2
    assert log.faults[0].unreadable == ()


def damage_all(path):
    path.write_bytes(bytes(range(256)) * 64)


def damage_what_is_counted(path):
    """The one table that tells whether the logs have changed stays whole."""
    damage_tables(path, "usage")


DAMAGES = [damage_all, damage_what_is_counted]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_broken_cache(project, damage):
    damage(project.cache)
    assert project.is_right().events == 300
    assert project.is_right().events == 300
    damage(project.cache)
    with project.log.open("ab") as file:
        file.write(lines(300, 302))
    assert project.is_right().events == 302
