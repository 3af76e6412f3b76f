"""What can be configured, what it takes to be available, and that no password is shown."""

import json
import subprocess
import sys

import pytest
from attrs import fields

from grove_backend_postgres.plugin import PostgresSettings, grove_memory_backends
from grove_core import TRUSTED_ALONE, USER_ONLY, BackendContext, BackendError

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
