"""Projects of one database do not see each other's rows, by two independent means."""

from datetime import UTC, datetime

import psycopg
import pytest

from grove_core import Filters, LearningStatus, Query
from grove_core.testing.samples import SUBJECTS, example_learning

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
TABLES = ("project", "revision", "learning")


def test_projects_do_not_see_each_other(database, open_store):
    shop, bank = open_store(database, "shop"), open_store(database, "bank")
    shop.add(SUBJECTS.values())
    assert bank.count() == 0
    assert bank.changes_since("").learnings == ()
    assert bank.search(Query(text="kerosene"), Filters()) == []
    assert bank.search(Query(), Filters()) == []
    learning = SUBJECTS["text"]
    assert bank.get(learning.id) is None
    assert not bank.set_status(
        learning.id, LearningStatus.ARCHIVED, NOON, was=LearningStatus.ACTIVE
    )
    assert bank.add([learning]) == {learning.id}
    assert bank.set_status(learning.id, LearningStatus.ARCHIVED, NOON, was=LearningStatus.ACTIVE)
    assert shop.get(learning.id) == learning
    assert (shop.count(), bank.count()) == (len(SUBJECTS), 1)


@pytest.mark.parametrize(
    "project", ["it's; DROP TABLE x", "größe", "%s %(id)s {schema}", "a b", '"']
)
def test_any_name_of_a_project(database, open_store, project):
    store = open_store(database, project)
    store.add([example_learning()])
    assert store.changes_since("").learnings == (example_learning(),)
    assert open_store(database, "other").count() == 0


@pytest.mark.parametrize("table", TABLES)
def test_a_statement_that_forgets_the_project_sees_its_rows_only(database, open_store, table):
    open_store(database, "shop").add([example_learning(1)])
    open_store(database, "bank").add([example_learning(2)])
    with psycopg.connect(database.url) as connection:
        seen = f"SELECT DISTINCT project FROM grove.{table}"
        assert connection.execute(seen).fetchall() == []
        connection.execute("SELECT set_config('grove.project', 'bank', true)")
        assert connection.execute(seen).fetchall() == [("bank",)]
        connection.commit()
        assert connection.execute(seen).fetchall() == []


def test_a_row_of_another_project_can_not_be_written(database, open_store):
    open_store(database, "shop").add([example_learning(1)])
    with psycopg.connect(database.url) as connection:
        connection.execute("SELECT set_config('grove.project', 'bank', true)")
        moved = connection.execute("UPDATE grove.learning SET project = 'bank'").rowcount
        assert moved == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO grove.project (project, revision) VALUES ('shop', 1)")


def test_for_whom_the_policies_do_not_count(server, database, open_store):
    open_store(database).add([example_learning()])
    assert open_store(database).about().rls_applies
    administrator = server.url(database.name)
    about = open_store(database, url=administrator).about()
    assert (about.has_rls, about.rls_applies, about.user) == (True, False, "administrator")
    assert open_store(database, "bank", url=administrator).count() == 0
