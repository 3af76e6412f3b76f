"""The backend keeps the contract of memory backends where no database answers.

That of a database that does is in tests/real/postgres.
"""

import socket

import pytest

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import BackendContext
from grove_core.testing import BackendContract


@pytest.fixture
def closed_port():
    """A port of this machine that nobody answers at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


class TestUnreachable(BackendContract):
    """Everything waits, and is found meanwhile."""

    @pytest.fixture
    def open_backend(self, tmp_path, closed_port):
        settings = PostgresSettings(
            url=f"postgresql://grove@127.0.0.1:{closed_port}/team", project="shop"
        )
        context = BackendContext(root=tmp_path, home=tmp_path / "home", settings=settings)
        return lambda: PostgresBackend(context)

    @pytest.fixture
    def broken_backend(self, open_backend):
        """A folder stands where what waits is to be written."""
        open_backend()._paths.outbox.mkdir(parents=True)
        return open_backend
