"""Which server is used, and that a cloned project never has one started."""

import json

import pytest
from core_worlds import write_file, write_program
from machine import Machine

from grove_backend_mcp.discovery.choose import choose, discovered, trust_requests
from grove_backend_mcp.mappings.assessment import (
    Assessment,
    keep_assessment,
    load_assessment,
)
from grove_backend_mcp.plugin import grove_memory_backends
from grove_backend_mcp.servers import Origin

KNOWN = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2026.8.31"]}
UNKNOWN = {"command": "team-memory"}
REMOTE = {"type": "http", "url": "https://memory.example/mcp"}
VERDICT = Assessment(profile=None, has_write=True, can_update=False)


class Chooser(Machine):
    def choose(self, **settings):
        return choose(self.context(**settings))

    def used(self, **settings):
        used = self.choose(**settings).used
        return None if used is None else (used.entry.origin, used.entry.name)

    def why(self, **settings):
        return {
            (one.entry.origin, one.entry.name): one.why
            for one in self.choose(**settings).candidates
        }

    def requests(self, **settings):
        return trust_requests(self.context(**settings))

    def agree(self, **settings):
        return [one.digest for one in self.requests(**settings)]


@pytest.fixture
def machine(tmp_path):
    found = Chooser(tmp_path)
    yield found
    assert not found.has_started_one


@pytest.mark.parametrize(
    ("definition", "profile"),
    [
        (KNOWN, "server-memory"),
        ({"command": "node", "args": ["/x/node_modules/@modelcontextprotocol/server-memory/i.js"]}, "server-memory"),
        ({"command": "uvx", "args": ["--from", "mcp-server-qdrant==0.8.1", "serve"]}, "qdrant"),
        ({"command": "node", "args": ["-e", "start('basic-memory')"]}, None),
        ({"command": "npx", "args": ["@else/server-memory"]}, None),
        (REMOTE, None),
    ],
)  # fmt: skip
def test_servers_that_are_known_by_their_package(machine, definition, profile):
    machine.registry(user={"memory": definition})
    choice = machine.choose()
    (found,) = choice.candidates
    assert found.profile == profile
    assert found.is_usable == found.is_used == (choice.used is not None) == (profile is not None)
    if profile is None:
        assert found.why.startswith("not known to store learnings: `grove backends mcp probe")
    else:
        assert found.why.startswith("known by its package ")


def test_a_server_that_is_named(machine):
    machine.registry(user={"a": KNOWN, "b": KNOWN, "payroll": REMOTE})
    assert machine.used(server="b") == (Origin.USER, "b")
    assert machine.why(server="b")[Origin.USER, "a"] == "[backends.mcp] names another server, b"
    # A project's file may name it: that alone must not have any server of the user's started.
    assert machine.used(server="payroll") is None
    assert (
        "`grove backends mcp probe payroll`"
        in machine.why(server="payroll")[Origin.USER, "payroll"]
    )
    choice = machine.choose(server="nobody")
    assert choice.used is None
    assert "no server 'nobody' is registered" in choice.problems[0]
    assert discovered(machine.context(server="nobody"))[-1].why == choice.problems[0]


@pytest.mark.parametrize(
    ("assessment", "expected", "words"),
    [
        ({}, True, "its tools are known"),
        ({"has_write": False}, False, "not known to store learnings"),
    ],
)
def test_what_a_probe_has_shown(machine, assessment, expected, words):
    machine.registry(user={"team": REMOTE})
    (found,) = machine.choose().candidates
    keep_assessment(machine.grove, found.entry.digest, VERDICT._replace(**assessment))
    (found,) = machine.choose().candidates
    assert (found.is_usable, found.profile) == (expected, assessment.get("profile"))
    assert words in found.why
    # The digest is of everything that it is reached by.
    machine.registry(user={"team": {**REMOTE, "url": "https://memory.example/other"}})
    assert machine.used() is None


@pytest.mark.parametrize("key", "profile has_write facts".split())
def test_a_wrong_value_in_what_is_kept_never_raises(tmp_path, key):
    kept = VERDICT._replace(profile="chroma", can_update=True)
    keep_assessment(tmp_path, "d", kept)
    assert load_assessment(tmp_path, "d") == kept
    (path,) = tmp_path.rglob("d.json")
    document = json.loads(path.read_text())
    for other in (
        {**document, key: 7},
        {name: one for name, one in document.items() if name != key},
    ):
        path.write_text(json.dumps(other))
        found = load_assessment(tmp_path, "d")
        assert found is None or key == "has_write"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"command": "nowhere-to-be-found"}, "is not there"),
        ({"command": "a", "url": "https://a/"}, "keep one of them"),
        ({"url": "https://a/", "headers": {"A": "${NONE}"}}, "variable NONE is not set"),
    ],
)
def test_no_other_is_used_when_the_configured_one_cannot_be(machine, settings, words):
    machine.registry(user={"b": KNOWN})
    assert machine.used(**settings) in (None, (Origin.CONFIGURED, "backends.mcp"))
    assert not any(one.is_usable for one in machine.choose(**settings).candidates)
    assert words in machine.why(**settings)[Origin.CONFIGURED, "backends.mcp"]


CLONED = {
    "memory": KNOWN,
    "qdrant": {"command": "mcp-server-qdrant", "env": {"URL": "https://evil.example"}},
    "tool": {"command": "./tool"},
    "remote": {"type": "http", "url": "https://evil.example/mcp", "headers": {"X": "${HOME}"}},
}


def test_what_a_probe_may_start(machine):
    sse = {"type": "sse", "url": "https://a/"}
    machine.registry(user={"u": UNKNOWN, "k": KNOWN, "s": sse, "gone": {"command": "gone"}})
    machine.project(p=UNKNOWN, k=UNKNOWN)

    def probed(**settings):
        found = machine.choose(**settings).candidates
        return [(one.entry.origin.value, one.entry.name) for one in found if one.may_be_probed]

    own = [("user", "u"), ("user", "k"), ("user", "gone")]
    assert probed() == own
    assert probed(server="u") == own
    agreed = machine.agree(server="p")
    assert probed(server="p", trusted=agreed) == [("project", "p"), *own]
    assert probed(command="team-memory") == [("configured", "backends.mcp")]


@pytest.mark.parametrize("server", ["", *CLONED])
def test_a_cloned_project_has_nothing_started_or_reached(machine, server):
    write_program(machine.root / "tool")
    machine.project(**CLONED)
    for definition in CLONED.values():  # even where the same was asked elsewhere
        machine.registry(user={"x": definition})
        keep_assessment(machine.grove, machine.choose().candidates[-1].entry.digest, VERDICT)
    (machine.home / ".claude.json").unlink()
    choice = machine.choose(server=server)
    assert choice.used is None
    assert not any(one.is_usable or one.may_be_probed for one in choice.candidates)
    assert machine.used(server=server, trusted=["0" * 64]) is None


def test_what_the_user_has_agreed_to_is_used_until_it_changes(machine):
    machine.project(memory=KNOWN)
    (request,) = machine.requests()
    assert (request.subject, request.source) == ("MCP server memory", ".mcp.json")
    assert json.loads(request.content) == KNOWN
    agreed = machine.agree()
    assert machine.used(trusted=agreed) == (Origin.PROJECT, "memory")
    for changed in (
        {"memory": {**KNOWN, "args": [*KNOWN["args"], "--evil"]}},
        {"memory": {**KNOWN, "env": {"NODE_OPTIONS": "--require=./evil.js"}}},
        {"memory": {**KNOWN, "command": "./npx"}},
        {"renamed": KNOWN},
    ):
        machine.project(**changed)
        assert machine.used(trusted=agreed) is None
        assert set(machine.agree()).isdisjoint(agreed)
    machine.project(memory=KNOWN, other=UNKNOWN)
    assert machine.used(trusted=agreed) == (Origin.PROJECT, "memory")


def test_a_project_does_not_hide_the_users_server_before_it_is_trusted(machine):
    machine.registry(user={"memory": KNOWN})
    machine.project(memory={**KNOWN, "env": {"A": "b"}})
    assert machine.used() == (Origin.USER, "memory")
    assert machine.used(trusted=machine.agree()) == (Origin.PROJECT, "memory")


(SPEC,) = grove_memory_backends()


def test_a_server_that_is_known_is_detected_and_another_one_named(machine):
    machine.registry(user={"memory": KNOWN})
    found = SPEC.detect(machine.context())
    assert (found.usable, found.marker) == (True, "~/.claude.json: memory")
    machine.registry(user={"notes": UNKNOWN})
    found = SPEC.detect(machine.context())
    assert not found.usable
    assert "`grove backends mcp probe notes`" in found.note


def test_what_was_written_is_read_where_no_server_is_left(machine):
    record = write_file(machine.root / ".grove" / "mcp.jsonl")
    found = SPEC.detect(machine.context())
    assert found.usable
    assert found.marker == str(record)
    assert "waits for a server" in found.note


def test_learnings_wait_for_a_configured_server_that_cannot_be_reached_just_now(machine):
    found = SPEC.detect(machine.context(command="memory-${WHICH}"))
    assert found.usable
    assert "the variable WHICH is not set" in found.note
    machine.registry(user={"memory": {**KNOWN, "command": "${WHICH}"}})
    assert SPEC.detect(machine.context(server="memory")).usable
    assert not SPEC.detect(machine.context()).usable
