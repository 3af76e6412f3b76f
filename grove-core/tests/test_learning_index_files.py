"""An index file that is broken, gone, or not to be had: answers are right, and made anew once."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_core.learning_index import additions, tables
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.model.learning import Category, Learning, LearningStatus
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.query_terms import query_terms

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
MICROSECONDS = (NOW - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
SOURCE = "project markdown"
NUMBER = 300


def an_entry(number, name=None, **fields):
    learning = Learning(
        id=f"cl_{name or number}",
        category=Category.PITFALL,
        summary=f"Retry the export of report {number}",
        detail=f"It fails at first when queue{number % 7} is empty. " * 20,
        session_id="s",
        timestamp=NOW - timedelta(hours=number),
        tags=(f"tag{number % 5}",),
        context_files=(f"src/report{number}.py",),
    )
    return entry_of(evolve(learning, **fields), backend="markdown", personal=False)


class Project:
    """Learnings, and an index of them that is opened anew each time, as by a process."""

    def __init__(self, folder):
        self.path = folder / "cache" / "index.sqlite"
        self.path.parent.mkdir()
        self.entries = [an_entry(number) for number in range(NUMBER)]
        self.version = 1

    def fill(self, index):
        """What ``refresh`` does with a backend that can only list everything."""
        stamp = f"version {self.version}"
        if index.stamp == stamp:
            return
        for _ in range(3):
            since = index.progress(SOURCE)
            if index.put(SOURCE, self.entries, "", whole=True, since=since):
                index.set_stamp(stamp)
                return

    def change(self):
        self.entries[0] = an_entry(0, summary="Everything is different")
        self.entries.append(an_entry(NUMBER))
        self.version += 1

    def open(self, path=None):
        index = LearningIndex(path or str(self.path), patience=0.2, fill=self.fill)
        self.fill(index)
        return index

    def answers(self, path=None):
        index = self.open(path)
        try:
            return {name: ask(index) for name, ask in QUESTIONS.items()}
        finally:
            index.close()

    def is_right(self):
        assert self.answers() == self.answers(IN_MEMORY)


def find(index, **query):
    found = index.find(query_terms(**query))
    return {one.entry.id: (one.entry, round(one.relevance.value, 9)) for one in found}


QUESTIONS = {
    "find": lambda index: find(index, text="queue3 report 250", tags=("tag2",)),
    "find nothing": lambda index: find(index, text="something else"),
    "get": lambda index: (index.get("cl_0"), index.get("cl_none")),
    "entries": LearningIndex.entries,
    "newest": lambda index: index.newest(5),
    "noted files": LearningIndex.noted_files,
    "length": len,
}


@pytest.fixture
def added(monkeypatch):
    """The ids that were put into any index on disk."""
    ids = []
    add = additions.Additions.add

    def counted(additions, entry, digest):
        # The second database is the file; in memory it has no name.
        if additions._connection.execute("PRAGMA database_list").fetchone()[2]:
            ids.append(entry.id)
        add(additions, entry, digest)

    monkeypatch.setattr(additions.Additions, "add", counted)
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


# --- damage -------------------------------------------------------------------------------------


def put_garbage(path):
    path.write_bytes(bytes(range(256)) * 64)


def damage_its_pages(path):
    damage_pages(path, range(2, path.stat().st_size // 4096 + 1))


def damage_pages(path, pages):
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(content)


def pages_of(path, like):
    connection = sqlite3.connect(path)
    query = "SELECT rootpage FROM sqlite_master WHERE name LIKE ? AND rootpage"
    pages = [page for (page,) in connection.execute(query, (like,))]
    connection.close()
    return pages


def damage_the_terms(path):
    """The shadow tables of the full text; whether all is in, and what, can still be told."""
    pages = pages_of(path, "term\\_%") or pages_of(path, "term_%")
    assert pages
    damage_pages(path, pages)


def zero_the_terms(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE term_data SET block = zeroblob(length(block))")


def damage_the_learnings(path):
    damage_pages(path, pages_of(path, "learning"))


def damage_the_frequencies(path):
    damage_pages(path, pages_of(path, "frequency"))


def change_a_letter(path):
    """As a disk does: the page looks well, and what it says is not what was written."""
    content = path.read_bytes()
    assert content.count(b"It fails at first when queue2") > 10
    path.write_bytes(
        content.replace(b"It fails at first when queue2", b'It fails"at first when que}2')
    )


def spoil_a_document(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE learning SET document = '{' WHERE id = 'cl_0'")


def spoil_the_encoding(path):
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE learning SET document = CAST(x'ff7b80' AS TEXT)")


def halve(path):
    os.truncate(path, path.stat().st_size // 2)


def empty(path):
    path.write_bytes(b"")


def zero(path):
    path.write_bytes(b"\0" * path.stat().st_size)


def delete(path):
    path.unlink()


def put_folder(path):
    path.unlink()
    (path / "sub").mkdir(parents=True)
    (path / "sub" / "file").write_text("x")


def put_dead_link(path):
    path.unlink()
    path.symlink_to(path.parent / "nowhere" / "index")


def put_another_version(path):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def put_another_database(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE learning (path)")


def drop_a_table(path):
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE total")


def drop_the_terms(path):
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE term")


def put_garbage_as_write_ahead_log(path):
    path.with_name(f"{path.name}-wal").write_bytes(b"\0garbage" * 1000)


def put_folder_as_write_ahead_log(path):
    path.with_name(f"{path.name}-wal").mkdir()


DAMAGES = [
    put_garbage,
    damage_its_pages,
    damage_the_terms,
    zero_the_terms,
    damage_the_learnings,
    damage_the_frequencies,
    change_a_letter,
    spoil_a_document,
    spoil_the_encoding,
    halve,
    empty,
    zero,
    delete,
    put_folder,
    put_dead_link,
    put_another_version,
    put_another_database,
    drop_a_table,
    drop_the_terms,
    put_garbage_as_write_ahead_log,
    put_folder_as_write_ahead_log,
]


@pytest.mark.parametrize("changed", [False, True], ids=["same-learnings", "other-learnings"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_broken_index(project, added, damage, changed):
    damage(project.path)
    if changed:
        project.change()
    project.is_right()
    added.clear()
    project.is_right()
    assert added == []


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "damage", [damage_the_learnings, spoil_a_document], ids=lambda damage: damage.__name__
)
def test_any_first_question_to_a_broken_index(project, damage, question):
    damage(project.path)
    broken, fresh = project.open(), project.open(IN_MEMORY)
    assert QUESTIONS[question](broken) == QUESTIONS[question](fresh)
    broken.close()


@pytest.mark.parametrize("damage", [damage_its_pages, put_garbage], ids=lambda one: one.__name__)
def test_an_index_that_breaks_while_it_is_open(project, damage):
    index = project.open()
    damage(project.path)
    project.change()
    project.fill(index)
    assert find(index, text="everything different")["cl_0"][0] == project.entries[0]
    index.close()
    project.is_right()


def test_a_folder_that_is_gone(project, added):
    shutil.rmtree(project.path.parent)
    project.is_right()
    assert added == []
    project.path.parent.mkdir()
    project.is_right()
    assert len(added) == NUMBER


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_index_that_may_not_be_written(project, what):
    path = project.path if what == "file" else project.path.parent
    path.chmod(0o500)
    try:
        project.is_right()
        project.change()
        project.is_right()
    finally:
        path.chmod(0o700)


def test_no_room_for_the_index(project):
    """The file can be made and then not be filled: everything is there, in memory."""
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_learning_index_files import NUMBER, Project, QUESTIONS\n"
        "from grove_core.learning_index.index import IN_MEMORY\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "project = Project(Path(sys.argv[1]))\n"
        "project.is_right()\n"
        "index = project.open()\n"
        "print(index.path, len(index))\n"
    )
    small = project.path.parent.parent / "small"
    small.mkdir()
    words = [sys.executable, "-B", "-c", script, small, os.path.dirname(__file__)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{IN_MEMORY} {NUMBER}\n", "")


# --- others -------------------------------------------------------------------------------------


def test_another_process_that_writes_loses_nothing(project):
    """Who has no time leaves the file to it and finds what is in; who has, has all of it."""
    writing = sqlite3.connect(project.path, isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    before = project.path.stat().st_ino
    index = LearningIndex(str(project.path), patience=0.0)
    assert not index.put(SOURCE, [an_entry(999)], "", whole=False, until=float("inf"))
    assert index.path == str(project.path)
    assert len(index) == NUMBER
    index.close()
    project.change()
    project.is_right()
    assert project.path.stat().st_ino == before
    writing.execute("COMMIT")
    writing.close()
    project.is_right()
    index = project.open()
    assert index.path == str(project.path)
    index.close()


def test_what_another_thread_asks_breaks_nothing(project, added):
    index = project.open()
    raised = []

    def ask():
        try:
            len(index)
        except sqlite3.ProgrammingError as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert raised
    assert len(index) == NUMBER
    index.close()
    project.is_right()
    assert added == []


def test_who_read_earlier_takes_nothing_back(project):
    """Whatever the order in which processes come to write, the last that began to read counts."""
    early, late = project.open(), project.open()
    before = list(project.entries)
    known = early.progress(SOURCE)
    project.change()
    project.fill(late)
    assert not early.put(SOURCE, before, "", whole=True, since=known)
    assert late.stamp == f"version {project.version}"
    for index in (early, late):
        assert find(index, text="everything different")["cl_0"][0] == project.entries[0]
        index.close()
    project.is_right()


@pytest.mark.parametrize("whole", [False, True])
def test_who_puts_something_in_between_is_noticed(project, monkeypatch, whole):
    """One that has begun earlier, and was not done: the later one says that it is not done."""
    early, late = project.open(), project.open()
    before = [an_entry(5, summary="Old text")]
    known = early.progress(SOURCE)
    change = additions.Additions.settle

    def settle_and_interfere(these):
        monkeypatch.setattr(additions.Additions, "settle", change)
        change(these)
        these._connection.execute("COMMIT")
        early.put(SOURCE, before, "", whole=False, since=known, until=0.0 if whole else None)
        these._connection.execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(additions.Additions, "settle", settle_and_interfere)
    wanted = [*project.entries[:5], an_entry(5, summary="New text"), *project.entries[6:]]
    late.put(SOURCE, wanted, "", whole=True, since=known)
    assert late.stamp == ""
    project.entries = wanted
    project.version += 1
    early.close()
    late.close()
    project.is_right()


def test_the_stamp_is_gone_as_soon_as_something_changes(project):
    index = project.open()
    assert index.stamp
    index.put(SOURCE, [project.entries[3]], "", whole=False)
    assert index.stamp
    index.put(SOURCE, [an_entry(3, status=LearningStatus.ARCHIVED)], "", whole=False)
    assert index.stamp == ""
    index.close()
    project.is_right()


def test_a_source_that_comes_back_while_it_is_forgotten_is_kept(project, monkeypatch):
    other = project.open()
    index = project.open()
    put = LearningIndex.put

    def put_and_come_back(self, *arguments, **options):
        done = put(self, *arguments, **options)
        put(other, SOURCE, [an_entry(1)], "", whole=False)
        return done

    monkeypatch.setattr(LearningIndex, "put", put_and_come_back)
    index.forget_others(["project other"])
    monkeypatch.undo()
    assert [one.id for one in index.entries()] == ["cl_1"]
    assert index.forget_others([])
    assert index.entries() == []
    for one in (index, other):
        one.close()


# --- extremes -----------------------------------------------------------------------------------


def test_a_query_of_very_many_terms(project):
    index = project.open()
    words = " ".join(f"word{number}" for number in range(40_000))
    find(index, text=f"report 250 {words}")
    known = tables.frequencies_of(index._database.open(), [*words.split(), "retri"])
    assert known == {"retri": NUMBER}
    assert index.path == str(project.path)
    index.close()


def test_more_learnings_at_once_than_a_question_may_name(project, monkeypatch):
    monkeypatch.setattr(tables, "_MOST_NAMED", 7)
    index = project.open()
    index.put(SOURCE, [*project.entries, an_entry(999)], "", whole=False)
    assert len(index) == NUMBER + 1
    assert "cl_250" in find(index, text="report 250 queue3 retry fails export empty")
    index.close()


def test_a_very_large_learning(project):
    project.entries.append(an_entry(1, "large", detail="wide " * 400_000 + "x" * 100_000))
    project.version += 1
    project.is_right()
    index = project.open()
    assert "cl_large" in find(index, text="wide")
    project.entries.pop()
    project.version += 1
    project.fill(index)
    assert find(index, text="wide") == {}
    index.close()


@pytest.mark.parametrize("text", ['"', 'say "hi" OR *', "NEAR(a b)", "a:b -c ^d", "\0", "\ud800 x"])
def test_what_means_something_to_the_full_text_search(project, text):
    entry = an_entry(1, "odd", summary=text, tags=(text,), context_files=(text,))
    project.entries.append(entry)
    project.version += 1
    project.is_right()
    index = project.open()
    assert index.get("cl_odd") == entry
    find(index, text=text, files=(text,), tags=(text,), error_signature=text, ticket_id=text)
    assert "cl_odd" in find(index, tags=(text,))
    index.close()


def test_without_full_text_search_the_answers_are_the_same(project, monkeypatch):
    expected = project.answers()
    monkeypatch.setattr(tables, "has_fts5", lambda: False)
    refuse_virtual_tables(monkeypatch)
    assert project.answers() == expected
    project.change()
    changed = project.answers()
    project.is_right()
    monkeypatch.undo()
    assert project.answers() == changed


def refuse_virtual_tables(monkeypatch):
    """As SQLite does where that module is not part of it."""
    connect = sqlite3.connect

    def connect_without(*arguments, **options):
        connection = connect(*arguments, **options)
        refused = (sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE)
        connection.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK
        )
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_without)


def test_this_sqlite_has_full_text_search():
    assert tables.has_fts5()
