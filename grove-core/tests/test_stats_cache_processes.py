"""Processes that write, count and make the cache at the same time."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from grove_core.derived_database import IN_MEMORY
from grove_core.stats.decay import DecayRule
from grove_core.stats_cache.cache import StatsCache

# Appends as grove does, two or three events at once.
WRITER = """
import json, sys
from pathlib import Path
from grove_core import files

log, name, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for batch in range(number):
    lines = [
        json.dumps({"v": 1, "ts": "2026-02-05T10:00:00Z", "event": event, "grove": "0.1.0",
                    "learning_id": f"cl_{batch % 7}", "session_id": f"{name}-{batch}"}) + "\\n"
        for event in ("surfaced", "dismissed")
    ]
    files.append_text(log, "".join(lines))
"""
# Counts again and again, each time as a process does that has just begun.
COUNTER = """
import sys
from grove_core.stats_cache.cache import StatsCache

path, number, expected, logs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
known = complete = 0
while complete < number or known < expected:
    cache = StatsCache(path, logs)
    cache.refresh()
    assert cache.path == path
    usage = cache.usage()
    shown = sum(one.surfaced for one in usage.values())
    assert shown >= known, (shown, known)
    for one in usage.values():
        assert one.dismissed in (one.surfaced, one.surfaced - 1), one
    known = shown
    complete += cache.complete
    cache.close()
print(known)
"""
# Has no time, and never comes back to what it has begun.
HASTY = """
import sys
from grove_core.stats_cache.cache import StatsCache

path, expected, logs = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
shown, complete = 0, False
while not complete:
    cache = StatsCache(path, logs)
    cache.refresh(until=0.0)
    shown = sum(one.surfaced for one in cache.usage().values())
    assert shown <= expected
    complete = cache.complete
    cache.close()
print(shown)
"""
NOISE = (
    b"<<<<<<< HEAD\n"
    b'{"v":1,"ts":"2026-02-05T10:00:00Z","event":"novel","grove":"9"}\n'
    b'{"v":5,"ts":"2026-02-05T10:00:00Z","event":"surfaced","grove":"9","learning_id":"cl_1",'
    b'"session_id":"newer","mood":"good"}\n'
    b"=======\n"
    b'{"v":1,"ts":"2026-02-05T10:00:00Z","event":"surf\n'
    b">>>>>>> theirs\n"
)


def start(script, *words):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, "")
    return out


def count(path, log):
    cache = StatsCache(str(path), [str(log)])
    cache.refresh()
    assert cache.complete
    try:
        return cache.usage()
    finally:
        cache.close()


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "stats.log"
    path.write_bytes(NOISE)
    return path


def test_two_writers_and_a_reader(tmp_path, log):
    path = tmp_path / "stats.sqlite"
    reader = start(COUNTER, path, 5, 2 * 150 + 1, log)
    writers = [start(WRITER, log, name, 150) for name in ("one", "two")]
    for writer in writers:
        finish(writer)
    assert finish(reader) == "301\n"
    assert count(path, log) == count(IN_MEMORY, log)
    with log.open("ab") as file:
        file.write(b'{"v":1,"ts":"2026-02-05T10:0')
    assert count(path, log) == count(IN_MEMORY, log)


def test_everything_else_is_reported_with_its_line(tmp_path, log):
    finish(start(WRITER, log, "one", 3))
    with log.open("ab") as file:
        file.write(b'{"v":1,"ts":"2026-02-05T10:0')
    found = [tmp_path / "stats.sqlite", IN_MEMORY]
    for path in found:
        cache = StatsCache(str(path), [str(log)])
        cache.refresh()
        numbers = cache.count(datetime(2026, 2, 6, tzinfo=UTC), DecayRule(90, 0.8)).log
        cache.close()
        assert (numbers.events, numbers.complete) == (7, True)
        assert [one._asdict() for one in numbers.faults] == [
            {"path": str(log), "unreadable": (1, 4, 5, 6, 13), "unreadable_count": 5, "unknown": 1}
        ]


@pytest.mark.parametrize("attempt", range(2))
def test_six_processes_make_one_cache(tmp_path, log, attempt):
    """Of a log that takes a while to read, while somebody appends to it."""
    line = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": "surfaced", "learning_id": "cl_3"}
    with log.open("a") as file:
        for number in range(20_000):
            file.write(json.dumps({**line, "session_id": f"s{attempt}-{number}"}) + "\n")
            file.write(
                json.dumps({**line, "event": "dismissed", "session_id": f"s{attempt}-{number}"})
                + "\n"
            )
    path = tmp_path / "stats.sqlite"
    readers = [start(COUNTER, path, 2, 20_000 + 1 + 40, log) for _ in range(6)]
    finish(start(WRITER, log, "one", 40))
    assert {finish(reader) for reader in readers} == {"20041\n"}
    assert count(path, log) == count(IN_MEMORY, log)


def test_some_of_six_have_no_time(tmp_path, log):
    """They leave off early, and those that come after them go on."""
    line = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": "surfaced", "learning_id": "cl_3"}
    with log.open("a") as file:
        for number in range(5_000):
            file.write(json.dumps({**line, "session_id": f"s{number}"}) + "\n")
    path = tmp_path / "stats.sqlite"
    readers = [start(HASTY, path, 5_001, log) for _ in range(6)]
    assert {finish(reader) for reader in readers} == {"5001\n"}
    assert count(path, log) == count(IN_MEMORY, log)
