"""The backend through real files and processes."""

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import format_entry
from grove_core import (
    LearningStatus,
    ReceiptStatus,
)


@pytest.fixture
def backend(context):
    return MarkdownBackend(context)


@pytest.fixture
def file(context):
    return context.root / ".grove" / "learnings.md"


def test_folder_of_single_files_is_read_too(context, backend, file, make_learning):
    folder = context.root / ".grove" / "learnings"
    folder.mkdir(parents=True)
    for number in (1, 2):
        learning = make_learning(number)
        (folder / f"{learning.id}.md").write_text(format_entry(learning))
    (folder / "notes.txt").write_text(format_entry(make_learning(9)))
    backend.write(make_learning(3))
    assert [learning.id[-1] for learning in backend.iterate()] == ["1", "2", "3"]
    assert backend.write(make_learning(1)).status is ReceiptStatus.DUPLICATE
    before = file.read_bytes()
    backend.set_status(make_learning(2).id, LearningStatus.ARCHIVED)
    assert "**Status:** archived" in (folder / f"{make_learning(2).id}.md").read_text()
    assert file.read_bytes() == before


def test_set_status_leaves_every_other_byte(backend, file, make_learning):
    backend.write(make_learning(1))
    backend.write(make_learning(2))
    file.write_bytes(b"caf\xe9 \xff\n" + file.read_bytes().replace(b"\n", b"\r\n")[:-2])
    file.chmod(0o640)
    before = file.read_bytes()
    changed = backend.set_status(
        "cl_20260206_000001", LearningStatus.ARCHIVED, "decayed 2026-05-07"
    )
    assert changed == make_learning(1, status=LearningStatus.ARCHIVED)
    assert file.read_bytes() == before.replace(
        b"**Status:** active", b"**Status:** archived (decayed 2026-05-07)", 1
    )
    assert file.stat().st_mode & 0o777 == 0o640
    assert backend.set_status("cl_20260206_000001", LearningStatus.ACTIVE) == make_learning(1)
    assert file.read_bytes() == before


def test_ping_counts_and_names_problems(backend, file, make_learning):
    backend.write(make_learning())
    assert backend.ping().location == str(file)
    assert backend.ping().detail == "1 learning"
    with file.open("a") as stream:
        stream.write("\n### [cl_broken] without anything\n")
    health = backend.ping()
    assert health.ok
    # Which they are is said once, by the health check of the project.
    assert health.detail == "1 learning; 1 fault"
    assert "grove maintain repair" in health.fix
