"""The in-memory backend keeps the contract, with all it can do and with less; so do those in files."""

import pytest
from broken_backends import InFile, WithServer

from grove_core.model.memory import Capability
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage


class InMemory(BackendContract):
    shared_between_processes = False
    capabilities = InMemoryBackend().capabilities

    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("memory", self.capabilities, storage)


class TestEverything(InMemory):
    pass


class TestNothingBesides(InMemory):
    capabilities = frozenset()


class TestListOnly(InMemory):
    capabilities = frozenset({Capability.ITERATE})


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
