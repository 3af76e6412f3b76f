"""Where a client's files lie, and how they are written."""

import pytest
from core_worlds import write_file

from grove_core import HostContext


@pytest.fixture
def context(tmp_path):
    """Makes what an adapter is asked with: a project and a home, and what the test says."""
    environment = {"HOME": str(tmp_path / "home")}
    fields = {"root": tmp_path / "p", "environment": environment, "program": "/opt/my bin/grove"}
    return lambda **more: HostContext(**{**fields, **more})


@pytest.fixture
def install():
    """Writes what setup says; gives the file of the hooks."""

    def write(host, given):
        for file in host.setup(given).files:
            before = file.path.read_text() if file.path.exists() else ""
            write_file(file.path, file.put(before))
        return file.path

    return write
