"""The backend keeps the contract of memory backends on a real server."""

from uuid import uuid4

import pytest

from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.plugin import PostgresSettings
from grove_core import BackendContext
from grove_core.testing import BackendContract


@pytest.fixture(scope="module")
def shared(server):
    """A database that the tests of this module share, with a project of its own for each."""
    return server.database()


class TestOwner(BackendContract):
    """The role that owns the tables."""

    @pytest.fixture
    def open_backend(self, shared, tmp_path):
        settings = PostgresSettings(url=shared.url, project=f"contract-{uuid4().hex[:12]}")
        context = BackendContext(root=tmp_path, home=tmp_path / "home", settings=settings)
        return lambda: PostgresBackend(context)

    @pytest.fixture
    def broken_backend(self, open_backend):
        """A folder stands where what waits is to be written."""
        open_backend()._paths.outbox.mkdir(parents=True)
        return open_backend
