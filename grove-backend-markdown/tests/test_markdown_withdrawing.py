"""What was only lent goes again, and nobody's bytes with it."""

import fcntl
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_backend_markdown.format import format_entry
from grove_core import BackendContext, BackendError, LearningStatus, StorageLayout


@pytest.fixture
def backend(tmp_path):
    return MarkdownBackend(BackendContext(root=tmp_path, home=tmp_path / "home"))


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".grove" / "learnings.md"


BESIDE = ["", "# Ours\n\nWritten by hand.\n", "no newline at the end", "blank lines\n\n\n", "\n"]


@pytest.mark.parametrize("before", BESIDE)
@pytest.mark.parametrize("after", BESIDE)
def test_what_stands_around_it_survives(backend, file, make_learning, before, after):
    file.parent.mkdir()
    file.write_text(before)
    learning = make_learning()
    backend.write(learning)
    with file.open("a") as opened:
        opened.write(f"\n{after}")
    assert backend.withdraw(learning)
    assert backend.get(learning.id) is None
    left = file.read_text()
    assert left.startswith(before)
    assert left.endswith(f"\n{after}")


def test_what_somebody_has_worked_on_stays(backend, file, make_learning):
    learning = make_learning()
    backend.write(learning)
    edited = file.read_text() + "> and one more line\n"
    file.write_text(edited)
    assert not backend.withdraw(learning)
    assert file.read_text() == edited


@pytest.mark.parametrize("layout", StorageLayout)
def test_a_note_of_its_status_is_groves_own_doing(tmp_path, make_learning, layout):
    backend = MarkdownBackend(BackendContext(root=tmp_path, home=tmp_path / "h", layout=layout))
    learning = make_learning(detail="- **Status:** archived (not this one)")
    backend.write(learning)
    archived = backend.set_status(learning.id, LearningStatus.ARCHIVED, "by hand (2026-02-06)")
    assert not backend.withdraw(learning)
    assert backend.withdraw(archived)
    assert backend.get(learning.id) is None


def test_what_others_write_at_the_same_time_survives(backend, file, make_learning):
    """The file holds nothing but what is taken out, and no title: it must stay nevertheless."""
    learning = make_learning()
    others = [make_learning(id=f"cl_20260206_other{number}") for number in range(4)]
    file.parent.mkdir()
    file.write_text(format_entry(learning))
    writers = [MarkdownBackend(BackendContext(root=file.parents[1], home=file)) for _ in others]
    with ThreadPoolExecutor(len(others) + 1) as pool, file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        tasks = [pool.submit(backend.withdraw, learning)]
        tasks += [pool.submit(one.write, other) for one, other in zip(writers, others, strict=True)]
        time.sleep(0.1)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert all(task.result() for task in tasks)
    assert sorted(one.id for one in backend.iterate()) == [one.id for one in others]


def test_a_link_out_of_the_project_is_not_followed(tmp_path, make_learning):
    project, outside = tmp_path / "project", tmp_path / "out.md"
    learning = make_learning()
    outside.write_text(format_entry(learning))
    for name in ("learnings.md", f"learnings/{learning.id}.md"):
        link = project / ".grove" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside)
        with pytest.raises(BackendError, match="outside"):
            MarkdownBackend(BackendContext(root=project, home=tmp_path)).withdraw(learning)
        assert link.is_symlink()
        link.unlink()
    assert outside.read_text() == format_entry(learning)


def test_its_own_file_goes_with_it(tmp_path, make_learning):
    context = BackendContext(root=tmp_path, home=tmp_path / "h", layout=StorageLayout.SPREAD)
    backend = MarkdownBackend(context)
    learning, other = make_learning(), make_learning(id="cl_20260206_other2")
    backend.write(learning)
    backend.write(other)
    assert backend.withdraw(learning)
    assert not backend.withdraw(learning)
    assert [path.name for path in (tmp_path / ".grove/learnings").iterdir()] == [f"{other.id}.md"]
