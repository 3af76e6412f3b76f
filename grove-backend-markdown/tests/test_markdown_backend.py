"""The backend through real files and processes."""

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import format_entry
from grove_backend_markdown.plugin import grove_memory_backends
from grove_core import (
    BackendError,
    Capability,
    Category,
    FileBacked,
    Filters,
    LearningNotFoundError,
    LearningStatus,
    MemoryBackend,
    Query,
    ReceiptStatus,
    Scope,
    StorageError,
)

# Forks a writer for each id once everything is imported, so that they really meet.
WRITERS = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from grove_backend_markdown.backend import MarkdownBackend
from grove_core import BackendContext, Category, Learning

def write(root, learning_id):
    context = BackendContext(root=root, home=root / "home")
    return MarkdownBackend(context).write(
        Learning(id=learning_id, category=Category.DOMAIN, summary="Written by " + learning_id,
                 detail="Detail of it.", session_id="s", timestamp=datetime(2026, 1, 1, tzinfo=UTC))
    )

begin, release = os.pipe()
for learning_id in sys.argv[2:]:
    if os.fork() == 0:
        os.close(release)
        os.read(begin, 1)
        os.write(1, (write(Path(sys.argv[1]), learning_id).status.value + "\\n").encode())
        os._exit(0)
os.close(release)
for _ in sys.argv[2:]:
    os.wait()
"""


@pytest.fixture
def backend(context):
    return MarkdownBackend(context)


@pytest.fixture
def file(context):
    return context.root / ".grove" / "learnings.md"


def everything_below(path):
    return sorted(str(found) for found in path.rglob("*"))


def test_it_is_a_memory_backend(backend):
    assert isinstance(backend, MemoryBackend)
    assert backend.name == "markdown"
    assert backend.capabilities == {
        Capability.GET,
        Capability.ITERATE,
        Capability.SET_STATUS,
        Capability.PERSONAL,
        Capability.FILES,
        Capability.CHANGES,
        Capability.WITHDRAW,
    }


def test_it_names_what_it_reads_from(backend, context):
    directory = context.root / ".grove"
    assert isinstance(backend, FileBacked)
    assert backend.files() == (directory / "learnings.md", directory / "learnings")


def test_reading_creates_nothing(backend, tmp_path):
    before = everything_below(tmp_path)
    assert backend.search(Query(), Filters()) == []
    assert backend.get("cl_x") is None
    assert list(backend.iterate()) == []
    assert backend.ping().ok
    with pytest.raises(LearningNotFoundError):
        backend.set_status("cl_x", LearningStatus.ARCHIVED)
    assert everything_below(tmp_path) == before


def test_written_learnings_are_found(backend, file, make_learning):
    first, second = make_learning(1), make_learning(2)
    receipt = backend.write(first)
    assert receipt.status is ReceiptStatus.STORED
    assert receipt.location == str(file)
    backend.write(second)
    assert backend.get(first.id) == first
    assert list(backend.iterate()) == [first, second]
    text = file.read_text()
    assert text.startswith("# Learnings\n")
    assert text.endswith(f"\n\n{format_entry(first)}\n{format_entry(second)}")
    assert text.count("# Learnings") == 1


def test_writing_appends_and_heals_a_missing_newline(backend, file, make_learning):
    file.parent.mkdir()
    before = b"My own notes, caf\xe9\r\nwithout a newline"
    file.write_bytes(before)
    backend.write(make_learning())
    assert file.read_bytes() == before + b"\r\n\n" + format_entry(make_learning()).encode()


def test_same_id_is_stored_once(backend, file, make_learning):
    backend.write(make_learning(1))
    before = file.read_bytes()
    again = backend.write(make_learning(1, summary="Something else altogether"))
    assert again.status is ReceiptStatus.DUPLICATE
    assert file.read_bytes() == before
    assert backend.write(make_learning(1, id="cl_20260206_00000")).status is ReceiptStatus.STORED
    assert backend.write(make_learning(1, id="CL_20260206_000001")).status is ReceiptStatus.STORED


def test_id_that_only_stands_in_a_detail_is_no_duplicate(backend, make_learning):
    backend.write(
        make_learning(1, detail="### [cl_20260206_000002] forged\n- **Category:** domain")
    )
    assert backend.write(make_learning(2)).status is ReceiptStatus.STORED


@pytest.mark.parametrize(
    "learning_id", ["", "x] forged", "cl_x\n### [cl_y", "../../etc", "a" * 200]
)
def test_ids_that_are_none_are_refused(backend, file, make_learning, learning_id):
    with pytest.raises(BackendError):
        backend.write(make_learning(id=learning_id))
    assert not file.exists()


def test_text_that_cannot_be_stored_is_refused(backend, file, make_learning):
    with pytest.raises(BackendError, match="half a character"):
        backend.write(make_learning(detail="broken \ud800"))
    assert not file.exists()


def write_in_processes(root, ids):
    result = subprocess.run(
        [sys.executable, "-c", WRITERS, str(root), *ids], check=True, capture_output=True, text=True
    )
    return result.stdout.split()


def test_parallel_writers_all_survive(context, backend):
    ids = [f"cl_20260101_{number:06d}" for number in range(20)]
    assert write_in_processes(context.root, ids) == ["stored"] * 20
    assert sorted(learning.id for learning in backend.iterate()) == ids
    assert backend.ping().detail == "20 learnings"


def test_parallel_writers_of_one_id_store_it_once(context, backend):
    results = write_in_processes(context.root, ["cl_20260101_aaaaaa"] * 8)
    assert sorted(results) == ["duplicate"] * 7 + ["stored"]
    assert len(list(backend.iterate())) == 1
    assert backend.ping().detail == "1 learning"


def test_personal_learnings_lie_in_the_home(personal_context, make_learning, tmp_path):
    learning = make_learning(scope=Scope.PERSONAL)
    MarkdownBackend(personal_context).write(learning)
    assert (personal_context.home / "personal-learnings.md").is_file()
    assert everything_below(tmp_path / "project") == []
    assert MarkdownBackend(personal_context).get(learning.id) == learning


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


def test_changes_by_others_are_seen(context, backend, file, make_learning):
    backend.write(make_learning(1))
    assert len(list(backend.iterate())) == 1
    MarkdownBackend(context).write(make_learning(2))
    assert len(list(backend.iterate())) == 2
    file.unlink()
    assert list(backend.iterate()) == []


def test_iterate_goes_from_the_oldest(backend, make_learning):
    for number in (3, 1, 2):
        backend.write(make_learning(number))
    assert [learning.id[-1] for learning in backend.iterate()] == ["1", "2", "3"]


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


def test_set_status_of_an_unknown_id(backend, make_learning):
    backend.write(make_learning(1))
    with pytest.raises(LearningNotFoundError, match="cl_20260206_000009"):
        backend.set_status("cl_20260206_000009", LearningStatus.ARCHIVED)


@pytest.fixture
def filled(backend, make_learning):
    backend.write(make_learning(1, tags=("rails",), summary="Preload users in the dashboard"))
    backend.write(make_learning(2, tags=("css",), category=Category.CONVENTION))
    backend.write(make_learning(3, tags=("rails",), scope=Scope.TEAM, context_files=("lib/a.rb",)))
    backend.write(make_learning(4, tags=("rails",), status=LearningStatus.ARCHIVED))
    return backend


@pytest.mark.parametrize(
    ("query", "filters", "found"),
    [
        (Query(), Filters(), "321"),
        (Query(), Filters(limit=2), "32"),
        (Query(), Filters(limit=0), ""),
        (Query(), Filters(statuses=frozenset({LearningStatus.ARCHIVED})), "4"),
        (Query(), Filters(scopes=frozenset({Scope.TEAM})), "3"),
        (Query(), Filters(categories=frozenset({Category.CONVENTION})), "2"),
        (Query(), Filters(tags=frozenset({"css", "none"})), "2"),
        (Query(), Filters(created_after=datetime(2026, 2, 6, 10, 2, tzinfo=UTC)), "3"),
        (Query(tags=("rails",)), Filters(), "31"),
        (Query(tags=("rails",)), Filters(limit=1), "3"),
        (Query(files=("lib/a.rb",)), Filters(), "3"),
        (Query(text="preload"), Filters(), "321"),
        (Query(text="zebra"), Filters(), ""),
        (Query(ticket_id="T042"), Filters(), "321"),
    ],
)
def test_search(filled, query, filters, found):
    hits = filled.search(query, filters)
    assert "".join(hit.learning.id[-1] for hit in hits) == found
    assert all(hit.complete for hit in hits)
    if query.is_empty:
        assert all(hit.relevance == 0 for hit in hits)
    else:
        assert all(0 < hit.relevance <= 1 and hit.reasons for hit in hits)


def test_more_relevant_hits_come_first(filled):
    hits = filled.search(Query(text="users preload"), Filters())
    assert [hit.learning.id[-1] for hit in hits] == ["1", "3", "2"]
    assert hits[0].relevance > hits[1].relevance == hits[2].relevance


def test_ties_are_broken_by_id(backend, make_learning):
    same = make_learning(1).timestamp
    for number in (2, 1, 3):
        backend.write(make_learning(number, timestamp=same))
    assert [hit.learning.id[-1] for hit in backend.search(Query(), Filters())] == ["1", "2", "3"]


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
    assert "grove maintain repair" in health.mend


def test_ping_says_what_is_in_the_way(context, backend, file):
    file.mkdir(parents=True)
    health = backend.ping()
    assert not health.ok
    assert str(file) in health.detail
    for use in (lambda: backend.search(Query(), Filters()), backend.iterate):
        with pytest.raises(BackendError):
            use()


def test_ping_sees_that_the_directory_cannot_be_made(context, backend):
    (context.root / ".grove").write_text("a file")
    assert not backend.ping().ok


def test_failed_write_is_a_backend_error(context, backend, make_learning):
    (context.root / ".grove").write_text("a file")
    with pytest.raises(BackendError, match="grove"):
        backend.write(make_learning())


def test_links_that_lead_out_of_the_project_are_not_written_through(
    context, backend, file, make_learning, tmp_path
):
    """Whoever made the repository chose the links, and not whoever cloned it."""
    victim = tmp_path / "victim.md"
    victim.write_text(format_entry(make_learning(1)))
    before = victim.read_bytes()
    file.parent.mkdir()
    file.symlink_to(victim)
    with pytest.raises(BackendError, match="outside of"):
        backend.write(make_learning(2))
    with pytest.raises(BackendError, match="outside of"):
        backend.set_status(make_learning(1).id, LearningStatus.ARCHIVED)
    (spec,) = grove_memory_backends()
    with pytest.raises(StorageError, match="outside of"):
        spec.scaffold(context)
    health = backend.ping()
    assert not health.ok
    assert "outside of" in health.detail
    assert victim.read_bytes() == before


def test_a_linked_file_in_the_folder_is_not_changed(context, backend, make_learning, tmp_path):
    victim = tmp_path / "victim.md"
    victim.write_text(format_entry(make_learning(1)))
    folder = context.root / ".grove" / "learnings"
    folder.mkdir(parents=True)
    (folder / "more.md").symlink_to(victim)
    with pytest.raises(BackendError, match="outside of"):
        backend.set_status(make_learning(1).id, LearningStatus.ARCHIVED)
    assert victim.read_text() == format_entry(make_learning(1))


def test_links_inside_the_project_are_followed(context, backend, file, make_learning):
    real = context.root / "notes" / "learnings.md"
    real.parent.mkdir()
    file.parent.mkdir()
    file.symlink_to(real)
    backend.write(make_learning(1))
    backend.set_status(make_learning(1).id, LearningStatus.ARCHIVED)
    assert make_learning(1).id in real.read_text()
    assert file.is_symlink()
    assert backend.ping().ok


def test_a_link_in_the_users_own_directory_is_the_users_choice(
    personal_context, make_learning, tmp_path
):
    backend = MarkdownBackend(personal_context)
    personal_context.home.mkdir()
    (personal_context.home / "personal-learnings.md").symlink_to(tmp_path / "far.md")
    backend.write(make_learning())
    assert make_learning().id in (tmp_path / "far.md").read_text()
    assert backend.ping().ok


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_ping_sees_a_file_that_cannot_be_written(backend, file, make_learning):
    backend.write(make_learning())
    file.chmod(0o400)
    assert not backend.ping().ok


def test_project_and_home_do_not_mix(context, personal_context, make_learning):
    MarkdownBackend(context).write(make_learning(1))
    MarkdownBackend(personal_context).write(make_learning(2))
    assert [found.id[-1] for found in MarkdownBackend(context).iterate()] == ["1"]
    assert [found.id[-1] for found in MarkdownBackend(personal_context).iterate()] == ["2"]
