"""The in-memory backend keeps the contract, with all it can do and with less; so do those in files."""

import pytest

from grove_core.model.memory import Capability
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage
from grove_core.testing.broken.in_file import InFile
from grove_core.testing.broken.with_server import WithServer


class TestEverything(BackendContract):
    shared_between_processes = False

    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend(storage=storage)


class TestOneInstance(BackendContract):
    shared_between_processes = False

    @pytest.fixture
    def open_backend(self):
        backend = InMemoryBackend()
        return lambda: backend


class TestNothingBesides(BackendContract):
    shared_between_processes = False

    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("least", frozenset(), storage)


class TestListOnly(BackendContract):
    shared_between_processes = False

    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("lists", frozenset({Capability.ITERATE}), storage)


class TestInFile(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: InFile(tmp_path / "shelf.json")

    @pytest.fixture
    def broken_backend(self, tmp_path):
        return lambda: InFile(tmp_path)


class TestWithServer(BackendContract):
    @pytest.fixture
    def open_backend(self, tmp_path):
        return lambda: WithServer(tmp_path)

    @pytest.fixture
    def broken_backend(self, tmp_path):
        (tmp_path / "kept.json").mkdir()
        return lambda: WithServer(tmp_path)
