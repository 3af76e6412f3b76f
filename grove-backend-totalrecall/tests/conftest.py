"""Projects in which Total Recall is installed in each of its forms, or only seems to be."""

import json

import pytest
from core_worlds import write_file

from grove_core import BackendContext

COMMANDS = ("context", "forget", "init", "init-ids", "log", "maintain", "promote", "search")
REGISTERS = ("people", "projects", "decisions", "preferences", "tech-stack", "open-loops")
TEMPLATE = "<!--\n- **choice**: what\n- **status**: active\n-->\n"
SCHEMA = "# Memory\n\nThis folder is kept by Total Recall: days first, registers for what lasts.\n"
LOG = "# 2026-02-06\n\n## Decisions\n\n- Total Recall keeps the memory\n\n## Notes\n\n- Installed\n"


def write(root, name, text):
    return write_file(root / name, text)


def make_scaffold(root, *, schema=SCHEMA):
    """The folder `memory` as a model makes it that was asked to initialise."""
    for name in REGISTERS:
        write(root, f"memory/registers/{name}.md", f"# {name}\n\n{TEMPLATE}")
    write(root, "memory/registers/_index.md", "# Registers\n\n| Register | Contains |\n|---|---|\n")
    for folder in ("daily", "archive/projects", "archive/daily"):
        (root / "memory" / folder).mkdir(parents=True)
    write(root, "memory/SCHEMA.md", schema)
    write(root, "CLAUDE.local.md", "# Working memory\n\n## Active Context\n\n## Open Loops\n")
    write(root, ".gitignore", "CLAUDE.local.md\n")


def enable_plugin(directory):
    """What the client notes in settings when a plugin is switched on."""
    text = json.dumps({"enabledPlugins": {"recall@recall-marketplace": True}})
    write(directory, ".claude/settings.json", text)


def make_commands(root):
    """The rules and commands that the installer copies."""
    write(root, ".claude/rules/total-recall.md", "# Total Recall\n\nWrite down what lasts.\n")
    for name in COMMANDS:
        write(root, f".claude/commands/recall-{name}.md", f"Do {name} with: $ARGUMENTS\n")


def make_standalone(root, home):
    """What the installer copies and makes."""
    make_scaffold(root)
    make_commands(root)
    write(root, "memory/.recall/metadata.json", "{}\n")
    write(root, "memory/daily/2026-02-06.md", LOG)
    write(root, ".gitignore", "CLAUDE.local.md\n.claude/settings.local.json\nmemory/\n")


def make_plugin_user(root, home):
    """The plugin for all of the user's projects, and `/recall:recall-init` in this one."""
    enable_plugin(home)
    make_scaffold(root)


def make_plugin_project(root, home):
    """The plugin for one project."""
    enable_plugin(root)
    make_scaffold(root)


def make_only_folder(root, home):
    """A folder `memory` of somebody else's, of the same shape."""
    write(root, "memory/daily/2026-02-06.md", "# What I did\n\n- Slept.\n")
    write(root, "memory/registers/allocator.md", "# Registers of the allocator\n")
    write(root, "memory/SCHEMA.md", "# Tables\n\nOne row a page.\n")


FORMS = {
    "standalone": make_standalone,
    "plugin_user": make_plugin_user,
    "plugin_project": make_plugin_project,
    # A scaffold that no installer has made: neither rules nor commands nor a plugin.
    "hand_made": lambda root, home: make_scaffold(root, schema="As TOTAL-RECALL says.\n"),
    # The installer's files, whose memory nobody has made or somebody has deleted.
    "not_initialised": lambda root, home: make_commands(root),
    "plugin_project_not_initialised": lambda root, home: enable_plugin(root),
    # The plugin for all projects, and a project that has nothing to do with it.
    "only_enabled": lambda root, home: enable_plugin(home),
    "only_folder": make_only_folder,
    "nothing": lambda root, home: None,
}


@pytest.fixture
def home(tmp_path):
    """The user's home, which `HOME` names."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def root(tmp_path):
    """An empty project without git."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def make_context(home):
    """Build the context of any directory; variables are added to its environment."""

    def make(root, **variables):
        environment = {"HOME": str(home), **variables}
        return BackendContext(root=root, home=home / ".grove", environment=environment)

    return make


@pytest.fixture
def make_form(root, home, make_context):
    """Install Total Recall in one of the forms, by name; gives the context of its project."""

    def make(name, at=None):
        FORMS[name](at or root, home)
        return make_context(at or root)

    return make


@pytest.fixture
def standalone(make_form):
    return make_form("standalone")
