"""Which server is used, and that a cloned project never has one started."""

import json
import os
from datetime import UTC, datetime

import pytest

from grove_backend_mcp.finding.choosing import choose, endpoint_of, trust_request, trust_requests
from grove_backend_mcp.finding.discovering import discovered
from grove_backend_mcp.finding.verdicts import Verdict, save_verdict
from grove_backend_mcp.servers import Origin, ServerEntry, Transport
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

KNOWN = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory@2026.8.31"]}
UNKNOWN = {"command": "team-memory"}
REMOTE = {"type": "http", "url": "https://memory.example/mcp"}
SECRET = "s3cret-of-the-environment"
VERDICT = Verdict(
    server_name="team", version="1", profile=None, has_write=True, has_search=True,
    tools_digest="d", checked_at=datetime(2026, 11, 22, tzinfo=UTC),
)  # fmt: skip


class Machine:
    """A home with programs and a project."""

    def __init__(self, base):
        self.base = base
        self.home, self.root, self.grove = base / "home", base / "project", base / "grove"
        for name in ("home", "project", "bin"):
            (base / name).mkdir()
        for name in ("npx", "uvx", "node", "team-memory", "mcp-server-qdrant"):
            program = base / "bin" / name
            program.write_text(f"#!/bin/sh\ntouch {base}/started\n")
            program.chmod(0o755)
        self.environment = {"HOME": str(self.home), "PATH": str(base / "bin")}

    def registry(self, user=None, local=None):
        projects = {str(self.root): {"mcpServers": local or {}}}
        document = {"mcpServers": user or {}, "projects": projects}
        (self.home / ".claude.json").write_text(json.dumps(document))

    def project(self, **servers):
        (self.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def context(self, *, trusted=(), **settings):
        return BackendContext(
            root=self.root,
            home=self.grove,
            environment=self.environment,
            settings=McpSettings(**settings),
            trusted=frozenset(trusted),
        )

    def choose(self, **settings):
        return choose(self.context(**settings))

    def used(self, **settings):
        entry = self.choose(**settings).entry
        return None if entry is None else (entry.origin, entry.name)

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
    found = Machine(tmp_path)
    yield found
    assert not (tmp_path / "started").exists()


def test_nothing_registered(machine):
    choice = machine.choose()
    assert (choice.entry, choice.candidates, choice.problems) == (None, (), ())
    assert discovered(machine.context()) == []


@pytest.mark.parametrize(
    ("definition", "profile"),
    [
        (KNOWN, "server-memory"),
        ({"command": "npx", "args": ["@modelcontextprotocol/server-memory"]}, "server-memory"),
        ({"command": "node", "args": ["/x/node_modules/@modelcontextprotocol/server-memory/i.js"]}, "server-memory"),
        ({"command": "uvx", "args": ["--from", "mcp-server-qdrant==0.8.1", "serve"]}, "qdrant"),
        ({"command": "uvx", "args": ["basic-memory[all]>=0.23", "mcp"]}, "basic-memory"),
        ({"command": "mcp-server-qdrant"}, "qdrant"),
        ({"command": "node", "args": ["-m", "mcp_server_qdrant"]}, "qdrant"),
        ({"command": "node", "args": ["/home/me/basic-memory/other.js"]}, None),
        ({"command": "node", "args": ["-e", "start('basic-memory')"]}, None),
        ({"command": "npx", "args": ["@else/server-memory"]}, None),
        ({"command": "npx", "args": ["basic-memory-tools"]}, None),
        (UNKNOWN, None),
        (REMOTE, None),
    ],
)  # fmt: skip
def test_servers_that_are_known_by_their_package(machine, definition, profile):
    machine.registry(user={"memory": definition})
    choice = machine.choose()
    (found,) = choice.candidates
    assert found.profile == profile
    assert found.usable == found.is_used == (choice.entry is not None) == (profile is not None)
    if profile is None:
        assert found.why == "not known: `grove backends mcp probe memory` asks it"
    else:
        assert found.why.startswith("known by its package ")


def test_the_first_that_can_be_used(machine):
    machine.registry(user={"a": UNKNOWN, "b": KNOWN, "c": KNOWN}, local={"l": UNKNOWN})
    assert machine.used() == (Origin.USER, "b")
    assert [one.entry.name for one in machine.choose().candidates if one.usable] == ["b", "c"]
    machine.registry(user={"b": KNOWN}, local={"b": UNKNOWN})
    assert machine.used() is None
    assert "hidden by the one of the same name" in machine.why()[Origin.USER, "b"]


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
    assert choice.entry is None
    assert "no server 'nobody' is registered" in choice.problems[0]
    assert discovered(machine.context(server="nobody"))[-1].why == choice.problems[0]


@pytest.mark.parametrize(
    ("args", "file"),
    [
        (["server.py"], "server.py"),
        (["--require=./hook.js", "x"], "hook.js"),
        (["${CLAUDE_PROJECT_DIR:-.}/tools/run.sh"], "tools/run.sh"),
    ],
)
def test_an_agreement_covers_the_projects_programs_and_no_data(machine, args, file):
    root = machine.root
    (root / "tools").mkdir(exist_ok=True)
    (root / file).write_text("print(1)\n")
    (root / "memory.db").write_text("1")
    entry = ServerEntry(
        name="team", origin=Origin.PROJECT, source=".mcp.json", transport=Transport.STDIO,
        command="python3", args=(*args, "--db", "./memory.db"),
    )  # fmt: skip
    agreed = trust_request(entry, root).digest
    (root / "memory.db").write_text("2")
    assert trust_request(entry, root).digest == agreed
    (root / file).write_text("print(2)\n")
    assert trust_request(entry, root).digest != agreed


@pytest.mark.parametrize(
    ("verdict", "expected", "words"),
    [
        ({}, True, "stores and finds learnings, as was found on 2026-11-22"),
        ({"has_search": False}, True, "stores learnings, as was found"),
        ({"has_write": False}, False, "had no tool that stores learnings"),
        ({"profile": "qdrant"}, True, "stores and finds"),
    ],
)
def test_what_a_probe_has_shown(machine, verdict, expected, words):
    from attrs import evolve

    machine.registry(user={"team": REMOTE})
    (found,) = machine.choose().candidates
    save_verdict(machine.grove, found.entry.digest, evolve(VERDICT, **verdict))
    (found,) = machine.choose().candidates
    assert (found.usable, found.profile) == (expected, verdict.get("profile"))
    assert words in found.why
    # The digest is of everything that it is reached by.
    machine.registry(user={"team": {**REMOTE, "url": "https://memory.example/other"}})
    assert machine.used() is None


def test_a_server_that_the_configuration_describes(machine):
    machine.registry(user={"b": KNOWN})
    choice = machine.choose(command="team-memory", args=("--db", "x"), env={"A": "b"})
    assert choice.entry.origin is Origin.CONFIGURED
    assert [one.entry for one in choice.candidates] == [choice.entry]
    endpoint = endpoint_of(machine.context(), choice.entry)
    assert endpoint.words == (f"{machine.base}/bin/team-memory", "--db", "x")
    assert machine.used(url="https://memory.example/mcp") == (Origin.CONFIGURED, "backends.mcp")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"command": "nowhere-to-be-found"}, "is not there"),
        ({"command": "a", "url": "https://a/"}, "keep one of them"),
        ({"url": "http://memory.example/"}, "use https"),
        ({"url": "https://a/", "headers": {"A": "${NONE}"}}, "variable NONE is not set"),
    ],
)
def test_no_other_is_used_when_the_configured_one_cannot_be(machine, settings, words):
    machine.registry(user={"b": KNOWN})
    assert machine.used(**settings) is None
    assert words in machine.why(**settings)[Origin.CONFIGURED, "backends.mcp"]


def test_no_server_is_used_with_a_section_that_cannot_be(machine):
    machine.registry(user={"b": KNOWN})
    context = BackendContext(root=machine.root, home=machine.grove, environment=machine.environment)
    assert choose(context).entry is None
    assert "grove config validate" in choose(context).problems[0]
    assert trust_requests(context) == []


def test_a_server_whose_variable_is_not_set_names_it(machine):
    machine.registry(user={"b": {**KNOWN, "env": {"KEY": "${OPENAI_API_KEY}"}}})
    assert "variable OPENAI_API_KEY is not set" in machine.why()[Origin.USER, "b"]
    machine.environment["OPENAI_API_KEY"] = SECRET
    assert machine.used() == (Origin.USER, "b")


def test_variables_are_handed_on_by_name(machine):
    machine.environment["HF_HOME"] = "/models"
    entry = machine.choose(command="team-memory").entry
    handed = endpoint_of(machine.context(pass_environment=("HF_HOME",)), entry)
    assert handed.environment["HF_HOME"] == "/models"
    assert "HF_HOME" not in endpoint_of(machine.context(), entry).environment


def test_what_is_slow_or_would_show_a_secret_is_said(machine):
    machine.environment["MY_TOKEN"] = SECRET
    args = [*KNOWN["args"], "--token", "${MY_TOKEN}", "--api-key", SECRET]
    machine.registry(user={"b": {**KNOWN, "args": args}})
    (row,) = discovered(machine.context())
    assert row.usable
    assert "MY_TOKEN would stand in the process list" in row.why
    assert "api-key would stand in the process list" in row.why
    assert "npx is slow to start" in row.why
    assert SECRET not in repr(row)


def test_rows_name_everything_that_was_found(machine):
    machine.registry(
        user={"b": KNOWN, "s": {"type": "sse", "url": "https://a/"}}, local={"t": REMOTE}
    )
    machine.project(p=KNOWN)
    rows = discovered(machine.context())
    assert [(row.name, row.usable, row.used) for row in rows] == [
        ("t", False, False), ("p", False, False), ("b", True, True), ("s", False, False)
    ]  # fmt: skip
    assert rows[1].source == ".mcp.json (project, stdio)"
    assert "grove trust" in rows[1].why
    assert "its type sse is not spoken here" in rows[3].why


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


def test_why_none_is_used_tells_of_the_one_that_is_meant(machine):
    assert "no memory server is written down" in machine.choose().why_none
    machine.registry(local={"t": REMOTE}, user={"gone": {**KNOWN, "command": "gone"}})
    assert machine.choose().why_none.startswith("the server gone (~/.claude.json) cannot be used")
    machine.project(p=UNKNOWN)
    assert "the server p (.mcp.json)" in machine.choose(server="p").why_none
    assert "'nobody'" in machine.choose(server="nobody").why_none
    machine.registry(local={"t": REMOTE})
    assert "probe t" in machine.choose().why_none


@pytest.mark.parametrize("server", ["", *CLONED])
def test_a_cloned_project_has_nothing_started_or_reached(machine, server):
    tool = machine.root / "tool"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    machine.project(**CLONED)
    for definition in CLONED.values():  # even where the same was asked elsewhere
        machine.registry(user={"x": definition})
        save_verdict(machine.grove, machine.choose().candidates[-1].entry.digest, VERDICT)
    (machine.home / ".claude.json").unlink()
    choice = machine.choose(server=server)
    assert choice.entry is None
    assert not any(one.usable or one.may_be_probed for one in choice.candidates)
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


def test_only_what_would_be_used_is_asked_for(machine):
    machine.project(
        memory=KNOWN, files={"command": "files"}, old={"type": "sse", "url": "https://a/"}
    )
    assert [one.subject for one in machine.requests()] == ["MCP server memory"]
    subjects = [one.subject for one in machine.requests(server="files")]
    assert subjects == ["MCP server memory", "MCP server files"]
    assert machine.requests(command="team-memory") == []
    assert "set backends.mcp.server to 'files'" in machine.why()[Origin.PROJECT, "files"]
    machine.registry()
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude/settings.json").write_text('{"disabledMcpjsonServers": ["memory"]}')
    assert machine.requests() == []


def test_a_project_does_not_hide_the_users_server_before_it_is_trusted(machine):
    machine.registry(user={"memory": KNOWN})
    machine.project(memory={**KNOWN, "env": {"A": "b"}})
    assert machine.used() == (Origin.USER, "memory")
    assert machine.used(trusted=machine.agree()) == (Origin.PROJECT, "memory")


def test_a_plugin_in_the_project_is_asked_for_as_well(machine):
    place = machine.root / "plugin"
    place.mkdir()
    (place / ".mcp.json").write_text(json.dumps({"x": KNOWN}))
    plugins = machine.home / ".claude/plugins"
    plugins.mkdir(parents=True)
    (plugins.parent / "settings.json").write_text('{"enabledPlugins": {"n@m": true}}')
    installed = {"plugins": {"n@m": [{"scope": "user", "installPath": str(place)}]}}
    (plugins / "installed_plugins.json").write_text(json.dumps(installed))
    assert machine.used() is None
    (request,) = machine.requests()
    assert request.source == "plugin/.mcp.json"
    assert machine.used(trusted=machine.agree()) == (Origin.PROJECT, "plugin:n:x")


def test_programs_are_looked_for_in_the_contexts_environment(machine, monkeypatch):
    monkeypatch.setenv("PATH", os.fspath(machine.base / "bin"))
    machine.environment["PATH"] = "/nowhere/at/all"
    machine.registry(user={"b": KNOWN})
    assert "'npx' is not there" in machine.why()[Origin.USER, "b"]
