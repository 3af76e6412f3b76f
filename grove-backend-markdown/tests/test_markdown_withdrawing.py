"""What was only lent goes again, and nobody's bytes with it."""

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_core import BackendContext, StorageLayout


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


def test_its_own_file_goes_with_it(tmp_path, make_learning):
    context = BackendContext(root=tmp_path, home=tmp_path / "h", layout=StorageLayout.SPREAD)
    backend = MarkdownBackend(context)
    learning, other = make_learning(), make_learning(id="cl_20260206_other2")
    backend.write(learning)
    backend.write(other)
    assert backend.withdraw(learning)
    assert not backend.withdraw(learning)
    assert [path.name for path in (tmp_path / ".grove/learnings").iterdir()] == [f"{other.id}.md"]
