"""Logs that change otherwise than by appending, and a cache that is broken: the numbers are right."""

import json
import os

import pytest
from core_worlds import a_learning, count_all, damage_tables

from grove_core.storage.cache import IN_MEMORY, Cache


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
