"""Projects of one database do not see each other's rows, by two independent means."""

from datetime import UTC, datetime

import psycopg
import pytest

from grove_backend_postgres.outbox import StatusChange
from grove_core import Filters, LearningStatus, Query
from grove_core.testing.samples import SUBJECTS, example_learning

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
TABLES = ("project", "revision", "learning")


@pytest.mark.parametrize(
    "project", ["it's; DROP TABLE x", "größe", "%s %(id)s {schema}", "a b", '"']
)
def test_any_name_of_a_project(database, open_store, project):
    store = open_store(database, project)
    store.add([example_learning()])
    assert store.changes_since("").learnings == (example_learning(),)
    assert open_store(database, "other").ids() == set()


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


def test_a_member_that_owns_nothing_is_bound_as_well(server, database, open_store):
    """The role that a team is given, which may neither make tables nor lift the policies."""
    open_store(database, "shop").add([example_learning(1)])
    open_store(database, "bank").add([example_learning(2)])
    server.role(member := f"member_of_{database.name}")
    database.ask(
        f"GRANT USAGE ON SCHEMA grove TO {member}; GRANT SELECT ON grove.migration TO {member};"
        f"GRANT SELECT, INSERT, UPDATE ON grove.project, grove.revision, grove.learning TO {member}"
    )
    url = server.url(database.name, member)
    store = open_store(database, "bank", url=url)
    assert store.about().row_level_security_applies
    assert store.changes_since("").learnings == (example_learning(2),)
    store.add([example_learning(3)])
    assert store.ids() == {example_learning(2).id, example_learning(3).id}
    with psycopg.connect(url, autocommit=True) as connection:
        for table in TABLES:
            assert connection.execute(f"SELECT 1 FROM grove.{table}").fetchall() == []
            for statement in (
                f"ALTER TABLE grove.{table} DISABLE ROW LEVEL SECURITY",
                f"DROP POLICY grove_project ON grove.{table}",
                f"DELETE FROM grove.{table}",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
        connection.execute("SET row_security = off")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT 1 FROM grove.learning")


# What somebody may make who may make things in a schema that everybody's searches look into, as up
# to PostgreSQL 14 anybody might. Each fits better than what grove means.
TRAPS = """
CREATE FUNCTION public.caught() RETURNS void LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'ran as %', current_user; END $$;
CREATE FUNCTION public.to_tsquery(text, text) RETURNS tsquery LANGUAGE plpgsql AS
$$ BEGIN PERFORM public.caught(); RETURN NULL; END $$;
CREATE FUNCTION public.to_tsvector(text, text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN PERFORM public.caught(); RETURN NULL; END $$;
CREATE FUNCTION public.setweight(tsvector, text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN PERFORM public.caught(); RETURN NULL; END $$;
CREATE FUNCTION public.shared(text[], text[]) RETURNS boolean LANGUAGE plpgsql AS
$$ BEGIN PERFORM public.caught(); RETURN NULL; END $$;
CREATE OPERATOR public.&& (LEFTARG = text[], RIGHTARG = text[], FUNCTION = public.shared);
CREATE FUNCTION public.less(integer, double precision) RETURNS double precision LANGUAGE plpgsql AS
$$ BEGIN PERFORM public.caught(); RETURN NULL; END $$;
CREATE OPERATOR public.- (LEFTARG = integer, RIGHTARG = double precision, FUNCTION = public.less);
"""


def test_functions_of_others_are_never_called(server, database, open_store):
    server.role(mallory := f"mallory_of_{database.name}")
    database.ask("GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC")
    has_vectors = database.ask("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
    if has_vectors:
        database.ask("CREATE EXTENSION vector")
    database.ask(TRAPS, user=mallory)
    with psycopg.connect(database.url) as connection, pytest.raises(psycopg.Error, match="ran as"):
        # Whoever looks as usual is caught.
        connection.execute("SELECT to_tsquery('english', 'kerosene')")
    store = open_store(database, embed=lambda texts: [[1.0, 0.5]] * len(texts), model="two")
    store.add(SUBJECTS.values())
    assert bool(store.embed_missing()) == bool(has_vectors)
    assert store.search(Query(text="kerosene", tags=("orders",)), Filters(tags=("orders",))) == []
    assert store.search(Query(text="kerosene"), Filters())
    learning = SUBJECTS["text"]
    assert store.set_status(
        learning.id,
        StatusChange(
            status=LearningStatus.ARCHIVED, at=NOON, was=LearningStatus.ACTIVE, note="by nobody"
        ),
    )
    assert len(store.changes_since("").learnings) == len(SUBJECTS)
