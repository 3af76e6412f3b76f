"""The markdown backend keeps the contract of memory backends, in every layout and area."""

import pytest

from grove_backend_markdown.backend import MarkdownBackend
from grove_core import Area, BackendContext, StorageLayout
from grove_core.testing import BackendContract


def opener(tmp_path, **fields):
    root = tmp_path / "project"
    root.mkdir()
    context = BackendContext(root=root, home=tmp_path / "home", **fields)
    return lambda: MarkdownBackend(context)


class TestSingle(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, layout=StorageLayout.SINGLE)


class TestSpread(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, layout=StorageLayout.SPREAD)


class TestPersonal(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return opener(tmp_path, area=Area.PERSONAL)
