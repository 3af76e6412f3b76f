"""Logs that change otherwise than by appending, and a cache that is broken: the numbers are right."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from grove_core.derived_database import IN_MEMORY
from grove_core.model.statistics import LearningRecord, LearningStats
from grove_core.stats.decay import DecayRule
from grove_core.stats_cache import database, folding
from grove_core.stats_cache.cache import StatsCache

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
LEARNING = LearningRecord(
    "cl_1", "Retry the export", "pitfall", "project", "active", "high", (), (), NOW, "s", None,
    "markdown", LearningStats("cl_1"),
)  # fmt: skip


def line(number, event="surfaced", **fields):
    head = {"v": 1, "ts": "2026-02-05T10:00:00Z", "event": event, "grove": "0.1.0"}
    own = {"learning_id": f"cl_{number % 3}", "session_id": f"s{number:06}"}
    return json.dumps({**head, **own, **fields}, separators=(",", ":")).encode() + b"\n"


def lines(first, last):
    return b"".join(line(number) for number in range(first, last))


def numbers_of(cache):
    cache.put_learnings([LEARNING], "")
    numbers = cache.count(NOW, DecayRule(90, 0.8))
    return numbers._replace(records=tuple(numbers.records)), cache.usage()


class Project:
    """Logs, and a cache of them that is opened anew each time, as by a process."""

    def __init__(self, folder):
        self.folder = folder / "logs"
        self.folder.mkdir()
        self.cache = folder / "cache" / "stats.sqlite"
        self.cache.parent.mkdir()

    @property
    def log(self):
        return self.folder / "stats.log"

    def logs(self):
        return sorted(str(path) for path in self.folder.iterdir() if path.name != ".git")

    def count(self, path=None):
        cache = StatsCache(path or str(self.cache), self.logs())
        cache.refresh()
        try:
            assert cache.complete
            return numbers_of(cache)
        except sqlite3.DatabaseError:
            cache.renew()  # as whoever knows the learnings does
            return numbers_of(cache)
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


def git(project, *words):
    identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
    subprocess.run(["git", *identity, *words], cwd=project.folder, check=True, capture_output=True)


# --- logs ---------------------------------------------------------------------------------------


def edit_in_the_middle(project):
    content = project.log.read_bytes()
    assert content.count(b"s000100") == 1
    project.log.write_bytes(content.replace(b"s000100", b"s000097"))


def edit_in_the_middle_and_keep_its_time(project):
    times = project.log.stat()
    edit_in_the_middle(project)
    os.utime(project.log, ns=(times.st_atime_ns, times.st_mtime_ns))


def edit_near_the_end_and_append(project):
    content = project.log.read_bytes().replace(b"s000290", b"s000287")
    project.log.write_bytes(content + lines(300, 301))


def remove_lines(project):
    project.log.write_bytes(lines(0, 100) + lines(200, 300))


def replace_by_a_rename(project):
    other = project.folder / "other"
    other.write_bytes(lines(5, 300) + lines(700, 705))
    other.replace(project.log)


def replace_by_a_longer_one_that_begins_otherwise(project):
    other = project.folder / "other"
    other.write_bytes(line(1000) + lines(1, 310))
    other.replace(project.log)


def cut_off(project):
    os.truncate(project.log, 1000)


def empty(project):
    project.log.write_bytes(b"")


def delete(project):
    project.log.unlink()


def put_a_folder_there(project):
    project.log.unlink()
    project.log.mkdir()


def put_a_link_there(project):
    moved = project.folder.parent / "elsewhere"
    project.log.rename(moved)
    project.log.symlink_to(moved)
    moved.write_bytes(lines(0, 301))


def put_a_dead_link_there(project):
    project.log.unlink()
    project.log.symlink_to(project.folder / "nowhere")


def add_a_file(project):
    (project.folder / "a.jsonl").write_bytes(lines(200, 400))


def join_lines(project):
    content = project.log.read_bytes()
    project.log.write_bytes(content[: len(line(0)) - 1] + content[len(line(0)) :])


def append_behind_a_line_without_end(project):
    project.log.write_bytes(lines(0, 300)[:-1])
    assert project.is_right().events == 300
    with project.log.open("ab") as file:
        file.write(line(300))


def end_the_last_line(project):
    project.log.write_bytes(lines(0, 300)[:-1])
    assert project.is_right().events == 300
    with project.log.open("ab") as file:
        file.write(b"\n" + line(300))


def write_on_a_torn_line(project):
    with project.log.open("ab") as file:
        file.write(line(300)[:40])
    assert project.is_right().faults[0].unreadable == (301,)
    with project.log.open("ab") as file:
        file.write(line(300)[40:])


def begin_a_new_line_behind_a_torn_one(project):
    with project.log.open("ab") as file:
        file.write(line(300)[:40])
    assert project.is_right().faults[0].unreadable == (301,)
    with project.log.open("ab") as file:
        file.write(b"\n" + line(301))


CHANGES = {
    edit_in_the_middle: (299 + 1, ()),
    edit_in_the_middle_and_keep_its_time: (299 + 1, ()),
    edit_near_the_end_and_append: (300 + 1, ()),
    remove_lines: (200, ()),
    replace_by_a_rename: (300, ()),
    replace_by_a_longer_one_that_begins_otherwise: (310, ()),
    cut_off: (1000 // len(line(0)), (1000 // len(line(0)) + 1,)),
    empty: (0, ()),
    delete: (0, ()),
    put_a_folder_there: (0, ()),
    put_a_link_there: (301, ()),
    put_a_dead_link_there: (0, ()),
    add_a_file: (400 + 100, ()),
    join_lines: (298, (1,)),
    append_behind_a_line_without_end: (299, (300,)),
    end_the_last_line: (301, ()),
    write_on_a_torn_line: (301, ()),
    begin_a_new_line_behind_a_torn_one: (301, (301,)),
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


def test_a_log_that_is_only_touched_is_not_read_again(project):
    project.log.write_bytes(lines(0, 300)[:-1])
    project.is_right()
    rows = sqlite3.connect(project.cache).execute("SELECT offset, checksum FROM log").fetchall()
    for _ in range(2):
        os.utime(project.log)
        assert project.is_right().events == 300
        after = sqlite3.connect(project.cache).execute("SELECT offset, checksum FROM log")
        assert after.fetchall() == rows


def test_branches_of_git(project):
    git(project, "init", "-q", "-b", "main", "--template=")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "one")
    git(project, "switch", "-qc", "other")
    with project.log.open("ab") as file:
        file.write(lines(300, 310))
    git(project, "commit", "-qam", "two")
    assert project.is_right().events == 310
    git(project, "switch", "-q", "main")
    assert project.is_right().events == 300
    with project.log.open("ab") as file:
        file.write(lines(500, 505))
    git(project, "commit", "-qam", "three")
    assert project.is_right().events == 305
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    log = project.is_right()
    assert (log.events, len(log.faults[0].unreadable)) == (315, 3)
    git(project, "merge", "--abort")
    git(project, "switch", "-q", "other")
    assert project.is_right().events == 310


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_log_that_may_not_be_read(project):
    (project.folder / "a.jsonl").write_bytes(line(900))
    (project.folder / "a.jsonl").chmod(0)
    assert project.is_right().events == 300


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


# --- the cache ----------------------------------------------------------------------------------


def damage_all(path):
    path.write_bytes(bytes(range(256)) * 64)


def damage_its_pages(path):
    content = bytearray(path.read_bytes())
    for start in range(4096, len(content), 4096):
        content[start : start + 4096] = bytes(range(255, -1, -1)) * 16
    path.write_bytes(content)


def damage_the_learnings(path):
    """The page of one table; the one that tells whether the logs have changed stays whole."""
    connection = sqlite3.connect(path)
    names = "('learning', 'catalogue', 'counter')"
    query = f"SELECT rootpage FROM sqlite_master WHERE name IN {names}"
    pages = [page for (page,) in connection.execute(query)]
    connection.close()
    damage_pages(path, pages)


def damage_pages(path, pages):
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(content)


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def leave_nothing(path):
    path.write_bytes(b"")


def put_text(path):
    path.write_text("this is no cache")


def put_folder(path):
    path.unlink()
    (path / "sub").mkdir(parents=True)


def put_another_schema(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE log (path)")
        connection.execute("PRAGMA user_version = 99")


def put_another_database(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE log (path)")


def drop_a_table(path):
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE use")


def remove_its_folder(path):
    shutil.rmtree(path.parent)


def damage_the_write_ahead_log(path):
    path.with_name(f"{path.name}-wal").write_bytes(b"\0garbage" * 1000)


DAMAGES = [
    damage_all,
    damage_its_pages,
    damage_the_learnings,
    halve,
    leave_nothing,
    put_text,
    put_folder,
    put_another_schema,
    put_another_database,
    drop_a_table,
    remove_its_folder,
    damage_the_write_ahead_log,
]


@pytest.mark.parametrize("appended", [False, True], ids=["same-log", "longer-log"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_broken_cache(project, damage, appended):
    damage(project.cache)
    if appended:
        with project.log.open("ab") as file:
            file.write(lines(300, 302))
    assert project.is_right().events == 300 + 2 * appended
    assert project.is_right().events == 300 + 2 * appended


@pytest.mark.parametrize("question", ["usage", "corrections", "stamp", "put_learnings"])
def test_any_question_to_a_broken_cache(project, question):
    ask = {
        "usage": StatsCache.usage,
        "corrections": lambda cache: cache.corrections(NOW),
        "stamp": lambda cache: cache.stamp,
        "put_learnings": lambda cache: cache.put_learnings([LEARNING], "now"),
    }[question]
    connection = sqlite3.connect(project.cache)
    pages = [page for (page,) in connection.execute("SELECT rootpage FROM sqlite_master")]
    log = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'log'").fetchone()
    connection.close()
    damage_pages(project.cache, set(pages) - {*log, 0})
    cache, fresh = (StatsCache(path, project.logs()) for path in (str(project.cache), IN_MEMORY))
    cache.refresh()
    fresh.refresh()
    assert ask(cache) == ask(fresh)
    cache.close()


def test_no_room_for_the_cache(project):
    """The file can be made and then not be filled: what is counted does not come from it."""
    folding_path = project.folder.parent / "small" / "stats.sqlite"
    folding_path.parent.mkdir()
    project.log.write_bytes(lines(0, 20_000))
    script = (
        "import resource, sys\n"
        "from grove_core.stats_cache.cache import StatsCache\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))\n"
        "cache = StatsCache(sys.argv[1], sys.argv[2:])\n"
        "cache.refresh()\n"
        "assert cache.complete\n"
        "print(sum(one.surfaced for one in cache.usage().values()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folding_path), *project.logs()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "20000\n", "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_cache_that_may_not_be_written(project, what):
    path = project.cache if what == "file" else project.cache.parent
    path.chmod(0o500)
    try:
        with project.log.open("ab") as file:
            file.write(line(300))
        assert project.is_right().events == 301
    finally:
        path.chmod(0o700)


def test_another_process_that_writes_loses_nothing(project):
    """What is busy is not broken: the file that another process fills stays where it is."""
    writing = sqlite3.connect(project.cache, isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    with project.log.open("ab") as file:
        file.write(line(300))
    before = project.cache.stat().st_ino
    cache = StatsCache(str(project.cache), project.logs())
    cache.refresh(until=0.0)
    assert not cache.complete
    assert len(cache.usage()) == 3
    cache.close()
    assert project.cache.stat().st_ino == before
    writing.execute("COMMIT")
    writing.close()
    assert project.is_right().events == 301


def test_a_cache_whose_making_another_process_has_begun(project):
    """Its tables are not there yet, and nobody else may lay them now."""
    project.cache.unlink()
    making = sqlite3.connect(project.cache, isolation_level=None)
    making.execute("PRAGMA journal_mode = WAL")
    making.execute("BEGIN IMMEDIATE")
    before = project.cache.stat().st_ino
    cache, fresh = (StatsCache(path, project.logs()) for path in (str(project.cache), IN_MEMORY))
    cache.refresh(until=float("inf"))
    fresh.refresh()
    assert cache.complete
    assert numbers_of(cache) == numbers_of(fresh)
    cache.close()
    assert project.cache.stat().st_ino == before
    making.execute("ROLLBACK")
    making.close()
    assert project.is_right().events == 300


def test_refusals_are_compared_once(project):
    """After the logs were read anew as well, the comparison is kept and not made each time."""
    refusals = b"".join(
        line(number, event="rejected", summary=f"Retry {number}", stage="write_gate")
        for number in range(50)
    )
    project.log.write_bytes(refusals)
    project.is_right()
    project.log.write_bytes(refusals[: refusals.rindex(b"{")])
    project.is_right()
    with sqlite3.connect(project.cache) as connection:
        compared = connection.execute("SELECT count(*) FROM miss").fetchone()
    assert compared == (49,)


def test_few_lines_are_read_at_a_time(project, monkeypatch):
    monkeypatch.setattr(folding, "_PORTION", 50)  # less than a line
    assert project.is_right().events == 300
    assert database.SCHEMA_VERSION > 0
