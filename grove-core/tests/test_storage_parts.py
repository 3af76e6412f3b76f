"""What backends build on: a store of JSON lines, and pauses that grow."""

from datetime import UTC, datetime, timedelta

import pytest

from grove_core import Backoff, JsonlStore, StorageError

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def store(tmp_path):
    return JsonlStore(tmp_path / "lines.jsonl", (), lambda known, new: (*known, *new))


ONE, TWO, THREE = ({"n": number} for number in (1, 2, 3))


def test_a_state_is_what_the_lines_of_all_processes_amount_to(store, tmp_path):
    assert store.state() == ()
    store.append(ONE, TWO)
    known = store.state()
    assert known == (ONE, TWO)
    assert store.state() is known
    JsonlStore(store.path, (), lambda *_: ()).append(THREE)
    assert store.state() == (ONE, TWO, THREE)
    store.path.unlink()
    assert store.state() == ()


def test_only_what_is_new_is_told_as_long_as_the_rest_is_as_it_was(store):
    store.append(ONE)
    first = store.since("")
    assert (first.documents, first.whole) == ((ONE,), True)
    store.append(TWO)
    second = store.since(first.mark)
    assert (second.documents, second.whole) == ((TWO,), False)
    assert store.since(second.mark).documents == ()
    text = store.path.read_text()
    store.path.write_text(text.replace("1", "7"))
    changed = store.since(second.mark)
    assert (changed.documents, changed.whole) == (({"n": 7}, TWO), True)


@pytest.mark.parametrize("mark", ["?", "j1", "j1 1 x", "j1 99999 0", "j1 -1 0", "x" * 500])
def test_a_damaged_mark_means_that_everything_is_told(store, mark):
    store.append(ONE)
    assert (store.since(mark).documents, store.since(mark).whole) == ((ONE,), True)


def test_a_torn_line_waits_is_healed_and_what_is_no_object_is_counted(store):
    store.append(ONE)
    with store.path.open("a") as file:
        file.write('<<<<<<< ours\n[1]\n{"n": ')
    tail = store.since("")
    assert (tail.documents, tail.unreadable) == ((ONE,), 2)
    store.append(TWO)
    assert store.since(tail.mark).documents == (TWO,)
    assert store.path.read_text().endswith('<<<<<<< ours\n[1]\n{"n": \n{"n": 2}\n')


def test_objects_are_looked_up_by_what_they_name_and_all_can_be_replaced(store):
    older, newer, other = ({"id": one, "at": at} for one, at in (("a", 1), ("a", 2), ("aa", 1)))
    store.append(older, other, newer)
    assert [*store.naming("a")] == [older, newer]
    assert [*store.naming("aa", "a")] == [older, other, newer]
    assert [*store.naming()] == []
    assert store.state() == (older, other, newer)
    store.replace(other)
    assert store.state() == (other,)


def test_half_a_character_of_a_path_survives(store):
    store.append({"path": "caf\udce9"})
    assert store.state() == ({"path": "caf\udce9"},)


def test_a_link_must_not_lead_out(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "lines").symlink_to(tmp_path / "out")
    store = JsonlStore(tmp_path / "in" / "lines", 0, lambda *_: 1, inside=tmp_path / "in")
    with pytest.raises(StorageError, match="outside"):
        store.append(ONE)
    with pytest.raises(StorageError, match="outside"):
        store.state()


@pytest.mark.parametrize(
    ("failures", "longest", "minutes"),
    [(1, 60, 1), (2, 60, 2), (3, 60, 4), (6, 60, 32), (7, 60, 60), (10**6, 60, 60), (5, 10, 10)],
)
def test_pauses_double_up_to_the_longest(failures, longest, minutes):
    backoff = Backoff(failures=failures, failed_at=NOON, longest=timedelta(minutes=longest))
    end = NOON + timedelta(minutes=minutes)
    assert backoff.until() == end
    opened = [backoff.is_open(at) for at in (NOON - SECOND, NOON, end - SECOND, end)]
    assert opened == [False, True, True, False]


def test_failures_are_counted_and_kept_for_one_server(tmp_path):
    path = tmp_path / "backoff.json"
    assert Backoff.read(path, "one") == Backoff(server="one")
    assert not Backoff(server="one").is_open(NOON)
    failed = Backoff(server="one").after_failure(NOON, "it has ended")
    failed.write(path)
    assert Backoff.read(path, "one") == failed
    assert failed.after_failure(NOON + SECOND, "again").failures == 2
    assert Backoff.read(path, "another") == Backoff(server="another")


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "\0", "9" * 9999),
        '{"failures": "x"}',
        '{"failures": 1}',
        '{"failures": 1, "failed_at": "never", "detail": ""}',
    ],
)
def test_a_damaged_file_tells_of_no_failure(tmp_path, text):
    path = tmp_path / "backoff.json"
    path.write_text(text)
    assert Backoff.read(path) == Backoff()
    Backoff.read(path).after_failure(NOON, "down").write(path)
    assert Backoff.read(path).failures == 1
