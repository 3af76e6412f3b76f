"""Learnings go to real servers and come back: stored, found, fetched, listed, changed, deleted."""

import time
from contextlib import contextmanager

import pytest
from attrs import evolve, frozen
from sample_learnings import samples

from grove_backend_mcp.client import connect
from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.protocol.memory_server import UNKNOWN, MemoryServer
from grove_core import LearningStatus, Query


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
