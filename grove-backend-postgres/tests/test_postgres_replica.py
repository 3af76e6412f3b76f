"""What this machine knows: the database's latest answer, with what waits on top."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import evolve

from grove_backend_postgres.outbox import Outbox, new_learnings, status_changes
from grove_backend_postgres.pulling import Pulled
from grove_backend_postgres.replica import Replica
from grove_backend_postgres.replica_file import ReplicaFile
from grove_core import BackendError, LearningStatus
from grove_core.testing.samples import example_learning

ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
FIRST, SECOND, THIRD = (example_learning(number) for number in (1, 2, 3))
LATER = THIRD.timestamp + timedelta(days=1)


@pytest.fixture
def outbox(tmp_path):
    return Outbox(tmp_path / "outbox.jsonl")


@pytest.fixture
def open_replica(tmp_path, outbox):
    """Opens the replica as another process does."""
    mark = tmp_path / "synchronised"
    return lambda: Replica(ReplicaFile(tmp_path / "replica.sqlite3", mark), outbox)


@pytest.fixture
def replica(open_replica):
    return open_replica()


def pulled(*learnings, mark="7:abc", whole=False, total=None, at=None, unreadable=()):
    """An answer of the database."""
    total = len(learnings) + len(unreadable) if total is None else total
    times = {one.id: at or one.timestamp for one in learnings}
    return Pulled(
        learnings=learnings,
        unreadable=unreadable,
        status_times=times,
        mark=mark,
        whole=whole,
        total=total,
    )


def delivered(outbox, replica):
    """Have everything delivered that waits."""
    entries = outbox.all().entries
    outbox.remove(entries)
    replica.note_delivered(one.learning_id for one in entries)


def archived(learning):
    return evolve(learning, status=ARCHIVED)


# --- damage --------------------------------------------------------------------------------------


def is_cut_off(path: Path):
    path.write_bytes(path.read_bytes()[:5000])


def is_overwritten(path: Path):
    content = path.read_bytes()
    path.write_bytes(content[:1024] + b"\xa5" * (len(content) - 1024))


def is_a_folder(path: Path):
    path.unlink()
    path.mkdir()


def runs(statement):
    """Damage that one statement does."""

    def damage(path: Path):
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
        connection.close()

    return damage


is_of_another_version = runs("PRAGMA user_version = 99")
has_lost_a_table = runs("DROP TABLE learning")


def is_gone(path: Path):
    path.unlink()


DAMAGES = [
    is_cut_off,
    is_overwritten,
    is_a_folder,
    is_of_another_version,
    has_lost_a_table,
    is_gone,
]
CALLS = {
    "a list": lambda replica: replica.learnings(),
    "a look": lambda replica: replica.get(SECOND.id),
    "a write": lambda replica: replica.add(THIRD),
    "news": lambda replica: replica.changes(""),
    "a pull": lambda replica: replica.take_in(pulled(FIRST, whole=True), asked_with=""),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("call", CALLS)
def test_a_damaged_file_is_made_anew_and_what_waits_is_not_lost(
    replica, open_replica, damage, call
):
    replica.take_in(pulled(FIRST, whole=True), asked_with="")
    mark = replica.changes("").mark
    replica.add(SECOND)
    replica.set_status(SECOND.id, ARCHIVED, LATER)
    in_line = replica.file.path.with_name("synchronised")
    in_line.touch()
    damage(replica.file.path)
    CALLS[call](replica)
    # So that the next session has the database asked.
    assert not in_line.exists()
    known = {one.id: one for one in open_replica().learnings()}
    assert known[SECOND.id] == archived(SECOND)
    assert (replica.mark() == "") == (call != "a pull")
    assert replica.file.aside.exists() == (damage is not is_gone)
    # Whoever has kept what the old file told is told everything.
    assert open_replica().changes(mark).whole
    open_replica().take_in(pulled(FIRST, whole=True), asked_with="")
    assert {one.id for one in replica.learnings()} >= {FIRST.id, SECOND.id}


def test_a_file_that_is_busy_is_let_alone(replica, monkeypatch):
    replica.add(FIRST)
    monkeypatch.setattr("grove_backend_postgres.replica_file._BUSY_SECONDS", 0.05)
    other = sqlite3.connect(replica.file.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BackendError, match="locked"):
        replica.add(SECOND)
    other.rollback()
    other.close()
    assert not replica.file.aside.exists()
    assert [one.id for one in replica.learnings()] == [FIRST.id]


def is_full(monkeypatch):
    """SQLite can take no further page, as when the disk is full."""
    connect = sqlite3.connect

    def full(*words, **options):
        connection = connect(*words, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr("grove_backend_postgres.replica_file.sqlite3.connect", full)


def test_a_full_disk_loses_nothing_and_what_is_known_is_shown(replica, outbox, monkeypatch):
    replica.take_in(pulled(FIRST, whole=True), asked_with="")
    long = evolve(SECOND, detail="word " * 4000)
    with monkeypatch.context() as patch:
        is_full(patch)
        with pytest.raises(BackendError, match="full"):
            replica.add(long)
        # It was safe before that failed.
        assert list(new_learnings(outbox.all().entries)) == [SECOND.id]
        assert replica.learnings() == [FIRST]
        assert replica.get(FIRST.id) == FIRST
    assert not replica.file.aside.exists()
    assert replica.get(SECOND.id) == long
    assert not replica.add(long)


def test_what_a_process_left_in_the_outbox_is_taken_in(replica, outbox):
    replica.add(FIRST)
    # One that has ended between its two files.
    outbox.add([SECOND])
    assert replica.get(SECOND.id) == SECOND
    assert not replica.add(SECOND)


# --- what a pull brings --------------------------------------------------------------------------


def test_a_change_that_waits_stays_on_top(replica, outbox):
    replica.take_in(pulled(FIRST, SECOND, whole=True), asked_with="")
    replica.set_status(FIRST.id, ARCHIVED, LATER)
    taken = replica.take_in(pulled(FIRST, SECOND, mark="8:abc"), asked_with="7:abc")
    assert taken.received == 0
    assert replica.get(FIRST.id) == archived(FIRST)
    # Somebody else has superseded it, who knew nothing of that.
    superseded = evolve(FIRST, status=SUPERSEDED)
    earlier = LATER - timedelta(hours=1)
    replica.take_in(pulled(superseded, at=earlier, mark="9:abc", total=2), asked_with="8:abc")
    assert replica.get(FIRST.id) == superseded
    assert [one for one, _ in status_changes(outbox.all().entries)] == [FIRST.id]


def test_who_has_seen_a_status_changes_it_later_whatever_the_clock_says(replica, outbox):
    ahead = LATER + timedelta(days=400)
    replica.take_in(pulled(archived(FIRST), at=ahead, whole=True), asked_with="")
    replica.set_status(FIRST.id, ACTIVE, LATER)
    ((_, change),) = status_changes(outbox.all().entries)
    assert change.at > ahead
    assert change.was is ARCHIVED
    assert replica.get(FIRST.id) == FIRST


def test_what_was_deleted_there_by_hand_goes_here_as_well(replica, outbox):
    replica.add(FIRST)
    delivered(outbox, replica)
    replica.take_in(pulled(FIRST, SECOND, whole=True), asked_with="")
    replica.add(THIRD)
    mark = replica.changes("").mark
    assert not replica.take_in(pulled(total=1), asked_with="7:abc").is_all
    taken = replica.take_in(pulled(SECOND, whole=True), asked_with="")
    assert taken.is_all
    assert replica.learnings() == [SECOND, THIRD]
    assert replica.changes(mark).whole
    assert [one.learning_id for one in outbox.all().entries] == [THIRD.id]


def test_what_the_database_has_lost_is_delivered_again_by_who_wrote_it(replica, outbox):
    replica.add(FIRST)
    delivered(outbox, replica)
    replica.take_in(pulled(FIRST, SECOND, THIRD, whole=True), asked_with="")
    replica.set_status(THIRD.id, ARCHIVED, LATER)
    delivered(outbox, replica)
    # A copy was restored: it has the third only, and not its latest status.
    taken = replica.take_in(pulled(THIRD, mark="3:xyz", whole=True), asked_with="7:abc")
    assert taken.is_all
    entries = outbox.all().entries
    assert new_learnings(entries) == {FIRST.id: FIRST}
    ((learning_id, change),) = status_changes(entries)
    assert (learning_id, change.status, change.at) == (THIRD.id, ARCHIVED, LATER)
    assert replica.learnings() == [FIRST, archived(THIRD)]
