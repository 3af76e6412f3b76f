"""What is stored in a real database is what comes back, and changes come to everybody once."""

from datetime import UTC, datetime, timedelta

from attrs import evolve

from grove_backend_postgres.outbox import StatusChange
from grove_core import LearningStatus
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning

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
    open_store(database).add(learnings.values())
    store = open_store(database)
    pulled = store.changes_since("")
    assert {one.id: one for one in pulled.learnings} == learnings
    assert (pulled.whole, pulled.total, pulled.unreadable) == (True, len(learnings), ())
    assert store.ids() == learnings.keys()


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
    writer.set_status(example_learning(1).id, StatusChange(status=ARCHIVED, at=NOON, was=ACTIVE))
    fourth = reader.changes_since(third.mark)
    assert fourth.learnings == (evolve(example_learning(1), status=ARCHIVED),)
    assert fourth.status_times == {example_learning(1).id: NOON}
    fifth = reader.changes_since(fourth.mark)
    assert (fifth.learnings, fifth.mark, fifth.whole) == ((), fourth.mark, False)


def test_statuses_change_with_the_later_change(database, open_store):
    store, learning = open_store(database), example_learning()
    store.add([learning])
    minutes = [NOON + timedelta(minutes=n, microseconds=n) for n in range(4)]
    assert store.set_status(learning.id, StatusChange(status=ARCHIVED, at=minutes[1], was=ACTIVE))
    assert not store.set_status(
        learning.id, StatusChange(status=ACTIVE, at=minutes[0], was=ARCHIVED)
    )
    assert store.changes_since("").learnings[0].status is ARCHIVED
    assert store.set_status(learning.id, StatusChange(status=ACTIVE, at=minutes[2], was=ARCHIVED))
    assert store.set_status(learning.id, StatusChange(status=SUPERSEDED, at=minutes[3], was=ACTIVE))
    assert not store.set_status(
        learning.id, StatusChange(status=ARCHIVED, at=minutes[3], was=ACTIVE)
    )
    pulled = store.changes_since("")
    assert pulled.learnings == (evolve(learning, status=SUPERSEDED),)
    assert pulled.status_times == {learning.id: minutes[3]}
