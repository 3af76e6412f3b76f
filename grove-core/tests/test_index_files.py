"""An index file that is broken, gone, or not to be had: answers are right, and made anew once."""

import sqlite3
from datetime import timedelta

import pytest
from core_worlds import NOW, a_learning, damage_tables

from grove_core.model.memory import Query
from grove_core.project import WarmCache
from grove_core.retrieval import update as indexing
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.terms import entry_of, terms_of
from grove_core.storage.cache import IN_MEMORY, Cache

SOURCE = "project markdown"
NUMBER = 40


def an_entry(number, name=None, **fields):
    given = {
        "summary": f"Retry the export of report {number}",
        "detail": f"It fails at first when queue{number % 7} is empty. " * 20,
        "timestamp": NOW - timedelta(hours=number),
        "tags": (f"tag{number % 5}",),
        "context_files": (f"src/report{number}.py",),
    }
    learning = a_learning(f"cl_{name or number}", **{**given, **fields})
    return entry_of(learning, backend="markdown", personal=False)


class Project:
    """Learnings, and an index of them that is opened anew each time, as by a process."""

    def __init__(self, folder):
        self.path = folder / "cache" / "cache.sqlite"
        self.path.parent.mkdir()
        self.entries = [an_entry(number) for number in range(NUMBER)]
        self.version = 1

    def fill(self, index):
        """What ``refresh`` does with a backend that can only list everything."""
        looks = f"version {self.version}"
        if index.is_fresh(indexing.SOURCES, looks):
            return
        for _ in range(3):
            since = index.progress(SOURCE)
            if index.put(SOURCE, self.entries, "", whole=True, since=since):
                index.set_fingerprint(indexing.SOURCES, looks)
                return

    def change(self):
        self.entries[0] = an_entry(0, summary="Everything is different")
        self.entries.append(an_entry(NUMBER))
        self.version += 1

    def open(self, path=None):
        return LearningIndex(Cache(path or str(self.path), seconds=0.2), self.fill)

    def answers(self, path=None):
        index = self.open(path)
        try:
            return {name: ask(index) for name, ask in QUESTIONS.items()}
        finally:
            index.cache.close()

    def is_right(self):
        assert self.answers() == self.answers(IN_MEMORY)


def find(index, **query):
    found = index.find(terms_of(Query(**query)))
    return {one.entry.id: (one.entry, round(one.relevance.value, 9)) for one in found}


QUESTIONS = {
    "find": lambda index: find(index, text="queue3 report 25", tags=("tag2",)),
    "find nothing": lambda index: find(index, text="something else"),
    "get": lambda index: (index.get("cl_0"), index.get("cl_none")),
    "entries": LearningIndex.entries,
    "newest": lambda index: index.newest(5),
    "named files": LearningIndex.named_files,
    "length": len,
}


@pytest.fixture
def added(monkeypatch):
    """The ids that were put into any index on disk."""
    ids = []
    add = indexing.Update._add

    def counted(update, source, given, sums):
        # The second database is the file; in memory it has no name.
        if update._connection.execute("PRAGMA database_list").fetchone()[2]:
            ids.extend(entry.id for entry, _ in given)
        add(update, source, given, sums)

    monkeypatch.setattr(indexing.Update, "_add", counted)
    return ids


@pytest.fixture
def project(tmp_path, added):
    made = Project(tmp_path)
    made.is_right()
    assert len(added) == NUMBER
    added.clear()
    return made


def test_nothing_is_put_in_twice(project, added):
    project.is_right()
    assert added == []
    project.change()
    project.is_right()
    assert sorted(added) == ["cl_0", f"cl_{NUMBER}"]


def put_garbage(path):
    path.write_bytes(bytes(range(256)) * 64)


def damage_the_terms(path):
    """The shadow tables of the full text; whether all is in, and what, can still be told."""
    damage_tables(path, "term_%")


def damage_the_learnings(path):
    damage_tables(path, "entry")


DAMAGES = [put_garbage, damage_the_terms, damage_the_learnings]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_broken_index(project, added, damage):
    damage(project.path)
    project.is_right()
    added.clear()
    project.is_right()
    assert added == []
    damage(project.path)
    project.change()
    project.is_right()


def test_another_process_that_writes_loses_nothing(project):
    """What is in is found meanwhile, and the rest is put in afterwards."""
    writing = sqlite3.connect(project.path, isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    before = project.path.stat().st_ino
    index = LearningIndex(Cache(str(project.path), seconds=0.0))
    assert not index.put(SOURCE, [an_entry(999)], "", whole=False)
    assert index.cache.path == str(project.path)
    assert len(index) == NUMBER
    index.cache.close()
    project.change()
    assert project.answers()["length"] == NUMBER
    assert project.path.stat().st_ino == before
    writing.execute("COMMIT")
    writing.close()
    project.is_right()


def test_who_read_earlier_takes_nothing_back(project):
    """Whatever the order in which processes come to write, the last that began to read counts."""
    early, late = project.open(), project.open()
    before = list(project.entries)
    known = early.progress(SOURCE)
    project.change()
    project.fill(late)
    assert not early.put(SOURCE, before, "", whole=True, since=known)
    assert late.is_fresh(indexing.SOURCES, f"version {project.version}")
    for index in (early, late):
        assert find(index, text="everything different")["cl_0"][0] == project.entries[0]
        index.cache.close()
    project.is_right()


def test_a_kept_cache_is_opened_again_when_the_file_is_another_one(project):
    warm = WarmCache()
    folder = project.path.parent

    def ask():
        cache = warm.keep("cache", folder, lambda: Cache(str(project.path)), Cache.is_current)
        answer = find(LearningIndex(cache, project.fill), text="export")
        return cache, answer

    first, answer = ask()
    assert ask() == (first, answer)
    project.change()
    project.answers()  # another process puts in what is new
    second, later = ask()
    assert second is first
    assert later == find(project.open(IN_MEMORY), text="export")
    project.open().cache.remove()
    third, again = ask()
    assert third is not first
    assert again == later
    assert project.path.exists()
