"""The client's files, as the client writes them and as anybody may have left them."""

import pytest
from machine import Machine

from grove_backend_mcp.discovery.registrations import read_registrations
from grove_backend_mcp.servers import Origin

STDIO = {"type": "stdio", "command": "mem-server", "args": ["--fast"], "env": {"A": "${B}"}}
HTTP = {"type": "http", "url": "https://memory.example/mcp", "headers": {"A": "${B}"}}


class Reader(Machine):
    def found(self, root=None):
        return read_registrations(self.context(root=root), self.managed)

    def names(self, root=None):
        servers, _ = self.found(root)
        return [(one.origin, one.name) for one in servers if not one.refused]


@pytest.fixture
def machine(tmp_path):
    return Reader(tmp_path)


def test_every_scope_in_the_clients_order(machine):
    assert machine.found() == ([], [])
    machine.registry(user={"u": STDIO}, local={"l": HTTP})
    machine.project(p=STDIO)
    assert machine.names() == [
        (Origin.LOCAL, "l"),
        (Origin.PROJECT, "p"),
        (Origin.USER, "u"),
    ]
    sources = [one.source for one in machine.found()[0]]
    assert sources == ["~/.claude.json, for this project", ".mcp.json", "~/.claude.json"]


@pytest.mark.parametrize("form", ["wrapped", "bare"])
def test_plugins_that_are_switched_on_bring_servers(machine, form):
    folder = machine.base / "plugins" / "notes"
    servers = {"mem": {"command": "${CLAUDE_PLUGIN_ROOT}/mem", "args": []}}
    machine.write(folder / ".mcp.json", {"mcpServers": servers} if form == "wrapped" else servers)
    installed = {"notes@market": [{"installPath": str(folder)}], "other@market": [{}], "odd@m": 7}
    machine.write(machine.home / ".claude/plugins/installed_plugins.json", {"plugins": installed})
    assert machine.names() == []
    on = {"notes@market": True, "other@market": True, "odd@m": True}
    machine.write(machine.home / ".claude/settings.json", {"enabledPlugins": on})
    ((server,), problems) = machine.found()
    assert (server.name, server.source, problems) == ("plugin:notes:mem", "the plugin notes", [])
    assert server.command == f"{folder}/mem"
    # A clone's settings switch nothing on; the user's own of the project may switch it off.
    machine.write(
        machine.root / ".claude/settings.local.json", {"enabledPlugins": {"notes@market": False}}
    )
    assert machine.names() == []


@pytest.mark.parametrize(
    ("definition", "refused"),
    [
        ({"command": "x"}, ""),
        ({"type": "streamable-http", "url": "https://a/"}, ""),
        ({"type": "sse", "url": "https://a/"}, "its type sse is not spoken here"),
        ({"type": "x\ny", "url": "https://a/"}, "its type unknown is not spoken here"),
        ({}, "its url is no text"),
        ([], "is no table"),
        ({"command": ["a", "b"]}, "its command is no text"),
        ({"command": "x", "args": [1]}, "its args is no list of texts"),
        ({"command": "x", "env": {"A": 1}}, "its env is no table of texts"),
        ({"type": "http", "url": 1}, "url is no text"),
        ({"type": "http", "url": "https://a/", "headers": {"A": None}}, "its headers is no table"),
    ],
)
def test_forms_of_a_definition(machine, definition, refused):
    machine.registry(user={"memory": definition})
    ((found,), _) = machine.found()
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
    found, problems = machine.found()
    assert [one.name for one in found] == ["u"]
    assert problems == [f".mcp.json was left out: {problem}"]


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
    ("path", "settings"),
    [
        ("managed/managed-settings.json", {"deniedMcpServers": [{"serverName": "x"}]}),
        ("managed/managed-settings.json", {"allowedMcpServers": []}),
        ("managed/managed-mcp.json", {}),
        ("home/.claude/settings.json", {"deniedMcpServers": []}),
    ],
)
def test_where_somebody_has_made_rules_nothing_registered_is_used(machine, path, settings):
    machine.registry(user={"a": STDIO, "b": HTTP})
    machine.write(machine.base / path, settings)
    assert machine.names() == []
    (problem,) = machine.found()[1]
    assert "describe yours in [backends.mcp]" in problem


def test_what_is_switched_off_in_the_client_is_not_used(machine):
    machine.registry(user={"a": STDIO, "b": HTTP, "c": HTTP}, disabledMcpServers=["a", 7])
    off = {"disabledMcpjsonServers": ["c"]}
    machine.write(machine.root / ".claude/settings.local.json", off)
    assert [name for _, name in machine.names()] == ["b"]
    # A clone brings settings as well: they switch off nothing of the user's.
    machine.write(machine.root / ".claude/settings.json", {"disabledMcpjsonServers": ["b"]})
    assert [name for _, name in machine.names()] == ["b"]
