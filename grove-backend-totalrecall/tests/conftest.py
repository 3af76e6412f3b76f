"""Projects in which Total Recall is installed in each of its forms, or only seems to be."""

import json

import pytest

from grove_core import BackendContext

DAY = "2026-02-06"
PLUGIN = "recall@recall-marketplace"
COMMANDS = (
    "context",
    "forget",
    "init",
    "init-ids",
    "log",
    "maintain",
    "promote",
    "search",
    "status",
    "write",
)
SECTIONS = ("Decisions", "Corrections", "Commitments", "Open Loops", "Notes")
REGISTERS = {
    "_index.md": "# Registers\n\n| Register | Load When | Contains |\n|---|---|---|\n"
    "| people.md | a person is named | who is who |\n",
    "people.md": "# People\n\n<!--\n## Name\n- **role**: what they do\n- **confidence**: high\n-->\n",
    "projects.md": "# Projects\n\n<!--\n## Name\n- **status**: active\n-->\n",
    "decisions.md": "# Decisions\n\n<!--\n## DATE: Title\n- **choice**: what\n- **status**: active\n-->\n",
    "preferences.md": "# Preferences\n\n## Code Style\n\n## Workflow\n",
    "tech-stack.md": "# Tech stack\n\n<!--\n## Category\n- **claim**: what\n-->\n",
    "open-loops.md": "# Open loops\n\n## Active\n\n<!--\n- [ ] what — created DATE\n-->\n\n"
    "## Recently Closed\n",
}
SCHEMA = "# Memory\n\nThis folder is kept by Total Recall: days first, registers for what lasts.\n"
WORKING_MEMORY = "# Working memory\n\n## Active Context\n\n## Open Loops\n"
SETTINGS_SECTION = "\n## Total Recall Settings\n\nrecall_suggestions: low\n"
HOOK = "#!/bin/bash\nexit 0\n"


def write(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def daily_log(day=DAY, **notes):
    """A daily log with Total Recall's five sections and bullets below some of them."""
    parts = [f"# {day}\n"]
    for section in SECTIONS:
        bullets = "".join(f"- {note}\n" for note in notes.get(section.lower(), ()))
        parts.append(f"\n## {section}\n" + (f"\n{bullets}" if bullets else ""))
    return "".join(parts)


def make_scaffold(root, *, schema=SCHEMA):
    """The folder `memory` as a model makes it that was asked to initialise."""
    for name, text in REGISTERS.items():
        write(root, f"memory/registers/{name}", text)
    for folder in ("daily", "archive/projects", "archive/daily"):
        (root / "memory" / folder).mkdir(parents=True)
    write(root, "memory/SCHEMA.md", schema)
    write(root, "CLAUDE.local.md", WORKING_MEMORY)
    write(root, ".gitignore", "CLAUDE.local.md\n")


def enable_plugin(directory, *, enabled=True, name="settings.json"):
    """What the client notes in settings when a plugin is switched on or off."""
    write(directory, name, json.dumps({"enabledPlugins": {PLUGIN: enabled}}, indent=2))


def make_standalone(root, home):
    """What the installer copies and makes."""
    make_scaffold(root)
    write(root, "memory/.recall/metadata.json", "{}\n")
    seeded = daily_log(decisions=["Total Recall keeps the memory"], notes=["Installed"])
    write(root, f"memory/daily/{DAY}.md", seeded)
    write(root, "CLAUDE.md", "# The project\n\nMemory: see the rules.\n")
    write(root, "CLAUDE.local.md", WORKING_MEMORY + SETTINGS_SECTION)
    write(root, ".claude/rules/total-recall.md", "# Total Recall\n\nWrite down what lasts.\n")
    for name in COMMANDS:
        write(root, f".claude/commands/recall-{name}.md", f"Do {name} with: $ARGUMENTS\n")
    for name in ("session-start", "pre-compact"):
        write(root, f".claude/hooks/{name}.sh", HOOK).chmod(0o755)
    hook = [{"hooks": [{"type": "command", "command": ".claude/hooks/session-start.sh"}]}]
    write(root, ".claude/settings.local.json", json.dumps({"hooks": {"SessionStart": hook}}))
    write(root, ".gitignore", "CLAUDE.local.md\n.claude/settings.local.json\nmemory/\n")


def make_plugin_user(root, home):
    """The plugin for all of the user's projects, and `/recall:recall-init` in this one."""
    enable_plugin(home / ".claude")
    make_scaffold(root)


def make_plugin_project(root, home):
    """The plugin for one project."""
    enable_plugin(root / ".claude")
    make_scaffold(root)


def make_hand_made(root, home):
    """A scaffold that no installer has made: neither rules nor commands nor a plugin."""
    make_scaffold(root, schema="# How we use this\n\nAs TOTAL-RECALL says.\n")


def make_not_initialised(root, home):
    """The installer's files, whose memory nobody has made or somebody has deleted."""
    write(root, ".claude/rules/total-recall.md", "# Total Recall\n")
    for name in COMMANDS:
        write(root, f".claude/commands/recall-{name}.md", f"Do {name} with: $ARGUMENTS\n")


def make_plugin_project_not_initialised(root, home):
    enable_plugin(root / ".claude")


def make_only_enabled(root, home):
    """The plugin for all of the user's projects, and a project that has nothing to do with it."""
    enable_plugin(home / ".claude")


def make_only_folder(root, home):
    """A folder `memory` of somebody else's, of the same shape."""
    write(root, f"memory/daily/{DAY}.md", "# What I did\n\n- Slept.\n")
    write(root, "memory/registers/allocator.md", "# Registers of the allocator\n")
    write(root, "memory/SCHEMA.md", "# Tables\n\nOne row a page.\n")


FORMS = {
    "standalone": make_standalone,
    "plugin_user": make_plugin_user,
    "plugin_project": make_plugin_project,
    "hand_made": make_hand_made,
    "not_initialised": make_not_initialised,
    "plugin_project_not_initialised": make_plugin_project_not_initialised,
    "only_enabled": make_only_enabled,
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


@pytest.fixture
def plugin_user(make_form):
    return make_form("plugin_user")


@pytest.fixture
def plugin_project(make_form):
    return make_form("plugin_project")


@pytest.fixture
def hand_made(make_form):
    return make_form("hand_made")


@pytest.fixture
def not_initialised(make_form):
    return make_form("not_initialised")


@pytest.fixture
def only_enabled(make_form):
    return make_form("only_enabled")


@pytest.fixture
def only_folder(make_form):
    return make_form("only_folder")
