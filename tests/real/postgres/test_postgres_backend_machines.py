"""Several machines and one database: what one writes, the others have."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import (
    BackendContext,
    LearningStatus,
    ReceiptStatus,
    Synchronised,
)
from grove_core.testing.samples import example_learning

ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
FIRST, SECOND, THIRD = (example_learning(number) for number in (101, 102, 103))


class Clock:
    """The clocks of all machines; each may be wrong."""

    def __init__(self):
        self.now = datetime(2026, 2, 6, 10, tzinfo=UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def machine(database, tmp_path, clock):
    """Opens the backend on one of several machines."""
    project = f"machines-{uuid4().hex[:8]}"

    def one(name, *, url=None, in_hook=False, **settings):
        root = tmp_path / name / "project"
        root.mkdir(parents=True, exist_ok=True)
        settings = PostgresSettings(url=url or database.url, **{"project": project, **settings})
        context = BackendContext(
            root=root, home=tmp_path / name / "grove", settings=settings, in_hook=in_hook
        )
        return PostgresBackend(context, clock=clock)

    return one


def synchronised(backend):
    return backend.synchronise(60, asked=True)


def test_of_two_statuses_all_machines_end_with_the_same(machine, clock):
    here, there = machine("here"), machine("there")
    here.write(FIRST)
    synchronised(there)
    # Offline, and with a clock that is ahead; then somebody supersedes it who has seen nothing.
    hook = machine("here", in_hook=True)
    clock.now += timedelta(days=300)
    hook.set_status(FIRST.id, ARCHIVED)
    clock.now -= timedelta(days=299)
    there.set_status(FIRST.id, SUPERSEDED)
    synchronised(here)
    synchronised(there)
    assert here.get(FIRST.id).status is there.get(FIRST.id).status is SUPERSEDED


def test_what_was_deleted_by_hand_goes_everywhere(machine, database):
    here, there = machine("here"), machine("there")
    for one in (FIRST, SECOND):
        here.write(one)
    for one in (here, there):
        synchronised(one)
    database.ask(f"DELETE FROM grove.learning WHERE id = '{FIRST.id}'")
    for one in (here, there, here):
        assert synchronised(one) == Synchronised()
        assert one.iterate() == [SECOND]
    assert here.write(FIRST).status is ReceiptStatus.STORED


def test_what_a_restored_copy_lacks_comes_back_from_who_wrote_it(machine, database):
    here, there = machine("here"), machine("there")
    here.write(FIRST)
    for one in (here, there):
        synchronised(one)
    here.write(SECOND)
    there.write(THIRD)
    here.set_status(FIRST.id, ARCHIVED)
    for one in (here, there):
        synchronised(one)
    # The copy of before takes the place of all that.
    database.ask(f"DELETE FROM grove.learning WHERE id <> '{FIRST.id}'")
    database.ask("UPDATE grove.learning SET status = 'active', status_at = NULL, revision = 1")
    database.ask("DELETE FROM grove.revision WHERE number > 1")
    database.ask("UPDATE grove.project SET revision = 1")
    for one in (here, there, here, there):
        assert synchronised(one).fault == ""
    everything = {FIRST.id: ARCHIVED, SECOND.id: ACTIVE, THIRD.id: ACTIVE}
    for one in (here, there):
        assert {each.id: each.status for each in one.iterate()} == everything


def test_who_is_refused_is_told_why_and_keeps_what_it_wrote(machine, database, server):
    scheme, rest = database.url.split("://")
    user, _, place = rest.partition(":")
    here = machine("here", url=f"{scheme}://{user}:wrong{place}")
    receipt = here.write(FIRST)
    assert receipt.status is ReceiptStatus.QUEUED
    assert "look at the password" in receipt.note
    health = here.ping()
    assert not health.ok
    assert "look at the password" in health.detail
    assert server.password not in f"{receipt} {health}"
    # The address is corrected: a person asks, and need not wait for a pause to end.
    (delivered,) = synchronised(machine("here")).delivered
    assert delivered.learning_id == FIRST.id


def test_one_that_cannot_be_stored_does_not_hold_up_the_others(machine, database):
    here = machine("here")
    here.write(FIRST)
    database.ask(f"ALTER TABLE grove.learning ADD CHECK (id <> '{SECOND.id}')")
    hook = machine("here", in_hook=True)
    for one in (SECOND, THIRD):
        hook.write(one)
    hook.set_status(SECOND.id, ARCHIVED)
    done = synchronised(here)
    assert [one.learning_id for one in done.delivered] == [THIRD.id]
    assert done.waiting == (SECOND.id,)
    assert done.fault.startswith(f"{SECOND.id}: the database")
    assert here.get(SECOND.id).status is ARCHIVED
