"""A team's set-up: one memory server over HTTP, which several people share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1] / "mcp" / "harness"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tickets" / "harness"))
sys.path.insert(0, str(Path(__file__).parents[1] / "postgres" / "harness"))
from real_servers import TEAM_SERVER
from running_servers import running


@pytest.fixture(scope="module")
def team_server(tmp_path_factory):
    """basic-memory, started for these tests; tests have projects of their own."""
    with running(TEAM_SERVER, tmp_path_factory.mktemp("team") / "server") as one:
        yield one
