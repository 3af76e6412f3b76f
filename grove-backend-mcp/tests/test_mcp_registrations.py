"""The client's files, as the client writes them and as anybody may have left them."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_backend_mcp.finding.choosing import choose, trust_requests
from grove_backend_mcp.finding.registrations import read_registrations
from grove_backend_mcp.servers import Origin, Transport
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

STDIO = {"type": "stdio", "command": "mem-server", "args": ["--fast"], "env": {"A": "${B}"}}
HTTP = {"type": "http", "url": "https://memory.example/mcp", "headers": {"A": "${B}"}}


class Machine:
    """A home, a project and what an administrator has made."""

    def __init__(self, base):
        self.base = base
        self.home, self.root, self.managed = base / "home", base / "project", base / "managed"
        self.environment = {"HOME": str(self.home)}
        self.root.mkdir(parents=True)

    def write(self, path, document):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path

    def registry(self, user=None, local=None, root=None, **noted):
        project = {"mcpServers": local or {}, **noted}
        document = {"projects": {str(root or self.root): project}}
        self.write(self.home / ".claude.json", {"mcpServers": user or {}, **document})

    def project(self, servers):
        self.write(self.root / ".mcp.json", {"mcpServers": servers})

    def plugin(self, name="notes@market", place=None, install=None, **files):
        place = place or self.home / ".claude/plugins/cache" / name
        for path, document in files.items():
            names = {"mcp": ".mcp.json", "manifest": ".claude-plugin/plugin.json"}
            self.write(place / names.get(path, f"{path}.json"), document)
        entry = {"scope": "user", "installPath": str(place), **(install or {})}
        installed = {"version": 2, "plugins": {name: [entry]}}
        self.write(self.home / ".claude/plugins/installed_plugins.json", installed)
        return place

    def enable(self, name="notes@market", value=True, path=None):
        path = path or self.home / ".claude/settings.json"
        self.write(path, {"enabledPlugins": {name: value}})

    def context(self, root=None, **fields):
        return BackendContext(
            root=root or self.root,
            home=self.base / "grove",
            environment=self.environment,
            **fields,
        )

    def found(self, root=None):
        return read_registrations(self.context(root), self.managed)

    def names(self, root=None):
        servers = self.found(root).servers
        return [(one.entry.origin, one.entry.name) for one in servers if not one.refused]

    def refused(self):
        return {one.entry.name: one.refused for one in self.found().servers if one.refused}


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_without_files_there_is_nothing(machine):
    found = machine.found()
    assert (found.servers, found.problems) == ((), ())
    machine.environment = {}
    assert machine.found() == found


def test_every_scope_in_the_clients_order(machine):
    machine.registry(user={"u": STDIO}, local={"l": HTTP})
    machine.project({"p": STDIO})
    machine.plugin(mcp={"mcpServers": {"x": STDIO}})
    machine.enable()
    assert machine.names() == [
        (Origin.LOCAL, "l"),
        (Origin.PROJECT, "p"),
        (Origin.USER, "u"),
        (Origin.PLUGIN, "plugin:notes:x"),
    ]
    sources = [one.entry.source for one in machine.found().servers]
    assert sources == [
        "~/.claude.json, for this project", ".mcp.json", "~/.claude.json", "plugin notes@market"
    ]  # fmt: skip


def test_definitions_are_kept_as_they_are_written(machine):
    machine.registry(user={"a": STDIO, "b": HTTP})
    first, second = (one.entry for one in machine.found().servers)
    assert (first.transport, first.command, first.args) == (
        Transport.STDIO, "mem-server", ("--fast",)
    )  # fmt: skip
    assert first.env == {"A": "${B}"}
    assert (second.transport, second.url) == (Transport.HTTP, "https://memory.example/mcp")
    assert second.headers == {"A": "${B}"}


@pytest.mark.parametrize(
    ("definition", "refused"),
    [
        ({"command": "x"}, ""),
        ({"url": "https://a/"}, ""),
        ({"type": "streamable-http", "url": "https://a/"}, ""),
        ({"type": "sse", "url": "https://a/"}, "its type sse is not spoken here"),
        ({"type": "ws", "url": "wss://a/"}, "its type ws is not spoken here"),
        ({"type": "x\ny", "url": "https://a/"}, "its type unknown is not spoken here"),
        ({"type": ["http"], "url": "https://a/"}, "its type unknown is not spoken here"),
        ({}, "neither command nor url"),
        ({"type": "sse"}, "neither command nor url"),
        ([], "is no table"),
        ("x", "is no table"),
        (None, "is no table"),
        ({"command": 1}, "command is no text"),
        ({"command": ""}, "command is no text"),
        ({"command": ["a", "b"]}, "command is no text"),
        ({"type": "stdio"}, "command is no text"),
        ({"command": "x", "args": "y"}, "args are no list of texts"),
        ({"command": "x", "args": [1]}, "args are no list of texts"),
        ({"command": "x", "env": {"A": 1}}, "env is no table of texts"),
        ({"command": "x", "env": []}, "env is no table of texts"),
        ({"type": "http", "url": 1}, "url is no text"),
        ({"type": "http", "url": "https://a/", "headers": {"A": None}}, "headers are no table"),
    ],
)
def test_forms_of_a_definition(machine, definition, refused):
    machine.registry(user={"memory": definition})
    (found,) = machine.found().servers
    assert refused in found.refused
    assert bool(found.refused) == bool(refused)


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "x" * 129, "a\u202eb"])
def test_names_that_cannot_be_shown_are_left_out(machine, name):
    machine.project({name: STDIO, "ok": STDIO})
    assert machine.names() == [(Origin.PROJECT, "ok")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", None),
        ("{", "it is no JSON"),
        ("[]", "it holds no JSON object"),
        ("[" * 100_000, "it is no JSON"),
        ('{"mcpServers": {"a": ' + "9" * 5000 + "}}", "it is no JSON"),
        ('{"mcpServers": []}', None),
        ('{"mcpServers": null, "projects": []}', None),
        ("x" * (1024 * 1024 + 1), "it is larger than 1 MiB"),
    ],
)
def test_a_broken_file_is_one_line(machine, text, problem):
    machine.registry(user={"u": STDIO})
    machine.write(machine.root / ".mcp.json", text)
    found = machine.found()
    assert [one.entry.name for one in found.servers] == ["u"]
    assert found.problems == ((f".mcp.json was left out: {problem}",) if problem else ())


def test_a_broken_registry_leaves_the_project(machine):
    machine.write(machine.home / ".claude.json", '{"mcpServers": {"a": ')
    machine.project({"p": STDIO})
    found = machine.found()
    assert [one.entry.name for one in found.servers] == ["p"]
    assert found.problems == ("~/.claude.json was left out: it is no JSON",)


def test_what_is_no_file_is_left_alone(machine):
    import os

    (machine.root / ".mcp.json").mkdir()
    machine.home.mkdir()
    os.mkfifo(machine.home / ".claude.json")
    assert machine.found().servers == ()


def test_the_client_moves_its_files(machine):
    machine.registry(user={"old": STDIO})
    machine.environment["CLAUDE_CONFIG_DIR"] = str(machine.base / "moved")
    machine.write(machine.base / "moved/.claude.json", {"mcpServers": {"new": STDIO}})
    assert machine.names() == [(Origin.USER, "new")]


def test_a_linked_directory_is_the_same_project(machine):
    machine.registry(local={"l": STDIO})
    link = machine.base / "link"
    link.symlink_to(machine.root)
    assert machine.names(link) == [(Origin.LOCAL, "l")]


def make_repository(root, *, worktree=None):
    (root / ".git").mkdir(parents=True)
    if worktree is not None:
        inside = root / ".git/worktrees/w"
        inside.mkdir(parents=True)
        (inside / "commondir").write_text("../..\n")
        worktree.mkdir(parents=True)
        (worktree / ".git").write_text(f"gitdir: {inside}\n")
        (inside / "gitdir").write_text(f"{worktree / '.git'}\n")


def test_servers_of_a_project_lie_with_its_main_work_tree(machine):
    machine.registry(local={"l": STDIO})
    worktree = machine.base / "elsewhere"
    make_repository(machine.root, worktree=worktree)
    inside = machine.root / "a/b"
    inside.mkdir(parents=True)
    for place in (machine.root, inside, worktree):
        assert machine.names(place) == [(Origin.LOCAL, "l")]
    assert machine.names(machine.base) == []


def test_a_file_that_names_another_projects_repository_borrows_none_of_its_servers(machine):
    """An archive may hold it; git itself would say so on its side as well."""
    machine.registry(local={"l": STDIO})
    make_repository(machine.root)
    forged = machine.base / "unpacked"
    own = forged / "own"
    own.mkdir(parents=True)
    (forged / ".git").write_text(f"gitdir: {machine.root}/.git\n")
    assert machine.names(forged) == []
    # The other side of it as well, in a folder of its own.
    (forged / ".git").write_text("gitdir: own\n")
    (own / "commondir").write_text(f"{machine.root}/.git\n")
    (own / "gitdir").write_text("../.git\n")
    assert machine.names(forged) == []
    (own / "config").write_text("[core]\n\tworktree = ..\n")
    assert machine.names(forged) == []
    (own / "commondir").unlink()
    (own / "config").write_bytes(b"[core]\n\tworktree = a\0b\n")
    assert machine.names(forged) == []


def test_a_submodule_is_a_project_of_its_own(machine):
    make_repository(machine.root)
    module = machine.root / "lib"
    (machine.root / ".git/modules/lib").mkdir(parents=True)
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/lib\n")
    machine.registry(local={"l": STDIO}, root=module)
    assert machine.names(module) == [(Origin.LOCAL, "l")]
    assert machine.names() == []


@pytest.mark.parametrize(
    "files",
    [
        {"mcp": {"mcpServers": {"x": STDIO}}},
        {"mcp": {"x": STDIO}},
        {"manifest": {"name": "notes", "mcpServers": {"x": STDIO}}},
        {"manifest": {"mcpServers": "./servers.json"}, "servers": {"mcpServers": {"x": STDIO}}},
        {"manifest": {"mcpServers": ["./servers.json"]}, "servers": {"x": STDIO}},
    ],
)
def test_forms_of_a_plugins_servers(machine, files):
    place = machine.plugin(**files)
    machine.enable()
    (found,) = machine.found().servers
    assert (found.entry.name, found.entry.origin) == ("plugin:notes:x", Origin.PLUGIN)
    assert found.entry.extra == {
        "CLAUDE_PLUGIN_ROOT": str(place),
        "CLAUDE_PLUGIN_DATA": f"{machine.home}/.claude/plugins/data/notes-market",
    }


def test_a_plugin_names_no_file_outside_of_itself(machine):
    machine.write(machine.base / "outside.json", {"x": STDIO})
    machine.plugin(manifest={"mcpServers": ["../../../../../outside.json", "\0", 7]})
    machine.enable()
    assert machine.names() == []


@pytest.mark.parametrize(
    ("user", "project", "install", "expected"),
    [
        (None, None, {}, False),
        (True, None, {}, True),
        (False, None, {}, False),
        (True, False, {}, False),
        # A cloned project's settings switch on nothing of the user's.
        (None, True, {}, False),
        (False, True, {}, False),
        (None, True, {"scope": "project", "projectPath": "here"}, True),
        (None, None, {"scope": "project", "projectPath": "here"}, False),
        (True, True, {"scope": "project", "projectPath": "elsewhere"}, False),
        ("yes", None, {}, False),
    ],
)
def test_plugins_that_are_on(machine, user, project, install, expected):
    if "projectPath" in install:
        here = machine.root if install["projectPath"] == "here" else machine.base
        install = {**install, "projectPath": str(here)}
    machine.plugin(mcp={"x": STDIO}, install=install)
    if user is not None:
        machine.enable(value=user)
    if project is not None:
        machine.enable(value=project, path=machine.root / ".claude/settings.json")
    assert bool(machine.names()) == expected


def test_a_plugin_of_a_directory_runs_from_there(machine):
    market = machine.base / "market"
    place = machine.plugin(place=market / "plugins/notes", mcp={"x": STDIO})
    machine.plugin(mcp={"old": STDIO})
    machine.enable()
    offered = {"plugins": [{"name": "notes", "source": "./plugins/notes"}, 7]}
    machine.write(market / ".claude-plugin/marketplace.json", offered)
    known = {"market": {"source": {"source": "directory", "path": str(market)}}}
    machine.write(machine.home / ".claude/plugins/known_marketplaces.json", known)
    (found,) = machine.found().servers
    assert found.entry.name == "plugin:notes:x"
    assert found.entry.extra["CLAUDE_PLUGIN_ROOT"] == str(place)


def test_a_plugin_that_lies_in_the_project_is_the_projects(machine):
    machine.plugin(place=machine.root / "plugin", mcp={"x": STDIO})
    machine.enable()
    (found,) = machine.found().servers
    assert (found.entry.origin, found.entry.source) == (Origin.PROJECT, "plugin/.mcp.json")


@pytest.mark.parametrize(
    "installed",
    ["", "[]", "{}", '{"plugins": []}', '{"plugins": {"notes@market": {}}}',
     '{"plugins": {"notes@market": [7, {}, {"installPath": 7}, {"installPath": "\\u0000"}]}}'],
)  # fmt: skip
def test_a_broken_list_of_plugins(machine, installed):
    machine.enable()
    machine.write(machine.home / ".claude/plugins/installed_plugins.json", installed)
    assert machine.names() == []


@pytest.mark.parametrize(
    "where",
    ["home/.claude/settings.json", "project/.claude/settings.json",
     "project/.claude/settings.local.json", "managed/managed-settings.json", "noted"],
)  # fmt: skip
def test_what_was_rejected_in_any_file_stays_rejected(machine, where):
    rejected = {"disabledMcpjsonServers": ["p", 7]}
    machine.registry(user={"p": STDIO}, **(rejected if where == "noted" else {}))
    machine.project({"p": STDIO, "q": STDIO})
    if where != "noted":
        machine.write(machine.base / where, rejected)
    assert machine.names() == [(Origin.PROJECT, "q"), (Origin.USER, "p")]
    assert "disabledMcpjsonServers" in machine.refused()["p"]


def test_what_is_switched_off_for_the_project(machine):
    machine.registry(user={"u": STDIO, "v": STDIO}, disabledMcpServers=["u"])
    assert machine.names() == [(Origin.USER, "v")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "a b"),
        ({"deniedMcpServers": [{"serverName": "a"}, 7]}, "b"),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example/*"}]}, "a"),
        ({"deniedMcpServers": [{"serverCommand": ["mem-server", "--fast"]}]}, "b"),
        ({"deniedMcpServers": [{"serverCommand": ["mem-server"]}, {}]}, "a b"),
        ({"allowedMcpServers": []}, ""),
        ({"allowedMcpServers": [{"serverName": "b"}]}, "b"),
        ({"allowedMcpServers": [{"serverName": "a"}, {"serverCommand": ["x"]}]}, ""),
        ({"allowedMcpServers": [{"serverUrl": "https://memory.example/*"}]}, "b"),
        ({"allowedMcpServers": "broken"}, "a b"),
    ],
)
def test_what_an_administrator_allows(machine, settings, expected):
    machine.registry(user={"a": STDIO, "b": HTTP})
    machine.write(machine.managed / "managed-settings.json", settings)
    assert " ".join(name for _, name in machine.names()) == expected


def test_a_projects_settings_deny_nothing_of_the_users(machine):
    machine.registry(user={"a": STDIO})
    denied = {"deniedMcpServers": [{"serverName": "a"}]}
    machine.write(machine.root / ".claude/settings.json", denied)
    assert machine.names() == [(Origin.USER, "a")]
    machine.write(machine.home / ".claude/settings.json", denied)
    assert machine.names() == []


def test_beside_an_administrators_servers_there_are_none(machine):
    machine.registry(user={"a": STDIO})
    machine.project({"p": STDIO})
    machine.write(machine.managed / "managed-mcp.json", {"mcpServers": {"m": STDIO}})
    assert machine.names() == [(Origin.USER, "m")]
    machine.write(machine.managed / "managed-mcp.json", {})
    assert machine.names() == []


KEYS = st.sampled_from(
    "mcpServers projects notes@market enabledPlugins plugins installPath projectPath type command"
    " args env url headers disabledMcpjsonServers deniedMcpServers allowedMcpServers serverName"
    " serverUrl serverCommand a source path market name".split()
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from(
        ["", "a", "stdio", "http", "sse", "https://a/", ".", "\0", "\ud800", "${A}", "directory"]
    ),
    st.text(max_size=4),
)
DOCUMENTS = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
WRITTEN = (
    "home/.claude.json", "home/.claude/settings.json", "project/.mcp.json",
    "project/.claude/settings.json", "home/.claude/plugins/installed_plugins.json",
    "home/.claude/plugins/known_marketplaces.json", "plugin/.mcp.json",
    "plugin/.claude-plugin/plugin.json", "plugin/.claude-plugin/marketplace.json",
)  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(WRITTEN), DOCUMENTS, max_size=4), st.data())
def test_whatever_the_files_hold_nothing_is_raised_and_nothing_of_the_project_is_used(
    machine, documents, data
):
    plugin = machine.base / "plugin"
    base = {
        "home/.claude/settings.json": {"enabledPlugins": {"notes@market": True}},
        "home/.claude/plugins/installed_plugins.json": {
            "plugins": {"notes@market": [{"installPath": str(plugin)}]}
        },
        "home/.claude/plugins/known_marketplaces.json": {
            "market": {"source": {"source": "directory", "path": str(plugin)}}
        },
        "home/.claude.json": {"projects": {str(machine.root): data.draw(DOCUMENTS)}},
        "project/.mcp.json": {"mcpServers": {"a": data.draw(DOCUMENTS)}},
    }
    for name in WRITTEN:
        path = machine.base / name
        path.unlink(missing_ok=True)
        if name in base | documents:
            machine.write(path, (base | documents)[name])
    choice = choose(machine.context(settings=McpSettings(server="a")))
    assert choice.entry is None or choice.entry.origin is not Origin.PROJECT
    trust_requests(machine.context(settings=McpSettings(server="a")))
