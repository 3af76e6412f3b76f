"""What happens while the database does not answer: nothing is lost, and nobody waits for it twice."""

import socket
from datetime import UTC, datetime, timedelta

import pytest

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import (
    BackendContext,
    Filters,
    LearningStatus,
    Query,
    ReceiptStatus,
    Scope,
)
from grove_core.testing.samples import example_learning

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
PASSWORD = "s3cret"


class Door:
    """A port at which somebody knocks, and nobody says anything that PostgreSQL would."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.port = self.socket.getsockname()[1]

    def knocks(self):
        count = 0
        while True:
            try:
                connection, _ = self.socket.accept()
            except BlockingIOError:
                return count
            connection.close()
            count += 1


@pytest.fixture
def door():
    one = Door()
    yield one
    one.socket.close()


class Clock:
    now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_backend(tmp_path, door, clock):
    def one(**fields):
        url = f"postgresql://grove:{PASSWORD}@127.0.0.1:{door.port}/team?connect_timeout=2"
        settings = PostgresSettings(url=url, project="shop", **fields.pop("settings", {}))
        context = BackendContext(root=tmp_path, home=tmp_path / "home", settings=settings, **fields)
        return PostgresBackend(context, clock=clock)

    return one


def test_what_is_written_waits_and_is_found(open_backend, door):
    door.socket.close()
    learning = example_learning(scope=Scope.TEAM)
    receipt = open_backend().write(learning)
    assert receipt.status is ReceiptStatus.QUEUED
    assert receipt.note.startswith("it waits: cannot reach the database team at 127.0.0.1:")
    assert receipt.location.endswith("outbox.jsonl")
    assert open_backend().write(learning).status is ReceiptStatus.DUPLICATE
    (hit,) = open_backend().search(Query(text="books"), Filters())
    assert hit.learning == learning
    assert open_backend().freshness().waiting == (learning.id,)


def test_a_hook_does_not_knock(open_backend, door):
    backend = open_backend(in_hook=True)
    learning = example_learning()
    assert "hooks do not" in backend.write(learning).note
    backend.set_status(learning.id, LearningStatus.ARCHIVED)
    backend.search(Query(text="books"), Filters())
    assert door.knocks() == 0


def test_who_has_failed_is_left_alone_for_a_while_and_longer_each_time(open_backend, door, clock):
    door.socket.close()
    open_backend().write(example_learning(1))
    door.socket = socket.create_server(("127.0.0.1", door.port))
    door.socket.setblocking(False)
    receipt = open_backend().write(example_learning(2))
    assert receipt.status is ReceiptStatus.QUEUED
    assert "cannot reach" in receipt.note
    open_backend().search(Query(text="books"), Filters())
    open_backend().set_status(example_learning(1).id, LearningStatus.ARCHIVED)
    done = open_backend().synchronise(5, asked=False)
    assert (done.delivered, len(done.waiting)) == ((), 2)
    assert "cannot reach" in done.fault
    assert door.knocks() == 0
    clock.now += timedelta(minutes=1)
    door.socket.close()
    open_backend().search(Query(text="books"), Filters())
    assert open_backend()._paths.backoff().failures == 2


def test_a_person_who_asks_is_not_put_off(open_backend, door):
    door.socket.close()
    open_backend().write(example_learning())
    before = open_backend()._paths.backoff().failures
    done = open_backend().synchronise(5, asked=True)
    assert "Connection refused" in done.fault
    assert done.waiting == (example_learning().id,)
    # The delivery has failed, and so nothing was asked after it.
    assert open_backend()._paths.backoff().failures == before + 1


def test_it_works_as_long_as_learnings_can_be_kept(open_backend, door):
    door.socket.close()
    open_backend().write(example_learning())
    health = open_backend().ping()
    assert health.ok
    assert health.detail.startswith("learnings: 1, waiting: 1; cannot reach the database team")
    assert health.fix == "`grove maintain flush` tries again"
    with open_backend()._paths.outbox.open("a") as file:
        file.write("{\n")
    assert "cannot be read: 1" in open_backend().ping().detail


def test_no_password_is_shown_or_kept(open_backend, door, tmp_path):
    door.socket.close()
    backend = open_backend()
    told = [backend.write(example_learning()), backend.ping(), backend.freshness()]
    told.append(backend.synchronise(5, asked=True))
    assert PASSWORD not in f"{told} {backend!r} {vars(backend)}"
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert not any(PASSWORD.encode() in one for one in kept)


def test_what_waits_for_another_address_is_named_and_can_be_appended(tmp_path):
    """Each address has an outbox of its own; nothing is sent to another unasked."""

    def opened(database, project="shop"):
        url = f"postgresql://grove:{PASSWORD}@127.0.0.1:1/{database}"
        settings = PostgresSettings(url=url, project=project)
        context = BackendContext(
            root=tmp_path, home=tmp_path / "home", settings=settings, in_hook=True
        )
        return PostgresBackend(context)

    here, elsewhere = example_learning(1), example_learning(2)
    opened("old").write(elsewhere)
    opened("old", "another-project").write(example_learning(3))
    opened("new").write(here)
    assert opened("new").freshness().waiting == (here.id,)
    (told,) = opened("new")._paths.waiting_elsewhere()
    assert told.startswith("learnings waiting for the database old at 127.0.0.1:1: 1, in ")
    assert PASSWORD not in told
    old, own = opened("old")._paths.outbox, opened("new")._paths.outbox
    assert str(old) in told
    assert str(own) in told
    with own.open("ab") as file:
        file.write(old.read_bytes())
    old.unlink()
    assert opened("new").freshness().waiting == (here.id, elsewhere.id)
    assert list(opened("new")._paths.waiting_elsewhere()) == []
