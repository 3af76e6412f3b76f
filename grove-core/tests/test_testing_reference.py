"""The in-memory backend keeps the contract, with all it can do and with less."""

import pytest

from grove_core.model.memory import Capability
from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage


class TestEverything(BackendContract):
    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend(storage=storage)


class TestOneInstance(BackendContract):
    @pytest.fixture
    def open_backend(self):
        backend = InMemoryBackend()
        return lambda: backend


class TestNothingBesides(BackendContract):
    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("least", frozenset(), storage)


class TestListOnly(BackendContract):
    @pytest.fixture
    def open_backend(self):
        storage = InMemoryStorage()
        return lambda: InMemoryBackend("lists", frozenset({Capability.ITERATE}), storage)
