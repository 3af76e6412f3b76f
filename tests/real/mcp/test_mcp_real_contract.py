"""Real servers: the contract of backends, round trips of learnings, and the probe."""

import json
import os
import time
from contextlib import contextmanager
from uuid import uuid4

import pytest
from attrs import evolve, frozen
from real_servers import SERVERS
from sample_learnings import samples

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.client import connect
from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.protocol.memory_server import UNKNOWN, MemoryServer
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, LearningStatus, Query
from grove_core.testing import BackendContract
from grove_core.testing.rules.news import SynchronisingRules
from grove_core.testing.rules.searching import SearchingRules
from grove_core.testing.rules.sharing import ConcurrencyRules
from grove_core.testing.rules.storing import ListingRules, WritingRules


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
    def server(self):
        return next(one for one in SERVERS if one.label == self.label)

    @pytest.fixture
    def open_backend(self, running_server, tmp_path):
        root, opened = tmp_path / "project", []
        root.mkdir()
        context = BackendContext(
            root=root,
            home=tmp_path / "home",
            environment={"PATH": os.environ["PATH"], "HOME": str(running_server.home)},
            settings=settings_of(running_server),
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


@frozen
class Shop:
    """A project whose learnings lie on a real server, which others may share."""

    running: object
    name: str

    @contextmanager
    def memory(self):
        """A process of its own of a server over stdio, else a session of its own."""
        with connect(self.running.endpoint) as connection:
            mapping = mapping_for(connection.tools(), connection.server_name)
            assert mapping.profile == self.server.profile
            memory = MemoryServer(connection, mapping, self.name)
            memory.prepare()
            yield memory

    @property
    def server(self):
        return self.running.server

    def of_ours(self, found):
        """What of the results is grove's, by id; nothing may be there twice."""
        ids = [one.learning_id for one in found if one.learning_id is not None]
        assert len(ids) == len(set(ids))
        return {one.learning_id: one for one in found if one.learning_id is not None}

    def is_found(self, memory, word, learning, *, expected=True):
        """Whether it is found by its word, which some servers can tell only after a while."""
        until = time.monotonic() + self.server.patience
        while True:
            ids = self.of_ours(memory.search(Query(text=word), 5))
            if (learning.id in ids) is expected or time.monotonic() > until:
                return learning.id in ids
            time.sleep(0.1)


@pytest.fixture
def shop(running_server):
    return Shop(running_server, "shop-of-round-trips")


def test_learnings_come_back_as_they_were_and_are_changed_and_removed(shop):
    server, learnings = shop.server, samples(1)
    (word, learning), (other_word, other) = list(learnings.items())[6:8]
    archived = evolve(learning, status=LearningStatus.ARCHIVED)
    with shop.memory() as memory:
        if server.finds:
            assert not shop.is_found(memory, word, learning, expected=False)
        assert memory.holds(learning.id, learning.id, learning.summary) in {None, UNKNOWN}
        handles = {word: memory.store(learning) for word, learning in learnings.items()}
        assert all(handles.values())
    with shop.memory() as memory:
        for each, one in learnings.items():
            if server.finds:
                assert shop.is_found(memory, each, one)
            there = memory.holds(one.id, handles[each], one.summary)
            assert (there.learning_id, there.project) == (one.id, shop.name)
            assert there.learning == one
        listed = memory.listing()
        assert (listed is not None) == server.lists
        if server.lists:
            # What a list cuts short is fetched one by one.
            everything = shop.of_ours(memory.fetched(listed, len(learnings)))
            for one in learnings.values():
                assert everything[one.id].learning == one

        for status in (archived, learning):
            memory.update(status, handles[word])
            there = memory.holds(learning.id, handles[word], learning.summary)
            assert there.learning == (status if server.updates else learning)
        if server.finds:
            assert shop.is_found(memory, word, learning)

        memory.delete(learning.id, handles[word])
        if server.deletes:
            there = memory.holds(learning.id, handles[word], learning.summary)
            assert there in {None, UNKNOWN}
            if server.finds:
                assert not shop.is_found(memory, word, learning, expected=False)
        assert memory.holds(other.id, handles[other_word], other.summary).learning == other


NAME = "team-memory"


def test_a_probe_tells_what_a_real_server_can_do(world, running_server, server):
    world.initialise()
    # The server's own data; a session of the client would change it, too.
    world.lent.append(running_server.home.parent)
    registered = {"mcpServers": {NAME: running_server.entry}}
    (world.home / ".claude").mkdir()
    (world.home / ".claude" / ".claude.json").write_text(json.dumps(registered))
    done = world.grove("backends", "mcp", "probe", NAME, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert done.json["profile"] == server.profile
    # What a server has no tool for is no failure, and told from what works.
    outcomes = {step["name"]: step["ok"] for step in done.json["steps"]}
    assert outcomes.pop("setup", True) is True
    assert outcomes == {
        "write": True,
        "search": server.finds or None,
        "update": server.updates or None,
        "delete": server.deletes or None,
    }
