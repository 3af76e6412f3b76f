"""The client's files, as the client writes them and as anybody may have left them."""

import json

import pytest

from grove_backend_mcp.discovery.registrations import read_registrations
from grove_backend_mcp.servers import Origin
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


def test_every_scope_in_the_clients_order(machine):
    assert (machine.found().servers, machine.found().problems) == ((), ())
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


@pytest.mark.parametrize(
    ("definition", "refused"),
    [
        ({"command": "x"}, ""),
        ({"type": "streamable-http", "url": "https://a/"}, ""),
        ({"type": "sse", "url": "https://a/"}, "its type sse is not spoken here"),
        ({"type": "x\ny", "url": "https://a/"}, "its type unknown is not spoken here"),
        ({}, "neither command nor url"),
        ([], "is no table"),
        ({"command": ["a", "b"]}, "command is no text"),
        ({"command": "x", "args": [1]}, "args are no list of texts"),
        ({"command": "x", "env": {"A": 1}}, "env is no table of texts"),
        ({"type": "http", "url": 1}, "url is no text"),
        ({"type": "http", "url": "https://a/", "headers": {"A": None}}, "headers are no table"),
    ],
)
def test_forms_of_a_definition(machine, definition, refused):
    machine.registry(user={"memory": definition})
    (found,) = machine.found().servers
    assert refused in found.refused
    assert bool(found.refused) == bool(refused)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("x" * (1024 * 1024 + 1), "it is larger than 1 MiB"),
    ],
)
def test_a_broken_file_is_one_line(machine, text, problem):
    machine.registry(user={"u": STDIO})
    machine.write(machine.root / ".mcp.json", text)
    found = machine.found()
    assert [one.entry.name for one in found.servers] == ["u"]
    assert found.problems == (f".mcp.json was left out: {problem}",)


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
    link = machine.base / "link"
    link.symlink_to(machine.root)
    for place in (machine.root, inside, worktree, link):
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


@pytest.mark.parametrize(
    "files",
    [
        {"mcp": {"mcpServers": {"x": STDIO}}},
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


@pytest.mark.parametrize(
    ("user", "project", "install", "expected"),
    [
        (True, None, {}, True),
        (True, False, {}, False),
        # A cloned project's settings switch on nothing of the user's.
        (None, True, {}, False),
        (None, True, {"scope": "project", "projectPath": "here"}, True),
        (None, None, {"scope": "project", "projectPath": "here"}, False),
        (True, True, {"scope": "project", "projectPath": "elsewhere"}, False),
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


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"deniedMcpServers": [{"serverName": "a"}, 7]}, "b"),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example/*"}]}, "a"),
        ({"deniedMcpServers": [{"serverCommand": ["mem-server", "--fast"]}]}, "b"),
        ({"allowedMcpServers": []}, ""),
        ({"allowedMcpServers": [{"serverName": "a"}, {"serverCommand": ["x"]}]}, ""),
        ({"allowedMcpServers": [{"serverUrl": "https://memory.example/*"}]}, "b"),
        ({"allowedMcpServers": "broken"}, "a b"),
    ],
)
def test_what_an_administrator_allows(machine, settings, expected):
    machine.registry(user={"a": STDIO, "b": HTTP})
    machine.write(machine.managed / "managed-settings.json", settings)
    assert " ".join(name for _, name in machine.names()) == expected
