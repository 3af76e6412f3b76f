"""What a repository may hold in the place of the record: none of it keeps grove busy or leads out."""

import os

import pytest

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, LearningStatus
from grove_core.testing.samples import example_learning


@pytest.fixture
def context(tmp_path):
    (tmp_path / "project" / ".grove").mkdir(parents=True)
    return BackendContext(root=tmp_path / "project", home=tmp_path / "home", settings=McpSettings())


def record_of(context):
    return context.root / ".grove" / "mcp.jsonl"


def refuses(context):
    backend = McpBackend(context)
    for ask in (lambda: [*backend.iterate()], lambda: backend.changes("")):
        with pytest.raises(BackendError):
            ask()
    with pytest.raises(BackendError):
        backend.write(example_learning())
    assert not backend.ping().ok


def test_a_pipe_is_not_waited_for(context):
    os.mkfifo(record_of(context))
    refuses(context)


def test_an_endless_file_is_not_read(context):
    record_of(context).symlink_to("/dev/zero")
    refuses(context)


def test_another_projects_record_is_not_read(context, tmp_path):
    other = tmp_path / "other.jsonl"
    McpBackend(context).write(example_learning())
    record_of(context).rename(other)
    record_of(context).symlink_to(other)
    refuses(context)


def test_the_end_of_time_is_no_end_of_a_learning(context):
    backend = McpBackend(context)
    backend.write(example_learning())
    with record_of(context).open("a") as record:
        at = "9999-12-31T23:59:59.999999Z"
        record.write(f'{{"at": "{at}", "id": "{example_learning().id}", "status": "active"}}\n')
    backend.set_status(example_learning().id, LearningStatus.ARCHIVED)


def test_lines_that_cannot_be_read_are_counted(context):
    backend = McpBackend(context)
    backend.write(example_learning())
    with record_of(context).open("a") as record:
        record.write('<<<<<<< ours\n{"at": "2026-02')
    health = backend.ping()
    assert health.ok
    assert "lines of mcp.jsonl that cannot be read: 2" in health.detail
