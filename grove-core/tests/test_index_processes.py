"""Processes that are killed while they fill the index, and several that fill and ask it at once."""

import os
import signal

import pytest
from core_worlds import a_learning, codes_of, fork
from scale import turned_up

from grove_core.model.memory import Query
from grove_core.retrieval import update as indexing
from grove_core.retrieval.entry import entry_of
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.terms import terms_of
from grove_core.storage.cache import Cache

SOURCE = "project lines"
QUERY = terms_of(Query(text="export 13 queue7", tags=("tag3",)))


class Place:
    """A log with a line for each learning, and an index of it."""

    def __init__(self, folder):
        self.log, self.path = folder / "log", folder / "cache.sqlite"

    def append(self, first, last):
        with self.log.open("a") as file:
            file.writelines(f"{number}\n" for number in range(first, last))

    def fill(self, index):
        """Puts in what was appended behind the mark, which is an offset."""
        looks = str(self.log.stat().st_size)
        for _ in range(20):
            if index.has_all_of(looks):
                return True
            since = index.progress(SOURCE)
            content = self.log.read_bytes()
            offset = int(since.mark or 0)
            entries = [entry(int(line)) for line in content[offset:].splitlines()]
            if index.put(SOURCE, entries, str(len(content)), whole=not offset, since=since):
                index.set_complete(looks)
        return False

    def open(self):
        return LearningIndex(Cache(str(self.path), seconds=30.0), self.fill)

    def is_as_if_made_anew(self, number):
        index, fresh = self.open(), LearningIndex(Cache(f"{self.path}-fresh"))
        for one in (index, fresh):
            assert self.fill(one)
            assert len(one) == number
        for ask in (lambda one: one.find(QUERY), lambda one: sorted(one.entries())):
            assert sorted(map(str, ask(index))) == sorted(map(str, ask(fresh)))


def entry(number):
    learning = a_learning(
        f"cl_{number}",
        summary=f"Export {number % 40}",
        detail=f"everything about queue{number % 11}",
        tags=(f"tag{number % 5}",),
    )
    return entry_of(learning, backend="lines", personal=False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Sixty learnings, which are put in ten at a time."""
    monkeypatch.setattr(indexing, "_AT_ONCE", 10)
    made = Place(tmp_path)
    made.append(0, 60)
    return made


def die_after(transactions, place):
    """Ends in the middle of the transaction that would follow after some."""
    write, done = indexing._Sums.write, []

    def write_or_die(*these):
        write(*these)
        done.append(1)
        if len(done) > transactions:
            os.kill(os.getpid(), signal.SIGKILL)

    indexing._Sums.write = write_or_die
    place.fill(place.open())


def test_several_processes_fill_and_ask_while_somebody_appends_and_others_are_killed(place):
    def ask():
        found = 0
        while found < 120:
            index = place.open()
            place.fill(index)
            assert found <= len(index)
            found = len(index)
            assert all(0 <= one.relevance.value <= 1 for one in index.find(QUERY))
            index.cache.close()

    asking = [fork(ask) for _ in range(turned_up(3, 8))]
    dying = [fork(lambda last=last: die_after(last, place)) for last in range(1, turned_up(2, 7))]
    place.append(60, 120)
    codes_of(*dying)
    assert not any(codes_of(*asking))
    place.is_as_if_made_anew(120)
