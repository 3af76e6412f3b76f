"""What is stored in a real database is what comes back, and changes come to everybody once."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_core import LearningStatus
from grove_core.testing.samples import SUMMARIES, TEXTS, UNKNOWN_ID, VARIANTS, example_learning

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
ACTIVE, ARCHIVED, SUPERSEDED = LearningStatus


def every_learning():
    hostile = [("detail", text) for text in TEXTS.values()]
    hostile += [("summary", text) for text in SUMMARIES.values()]
    hostile += [("detail", "NUL \0 and half a character \ud800"), ("ticket_id", "T\0\udfff")]
    written = [example_learning(100 + n, **dict([one])) for n, one in enumerate(hostile)]
    kinds = enumerate(VARIANTS.values(), 300)
    return written + [evolve(one, id=f"{one.id}_{n}") for n, one in kinds]


def test_what_is_stored_comes_back(database, open_store):
    learnings = {one.id: one for one in every_learning()}
    assert open_store(database).add(learnings.values()) == learnings.keys()
    store = open_store(database)
    pulled = store.changes_since("")
    assert {one.id: one for one in pulled.learnings} == learnings
    assert (pulled.whole, pulled.total, pulled.unreadable) == (True, len(learnings), ())
    assert all(store.get(id_) == one for id_, one in learnings.items())
    assert store.count() == len(learnings)
    assert store.get(UNKNOWN_ID) is None


def test_storing_again_changes_nothing(database, open_store):
    store, learning = open_store(database), example_learning()
    assert store.add([learning]) == {learning.id}
    before = store.changes_since("")
    other = evolve(learning, summary="Another summary altogether", status=ARCHIVED)
    assert store.add([other, learning]) == set()
    assert store.add([]) == set()
    assert store.changes_since("") == before
    assert store.add([other, example_learning(2)]) == {example_learning(2).id}
    assert store.get(learning.id) == learning


def test_pulls_bring_what_is_new_and_nothing_else(database, open_store):
    writer, reader = open_store(database), open_store(database)
    first = reader.changes_since("")
    assert (first.learnings, first.mark, first.total) == ((), "", 0)
    writer.add([example_learning(1), example_learning(2)])
    second = reader.changes_since(first.mark)
    assert {one.id for one in second.learnings} == {example_learning(n).id for n in (1, 2)}
    writer.add([example_learning(3)])
    third = reader.changes_since(second.mark)
    assert (third.learnings, third.whole, third.total) == ((example_learning(3),), False, 3)
    writer.set_status(example_learning(1).id, ARCHIVED, NOON, was=ACTIVE)
    fourth = reader.changes_since(third.mark)
    assert fourth.learnings == (evolve(example_learning(1), status=ARCHIVED),)
    assert fourth.status_times == {example_learning(1).id: NOON}
    fifth = reader.changes_since(fourth.mark)
    assert (fifth.learnings, fifth.mark, fifth.whole) == ((), fourth.mark, False)


@pytest.mark.parametrize("mark", ["nonsense", "1:other", "99:abcd", ":", "-1:x", "²:x"])
def test_a_mark_of_another_database_brings_everything(database, open_store, mark):
    store = open_store(database)
    store.add([example_learning(1)])
    store.add([example_learning(2)])
    pulled = store.changes_since(mark)
    assert (len(pulled.learnings), pulled.whole) == (2, True)


def test_a_database_that_lacks_the_latest_changes_is_noticed(database, open_store):
    """A standby that takes over may not have the last transactions, and uses their numbers again."""
    store = open_store(database)
    store.add([example_learning(1)])
    store.add([example_learning(2)])
    mark = store.changes_since("").mark
    lost = example_learning(2).id
    database.ask(
        f"DELETE FROM grove.learning WHERE id = '{lost}';"
        "DELETE FROM grove.revision WHERE number = 2; UPDATE grove.project SET revision = 1"
    )
    assert store.changes_since(mark).learnings == (example_learning(1),)
    store.add([example_learning(3)])
    pulled = store.changes_since(mark)
    assert pulled.whole
    assert {*pulled.learnings} == {example_learning(1), example_learning(3)}


def test_statuses_change_with_the_later_change(database, open_store):
    store, learning = open_store(database), example_learning()
    store.add([learning])
    minutes = [NOON + timedelta(minutes=n, microseconds=n) for n in range(4)]
    assert store.set_status(learning.id, ARCHIVED, minutes[1], was=ACTIVE)
    assert not store.set_status(learning.id, ACTIVE, minutes[0], was=ARCHIVED)
    assert store.get(learning.id).status is ARCHIVED
    assert store.set_status(learning.id, ACTIVE, minutes[2], was=ARCHIVED)
    assert store.set_status(learning.id, SUPERSEDED, minutes[3], was=ACTIVE)
    assert not store.set_status(learning.id, ARCHIVED, minutes[3], was=ACTIVE)
    pulled = store.changes_since("")
    assert pulled.learnings == (evolve(learning, status=SUPERSEDED),)
    assert pulled.status_times == {learning.id: minutes[3]}


def test_a_change_that_is_delivered_twice_is_no_second_one(database, open_store):
    store, learning = open_store(database), example_learning()
    store.add([learning])
    assert store.set_status(learning.id, ARCHIVED, NOON, was=ACTIVE)
    mark = store.changes_since("").mark
    assert store.set_status(learning.id, ARCHIVED, NOON, was=ACTIVE)
    assert store.changes_since(mark).mark == mark


def test_the_status_of_an_unknown_learning_can_not_be_set(database, open_store):
    store = open_store(database)
    assert not store.set_status(UNKNOWN_ID, ARCHIVED, NOON, was=ACTIVE)
    store.add([example_learning()])
    mark = store.changes_since("").mark
    assert not store.set_status(UNKNOWN_ID, ARCHIVED, NOON, was=ACTIVE)
    assert store.changes_since(mark).mark == mark


def test_what_a_newer_grove_has_written_is_named_and_left_out(database, open_store):
    store = open_store(database)
    store.add([example_learning(1), example_learning(2)])
    database.ask(
        "UPDATE grove.learning SET status = 'resting', revision = 2"
        f" WHERE id = '{example_learning(1).id}'"
    )
    pulled = store.changes_since("")
    assert pulled.learnings == (example_learning(2),)
    assert pulled.unreadable == (example_learning(1).id,)
    assert pulled.total == 2
    assert store.get(example_learning(1).id) is None


def test_several_thousand_are_stored_at_once(database, open_store):
    store = open_store(database)
    learnings = [example_learning(n) for n in range(3000)]
    assert len(store.add(learnings)) == 3000
    assert len(store.changes_since("", most=5000).learnings) == 3000
    assert store.changes_since("").mark.startswith("1:")
