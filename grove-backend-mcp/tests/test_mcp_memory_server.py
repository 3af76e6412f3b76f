"""Learnings go to servers of every kind and come back; what a server only says is not believed.

The servers are those of tests/servers/fake_memory.py, which behave as the real ones do; where nothing
depends on its being a process, one is called in this one.
"""

import importlib.util
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from attrs import evolve, frozen

from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.mapping import (
    Operation,
    QueryMode,
    Reading,
    ServerMapping,
    TextForm,
)
from grove_backend_mcp.mappings.profiles import match_profile
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.servers import Endpoint, Transport
from grove_backend_mcp.speaking.memory_server import UNKNOWN, Found, MemoryServer
from grove_backend_mcp.speaking.texts import values_of
from grove_backend_mcp.tools import ToolResult, tool_from
from grove_core import LearningStatus, Query
from grove_core.testing.samples import SUBJECTS, TEXTS, example_learning, learning_id

DOUBLE = Path(__file__).parent / "servers" / "fake_memory.py"
PROJECT = "shop"
LIMITS = Limits(connect_seconds=10.0, call_seconds=10.0, closing_seconds=0.2)
LEARNINGS = tuple(SUBJECTS.values())
HOSTILE = [
    example_learning(100 + number, detail=each) for number, each in enumerate(TEXTS.values())
]
KNOWN = ["graph", "words", "text", "append", "columns", "tags", "notes", "bank"]
UNKNOWN_KINDS = ["thoughts", "prose"]
SEARCHING = [kind for kind in KNOWN + UNKNOWN_KINDS if kind != "bank"]
UPDATING = ["graph", "words", "text", "columns", "tags", "notes", "bank"]
DELETING = ["graph", "words", "columns", "tags", "notes"]


@frozen(kw_only=True)
class Double:
    """A server that runs, and the files it can be told by."""

    memory: MemoryServer
    mapping: ServerMapping
    store: Path
    control: Path

    def told(self, **orders):
        self.control.write_text(json.dumps(orders))

    def calls(self):
        lines = Path(f"{self.store}.calls").read_text().splitlines()
        return [json.loads(line) for line in lines]


class Called:
    """A connection to a server in this process."""

    def __init__(self, server):
        self.server = server
        self.server_name = server.name

    def tools(self):
        return [tool_from(one) for one in self.asked("tools/list")["tools"]]

    def call(self, tool, arguments):
        result = self.asked("tools/call", {"name": tool, "arguments": arguments})
        return ToolResult(
            structured=result.get("structuredContent"),
            texts=tuple(one["text"] for one in result["content"]),
            is_error=result.get("isError", False),
        )

    def asked(self, method, params=None):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return json.loads(json.dumps(self.server.answer(json.loads(json.dumps(message)))))["result"]


def double_on(connection, store, mapping=None):
    tools = connection.tools()
    profile = match_profile(tools, connection.server_name)
    used = mapping or (profile.mapping if profile else recognise(tools, connection.server_name))
    memory = MemoryServer(connection, used, PROJECT)
    memory.prepare()
    return Double(memory=memory, mapping=used, store=store, control=store.with_suffix(".control"))


@pytest.fixture(scope="module")
def fake_memory():
    spec = importlib.util.spec_from_file_location("fake_memory_double", DOUBLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def start(tmp_path, fake_memory):
    def start_here(kind, mapping=None):
        store = tmp_path / f"{kind}.json"
        server = fake_memory.Server(kind, store, store.with_suffix(".control"))
        return double_on(Called(server), store, mapping)

    return start_here


@contextmanager
def process(kind, folder, *options):
    store = folder / f"{kind}.json"
    words = (sys.executable, str(DOUBLE), kind, str(store), *options)
    endpoint = Endpoint(
        name=kind,
        transport=Transport.STDIO,
        words=words,
        environment=dict(os.environ),
        cwd=str(folder),
    )
    with connect(endpoint, LIMITS) as connection:
        yield double_on(connection, store)


@pytest.mark.parametrize("kind", KNOWN + UNKNOWN_KINDS)
def test_what_is_stored_is_there(tmp_path, kind):
    with process(kind, tmp_path) as double:
        handles = {one.id: double.memory.store(one) for one in (*LEARNINGS, *HOSTILE)}
    with process(kind, tmp_path) as double:
        for one in (*LEARNINGS, *HOSTILE):
            there = double.memory.holds(one.id, handles[one.id], one.summary)
            assert isinstance(there, Found), one.id
            assert (there.learning_id, there.project) == (one.id, PROJECT)
            assert there.learning == one
        missing = double.memory.holds(learning_id(999), learning_id(999), "Nothing of the kind")
        assert missing is None


@pytest.mark.parametrize("kind", SEARCHING)
def test_what_is_looked_for_is_found_whole(start, kind):
    double = start(kind)
    for one in LEARNINGS:
        double.memory.store(one)
    for one in LEARNINGS:
        query = Query(text=f'and "{one.summary}" (again*) NOT', ticket_title=one.detail)
        found = double.memory.search(query, 3)
        assert found[0].learning == one, [each.text for each in found]
        assert len(found) <= 3
        assert all(each.relevance is None or 0 <= each.relevance <= 1 for each in found)
    assert not double.memory.search(Query(text="of the and ?"), 5)


@pytest.mark.parametrize("kind", KNOWN + UNKNOWN_KINDS)
def test_what_can_be_listed_is_listed_whole(start, kind):
    double = start(kind)
    for one in LEARNINGS:
        double.memory.store(one)
    listed = double.memory.listing()
    assert (listed is None) == (double.mapping.listing is None)
    if listed is not None:
        whole = double.memory.fetched(listed, most=50)
        assert {one.learning_id: one.learning for one in whole} == {
            one.id: one for one in LEARNINGS
        }


@pytest.mark.parametrize("kind", KNOWN)
def test_a_learning_is_replaced_where_the_server_can(start, kind):
    one, other = LEARNINGS[:2]
    archived = evolve(one, status=LearningStatus.ARCHIVED)
    double = start(kind)
    handle = double.memory.store(one)
    double.memory.store(other)
    changed = double.memory.update(archived, handle)
    assert changed == (kind in UPDATING)
    there = double.memory.holds(one.id, handle, one.summary)
    assert isinstance(there, Found)
    assert there.learning == (archived if changed else one)
    if changed:
        # From another machine, which only knows grove's own id.
        assert double.memory.update(one, one.id)
        assert double.memory.holds(one.id, handle, one.summary).learning == one


@pytest.mark.parametrize("kind", KNOWN)
def test_a_learning_is_removed_where_the_server_can(start, kind):
    one, other = LEARNINGS[:2]
    double = start(kind)
    handle = double.memory.store(one)
    kept = double.memory.store(other)
    assert double.memory.delete(one.id, handle) == (kind in DELETING)
    there = double.memory.holds(one.id, handle, one.summary)
    assert (there is None) == (kind in DELETING)
    assert isinstance(double.memory.holds(other.id, kept, other.summary), Found)


@pytest.mark.parametrize("kind", KNOWN + UNKNOWN_KINDS)
def test_who_looks_first_stores_once(start, kind):
    one = LEARNINGS[0]
    double = start(kind)
    handle = double.memory.store(one, look_first=True)
    before = double.store.read_text()
    assert double.memory.store(one, look_first=True) == handle
    assert double.store.read_text() == before


@pytest.mark.parametrize("kind", KNOWN + UNKNOWN_KINDS)
def test_a_write_that_is_lost_silently_is_noticed(start, kind):
    double = start(kind)
    double.told(lose=2)
    double.memory.store(LEARNINGS[0])
    with pytest.raises(ServerFaultError) as caught:
        double.memory.store(LEARNINGS[1])
    assert caught.value.kind is FaultKind.NOT_STORED
    assert caught.value.is_unclear
    double.memory.store(LEARNINGS[1], look_first=True)
    double.told()
    for one in LEARNINGS[:2]:
        assert isinstance(double.memory.holds(one.id, one.id, one.summary), Found)


@pytest.mark.parametrize("kind", KNOWN + UNKNOWN_KINDS)
@pytest.mark.parametrize("how", ["soft", "refuse"])
def test_errors_are_seen_with_and_without_their_flag(start, kind, how):
    double = start(kind)
    double.told(**{how: "Error: the store is on fire"})
    with pytest.raises(ServerFaultError) as caught:
        double.memory.store(LEARNINGS[0])
    assert caught.value.kind in (FaultKind.NOT_STORED, FaultKind.TOOL_FAILED)
    assert "the store is on fire" in caught.value.detail
    if double.mapping.search is not None:
        with pytest.raises(ServerFaultError) as caught:
            double.memory.search(Query(text="anything whatever"), 5)
        assert caught.value.kind is FaultKind.TOOL_FAILED


def test_a_refused_write_of_what_is_there_is_fine(start):
    double = start("columns")
    assert double.memory.store(LEARNINGS[0]) == LEARNINGS[0].id
    assert double.memory.store(LEARNINGS[0]) == LEARNINGS[0].id


def test_what_is_alike_is_stored_all_the_same(start):
    double = start("tags")
    handles = set()
    for number in range(5):
        handles.add(double.memory.store(example_learning(number)))
    assert len(handles) == 5


CUT = ServerMapping(
    write=Operation(tool="context_save", arguments={"key": "{id}", "value": "{content}"}),
    search=Operation(tool="context_search", arguments={"query": "{query}"}),
    get=Operation(tool="context_get", arguments={"key": "{handle}"}),
    query_mode=QueryMode.WORDS,
    found=Reading(
        separator=r"\n\n(?=• \[)",
        handle_pattern=r"^(?:• )?\[normal\] (\S+) \(|^• \[normal\] (\S+) \(",
    ),
    got=Reading(items="$.items[*]", text="value", handle="key"),
)


def test_what_a_search_cuts_is_fetched(start):
    double = start("text", CUT)
    for one in LEARNINGS:
        double.memory.store(one)
    found = double.memory.search(Query(text=LEARNINGS[2].summary), 5)
    assert found[0].learning == LEARNINGS[2]
    tools = [call["tool"] for call in double.calls()]
    assert tools[-1] == "context_get"


def test_without_any_way_to_look_the_server_is_believed(start):
    mapping = ServerMapping(
        write=Operation(tool="remember", arguments={"content": "{content}"}),
        text_form=TextForm.FULL,
    )
    double = start("prose", mapping)
    assert double.memory.store(LEARNINGS[0]) == LEARNINGS[0].id
    assert double.memory.holds(LEARNINGS[0].id, "") is UNKNOWN
    assert double.memory.listing() is None
    assert not double.memory.update(LEARNINGS[0], "")
    assert not double.memory.delete(LEARNINGS[0].id, "")
    with pytest.raises(ServerFaultError) as caught:
        double.memory.search(Query(text="words"), 5)
    assert caught.value.kind is FaultKind.UNSUITABLE


def test_by_meaning_alone_nobody_can_tell_that_an_id_is_missing(start):
    double = start("append")
    double.memory.store(LEARNINGS[0])
    assert double.memory.holds(learning_id(999), "") is UNKNOWN
    assert double.memory.holds(learning_id(999), "", "Some other summary") is None


def test_notes_of_others_are_found_and_told_apart(start):
    double = start("graph")
    double.memory.store(LEARNINGS[0])
    double.store.write_text(
        json.dumps(
            {
                "entities": {
                    **json.loads(double.store.read_text())["entities"],
                    "Ada": {
                        "name": "Ada",
                        "entityType": "person",
                        "observations": [
                            "Ada wrote the migrations",
                            "She likes kerosene lamps",
                        ],
                    },
                }
            }
        )
    )
    found = double.memory.search(Query(text="migrations with kerosene"), 5)
    assert {(one.learning_id, one.handle) for one in found} == {
        (LEARNINGS[0].id, LEARNINGS[0].id),
        (None, "Ada"),
    }
    ada = next(one for one in found if one.learning_id is None)
    assert ada.text == "Ada wrote the migrations\nShe likes kerosene lamps"


def test_learnings_of_another_project_say_so(start):
    double = start("append")
    double.memory.store(LEARNINGS[0])
    connection = double.memory._lookup._connection
    elsewhere = MemoryServer(connection, double.mapping, "elsewhere")
    found = elsewhere.search(Query(text=LEARNINGS[0].summary), 5)
    assert [(one.learning, one.project) for one in found] == [(LEARNINGS[0], PROJECT)]


def test_no_server_is_sent_more_than_words(start):
    double = start("words")
    double.memory.store(LEARNINGS[0])
    double.memory.search(
        Query(text='"quoted" AND (x OR kerosene*) -minus:', error_signature="E: [Errno 2] a/b.c"),
        5,
    )
    sent = [call["arguments"]["query"] for call in double.calls() if "query" in call["arguments"]]
    assert all(one.replace("_", "").replace(" ", "").isalnum() for one in sent)
    assert len(sent) <= 1 + 6


class ChangingIds:
    """A server that gives what is updated another id, as mnemo does."""

    def __init__(self):
        self.texts = {}
        self.count = 0

    def call(self, tool, arguments):
        if tool == "search":
            found = [{"id": key, "content": value} for key, value in self.texts.items()]
            return ToolResult(structured={"results": found}, texts=(), is_error=False)
        if tool == "update" and self.texts.pop(arguments["id"], None) is None:
            return ToolResult(structured=None, texts=("Memory not found",), is_error=False)
        self.count += 1
        self.texts[f"m-{self.count}"] = arguments["content"]
        answer = json.dumps({"status": "saved", "id": f"m-{self.count}"})
        return ToolResult(structured=None, texts=(answer,), is_error=False)


def test_an_id_that_changes_is_found_again():
    mapping = ServerMapping(
        write=Operation(tool="add", arguments={"content": "{content}"}),
        search=Operation(tool="search", arguments={"query": "{query}"}),
        update=(Operation(tool="update", arguments={"id": "{handle}", "content": "{content}"}),),
        handle=Reading(items="$", handle="id"),
        found=Reading(items="$.results[*]", text="content", handle="id"),
    )
    server = ChangingIds()
    memory = MemoryServer(server, mapping, PROJECT)
    one = LEARNINGS[0]
    handle = memory.store(one)
    for status in (LearningStatus.ARCHIVED, LearningStatus.ACTIVE, LearningStatus.SUPERSEDED):
        assert memory.update(evolve(one, status=status), handle)
        assert memory.holds(one.id, handle, one.summary).learning.status is status
    assert len(server.texts) == 1


class Shows:
    """A server that takes everything, and shows what it is told to whatever is asked."""

    def __init__(self, *texts, structured=None):
        self.result = ToolResult(structured=structured, texts=texts, is_error=False)
        self.called = []

    def call(self, tool, arguments):
        self.called.append((tool, arguments))
        return (
            ToolResult(structured=None, texts=("ok",), is_error=False)
            if tool == "w"
            else self.result
        )


SHOWN = ServerMapping(
    write=Operation(tool="w", arguments={"text": "{content}"}),
    search=Operation(tool="s", arguments={"query": "{query}"}),
    update=(Operation(tool="u", arguments={"id": "{handle}", "text": "{content}"}),),
    delete=Operation(tool="d", arguments={"id": "{handle}"}),
    handle=Reading(items="$", handle="id"),
    query_mode=QueryMode.WORDS,
)
ONE = LEARNINGS[0]
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
def test_a_note_that_names_a_learning_is_no_proof_of_it(server):
    memory = MemoryServer(server, SHOWN, PROJECT)
    for look_first in (True, False):
        server.called.clear()
        with pytest.raises(ServerFaultError) as caught:
            memory.store(ONE, look_first=look_first)
        assert caught.value.kind is FaultKind.NOT_STORED
        assert "w" in [tool for tool, _ in server.called]
    assert memory.holds(ONE.id, ONE.id, ONE.summary) is None


@pytest.mark.parametrize("server", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_note_that_names_a_learning_is_not_changed_or_removed(server):
    memory = MemoryServer(server, SHOWN, PROJECT)
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
    "its key": Shows(structured={"results": [{"id": ONE.id, "text": "Some other words"}]}),
    "rewritten, its metadata kept": Shows(
        structured={"results": [{"text": "Some other words", "metadata": VALUES["flat_metadata"]}]}
    ),
}


@pytest.mark.parametrize("server", ALTERED.values(), ids=ALTERED.keys())
def test_what_a_server_shows_altered_is_there(server):
    memory = MemoryServer(server, SHOWN, PROJECT)
    memory.store(ONE)
    assert isinstance(memory.holds(ONE.id, ONE.id, ONE.summary), Found)


class Broken:
    """A server of which nothing comes any more."""

    def __init__(self, fault):
        self.fault = fault

    def call(self, tool, arguments):
        raise self.fault


@pytest.mark.parametrize("kind", [FaultKind.EXITED, FaultKind.TIMED_OUT, FaultKind.MALFORMED])
def test_faults_of_the_connection_go_through(kind):
    mapping = CUT
    memory = MemoryServer(Broken(ServerFaultError(kind, "gone", is_unclear=True)), mapping, PROJECT)
    for what in (
        lambda: memory.store(LEARNINGS[0]),
        lambda: memory.holds("cl_20260206_aaaaab", ""),
        lambda: memory.search(Query(text="words"), 5),
    ):
        with pytest.raises(ServerFaultError) as caught:
            what()
        assert caught.value.kind is kind


def test_processes_that_share_a_store_lose_nothing(tmp_path):
    with process("graph", tmp_path) as one, process("graph", tmp_path) as two:
        with ThreadPoolExecutor(2) as both:
            parts = LEARNINGS + tuple(HOSTILE[:4]), HOSTILE[4:12]
            list(
                both.map(
                    lambda it: [it[0].memory.store(x) for x in it[1]],
                    zip((one, two), parts, strict=True),
                )
            )
        assert {each.learning for each in one.memory.listing()} == {*parts[0], *parts[1]}


def test_the_same_over_http(tmp_path):
    port_file = tmp_path / "port"
    words = [
        sys.executable,
        str(DOUBLE),
        "notes",
        str(tmp_path / "notes.json"),
        "--http",
        port_file,
    ]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as web:
        try:
            while not port_file.exists():
                time.sleep(0.02)
                assert web.poll() is None
            url = f"http://127.0.0.1:{port_file.read_text()}/mcp"
            endpoint = Endpoint(name="notes", transport=Transport.HTTP, url=url)
            with connect(endpoint, LIMITS) as connection:
                double = double_on(connection, tmp_path / "notes.json")
                for one in LEARNINGS:
                    double.memory.store(one)
                assert (
                    double.memory.search(Query(text=LEARNINGS[1].summary), 1)[0].learning
                    == LEARNINGS[1]
                )
        finally:
            web.terminate()
