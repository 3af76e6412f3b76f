"""Learnings go to servers of every kind and come back; what a server only says is not believed.

The servers are those of `servers/fake_memory.py`, which behave as the real ones do, in this process.
"""

import json
from contextlib import suppress
from pathlib import Path

import fake_memory
import pytest
from attrs import evolve, frozen
from called import Called

from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.mappings.mapping import Delete, Search, ServerMapping, Update, Write
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.protocol.memory_server import Found, MemoryServer
from grove_backend_mcp.protocol.texts import values_of
from grove_backend_mcp.servers import FaultKind, ServerFaultError, ToolResult
from grove_core import LearningStatus, Query
from grove_core.testing.samples import SUBJECTS, TEXTS, example_learning, learning_id

PROJECT = "shop"
LEARNINGS = tuple(SUBJECTS.values())
ONE, OTHER = LEARNINGS[:2]
HOSTILE = [
    example_learning(100 + number, detail=each) for number, each in enumerate(TEXTS.values())
]
KINDS = [*fake_memory.KINDS]
UPDATING = ["graph", "columns", "notes"]


@frozen(kw_only=True)
class Double:
    """A server that runs, and the files it can be told by."""

    connection: Called
    memory: MemoryServer
    mapping: ServerMapping
    store: Path

    def told(self, **orders):
        self.store.with_suffix(".control").write_text(json.dumps(orders))

    def calls(self):
        lines = Path(f"{self.store}.calls").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def start(tmp_path):
    """Starts a server of some kind on the store that there is."""

    def start_one(kind):
        store = tmp_path / f"{kind}.json"
        connection = Called(fake_memory.Server(kind, store, store.with_suffix(".control")))
        tools = connection.tools()
        mapping = mapping_for(tools, connection.server_name)
        mapping = mapping if mapping.profile else recognise(tools, connection.server_name)
        memory = MemoryServer(connection, mapping, PROJECT)
        memory.prepare()
        return Double(connection=connection, memory=memory, mapping=mapping, store=store)

    return start_one


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stored_is_there_is_found_and_is_listed_whole(start, kind):
    everything = (*LEARNINGS, *HOSTILE)
    memory = start(kind).memory
    handles = {one.id: memory.store(one) for one in everything}
    double = start(kind)
    for one in everything:
        there = double.memory.holds(one.id, handles[one.id], one.summary)
        assert isinstance(there, Found), one.id
        assert (there.learning_id, there.project) == (one.id, PROJECT)
        assert there.learning == one
    missing = double.memory.holds(learning_id(999), learning_id(999), "Nothing of the kind")
    assert missing is None
    for one in LEARNINGS:
        query = Query(text=f'and "{one.summary}" (again*) NOT', ticket_title=one.detail)
        found = double.memory.search(query, 3)
        assert found[0].learning == one, [each.text for each in found]
        assert len(found) <= 3
    assert not double.memory.search(Query(text="of the and ?"), 5)
    listed = double.memory.listing()
    assert (listed is None) == (double.mapping.listing is None)
    if listed is not None:
        whole = double.memory.fetched(listed, most=50)
        assert {one.learning_id: one.learning for one in whole} == {
            one.id: one for one in everything
        }


@pytest.mark.parametrize("kind", KINDS)
def test_a_learning_is_replaced_and_removed_where_the_server_can(start, kind):
    archived = evolve(ONE, status=LearningStatus.ARCHIVED)
    memory = start(kind).memory
    handle, kept = memory.store(ONE), memory.store(OTHER)
    changed = kind in UPDATING
    memory.update(archived, handle)
    assert memory.holds(ONE.id, handle, ONE.summary).learning == (archived if changed else ONE)
    if changed:
        # From another machine, which only knows grove's own id.
        memory.update(ONE, ONE.id)
        assert memory.holds(ONE.id, handle, ONE.summary).learning == ONE
    # What can be changed can be removed, by these kinds.
    memory.delete(ONE.id, handle)
    assert (memory.holds(ONE.id, handle, ONE.summary) is None) == changed
    assert isinstance(memory.holds(OTHER.id, kept, OTHER.summary), Found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_is_lost_silently_is_noticed(start, kind):
    double = start(kind)
    double.told(lose=2)
    double.memory.store(ONE)
    with pytest.raises(ServerFaultError) as caught:
        double.memory.store(OTHER)
    assert caught.value.kind is FaultKind.NOT_STORED
    assert caught.value.is_unclear
    double.told()
    double.memory.store(OTHER)
    for one in (ONE, OTHER):
        assert isinstance(double.memory.holds(one.id, one.id, one.summary), Found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["soft", "refuse"])
def test_errors_are_seen_with_and_without_their_flag(start, kind, how):
    double = start(kind)
    double.told(**{how: "Error: the store is on fire"})
    with pytest.raises(ServerFaultError, match="the store is on fire") as caught:
        double.memory.store(ONE)
    assert caught.value.kind in (FaultKind.NOT_STORED, FaultKind.TOOL_FAILED)
    with pytest.raises(ServerFaultError) as caught:
        double.memory.search(Query(text="anything whatever"), 5)
    assert caught.value.kind is FaultKind.TOOL_FAILED


def result(*texts, structured=None):
    return ToolResult(structured=structured, texts=texts, is_error=False)


WRITES = Write(tool="w", arguments={"text": "{content}"}, items="$", handle="id")


class Shows:
    """A server that takes everything, and shows what it is told to whatever is asked."""

    def __init__(self, *texts, structured=None):
        self.result = result(*texts, structured=structured)
        self.called = []

    def call(self, tool, arguments):
        self.called.append((tool, arguments))
        return result("ok") if tool == "w" else self.result


SHOWN = ServerMapping(
    write=WRITES,
    search=Search(tool="s", arguments={"query": "{query}"}, query_mode="words"),
    update=Update(tool="u", arguments={"id": "{handle}", "text": "{content}"}),
    delete=Delete(tool="d", arguments={"id": "{handle}"}),
)

FOREIGN = {
    "label in prose": Shows(f"Minutes: we discussed grove:id:{ONE.id}, and its lock"),
    "mark in prose": Shows(f"somebody's note about it\n[grove:{ONE.id}]"),
    "block alone": Shows(f'a quote\ngrove-meta:v1 {{"v":1,"id":"{ONE.id}","h":"0"}}'),
    "tag of another": Shows(
        structured={"results": [{"id": "x", "text": "a note", "tags": [f"grove:id:{ONE.id}"]}]}
    ),
    "mark of another": Shows(
        structured={"results": [{"id": "x", "text": f"a note\n[grove:{ONE.id}]"}]}
    ),
}


@pytest.mark.parametrize("server", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_note_that_names_a_learning_is_no_proof_of_it_and_stays_as_it_is(server):
    memory = MemoryServer(server, SHOWN, PROJECT)
    server.called.clear()
    with pytest.raises(ServerFaultError) as caught:
        memory.store(ONE)
    assert caught.value.kind is FaultKind.NOT_STORED
    assert "w" in [tool for tool, _ in server.called]
    assert memory.holds(ONE.id, ONE.id, ONE.summary) is None
    server.called.clear()
    with suppress(ServerFaultError):
        memory.update(ONE, ONE.id)
    with suppress(ServerFaultError):
        memory.delete(ONE.id, ONE.id)
    assert "x" not in [arguments.get("id") for _, arguments in server.called]


VALUES = values_of(ONE, PROJECT)
ALTERED = {
    "cut": Shows(f"{ONE.summary[:50]}…\n[grove:{ONE.id}]"),
    "with a number": Shows(f"1. [39.6% match] **{ONE.summary}**\n[grove:{ONE.id}]"),
    "tags beside it": Shows(
        structured={"results": [{"text": ONE.summary.upper(), "tags": VALUES["labels"]}]}
    ),
    "rewritten, its metadata kept": Shows(
        structured={"results": [{"text": "Some other words", "metadata": VALUES["flat_metadata"]}]}
    ),
}


@pytest.mark.parametrize("server", ALTERED.values(), ids=ALTERED.keys())
def test_what_a_server_shows_altered_is_there(server):
    memory = MemoryServer(server, SHOWN, PROJECT)
    memory.store(ONE)
    assert isinstance(memory.holds(ONE.id, ONE.id, ONE.summary), Found)
