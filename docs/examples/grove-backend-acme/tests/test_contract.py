"""It keeps the rules of grove: `help(grove_core.testing.BackendContract)`."""

from collections.abc import Callable
from pathlib import Path

import grove_core as grove
import pytest
from grove_core.testing import BackendContract, PluginContract

from grove_backend_acme.backend import FILE, JsonLinesBackend

Opener = Callable[[], JsonLinesBackend]


class TestPlugin(PluginContract):
    plugin = "grove_backend_acme"


class TestBackend(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path: Path) -> Opener:
        context = grove.BackendContext(root=tmp_path, home=tmp_path / "home")
        return lambda: JsonLinesBackend(context)

    @pytest.fixture
    def broken_backend(self, tmp_path: Path, open_backend: Opener) -> Opener:
        """Something that cannot be written is in the place of the file."""
        (tmp_path / FILE).mkdir(parents=True)
        return open_backend
