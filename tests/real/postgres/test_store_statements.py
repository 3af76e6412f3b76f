"""What a server is sent is what the documentation lists, and nothing else."""

import re
import time
from datetime import UTC, datetime

import pytest
from list_statements import PAGE, all_statements, page, plain
from throwaway_server import installations, running_server

from grove_backend_postgres.about import engine_of
from grove_core import Filters, LearningStatus, Query
from grove_core.testing.samples import SUBJECTS

CONTROL = {"BEGIN", "COMMIT", "ROLLBACK"}
NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
# What databases that speak PostgreSQL's language do not all have, or not in the same way.
UNCOMMON = re.compile(
    r"\b(serial|sequence|nextval|pg_advisory\w*|listen|notify|trigger|function|plpgsql|temp|temporary|"
    r"for update|skip locked|exclude|lock table|isolation|savepoint|do \$|merge into|truncate|drop|"
    r"delete)\b",
    re.IGNORECASE,
)


def everything(store, learnings):
    store.add(learnings)
    store.add(learnings)
    store.embed_missing()
    store.set_status(learnings[0].id, LearningStatus.ARCHIVED, NOON, was=LearningStatus.ACTIVE)
    pulled = store.changes_since("")
    store.changes_since("7:other")
    store.get(learnings[0].id)
    found = store.search(Query(text="kerosene vouchers"), Filters(limit=3))
    store.search(Query(), Filters())
    store.about()
    return pulled, found


def vectors(texts):
    return [[1.0, 0.5] for _ in texts]


def sent_to(database, wanted):
    """What the server has noted; it writes that down a little later."""
    for _ in range(50):
        sent = {plain(text) for text in {*database.statements()}}
        if wanted <= sent:
            break
        time.sleep(0.1)
    return sent


def test_every_listed_statement_is_sent_and_no_other(database, open_store):
    if not database.ask("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        pytest.skip("no pgvector beside this server")
    open_store(database).migrate()
    database.ask("CREATE EXTENSION vector")
    open_store(database).migrate()
    everything(open_store(database, embed=vectors, model="two"), [*SUBJECTS.values()])
    listed = {plain(text) for text in all_statements().values()}
    sent = sent_to(database, listed)
    assert sent - listed == CONTROL
    assert listed - sent == set()


def test_statements_keep_to_what_databases_have_in_common_and_name_the_project():
    """The policies are the second net, not the first."""
    for name, text in all_statements().items():
        assert not UNCOMMON.search(text), name
        looks = re.search(r"\.(project|revision|learning|embedding)\b", text)
        if looks and not name[0].isdigit():
            assert "%(project)s" in text, name


def test_the_page_lists_them():
    text = PAGE.read_text()
    assert text == page(text), "run python tests/real/postgres/tools/list_statements.py"


@pytest.mark.parametrize("programs", installations()[1:], ids=lambda path: path.parent.name)
def test_another_server_of_this_machine(programs, open_store):
    """An older one, perhaps without pgvector: what it lacks is done without."""
    with running_server(programs) as server:
        database = server.database()
        learnings = [*SUBJECTS.values()]
        pulled, found = everything(open_store(database, embed=vectors, model="two"), learnings)
        assert {one.id for one in pulled.learnings} == {one.id for one in learnings}
        assert found[0].learning == SUBJECTS["ticket_id"]
        about = open_store(database).about()
        assert (about.engine, about.has_text_search, about.rls_applies) == (
            "PostgreSQL",
            True,
            True,
        )


@pytest.mark.parametrize(
    ("said", "engine", "version"),
    [
        ("PostgreSQL 18.4 on x86_64-linux, compiled by gcc", "PostgreSQL", "18.4"),
        ("PostgreSQL 15.2-YB-2.25.0.0-b0 on aarch64-linux", "YugabyteDB", "2.25.0.0-b0"),
        ("CockroachDB CCL v23.1.1 (x86_64-pc-linux-gnu)", "CockroachDB", "23.1.1"),
        ("PostgreSQL 17devel on x86_64", "PostgreSQL", "17devel"),
        ("something else", "something else", ""),
        ("\x1b[2Jelse", "\ufffd[2Jelse", ""),
    ],
)
def test_what_a_server_says_about_itself(said, engine, version):
    assert engine_of(said) == (engine, version)
