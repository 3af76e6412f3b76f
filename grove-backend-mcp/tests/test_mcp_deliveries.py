"""Whatever happens between two clones and their servers: nothing is lost, nothing is there twice."""

import json
import tempfile
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import fake_memory
import pytest
from attrs import evolve
from called import Called
from core_worlds import write_file
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.servers import FaultKind, ServerFaultError
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.sync.connection import ServerConnection
from grove_core import BackendContext, LearningStatus, ReceiptStatus, Synchronised, locked
from grove_core.testing.samples import example_learning

ARCHIVED = LearningStatus.ARCHIVED
CLONES = ("here", "there")


class Server(Called):
    """A server that keeps all in memory, and can be told to end at one of the next calls."""

    def __init__(self, kind):
        self.kind = fake_memory.KINDS[kind](self)
        self.data = {}
        self.calls_left = None
        self.ends_after_doing = False
        super().__init__(self)

    # What it keeps.

    def read(self):
        return json.loads(json.dumps(self.data))

    @contextmanager
    def changed(self):
        yield self.data

    # What it answers.

    def answer(self, message):
        if message["method"] == "tools/list":
            tools = self.kind.tools.items()
            return {"result": {"tools": [{"name": n, "inputSchema": s} for n, s in tools]}}
        ends = self.calls_left == 0
        if self.calls_left is not None:
            self.calls_left -= 1
        if ends:
            self.calls_left = None
            if self.ends_after_doing:
                self.done(**message["params"])
            raise ServerFaultError(FaultKind.EXITED, "it has ended", is_unclear=True)
        return {"result": self.done(**message["params"])}

    def done(self, name, arguments):
        return self.kind.method(name)(**arguments)

    def copies(self):
        """How often each learning stands there, by its id."""
        texts = [*self.data.get("entities", {}).values(), *self.data.get("entries", ())]
        found = {}
        for text in map(json.dumps, texts):
            learning_id = next(one for one in IDS if f"grove:{one}]" in text or f'"{one}"' in text)
            found[learning_id] = found.get(learning_id, 0) + 1
        return found


IDS = [example_learning(number).id for number in range(200)]


class Story(RuleBasedStateMachine):
    """Two clones of a project, which use one server or the other."""

    kind = ""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.servers = [Server(self.kind), Server(self.kind)]
        self.using = 0
        self.now = datetime(2026, 2, 6, 12, tzinfo=UTC)
        self.written = {}
        self.recorded = {name: {} for name in CLONES}
        patch = mock.patch("grove_backend_mcp.client.connect", self.connect)
        patch.start()
        self.unpatch = patch.stop

    @contextmanager
    def connect(self, endpoint, _limits, *, until):
        assert until
        yield self.servers[int(endpoint.url[-1])]

    def opened(self, name, **fields):
        """A process of grove that begins."""
        self.now += timedelta(minutes=7)
        folder = Path(self.folder.name) / name
        folder.mkdir(exist_ok=True)
        url = f"http://127.0.0.1/{self.using}"
        settings = McpSettings(url=url, project="shelf")
        context = BackendContext(root=folder, home=folder / "home", settings=settings, **fields)
        return McpBackend(context, clock=lambda: self.now)

    @rule(name=st.sampled_from(CLONES), ends=st.sampled_from(["", "", "wanted", "recorded"]))
    def write(self, name, ends):
        learning = example_learning(len(self.written))
        self.written[learning.id] = learning
        backend = self.opened(name)
        if not ends:
            backend.write(learning)
        else:
            # The process ends between the two files, or before anything is sent.
            backend._journal.want(learning.id, self.now, is_due=True)
        if ends == "recorded":
            backend._contents.record.add(learning, self.now)
        if ends != "wanted":
            self.recorded[name][learning.id] = learning

    @rule(name=st.sampled_from(CLONES), place=st.integers(0, 99))
    def write_again(self, name, place):
        known = [*self.recorded[name].values()]
        if known:
            receipt = self.opened(name).write(known[place % len(known)])
            assert receipt.status is ReceiptStatus.DUPLICATE

    @rule(
        name=st.sampled_from(CLONES),
        place=st.integers(0, 99),
        status=st.sampled_from(LearningStatus),
    )
    def set_status(self, name, place, status):
        known = [*self.recorded[name]]
        if known:
            self.opened(name).set_status(known[place % len(known)], status)

    @rule(name=st.sampled_from(CLONES), asked=st.booleans())
    def synchronise(self, name, asked):
        self.synchronised(name, asked=asked)

    def synchronised(self, name, *, asked):
        done = self.opened(name).synchronise(30, asked=asked)
        assert self.opened(name).freshness().waiting == done.waiting
        assert done.fault or not done.waiting
        return done

    @rule(calls=st.integers(0, 9), does=st.booleans())
    def end_at_a_call(self, calls, does):
        server = self.servers[self.using]
        server.calls_left, server.ends_after_doing = calls, does

    @precondition(lambda self: self.kind == "graph")
    @rule(place=st.integers(0, 99))
    def lose(self, place):
        """Another program writes over what it has just stored."""
        server = self.servers[self.using]
        if there := [*server.copies()]:
            del server.data["entities"][there[place % len(there)]]

    @rule()
    def use_the_other_server(self):
        self.using = 1 - self.using

    @rule()
    def merge(self):
        paths = [Path(self.folder.name) / name / ".grove" / "mcp.jsonl" for name in CLONES]
        texts = [path.read_text().splitlines(keepends=True) for path in paths if path.exists()]
        merged = "".join(dict.fromkeys(line for text in texts for line in text))
        for path in paths:
            write_file(path, merged)
        both = {**self.recorded["here"], **self.recorded["there"]}
        self.recorded = {name: dict(both) for name in CLONES}

    @invariant()
    def what_was_recorded_is_listed_as_it_was(self):
        for name in CLONES:
            listed = {one.id: one for one in self.opened(name).iterate()}
            assert self.recorded[name].keys() <= listed.keys()
            for learning_id, one in listed.items():
                assert evolve(one, status=LearningStatus.ACTIVE) == self.written[learning_id]

    @invariant()
    def nothing_is_there_twice(self):
        for server in self.servers:
            twice = {one: count for one, count in server.copies().items() if count > 1}
            assert not twice

    def teardown(self):
        try:
            self.end_well()
        finally:
            self.unpatch()
            self.folder.cleanup()

    def end_well(self):
        """All is well in the end: everything is there, and all agree on the statuses."""
        for server in self.servers:
            server.calls_left = None
        for _ in range(2):
            for name in CLONES:
                assert self.synchronised(name, asked=True).waiting == ()
            self.merge()
        for name in CLONES:
            done = self.synchronised(name, asked=True)
            assert (done.fault, done.waiting) == ("", ())
        self.nothing_is_there_twice()
        self.what_was_recorded_is_listed_as_it_was()
        assert self.servers[self.using].copies().keys() == self.recorded["here"].keys()
        statuses = [{one.id: one.status for one in self.opened(name).iterate()} for name in CLONES]
        assert statuses[0] == statuses[1]


class AppendingStory(Story):
    """A server that only takes in, and finds by likeness."""

    kind = "append"


class ListingStory(Story):
    """A server that lists, and can be told a status."""

    kind = "graph"


TestAppending = AppendingStory.TestCase
TestListing = ListingStory.TestCase
TestAppending.settings = settings(max_examples=8, stateful_step_count=15, deadline=None)
TestListing.settings = TestAppending.settings


@pytest.fixture(params=[AppendingStory, ListingStory])
def story(request):
    begun = request.param()
    yield begun
    begun.teardown()


@pytest.fixture
def listing_story():
    begun = ListingStory()
    yield begun
    begun.teardown()


@pytest.mark.parametrize("does", [True, False])
@pytest.mark.parametrize("calls", range(4))
def test_what_may_have_got_there_is_looked_for(story, calls, does):
    story.end_at_a_call(calls, does)
    story.write("here", "")
    story.end_at_a_call(calls, does)
    story.synchronised("here", asked=True)
    story.nothing_is_there_twice()


@pytest.mark.parametrize("calls", range(3))
def test_a_process_that_tries_once_more_looks_first(story, calls):
    backend, learning = story.opened("here"), example_learning(0)
    story.written[learning.id] = story.recorded["here"][learning.id] = learning
    story.end_at_a_call(calls, does=True)
    backend.write(learning)
    story.now += timedelta(hours=1)
    backend.synchronise(30, asked=True)
    story.nothing_is_there_twice()


def test_a_hook_writes_without_the_server(listing_story):
    story, learning = listing_story, example_learning(0)
    story.written[learning.id] = story.recorded["here"][learning.id] = learning
    receipt = story.opened("here", in_hook=True).write(learning)
    assert (receipt.status, story.servers[0].copies()) == (ReceiptStatus.QUEUED, {})


def test_what_somebody_has_removed_stays_removed(listing_story):
    story = listing_story
    story.write("here", "")
    story.synchronised("here", asked=True)
    story.servers[0].data["entities"].clear()
    for _ in range(2):
        assert story.synchronised("here", asked=False) == Synchronised()
    assert story.servers[0].copies() == {}
    # A person who asks for it gets all that is recorded onto the server.
    assert len(story.synchronised("here", asked=True).delivered) == 1
    assert story.servers[0].copies() == dict.fromkeys(story.written, 1)
    story.what_was_recorded_is_listed_as_it_was()
    story.use_the_other_server()


def statuses(story, name):
    return [one.status for one in story.opened(name).iterate()]


def test_another_branch_tells_the_server_nothing(listing_story):
    """What git checks out is no word of anybody's."""
    story = listing_story
    story.write("here", "")
    record = Path(story.folder.name) / "here" / ".grove" / "mcp.jsonl"
    before = record.read_text()
    story.set_status("here", 0, ARCHIVED)
    story.synchronised("here", asked=True)
    record.write_text(before)
    for asked in (False, True):
        assert story.synchronised("here", asked=asked) == Synchronised()
    story.synchronised("there", asked=True)
    assert statuses(story, "there") == [ARCHIVED]


def test_that_others_learnings_are_put_away_here_is_not_told_to_all(listing_story):
    """A new clone has used nothing yet, and lets all that is old decay."""
    story = listing_story
    story.write("here", "")
    story.synchronised("there", asked=False)
    (learning_id,) = story.written
    story.opened("there").set_status(learning_id, ARCHIVED, "decayed 2026-05-07")
    story.synchronised("there", asked=True)
    assert statuses(story, "there") == [ARCHIVED]
    story.synchronised("here", asked=True)
    assert statuses(story, "here") == [LearningStatus.ACTIVE]


def test_a_learning_that_is_refused_keeps_nothing_else_back(listing_story, monkeypatch):
    story = listing_story
    story.write("there", "")
    story.write("here", "recorded")
    story.write("here", "recorded")
    _, first, second = story.written
    kind = story.servers[0].kind
    refused = {**fake_memory.text("Error: not this one"), "isError": True}

    def method(tool, known=kind.method):
        does, creates = known(tool), tool == "create_entities"
        return lambda **given: (
            refused if creates and given["entities"][0]["name"] == first else does(**given)
        )

    monkeypatch.setattr(kind, "method", method)
    done = story.synchronised("here", asked=False)
    assert (done.received, done.waiting) == (1, (first,))
    assert [one.learning_id for one in done.delivered] == [second]
    assert "not this one" in done.fault
    assert story.opened("here").freshness().mark.exists()


@pytest.mark.parametrize("has_begun", [True, False], ids=["at once", "from the beginning"])
def test_what_is_written_while_another_process_delivers_waits(
    listing_story, monkeypatch, has_begun
):
    story = listing_story
    monkeypatch.setattr("grove_backend_mcp.sync.server._LOCK_SECONDS", 0.2)
    if has_begun:
        story.write("here", "")
    backend, learning = story.opened("here"), example_learning(len(story.written))
    lock = backend._paths.lock
    lock.parent.mkdir(parents=True, exist_ok=True)
    story.written[learning.id] = story.recorded["here"][learning.id] = learning
    began = time.monotonic()
    with locked(lock):
        receipt = backend.write(learning)
    assert time.monotonic() - began < 4
    assert receipt.status is ReceiptStatus.QUEUED
    assert "another process may be delivering" in receipt.note
    story.synchronised("here", asked=True)
    assert story.servers[0].copies()[learning.id] == 1


@pytest.mark.parametrize(
    ("seconds", "kind", "counts"),
    [
        (1, FaultKind.TIMED_OUT, False),
        (60, FaultKind.TIMED_OUT, True),
        (1, FaultKind.EXITED, True),
    ],
)
def test_no_server_is_blamed_for_time_that_it_was_not_given(
    monkeypatch, tmp_path, seconds, kind, counts
):
    def connect(self, until):
        raise ServerFaultError(kind, "late")

    monkeypatch.setattr(ServerConnection, "_connect", connect)
    entry, context = SimpleNamespace(name="notes", digest="d"), SimpleNamespace(settings=None)
    path = tmp_path / "breaker.json"
    link = ServerConnection(context, entry, "p", path, lambda: datetime.now(UTC), can_update=False)
    with pytest.raises(ServerFaultError, match="late"), link.server(seconds):
        pass
    assert (link.breaker().failed_at is not None) is counts
