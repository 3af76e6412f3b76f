"""Several machines and one database: what one writes, the others have."""

import random
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from attrs import evolve
from cutting_proxy import proxy_before

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.elsewhere import bring, waiting_elsewhere
from grove_backend_postgres.settings import PostgresSettings
from grove_core import (
    BackendContext,
    BackendError,
    Filters,
    LearningStatus,
    Query,
    ReceiptStatus,
    Synchronised,
)
from grove_core.testing.rules.reading_back import EVERYTHING
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning, learning_id

ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
SAMPLES = [
    *VARIANTS.values(),
    *(example_learning(detail=each) for each in TEXTS.values()),
    *(example_learning(summary=each) for each in SUMMARIES.values()),
]
LEARNINGS = [evolve(one, id=learning_id(number)) for number, one in enumerate(SAMPLES)]
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


def test_another_machine_takes_in_what_was_written(machine):
    here, there = machine("here"), machine("there")
    for learning in LEARNINGS:
        assert here.write(learning).status is ReceiptStatus.STORED
    assert synchronised(there) == Synchronised(received=len(LEARNINGS))
    assert {one.id: one for one in there.iterate()} == {one.id: one for one in LEARNINGS}
    assert synchronised(there) == synchronised(here) == Synchronised()


def test_another_machine_finds_and_shows_it_before_it_has_asked(machine):
    machine("here").write(FIRST)
    there = machine("there")
    assert list(there.iterate()) == []
    (hit,) = there.search(Query(text="books"), Filters())
    assert hit.learning == FIRST
    assert there.get(FIRST.id) == FIRST
    assert there.write(FIRST).status is ReceiptStatus.DUPLICATE
    assert synchronised(there) == Synchronised()


def test_a_status_gets_around(machine):
    here, there = machine("here"), machine("there")
    here.write(FIRST)
    synchronised(there)
    there.set_status(FIRST.id, ARCHIVED)
    assert synchronised(here) == Synchronised(received=1)
    assert here.get(FIRST.id).status is ARCHIVED
    here.set_status(FIRST.id, ACTIVE)
    assert synchronised(there) == Synchronised(received=1)
    assert there.get(FIRST.id) == FIRST


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


def test_why_a_status_was_set_is_kept_there(machine, database):
    here = machine("here")
    here.write(FIRST)
    asked = f"SELECT status, status_note FROM grove.learning WHERE id = '{FIRST.id}'"
    assert database.ask(asked) == [("active", None)]
    note = "decayed 2026-05-07; DROP TABLE x --'\0 é"
    machine("here", in_hook=True).set_status(FIRST.id, ARCHIVED, note)
    assert synchronised(here).fault == ""
    assert database.ask(asked) == [("archived", note.replace("\0", "\ufffd"))]
    here.set_status(FIRST.id, ACTIVE)
    assert database.ask(asked) == [("active", None)]


def test_a_home_that_cannot_be_written_still_searches_there(machine, tmp_path):
    machine("here").write(FIRST)
    (tmp_path / "bare" / "project").mkdir(parents=True)
    (tmp_path / "bare" / "grove").touch()
    bare = machine("bare")
    (hit,) = bare.search(Query(text="books"), Filters())
    assert hit.learning == FIRST
    assert list(bare.iterate()) == []
    health = bare.ping()
    assert not health.ok
    assert "cannot be written" in health.detail
    with pytest.raises(BackendError):
        bare.write(SECOND)


def test_a_new_address_gets_what_waited_once_somebody_says_so(machine, database, server, tmp_path):
    scheme, rest = database.url.split("://")
    login, _, place = rest.partition("@127.0.0.1")
    old = f"{scheme}://{login}@localhost.invalid{place}"
    hook = machine("here", url=old, in_hook=True)
    hook.write(FIRST)
    hook.set_status(FIRST.id, ARCHIVED, "of no use")
    here = machine("here")
    done = synchronised(here)
    assert "bring" in done.fault
    assert "localhost.invalid" in done.fault
    assert server.password not in done.fault
    assert here.ping().mend == "grove backends postgres bring"
    assert database.ask("SELECT count(*) FROM grove.learning") == [(0,)]
    (name,) = [one.name for one in waiting_elsewhere(here._places)]
    bring(here._places, name)
    assert [one.learning_id for one in synchronised(here).delivered] == [FIRST.id]
    asked = "SELECT id, status, status_note FROM grove.learning"
    assert database.ask(asked) == [(FIRST.id, "archived", "of no use")]
    assert synchronised(here) == Synchronised()
    assert here.ping().mend == ""


def test_what_hooks_have_written_is_delivered_once(machine):
    hook = machine("here", in_hook=True)
    for one in (FIRST, SECOND):
        assert hook.write(one).status is ReceiptStatus.QUEUED
    hook.set_status(SECOND.id, ARCHIVED)
    assert set(hook.freshness().waiting) == {FIRST.id, SECOND.id}
    done = synchronised(machine("here"))
    assert {one.learning_id for one in done.delivered} == {FIRST.id, SECOND.id}
    assert (done.waiting, done.fault, done.received) == ((), "", 0)
    there = machine("there")
    assert synchronised(there).received == 2
    assert there.get(SECOND.id).status is ARCHIVED


def test_what_waits_is_found_beside_what_is_there(machine):
    machine("there").write(FIRST)
    here = machine("here")
    machine("here", in_hook=True).write(SECOND)
    hits = here.search(Query(text="books"), EVERYTHING)
    assert {hit.learning.id for hit in hits} == {FIRST.id, SECOND.id}
    machine("here", in_hook=True).set_status(FIRST.id, ARCHIVED)
    for query in (Query(text="books"), Query()):
        found = [hit.learning.id for hit in here.search(query, Filters(limit=1))]
        assert found == [SECOND.id]


def test_a_hook_asks_nobody(machine, database):
    machine("here").write(FIRST)
    before = database.statements()
    hook = machine("here", in_hook=True)
    hook.write(SECOND)
    hook.search(Query(text="books"), Filters())
    hook.set_status(FIRST.id, ARCHIVED)
    assert hook.get(FIRST.id).status is ARCHIVED
    assert database.statements() == before


def test_projects_do_not_see_each_other(machine):
    machine("here", project="one").write(FIRST)
    other = machine("here", project="two")
    assert synchronised(other) == Synchronised()
    assert list(other.iterate()) == []
    assert other.search(Query(text="books"), Filters()) == []
    assert other.write(FIRST).status is ReceiptStatus.STORED


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


def test_a_machine_whose_replica_is_damaged_asks_for_everything(machine, tmp_path):
    here = machine("here")
    here.write(FIRST)
    synchronised(here)
    machine("here", in_hook=True).write(SECOND)
    (replica,) = (tmp_path / "here" / "grove" / "postgres").glob("*/replica.sqlite3")
    replica.write_bytes(b"no database at all" * 500)
    assert here.iterate() == [SECOND]
    assert [one.learning_id for one in synchronised(here).delivered] == [SECOND.id]
    assert here.iterate() == [FIRST, SECOND]


def test_health_and_what_it_takes_to_be_bound_by_policies(machine, database, server):
    here = machine("here")
    assert "no tables yet" in here.ping().detail
    here.write(FIRST)
    health = here.ping()
    assert health.ok
    assert not health.mend
    assert health.detail.startswith("learnings: 1; PostgreSQL ")
    assert "full-text search, row-level security" in health.detail
    superuser = machine("here", url=server.url(database.name))
    assert "no superuser" in superuser.ping().mend
    assert "without row-level security" in superuser.ping().detail


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
    # The address is mended: a person asks, and need not wait for a pause to end.
    (delivered,) = synchronised(machine("here")).delivered
    assert delivered.learning_id == FIRST.id


def test_a_role_that_may_not_make_tables_says_who_may(machine, database, server):
    server.role(name := f"reader_{uuid4().hex[:8]}")
    here = machine("here", url=server.url(database.name, name))
    assert "grove backends postgres migrate" in here.write(FIRST).note
    assert here.freshness().waiting == (FIRST.id,)


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


def test_down_and_back(machine, own_server, clock):
    database = own_server.database()
    here, there = (machine(name, url=database.url) for name in ("here", "there"))
    here.write(FIRST)
    own_server.stop("immediate")
    for one in (SECOND, THIRD):
        assert here.write(one).status is ReceiptStatus.QUEUED
    assert [hit.learning.id for hit in here.search(Query(text="books"), Filters())]
    assert there.synchronise(30, asked=False).fault
    own_server.start()
    # It is left alone for a while, until somebody asks or the time is over.
    assert here.synchronise(30, asked=False).waiting == (SECOND.id, THIRD.id)
    clock.now += timedelta(minutes=20)
    done = here.synchronise(30, asked=False)
    assert [one.learning_id for one in done.delivered] == [SECOND.id, THIRD.id]
    assert synchronised(there).received == 3


def test_a_line_that_breaks_in_the_middle_loses_nothing(machine, database):
    machine("there").write(FIRST)
    chance = random.Random(7)
    with proxy_before(database.server.port) as proxy:
        proxy.limits = [(chance.randrange(1, 9000), chance.randrange(1, 9000)) for _ in range(20)]
        url = database.server.url(database.name, database.name, port=proxy.port)
        here = machine("here", url=url)
        for number in range(20):
            here.write(example_learning(number))
        while proxy.opened <= len(proxy.limits):
            synchronised(here)
        done = synchronised(here)
        assert proxy.cut > 10
    assert (done.waiting, done.fault) == ((), "")
    there = machine("there")
    synchronised(there)
    ids = {learning_id(number) for number in range(20)} | {FIRST.id}
    assert sorted(one.id for one in there.iterate()) == sorted(ids)
    rows = database.ask("SELECT id FROM grove.learning")
    assert sorted(row[0] for row in rows) == sorted(ids)


def test_what_is_meant_is_found_where_there_is_a_function(machine, database, tmp_path, monkeypatch):
    if not database.ask("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        pytest.skip("no pgvector beside this server")
    database.ask("CREATE EXTENSION vector")
    (tmp_path / "models_of_the_team.py").write_text(
        "def vectors(texts):\n"
        "    return [[float('book' in one or 'novel' in one), 0.1] for one in texts]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    here = machine("here", embedding="models_of_the_team:vectors")
    here.write(FIRST)
    assert here.search(Query(text="novel"), Filters()) == []
    assert synchronised(here) == Synchronised()
    (hit,) = here.search(Query(text="novel"), Filters())
    assert hit.learning == FIRST
    assert "vectors" in here.ping().detail


def test_a_function_that_is_missing_costs_meaning_only(machine):
    here = machine("here", embedding="no_such_module:vectors")
    here.write(FIRST)
    assert synchronised(here) == Synchronised()
    (hit,) = here.search(Query(text="books"), Filters())
    assert hit.learning == FIRST
    assert "'no_such_module:vectors', which can not be imported" in here.ping().mend
