"""The markdown backend keeps the contract of memory backends, in every layout and area."""

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_core import Area, BackendContext, StorageError, StorageLayout
from grove_core.testing import BackendContract
from grove_core.testing.samples import example_learning


def opener(tmp_path, **fields):
    root = tmp_path / "project"
    root.mkdir()
    context = BackendContext(root=root, home=tmp_path / "home", **fields)
    return lambda: MarkdownBackend(context)


class TestSingle(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, layout=StorageLayout.SINGLE)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        opened = opener(tmp_path, layout=StorageLayout.SINGLE)
        (tmp_path / "project" / ".grove" / "learnings.md").mkdir(parents=True)
        return opened


class TestSpread(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, layout=StorageLayout.SPREAD)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        opened = opener(tmp_path, layout=StorageLayout.SPREAD)
        (tmp_path / "project" / ".grove").mkdir()
        (tmp_path / "project" / ".grove" / "learnings").write_text("no folder")
        return opened


class TestPersonal(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, area=Area.PERSONAL)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        opened = opener(tmp_path, area=Area.PERSONAL)
        (tmp_path / "home").write_text("no folder")
        return opened


@pytest.mark.parametrize(
    ("layout", "name"),
    [
        (StorageLayout.SINGLE, ".grove"),
        (StorageLayout.SINGLE, ".grove/learnings.md"),
        (StorageLayout.SPREAD, ".grove"),
        (StorageLayout.SPREAD, ".grove/learnings"),
    ],
)
def test_nothing_is_written_through_links_out_of_the_project(layout, name, tmp_path):
    opened, outside = opener(tmp_path, layout=layout), tmp_path / "outside"
    link = tmp_path / "project" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    if not link.suffix:
        outside.mkdir()
    with pytest.raises(StorageError, match="outside of"):
        opened().write(example_learning())
    assert not (any(outside.iterdir()) if outside.is_dir() else outside.exists())
