"""The contract of memory backends on real servers, over both transports.

Each test starts a server of its own, or has one that others use as well, under a project's name of its
own.
"""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
from real_servers import SERVERS
from running_servers import running

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext
from grove_core.testing import BackendContract
from grove_core.testing.rules.news import SynchronisingRules
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.sharing import ConcurrencyRules
from grove_core.testing.rules.storing import ListingRules, WritingRules

BY_LABEL = {one.label: one for one in SERVERS}


def settings_of(one):
    """How the configuration describes a server, with a project that nobody else has there."""
    entry, project = one.entry, f"contract-{uuid4().hex[:12]}"
    if one.server.over_http:
        return McpSettings(url=entry["url"], project=project)
    return McpSettings(
        command=entry["command"], args=tuple(entry["args"]), env=entry["env"], project=project
    )


class OnRealServer:
    """One server; a class for each names it."""

    label = ""

    @pytest.fixture
    def used_server(self, shared_servers, tmp_path) -> Iterator[object]:
        server = BY_LABEL[self.label]
        if server.over_http:
            yield shared_servers(server)
        else:
            with running(server, tmp_path / "server") as one:
                yield one

    @pytest.fixture
    def open_backend(self, used_server, tmp_path):
        root, opened = tmp_path / "project", []
        root.mkdir()
        context = BackendContext(
            root=root,
            home=tmp_path / "home",
            environment={"PATH": os.environ["PATH"], "HOME": str(used_server.home)},
            settings=settings_of(used_server),
        )

        def open_one():
            opened.append(McpBackend(context))
            return opened[-1]

        yield open_one
        for backend in opened:
            backend._remote.connection.close()


class TestServerMemory(
    OnRealServer, WritingRules, SearchingRules, ListingRules, SynchronisingRules, ConcurrencyRules
):
    """Without the rules that are tried with any learnings: each example would start the server."""

    label = "server-memory"


class TestMemoryService(OnRealServer, BackendContract):
    label = "mcp-memory-service over HTTP"
