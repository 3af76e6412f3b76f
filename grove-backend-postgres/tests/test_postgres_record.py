"""What a machine keeps of the database, rows as they come, and the contract without a server."""

import socket
from datetime import timedelta
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.plugin import PostgresSettings
from grove_backend_postgres.pull import Pulled
from grove_backend_postgres.record import Record
from grove_backend_postgres.rows import learning_of, read_all, row_of
from grove_backend_postgres.team import Paths
from grove_core import BackendContext, LearningStatus
from grove_core.testing import BackendContract
from grove_core.testing.samples import example_learning

ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
FIRST, SECOND, THIRD = (example_learning(number) for number in (1, 2, 3))
LATER = THIRD.timestamp + timedelta(days=1)


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path, parse_address("postgresql:///team"), "shop", "grove")


@pytest.fixture
def open_record(paths):
    """Opens the record as another process does."""
    paths.introduce()
    return lambda: Record(paths)


@pytest.fixture
def record(open_record):
    return open_record()


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


def delivered(record):
    """Have everything delivered that waits."""
    record.note_delivered(record.outbox.all().entries)


def archived(learning):
    return evolve(learning, status=ARCHIVED)


def status_changes(record):
    entries = record.outbox.all().entries
    return [(one.learning_id, one.what) for one in entries if isinstance(one.what, StatusChange)]


def is_cut_off(path: Path):
    path.write_bytes(path.read_bytes()[:200])


def is_overwritten(path: Path):
    path.write_bytes(b"\xa5" * 5000)


def is_gone(path: Path):
    path.unlink()


CALLS = {
    "a list": lambda record: record.learnings(),
    "a look": lambda record: record.get(SECOND.id),
    "a write": lambda record: record.add(THIRD),
    "news": lambda record: record.changes(""),
    "a delivery": delivered,
}


@pytest.mark.parametrize("damage", [is_cut_off, is_overwritten, is_gone])
@pytest.mark.parametrize("call", CALLS)
def test_a_damaged_file_is_filled_anew_and_what_waits_is_not_lost(
    record, open_record, paths, damage, call
):
    record.take_in(pulled(FIRST, whole=True), asked_with="")
    mark = record.changes("").mark
    record.add(SECOND)
    record.set_status(SECOND.id, ARCHIVED, LATER)
    damage(paths.replica)
    CALLS[call](record)
    known = {one.id: one for one in open_record().learnings()}
    assert known[SECOND.id] == archived(SECOND)
    # Everything is asked for, and whoever has kept what the old file told is told everything.
    assert record.mark() == ""
    assert open_record().changes(mark).whole
    open_record().take_in(pulled(FIRST, whole=True), asked_with="")
    assert {one.id for one in record.learnings()} >= {FIRST.id, SECOND.id}


def test_a_line_that_is_lost_is_missed(record, open_record, paths):
    record.take_in(pulled(FIRST, SECOND, whole=True), asked_with="")
    lines = paths.replica.read_bytes().splitlines(keepends=True)
    paths.replica.write_bytes(b"".join([b'{"id": []}\n', *lines[1:]]))
    again = open_record()
    assert again.learnings() == [SECOND]
    assert not again.is_all(2)
    assert not again.drop_others({FIRST.id, SECOND.id})


def test_what_a_process_left_in_the_outbox_is_known(record):
    record.add(FIRST)
    # One that has ended between its two files.
    record.outbox.add([SECOND])
    assert record.get(SECOND.id) == SECOND
    assert not record.add(SECOND)


def test_changes_are_what_the_list_gains(record):
    record.take_in(pulled(FIRST, whole=True), asked_with="")
    mark = record.changes("").mark
    record.add(SECOND)
    record.take_in(pulled(THIRD, total=2), asked_with="7:abc")
    first = record.changes(mark)
    assert (first.learnings, first.whole) == ((SECOND, THIRD), False)
    delivered(record)
    record.set_status(FIRST.id, ARCHIVED, LATER)
    second = record.changes(first.mark)
    assert (second.learnings, second.whole) == ((archived(FIRST), SECOND), False)
    assert record.changes(second.mark).learnings == ()


def test_another_address_has_everything_told(record, tmp_path):
    record.add(FIRST)
    mark = record.changes("").mark
    other = Record(Paths(tmp_path, parse_address("postgresql:///other"), "shop", "grove"))
    assert other.changes(mark).whole


def test_a_change_that_waits_stays_on_top(record):
    record.take_in(pulled(FIRST, SECOND, whole=True), asked_with="")
    record.set_status(FIRST.id, ARCHIVED, LATER)
    assert record.take_in(pulled(FIRST, SECOND, mark="8:abc"), asked_with="7:abc") == 0
    assert record.get(FIRST.id) == archived(FIRST)
    # Somebody else has superseded it, who knew nothing of that.
    superseded = evolve(FIRST, status=SUPERSEDED)
    earlier = LATER - timedelta(hours=1)
    record.take_in(pulled(superseded, at=earlier, mark="9:abc", total=2), asked_with="8:abc")
    assert record.get(FIRST.id) == superseded
    assert [one for one, _ in status_changes(record)] == [FIRST.id]


def test_what_is_noted_late_does_not_undo_what_was_pulled(record):
    """A process has ended between the database's answer and its own note of it."""
    record.add(FIRST)
    record.take_in(pulled(archived(FIRST), at=LATER, whole=True), asked_with="")
    delivered(record)
    assert record.get(FIRST.id) == archived(FIRST)
    assert record.outbox.all().entries == ()


def test_who_has_seen_a_status_changes_it_later_whatever_the_clock_says(record):
    ahead = LATER + timedelta(days=400)
    record.take_in(pulled(archived(FIRST), at=ahead, whole=True), asked_with="")
    record.set_status(FIRST.id, ACTIVE, LATER)
    ((_, change),) = status_changes(record)
    assert change.at > ahead
    assert change.was is ARCHIVED
    assert record.get(FIRST.id) == FIRST


def test_what_a_newer_grove_has_written_is_counted_and_not_shown(record):
    record.take_in(pulled(FIRST, unreadable=[SECOND.id], whole=True), asked_with="")
    assert record.is_all(2)
    assert record.learnings() == [FIRST]
    assert record.get(SECOND.id) is None


def test_what_the_database_has_lost_is_delivered_again_by_who_wrote_it(record, open_record):
    record.add(FIRST)
    delivered(record)
    record.take_in(pulled(FIRST, SECOND, THIRD, whole=True), asked_with="")
    record.set_status(THIRD.id, ARCHIVED, LATER)
    delivered(record)
    # A copy was restored: it has the third only, and not its latest status.
    record.take_in(pulled(THIRD, mark="3:xyz", whole=True), asked_with="7:abc")
    # The process has ended there, or a little later, and another one goes on.
    record = open_record()
    record.outbox.add([FIRST])
    record.take_in(pulled(mark="3:xyz", total=1), asked_with="3:xyz")
    assert not record.is_all(1)
    assert record.drop_others({THIRD.id})
    assert [one.learning_id for one in record.outbox.all().entries] == [THIRD.id, FIRST.id]
    ((learning_id, change),) = status_changes(record)
    assert (learning_id, change.status, change.at) == (THIRD.id, ARCHIVED, LATER)
    assert record.learnings() == [FIRST, archived(THIRD)]


ANY_TEXT = st.text(st.characters(), max_size=60)


@settings(max_examples=40, deadline=None)
@given(summary=ANY_TEXT, detail=ANY_TEXT, ticket_id=ANY_TEXT)
@example(summary="\0", detail="a\0b", ticket_id="\0")
def test_any_text_comes_back_and_columns_take_it(summary, detail, ticket_id):
    learning = example_learning(summary=summary, detail=detail, ticket_id=ticket_id)
    row = row_of(learning)
    assert learning_of(row["document"], "active") == learning
    for value in row.values():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str):
                assert "\0" not in text
                text.encode("utf-8")


@pytest.mark.parametrize(
    ("document", "status"),
    [
        ("", "active"),
        ("[]", "active"),
        ("[" * 100_000, "active"),
        ("{}", "active"),
        (None, "retired"),
        ('{"id": 1', "active"),
    ],
)
def test_what_a_newer_grove_has_written_is_no_learning(document, status):
    written = row_of(example_learning())["document"] if document is None else document
    assert learning_of(written, status) is None


def test_a_row_that_holds_another_learning_cannot_be_read():
    first, second = example_learning(1), example_learning(2)
    rows = [row_of(first), row_of(second) | {"document": row_of(first)["document"]}]
    assert read_all(rows) == {first.id: first}


@pytest.fixture
def closed_port():
    """A port of this machine that nobody answers at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


class TestUnreachable(BackendContract):
    """Everything waits, and is found meanwhile."""

    @pytest.fixture
    def open_backend(self, tmp_path, closed_port):
        settings = PostgresSettings(
            url=f"postgresql://grove@127.0.0.1:{closed_port}/team", project="shop"
        )
        context = BackendContext(root=tmp_path, home=tmp_path / "home", settings=settings)
        return lambda: PostgresBackend(context)

    @pytest.fixture
    def broken_backend(self, open_backend):
        """A folder stands where what waits is to be written."""
        open_backend()._paths.outbox.mkdir(parents=True)
        return open_backend
