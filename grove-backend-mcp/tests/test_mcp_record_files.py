"""What a repository may hold in the place of the record: none of it keeps grove busy or leads out."""

import os

import pytest

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, StorageError
from grove_core.testing.samples import example_learning


@pytest.fixture
def context(tmp_path):
    (tmp_path / "project" / ".grove").mkdir(parents=True)
    return BackendContext(root=tmp_path / "project", home=tmp_path / "home", settings=McpSettings())


def record_of(context):
    return context.root / ".grove" / "mcp.jsonl"


PLACES = {
    "a pipe": lambda place, other: os.mkfifo(place),
    "an endless file": lambda place, other: place.symlink_to("/dev/zero"),
    "the record of another project": lambda place, other: place.symlink_to(other),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_what_is_no_record_is_neither_waited_for_nor_read(context, tmp_path, place):
    McpBackend(context).write(example_learning())
    place(record_of(context), record_of(context).rename(tmp_path / "other.jsonl"))
    backend = McpBackend(context)
    for ask in (
        lambda: [*backend.iterate()],
        lambda: backend.changes(""),
        lambda: backend.write(example_learning()),
    ):
        with pytest.raises((BackendError, StorageError)):
            ask()
    assert not backend.ping().ok


def test_lines_that_cannot_be_read_are_counted(context):
    backend = McpBackend(context)
    backend.write(example_learning())
    with record_of(context).open("a") as record:
        record.write('<<<<<<< ours\n{"at": "2026-02\n')
    health = backend.ping()
    assert health.ok
    assert "lines of mcp.jsonl that cannot be read: 2" in health.detail
