"""What waits for an address that is no longer used is told, and goes elsewhere only when asked to."""

import json

import pytest
from click.testing import CliRunner

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.commands import bring_command as command
from grove_backend_postgres.outbox import StatusChange
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import BackendContext, LearningStatus
from grove_core.testing.samples import example_learning

OLD = "postgresql://grove:s3cret@127.0.0.1:1/old"
NEW = "postgresql://grove:s3cret@127.0.0.1:1/new"
FIRST, SECOND, THIRD = (example_learning(number) for number in (1, 2, 3))


@pytest.fixture
def context(tmp_path):
    def one(url, project="shop", **fields):
        settings = PostgresSettings(url=url, project=project)
        return BackendContext(root=tmp_path, home=tmp_path / "home", settings=settings, **fields)

    return one


@pytest.fixture
def hook(context):
    """Opens the backend as a hook does, for which everything waits."""
    return lambda *words: PostgresBackend(context(*words, in_hook=True))


@pytest.fixture
def bring(context):
    def run(*words, url=NEW, project="shop"):
        return CliRunner().invoke(command, words, obj=context(url, project))

    return run


def waiting(hook, *words):
    return set(hook(*words).freshness().waiting)


def folders(tmp_path, word):
    """The folders whose place names something."""
    found = (tmp_path / "home" / "postgres").glob("*/place.json")
    return [one.parent for one in found if word in one.read_text()]


def test_a_folder_says_what_it_is_about_and_no_password(hook, tmp_path):
    hook(OLD).write(FIRST)
    (folder,) = folders(tmp_path, "shop")
    assert json.loads((folder / "place.json").read_text()) == {
        "database": "old at 127.0.0.1:1",
        "project": "shop",
        "schema": "grove",
    }
    assert (folder / "place.json").stat().st_mode & 0o077 == 0


def test_health_and_flush_say_what_waits_at_the_address_before(hook, context, tmp_path):
    hook(OLD).write(FIRST)
    hook(OLD).set_status(FIRST.id, LearningStatus.ARCHIVED)
    (folder,) = folders(tmp_path, "old")
    told = (
        "what waits for shop in the database old at 127.0.0.1:1, schema grove (1) stays there until"
        f" `grove backends postgres bring {folder.name[:8]}` has it sent to the present one"
    )
    backend = PostgresBackend(context(NEW))
    assert told in backend.ping().detail
    done = backend.synchronise(5, asked=True)
    assert done.fault.endswith(told)
    # It is said to people: a hook's process in the background would say it each time.
    assert told not in backend.synchronise(5, asked=False).fault
    assert waiting(hook, NEW) == set()
    assert waiting(hook, OLD) == {FIRST.id}


def test_it_is_brought_once_and_keeps_what_is_there(hook, bring, tmp_path):
    hook(OLD).write(FIRST)
    hook(OLD).write(SECOND)
    hook(OLD).set_status(FIRST.id, LearningStatus.ARCHIVED, "of no use")
    hook(NEW).write(THIRD)
    (folder,) = folders(tmp_path, "old")
    listed = bring().output
    assert listed == (
        f"{folder.name[:8]}  waiting: 2, for shop in the database old at 127.0.0.1:1, schema grove\n"
    )
    # A process has ended in the middle: it is in both.
    kept = (folder / "outbox.jsonl").read_bytes()
    assert bring(folder.name[:8]).output.startswith("2 brought from shop in the database old at ")
    (folder / "outbox.jsonl").write_bytes(kept)
    assert bring(folder.name[:8]).exit_code == 0
    assert waiting(hook, OLD) == set()
    assert waiting(hook, NEW) == {FIRST.id, SECOND.id, THIRD.id}
    assert len(hook(NEW)._record.outbox.all().entries) == 4
    known = {one.id: one.status for one in hook(NEW).iterate()}
    assert known[FIRST.id] is LearningStatus.ARCHIVED
    entries = hook(NEW)._record.outbox.all().entries
    (note,) = (one.what.note for one in entries if isinstance(one.what, StatusChange))
    assert note == "of no use"
