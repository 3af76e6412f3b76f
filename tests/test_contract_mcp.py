"""The MCP backend keeps the contract of memory backends, whatever server there is, or none."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext
from grove_core.testing import BackendContract

FAKE = Path(__file__).parents[1] / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
MOST_OPEN = 12


class Opened:
    """Opens the backend, and ends the servers of those that were opened long ago."""

    def __init__(self, tmp_path, settings):
        root = tmp_path / "project"
        root.mkdir()
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        self.context = BackendContext(
            root=root, home=tmp_path / "home", environment=environment, settings=settings
        )
        self.backends = []

    def __call__(self):
        backend = McpBackend(self.context)
        self.backends.append(backend)
        if len(self.backends) > MOST_OPEN:
            close(self.backends.pop(0))
        return backend


def close(backend):
    # One that is asked again connects again.
    if backend._remote is not None:
        backend._remote.link.close()


@pytest.fixture
def opened(tmp_path):
    made = []

    def open_with(settings):
        made.append(Opened(tmp_path, settings))
        return made[0]

    yield open_with
    for backend in made[0].backends:
        close(backend)


def on_stdio(kind, tmp_path):
    control = tmp_path / "control.json"
    args = (str(FAKE), kind, str(tmp_path / "store.json"), "--control", str(control))
    return McpSettings(command=sys.executable, args=args)


class OnServer(BackendContract):
    """What all kinds have in common; the record cannot be written where a folder is in its place."""

    __test__ = False
    kind = ""

    @pytest.fixture
    def open_backend(self, opened, tmp_path):
        return opened(on_stdio(self.kind, tmp_path))

    @pytest.fixture
    def broken_backend(self, open_backend, tmp_path):
        (tmp_path / "project" / ".grove" / "mcp.jsonl").mkdir(parents=True)
        return open_backend

for K in os.environ.get("KINDS", "graph").split():
    globals()["Test"+K] = type("Test"+K, (OnServer,), {"kind": K, "__test__": True})
