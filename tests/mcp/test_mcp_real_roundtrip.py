"""Learnings go to real servers and come back: stored, found, fetched, listed, changed, deleted."""

import time
from contextlib import contextmanager

import pytest
from attrs import evolve, frozen
from sample_learnings import samples

from grove_backend_mcp.client import connect
from grove_backend_mcp.mappings.profiles import match_profile
from grove_backend_mcp.speaking.memory_server import UNKNOWN, MemoryServer
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
            profile = match_profile(connection.tools(), connection.server_name)
            memory = MemoryServer(connection, profile.mapping, self.name)
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
def shop(running_server, request):
    """Every test has learnings, words and a project of its own."""
    return Shop(running_server, f"shop-{request.node.originalname.replace('_', '-')}")


def test_a_real_server_is_told_by_its_name_and_its_tools(running_server, server):
    with connect(running_server.endpoint) as connection:
        profile = match_profile(connection.tools(), connection.server_name)
    assert profile is not None
    assert profile.name == server.profile


def test_what_is_stored_comes_back(shop):
    learnings = samples(1)
    with shop.memory() as memory:
        handles = {word: memory.store(learning) for word, learning in learnings.items()}
    assert all(handles.values())
    with shop.memory() as memory:
        for word, learning in learnings.items():
            if shop.server.finds:
                assert shop.is_found(memory, word, learning)
            there = memory.holds(learning.id, handles[word], learning.summary)
            assert there.learning_id == learning.id
            assert there.learning == learning
            assert there.project == shop.name
        listed = memory.listing()
        assert (listed is not None) == shop.server.lists
        if shop.server.lists:
            # What a list cuts short is fetched one by one.
            everything = shop.of_ours(memory.fetched(listed, len(learnings)))
            for learning in learnings.values():
                assert everything[learning.id].learning == learning


def test_storing_again_leaves_one(shop):
    word, learning = next(iter(samples(2).items()))
    with shop.memory() as memory:
        handle = memory.store(learning)
        assert memory.store(learning, look_first=True) == handle
        if shop.server.finds:
            assert shop.is_found(memory, word, learning)


def test_what_is_archived_comes_back_archived(shop):
    word, learning = list(samples(3).items())[6]
    archived = evolve(learning, status=LearningStatus.ARCHIVED)
    updates = shop.server.updates
    with shop.memory() as memory:
        handle = memory.store(learning)
        assert memory.update(archived, handle) == updates
    with shop.memory() as memory:
        there = memory.holds(learning.id, handle, learning.summary)
        assert there.learning == (archived if updates else learning)
        if shop.server.finds:
            assert shop.is_found(memory, word, learning)
        # And back.
        assert memory.update(learning, handle) == updates
        assert memory.holds(learning.id, handle, learning.summary).learning == learning


def test_what_is_deleted_is_gone(shop):
    (word, learning), (other_word, other) = list(samples(4).items())[:2]
    with shop.memory() as memory:
        handle, other_handle = memory.store(learning), memory.store(other)
        assert memory.delete(learning.id, handle) == shop.server.deletes
    with shop.memory() as memory:
        if shop.server.deletes:
            assert memory.holds(learning.id, handle, learning.summary) in {None, UNKNOWN}
            if shop.server.finds:
                assert not shop.is_found(memory, word, learning, expected=False)
        assert memory.holds(other.id, other_handle, other.summary).learning == other
        if shop.server.finds:
            assert shop.is_found(memory, other_word, other)


def test_nothing_is_found_where_nothing_is(shop):
    word, learning = next(iter(samples(5).items()))
    with shop.memory() as memory:
        if shop.server.finds:
            assert not shop.is_found(memory, word, learning, expected=False)
        assert memory.holds(learning.id, learning.id, learning.summary) in {None, UNKNOWN}
        if shop.server.lists:
            assert [one for one in memory.listing() if one.project == shop.name] == []
