"""Which of grove's hooks the client is told to run, and by which file."""

import json

import pytest
from core_worlds import write_file

from grove_hosts.claude_code.hooks import hook_groups
from grove_hosts.claude_code.settings import registrations

HOOKS = {"hooks": hook_groups("/opt/grove/bin/grove", ("Bash(*bd*)",))}


LAUNCHER = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/grove-hook", "args": ["stop"]}
PLUGIN_HOOKS = {"hooks": {"Stop": [{"hooks": [LAUNCHER]}]}}


@pytest.fixture
def place(tmp_path):
    """A home, a project and what they hold."""

    class Place:
        def __init__(self):
            self.home = tmp_path / "home"
            self.root = tmp_path / "project"
            self.root.mkdir()
            self.environment = {"HOME": str(self.home)}

        def write(self, path, value):
            write_file(path, value if isinstance(value, str) else json.dumps(value))
            return path

        def install_plugin(self, *, version):
            folder = tmp_path / "plugins" / "grove"
            self.write(folder / "hooks" / "hooks.json", PLUGIN_HOOKS)
            install = {"installPath": str(folder), "version": "0.1.0"}
            plugins = {"grove@market": install if version == 1 else [install]}
            record = {"version": version, "plugins": plugins}
            self.write(self.home / ".claude" / "plugins" / "installed_plugins.json", record)
            return folder

        def found(self, **variables):
            return registrations(self.root, {**self.environment, **variables})

    return Place()


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("home/.claude/settings.json", "user"),
        ("elsewhere/settings.json", "user"),
        ("project/.claude/settings.json", "project"),
        ("project/.claude/settings.local.json", "local"),
    ],
)
def test_hooks_are_found_in_each_settings_file(place, tmp_path, file, kind):
    path = place.write(tmp_path / file, HOOKS)
    is_elsewhere = "elsewhere" in file
    found = place.found(**{"CLAUDE_CONFIG_DIR": str(path.parent)} if is_elsewhere else {})
    assert bool(place.found()) is not is_elsewhere
    assert {(one.kind, one.source) for one in found} == {(kind, path)}
    before = [one for one in found if one.event == "PreToolUse"]
    assert [(one.matcher, one.condition) for one in before] == [
        ("Bash", "Bash(*bd*)"),
        ("TaskUpdate|TodoWrite|mcp__.*", None),
    ]
    told = (before[0].program, before[0].arguments)
    assert told == ("/opt/grove/bin/grove", ("hook", "pre-tool-use"))


@pytest.mark.parametrize("version", [1, 2])
def test_an_enabled_plugin_counts_with_its_launcher(place, version):
    folder = place.install_plugin(version=version)
    assert place.found() == []
    enabled = {"enabledPlugins": {"grove@market": True}}
    place.write(place.home / ".claude" / "settings.json", enabled)
    (one,) = place.found()
    assert (one.kind, one.event) == ("plugin", "Stop")
    assert one.program == f"{folder}/bin/grove-hook"
    assert one.arguments == ("stop",)
    disabled = {"enabledPlugins": {"grove@market": False}}
    place.write(place.root / ".claude" / "settings.local.json", disabled)
    assert place.found() == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[" * 100_000,
        '{"hooks": 1, "enabledPlugins": [], "permissions": {"allow": {}}}',
        '{"hooks": {"Stop": [1, {"hooks": [null, {"type": "command", "command": ["grove"]}]}]}}',
    ],
)
def test_what_cannot_be_read_holds_nothing(place, content):
    for name in ("settings.json", "settings.local.json"):
        place.write(place.root / ".claude" / name, content)
    place.write(place.home / ".claude" / "plugins" / "installed_plugins.json", content)
    assert place.found() == []
