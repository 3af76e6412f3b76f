"""A real database: tables made and shared, searches, and what is said where it says no."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import psycopg
import pytest
from cutting_proxy import proxy_before, silent_server
from scale import turned_up

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_backend_postgres.migrations import MIGRATIONS
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.store import Store, vectors_of
from grove_core import BackendError, Filters, LearningStatus, Query
from grove_core.testing.samples import NONSENSE, SUBJECTS, example_learning

TITLES = [f"{one.number} {one.name}" for one in MIGRATIONS]
MANY = turned_up(8, 20)


@pytest.fixture
def vectors(database):
    """The extension, which only a superuser may add."""
    offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    if not database.ask(offered):
        pytest.skip("no pgvector beside this server")
    database.ask("CREATE EXTENSION vector")
    return database


def test_everything_is_made_once(database, open_store, vectors):
    store = open_store(database)
    assert list(store.migrate()) == TITLES
    assert list(store.migrate()) == list(store.migrate(dry_run=True)) == []
    about = store.about()
    assert about.is_current
    assert about.full_text_search
    assert about.row_level_security
    assert about.vectors


def test_several_make_them_at_the_same_instant(database):
    """`IF NOT EXISTS` does not help here: the loser of a race gets an error."""
    start = Barrier(MANY)

    def migrate(_):
        address = parse_address(database.url)
        with Store(address, "shop", deadline=time.monotonic() + 30) as store:
            assert not store.about().has_tables
            start.wait()
            store.migrate()
            return store.about()

    with ThreadPoolExecutor(MANY) as pool:
        told = list(pool.map(migrate, range(MANY)))
    assert {
        (one.is_current, one.row_level_security_applies, one.full_text_search) for one in told
    } == {(True, True, True)}


def test_what_was_cut_off_is_finished(database, open_store):
    open_store(database).migrate()
    database.ask(
        "DELETE FROM grove.migration; DROP INDEX grove.learning_by_words;DROP TABLE grove.revision"
    )
    lines = open_store(database).migrate()
    assert list(lines[:3]) == TITLES[:3]
    store = open_store(database)
    store.add([example_learning()])
    assert store.ids() == {example_learning().id}
    assert store.about().row_level_security_applies


def test_tables_of_a_newer_grove_are_refused(database, open_store):
    open_store(database).add([example_learning()])
    database.ask("INSERT INTO grove.migration VALUES (99, 'future', now())")
    for use in (
        lambda store: store.add([example_learning(2)]),
        lambda store: store.changes_since(""),
        lambda store: store.migrate(),
        lambda store: store.about(),
    ):
        with pytest.raises(DatabaseRefusedError, match=r"newer grove .*99.*upgrade grove-backend"):
            use(open_store(database))
    assert database.ask("SELECT count(*) FROM grove.learning") == [(1,)]


def test_who_may_not_make_them_is_told(server, database, open_store):
    guest = f"guest_of_{database.name}"
    server.role(guest)
    url = server.url(database.name, guest)
    with pytest.raises(DatabaseRefusedError, match=r"permission denied.*migrate") as refused:
        open_store(database, url=url).add([example_learning()])
    assert server.password not in str(refused.value)
    open_store(database).migrate()
    with pytest.raises(DatabaseRefusedError, match=r"permission denied.*grant"):
        open_store(database, url=url).add([example_learning()])
    database.ask(
        f"GRANT USAGE ON SCHEMA grove TO {guest};"
        f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA grove TO {guest}"
    )
    store = open_store(database, url=url)
    store.add([example_learning()])
    assert store.ids() == {example_learning().id}


def failing_to_add(kind, store, server):
    """What it says, and how many seconds it took."""
    began = time.monotonic()
    with pytest.raises(kind) as failed:
        store.add([example_learning()])
    said = str(failed.value)
    assert server.password not in said
    assert store is not None
    return said, time.monotonic() - began


def test_a_server_that_says_nothing(server, open_store):
    with silent_server() as port:
        store = open_store(None, url=server.url(port=port), seconds=2)
        _, seconds = failing_to_add(DatabaseUnreachableError, store, server)
    assert seconds < 60


def test_a_server_that_falls_silent(database, open_store):
    """Such as one whose network has gone: nothing tells the client."""
    with proxy_before(database.server.port) as proxy:
        url = database.server.url(database.name, database.name, proxy.port)
        store = open_store(database, url=url, seconds=2)
        store.about()
        proxy.stalled.set()
        said, seconds = failing_to_add(DatabaseUnreachableError, store, database.server)
    assert proxy.opened == 1
    assert seconds < 60
    assert "cannot reach" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda url: url.replace("team", "team_"), "pg_hba|password authentication failed"),
        (lambda url: url.replace("%40", "%41"), "password authentication failed.*PGPASSWORD"),
        (lambda url: url + "_none", "does not exist.*create the database"),
    ],
    ids=["user", "password", "database"],
)
def test_what_a_server_refuses_is_told_with_its_mend(database, open_store, change, words):
    store = open_store(None, url=change(database.url))
    with pytest.raises(DatabaseRefusedError, match=words) as refused:
        store.add([example_learning()])
    assert database.server.password not in str(refused.value)


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


JAPANESE = example_learning(
    20, summary="日本語のまとめは短く書く", detail="長い文章は読まれない。要点だけを残すこと。", tags=("文書",),
    context_files=(), ticket_id=None,
)  # fmt: skip
NAMED = example_learning(
    21, summary="UserDashboard#index asks once a row", detail="Preload `line_items` in OrderQuery.",
    tags=("n-plus-one",), context_files=("app/models/order_query.rb",), ticket_id="#12",
)  # fmt: skip


@pytest.fixture
def store(database, open_store):
    one = open_store(database)
    one.add([*SUBJECTS.values(), JAPANESE, NAMED])
    return one


def best(store, **query):
    hits = store.search(Query(**query), Filters())
    return (hits[0].learning.id, hits[0].relevance) if hits else None


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"text": "kerosene migrations"}, SUBJECTS["text"]),
        ({"text": "migrating invoices"}, SUBJECTS["text"]),
        ({"text": "Why does the broker hang?"}, SUBJECTS["files"]),
        ({"text": "user dashboard"}, NAMED),
        ({"text": "UserDashboard"}, NAMED),
        ({"text": "line items"}, NAMED),
        ({"text": "日本語"}, JAPANESE),
        ({"text": "文章"}, JAPANESE),
        ({"text": "n-plus-one"}, NAMED),
        ({"ticket_title": "Expired vouchers"}, SUBJECTS["ticket_id"]),
        ({"ticket_description": "Customers see vouchers expire too early"}, SUBJECTS["ticket_id"]),
        ({"error_signature": "HeartbeatError: broker restarted"}, SUBJECTS["files"]),
        ({"tags": ("telescope",)}, SUBJECTS["tags"]),
        ({"files": ("workers/heartbeat.py",)}, SUBJECTS["files"]),
        ({"files": ("/home/x/shop/workers/heartbeat.py",)}, SUBJECTS["files"]),
        ({"ticket_id": "SHOP-42"}, SUBJECTS["ticket_id"]),
    ],
    ids=str,
)
def test_what_is_meant_is_found_first(store, query, wanted):
    found, relevance = best(store, **query)
    assert found == wanted.id
    assert 0 < relevance <= 1


def test_reasons_say_why(store):
    query = Query(text="kerosene", files=("db/upgrade.sql",), ticket_id="SHOP-11")
    (hit,) = store.search(query, Filters())
    assert hit.reasons == ("file db/upgrade.sql", "words kerosene", "ticket SHOP-11")
    (hit,) = store.search(Query(text="migrating"), Filters())
    assert hit.reasons == ("other forms of its words",)


class Meaning:
    """Vectors of three numbers: how much a text is about fire, water and paper."""

    SUBJECTS = (("kerosene", "fire", "flames"), ("water", "rain"), ("voucher", "coupon", "paper"))

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(len(texts))
        return [
            [0.05 + sum(word in text.lower() for word in words) for words in self.SUBJECTS]
            for text in texts
        ]


def test_what_is_meant_is_found_without_its_words(vectors, open_store):
    meaning = Meaning()
    store = open_store(vectors, embed=meaning, model="subjects")
    store.add(SUBJECTS.values())
    assert best(store, text="flames") is None
    assert store.embed_missing(3) == 3
    assert store.embed_missing() == 1
    assert store.embed_missing() == 0
    assert meaning.asked[-2:] == [3, 1]
    (hit, *_) = store.search(Query(text="flames"), Filters())
    assert hit.learning == SUBJECTS["text"]
    assert hit.relevance > 0.9
    assert "meaning" in hit.reasons[-1]
    assert best(store, text="coupon")[0] == SUBJECTS["ticket_id"].id
    assert store.about().with_vectors == 4


def failing(_):
    raise RuntimeError("no model here")


@pytest.mark.parametrize(
    "embed",
    [failing, lambda texts: [], lambda texts: [[]] * len(texts), lambda texts: [["x"]] * len(texts),
     lambda texts: [[float("nan")]] * len(texts), lambda texts: None],
)  # fmt: skip
def test_a_function_that_fails_costs_meaning_only(vectors, open_store, embed):
    store = open_store(vectors, embed=embed, model="bad")
    store.add(SUBJECTS.values())
    assert best(store, text="kerosene")[0] == SUBJECTS["text"].id
    with pytest.raises(BackendError, match="function that makes vectors"):
        store.embed_missing()
    with pytest.raises(BackendError):
        vectors_of(embed, ["a", "b"])


def test_what_is_not_there_is_not_found(store):
    hostile = ("the of and", "' \" \\ & | ! ( ) :* <-> %s", "\0\ud800")
    for text in (NONSENSE, *hostile):
        assert best(store, text=text) is None
    for query in ({"tags": ("tele",)}, {"files": ("heartbeat",)}, {"ticket_id": "SHOP-42'; --"}):
        assert best(store, **query) is None
