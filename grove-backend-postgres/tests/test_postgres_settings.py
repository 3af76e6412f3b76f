"""What can be configured, and addresses in all their forms."""

import json
import subprocess
import sys

import pytest
from attrs import fields
from psycopg.conninfo import conninfo_to_dict

from grove_backend_postgres.address import parse_address
from grove_backend_postgres.plugin import PostgresSettings, grove_memory_backends
from grove_core import TRUSTED_ALONE, USER_ONLY, BackendContext, BackendError, ConfigError

(SPEC,) = grove_memory_backends()
URL = "postgresql://grove:s3cret@db.example.org:6432/team"


def context(tmp_path, **fields):
    return BackendContext(
        root=tmp_path, home=tmp_path / "home", settings=PostgresSettings(**fields)
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "db.example.org/s3cret"),
        ("url", "https://grove:s3cret@db.example.org/team"),
        ("project", "../other"),
        ("project", "with a blank"),
        ("project", "-x"),
        ("project", "x" * 101),
        ("schema", "Grove"),
        ("schema", "grove; DROP TABLE x"),
        ("schema", ""),
        ("embedding", "os.system"),
        ("embedding", "os:system()"),
    ],
)
def test_a_mistake_is_named_without_a_password(field, value):
    with pytest.raises(ValueError, match=rf"^{field} must be ") as told:
        PostgresSettings(**{field: value})
    assert "s3cret" not in str(told.value)


def test_who_may_say_what():
    marks = {one.name: one.metadata for one in fields(PostgresSettings)}
    assert {name for name, mark in marks.items() if mark == USER_ONLY} == {
        "url",
        "schema",
        "embedding",
    }
    assert marks["project"] == TRUSTED_ALONE


@pytest.mark.parametrize(
    ("settings", "usable", "said"),
    [
        ({"url": URL, "project": "shop"}, True, "the project shop in the database team at db"),
        ({"url": URL}, False, "set backends.postgres.project"),
        ({"project": "shop"}, False, "set backends.postgres.url"),
        ({"url": "postgresql://%zz", "project": "shop"}, False, "is no address"),
    ],
)
def test_it_is_available_where_database_and_project_are_configured(
    tmp_path, settings, usable, said
):
    found = SPEC.detect(context(tmp_path, **settings))
    assert found.usable is usable
    assert said in found.note
    assert "s3cret" not in f"{found}"


@pytest.mark.parametrize("settings", [{"url": URL}, {"project": "shop"}, {}])
def test_it_does_not_open_without_both(tmp_path, settings):
    with pytest.raises(BackendError, match=r"backends\.postgres\.(url|project) is not set"):
        SPEC.open(context(tmp_path, **settings))


HOOK = """
import json, sys
from pathlib import Path
from grove_core import BackendContext, Filters, Query
from grove_core.testing.samples import example_learning
from grove_backend_postgres.plugin import grove_memory_backends
from grove_backend_postgres.plugin import PostgresSettings

(spec,) = grove_memory_backends()
settings = PostgresSettings(url=sys.argv[1], project="shop")
folder = Path(sys.argv[2])
context = BackendContext(root=folder, home=folder, settings=settings, in_hook=True)
spec.detect(context)
backend = spec.open(context)
backend.write(example_learning())
backend.search(Query(text="books"), Filters())
backend.get("cl_x"), list(backend.iterate()), backend.changes(""), backend.freshness()
heavy = ("psycopg", "asyncio", "ssl", "click", "rich")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""


def test_a_hook_imports_nothing_that_talks_to_a_database(tmp_path):
    words = [sys.executable, "-P", "-c", HOOK, URL, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


URLS = (
    "postgresql://db.example.org/team",
    "postgresql://alice@db.example.org:5433/team",
    "postgresql://alice:p%40ss%2Fw%3Ard@db.example.org/team?sslmode=require&connect_timeout=5",
    "postgresql://alice:s3@one:5432,two:5433/team?target_session_attrs=any",
    "postgresql://[::1]:5432/team",
    "postgresql:///team?host=%2Frun%2Fpostgresql&user=alice",
    "postgresql://%2Frun%2Fpostgresql/team",
    "postgresql://",
    "postgresql://db/team?ssl=true",
    "postgresql://db/te%20am?application_name=our%20grove",
)
KEYWORDS = (
    "  host = db.example.org   port=5433 user='al ice' ",
    r"password='it''s' dbname=x".replace("''", r"\'"),
    r"dbname=a\ b password=back\\slash",
    "dbname='' host=x",
    "service=team",
)
NO_ADDRESSES = (
    "", "   ", "db.example.org", "mysql://db/team", "postgresql://db:port/team",
    "postgresql://db/team?nothing", "postgresql://db/100%", "host=", "host='unclosed", "host db",
    "postgresql://db/team?connect_timeout=soon", "postgresql://db/te\0am",
    "postgresql://db/team?connect_timeout=--5",
)  # fmt: skip


@pytest.mark.parametrize("text", [*URLS, *KEYWORDS])
def test_addresses_are_read_as_libpq_reads_them(text):
    # A comma alone names no port of two.
    given = conninfo_to_dict(text).items()
    known = {name: value for name, value in given if str(value).strip(",")}
    own = {name: value for name, value in parse_address(text).parameters.items() if value}
    assert own == known


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_what_is_no_address_is_refused(text):
    if text == "host=":
        # As for libpq: a host that is not given.
        assert parse_address(text).parameters == {"host": ""}
        return
    with pytest.raises(ConfigError, match=r"backends\.postgres\.url"):
        parse_address(text)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://alice:hush@db/x",
        "host=db password='hush",
        "postgresql://alice:12/hush@db/x",
    ],
)
def test_a_refused_address_is_not_shown(text):
    with pytest.raises(ConfigError) as refused:
        parse_address(text)
    assert "hush" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("postgresql://alice:hush@db.example.org:5433/team", "team at db.example.org:5433"),
        ("postgresql://a:hush@one,two:5433/team", "team at one,two:5433"),
        ("host=one,two port=5433 dbname=team password=hush", "team at one,two:5433"),
        ("postgresql:///team?password=hush", "team at this machine"),
        ("user=alice password=hush", "alice at this machine"),
        ("password=hush", "by default at this machine"),
        ("service=team password=hush", "of the service team"),
    ],
)
def test_labels_name_database_and_server(text, label):
    address = parse_address(text)
    assert address.label == label
    assert "hush" not in f"{address} {address!r}"


def test_keys_stay_with_another_password_and_tell_databases_apart():
    keys = {
        parse_address(f"postgresql://{login}db/team{end}").key("shop", "grove")
        for login in ("", "alice@", "bob:hush@")
        for end in ("", "?sslmode=require")
    }
    assert len(keys) == 1
    others = [
        parse_address("postgresql://db/team").key("shop2", "grove"),
        parse_address("postgresql://db/team").key("shop", "other"),
        parse_address("postgresql://db/other").key("shop", "grove"),
        parse_address("postgresql://db2/team").key("shop", "grove"),
        parse_address("postgresql://db:5433/team").key("shop", "grove"),
    ]
    assert len({*keys, *others}) == 6
    assert all(key.isalnum() for key in (*keys, *others))


def test_where_the_environment_says_that_it_is_tells_databases_apart():
    """What waits for one server must not go to another since a variable is another one."""
    one, other = (
        parse_address("dbname=team", {"PGHOST": host, "PGPASSWORD": "hush"}) for host in "ab"
    )
    assert (one.label, other.label) == ("team at a", "team at b")
    assert one.key("shop", "grove") != other.key("shop", "grove")
    ports = [parse_address("host=db", {"PGPORT": port}).key("shop", "grove") for port in "12"]
    assert ports[0] != ports[1]
    # libpq looks there by itself, and in more paths than these.
    assert one.options(5).keys() == parse_address("dbname=team", {}).options(5).keys()
    assert "hush" not in f"{one!r} {one.label}"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("postgresql://db/team", "team at db"),
        ("postgresql://db:5433/team", "team at db:5433"),
        ("postgresql://db", "elsewhere at db"),
        ("service=team", "of the service team"),
        ("user=alice", "elsewhere at other:6000"),
    ],
)
def test_what_is_written_counts_more_than_the_environment(text, label):
    environment = {"PGHOST": "other", "PGPORT": "6000", "PGDATABASE": "elsewhere", "PGUSER": ""}
    assert parse_address(text, environment).label == label
    assert parse_address("user=a", {"PGSERVICE": "ours", "PGHOST": "x"}).label == (
        "of the service ours"
    )
