"""However logs come into the cache, the numbers are those of reading them at once."""

import json
from datetime import datetime, timedelta

from core_worlds import NOW, a_learning, count_all
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grove_core.model.learning import Category, Criterion, LearningStatus, Scope
from grove_core.stats import fold
from grove_core.stats.cache import Numbers
from grove_core.storage.cache import IN_MEMORY, Cache

# --- random logs and learnings ------------------------------------------------------------------

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

# --- ways of reading them -----------------------------------------------------------------------


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
