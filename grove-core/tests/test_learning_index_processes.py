"""Processes that are killed while they fill the index, and many that fill and ask it at once."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grove_core.learning_index.index import LearningIndex
from grove_core.retrieval.query_terms import query_terms

NOW = 1_770_000_000_000_000
# A backend whose learnings are the lines of a file; only ever the whole of them, or what was
# appended behind the mark, which is an offset.
COMMON = """
import json, os, sys
from grove_core.learning_index import additions, tables, updating
from grove_core.learning_index.index import LearningIndex
from grove_core.retrieval.entry import Entry
from grove_core.retrieval.query_terms import query_terms
from grove_core.stats_cache.stamps import stamp_of

updating._AT_ONCE = 10
path, log, *options = sys.argv[1:]
added = []
add = additions.Additions.add

def count(additions, entry, digest):
    added.append(entry.id)
    add(additions, entry, digest)

additions.Additions.add = count

def entries_of(content):
    found = {}
    for line in content.splitlines():
        document = json.loads(line)
        name = document["id"]
        number = int(name.removeprefix("cl_"))
        found[name] = Entry(name, "lines", False, document["status"], "project", "pitfall", "high",
                            1_700_000_000_000_000 + number, True, line.decode())
    return found

def fill(index):
    stamp = stamp_of([log])
    if index.stamp == stamp:
        return True
    for _ in range(20):
        since = index.progress("project lines")
        with open(log, "rb") as file:
            content = file.read()
        content = content[: content.rindex(b"\\n") + 1]
        offset = int(since.mark or 0)
        whole = "whole" in options or not 0 < offset <= len(content)
        entries = entries_of(content if whole else content[offset:])
        if index.put("project lines", entries.values(), str(len(content)), whole=whole, since=since):
            index.set_stamp(stamp)
            return True
    return False
"""
# Dies in the middle of the transaction that would follow after some.
DYING = f"""{COMMON}
import signal
last, place = int(options[0]), options[1]
settle = additions.Additions.settle
transactions = []

def settle_or_die(additions):
    settle(additions)
    transactions.append(1)
    if len(transactions) > last:
        if place == "committed":
            additions._connection.execute("COMMIT")
        os.kill(os.getpid(), signal.SIGKILL)

additions.Additions.settle = settle_or_die
index = LearningIndex(path)
index._fill = fill
fill(index)
print("alive")
"""
ASKING = f"""{COMMON}
rounds, expected = int(options[0]), int(options[1])
done = found = 0
while done < rounds or found < expected:
    index = LearningIndex(path, patience=30.0, fill=fill)
    is_filled = fill(index)
    assert index.path == path, index.path
    now = len(index)
    assert now >= found, (now, found)
    wanted = query_terms(text="everything about queue7 export 13", tags=("tag3",))
    for one in index.find(wanted):
        assert json.loads(one.entry.document)["id"] == one.entry.id
        assert 0 <= one.relevance.value <= 1
    assert len(index.newest(5)) == min(5, now)
    found = now
    done += is_filled
    index.close()
print(found)
"""
FILLING = f"""{COMMON}
index = LearningIndex(path, fill=fill)
fill(index)
print(json.dumps([index.path == path, len(index), len(added)]))
"""
WRITING = """
import json, sys
log, first, last, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
for number in range(first, last):
    with open(log, "a") as file:
        file.write(json.dumps({
            "id": f"cl_{number}", "status": "active", "summary": f"{text} {number % 40}",
            "detail": f"everything about queue{number % 11}", "tags": [f"tag{number % 5}"],
            "context_files": [f"src/a{number % 9}.py"], "ticket_id": None,
        }) + "\\n")
"""


def start(script, *words):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, code=0):
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (code, "")
    return out


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "learnings.jsonl"
    finish(start(WRITING, path, 0, 200, "Export"))
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.sqlite"


def answers(path):
    index = LearningIndex(str(path))
    found = index.find(query_terms(text="export 13 queue7", tags=("tag3",)))
    connection = index._database.open()
    try:
        return (
            sorted((one.entry, round(one.relevance.value, 9)) for one in found),
            sorted(index.entries()),
            index.noted_files(),
            sorted(connection.execute("SELECT * FROM frequency")),
            connection.execute("SELECT * FROM total").fetchall(),
        )
    finally:
        index.close()


def is_as_if_made_anew(path, log):
    fresh = path.with_name(f"{path.name}-fresh")
    finish(start(FILLING, fresh, log))
    assert answers(path) == answers(fresh)
    for suffix in ("", "-wal", "-shm"):
        Path(f"{fresh}{suffix}").unlink(missing_ok=True)


@pytest.mark.parametrize("place", ["open", "committed"])
@pytest.mark.parametrize("last", [0, 1, 5, 19])
def test_killed_while_the_index_is_made(path, log, last, place):
    """Two hundred learnings, ten at a time; what was done is not done again."""
    finish(start(DYING, path, log, last, place), -signal.SIGKILL)
    done = 10 * (last + (place == "committed"))
    assert json.loads(finish(start(FILLING, path, log))) == [True, 200, 200 - done]
    assert json.loads(finish(start(FILLING, path, log))) == [True, 200, 0]
    is_as_if_made_anew(path, log)


@pytest.mark.parametrize("whole", ["whole", "appended"])
@pytest.mark.parametrize("last", [0, 2, 4])
def test_killed_while_something_is_added(path, log, last, whole):
    finish(start(FILLING, path, log))
    finish(start(WRITING, log, 150, 250, "Import"))  # fifty of them take the place of others
    finish(start(DYING, path, log, last, "open", whole), -signal.SIGKILL)
    assert json.loads(finish(start(FILLING, path, log, whole))) == [True, 250, 100 - 10 * last]
    is_as_if_made_anew(path, log)


def test_killed_again_and_again(path, log):
    """It never comes further than two portions, and is done some day."""
    for _ in range(9):
        finish(start(DYING, path, log, 2, "open"), -signal.SIGKILL)
    assert finish(start(DYING, path, log, 2, "open")) == "alive\n"
    is_as_if_made_anew(path, log)


@pytest.mark.parametrize("whole", ["whole", "appended"])
def test_eight_processes_fill_and_ask_while_somebody_appends(path, log, whole):
    asking = [start(ASKING, path, log, 3, 400, whole) for _ in range(8)]
    writing = start(WRITING, log, 200, 400, "Export")
    finish(writing)
    assert {finish(one) for one in asking} == {"400\n"}
    assert json.loads(finish(start(FILLING, path, log, whole))) == [True, 400, 0]
    is_as_if_made_anew(path, log)


def test_eight_processes_find_a_broken_index(path, log):
    finish(start(FILLING, path, log))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    filling = [start(FILLING, path, log) for _ in range(8)]
    for one in filling:
        _, size, _ = json.loads(finish(one))
        assert size == 200
    # The file that is there now is that of whoever came last.
    finish(start(FILLING, path, log))
    assert json.loads(finish(start(FILLING, path, log))) == [True, 200, 0]
    is_as_if_made_anew(path, log)


def test_some_are_killed_while_others_fill(path, log):
    dying = [start(DYING, path, log, last, "open") for last in (1, 3, 6)]
    filling = [start(FILLING, path, log) for _ in range(3)]
    for one in dying:
        one.communicate(timeout=120)
    for one in filling:
        assert json.loads(finish(one))[1] == 200
    assert json.loads(finish(start(FILLING, path, log))) == [True, 200, 0]
    is_as_if_made_anew(path, log)
