"""Which of grove's hooks the client is told to run, and by which file."""

import json

import pytest

from grove_core.hosts.claude_hooks import hook_groups
from grove_core.hosts.claude_settings import allowed, registrations

HOOKS = {"hooks": hook_groups("/opt/grove/bin/grove", ("Bash(*bd*)",))}
LAUNCHER = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/grove-hook", "args": ["stop"]}
PLUGIN_HOOKS = {"hooks": {"Stop": [{"hooks": [{**LAUNCHER, "timeout": 10}]}]}}


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
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value if isinstance(value, str) else json.dumps(value))
            return path

        def install_plugin(self, *, version=2, name="grove@market", **fields):
            folder = tmp_path / "plugins" / "grove"
            self.write(folder / "hooks" / "hooks.json", PLUGIN_HOOKS)
            install = {"installPath": str(folder), "version": "0.1.0", **fields}
            plugins = {name: install if version == 1 else [install]}
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
        ("project/.claude/settings.json", "project"),
        ("project/.claude/settings.local.json", "local"),
    ],
)
def test_hooks_are_found_in_each_settings_file(place, tmp_path, file, kind):
    path = place.write(tmp_path / file, HOOKS)
    found = place.found()
    assert {(one.kind, one.source) for one in found} == {(kind, path)}
    before = [one for one in found if one.event == "PreToolUse"]
    assert [(one.matcher, one.condition) for one in before] == [
        ("Bash", "Bash(*bd*)"),
        ("TaskUpdate|TodoWrite|mcp__.*", None),
    ]
    assert before[0].program == "/opt/grove/bin/grove"
    assert before[0].arguments == ("hook", "pre-tool-use")
    assert before[0].timeout == 5.0
    stop = next(one for one in found if one.event == "Stop")
    assert (stop.matcher, stop.condition, stop.timeout) == (None, None, 10.0)


def test_the_clients_directory_may_be_elsewhere(place, tmp_path):
    place.write(tmp_path / "config" / "settings.json", HOOKS)
    assert place.found() == []
    assert {one.kind for one in place.found(CLAUDE_CONFIG_DIR=str(tmp_path / "config"))} == {"user"}


def test_settings_in_the_home_directory_count_once(place):
    place.root = place.home
    place.write(place.home / ".claude" / "settings.json", HOOKS)
    assert len([one for one in place.found() if one.event == "Stop"]) == 1


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


def test_a_plugin_of_another_project_does_not_count(place, tmp_path):
    place.write(
        place.home / ".claude" / "settings.json", {"enabledPlugins": {"grove@market": True}}
    )
    place.install_plugin(scope="project", projectPath=str(tmp_path / "elsewhere"))
    assert place.found() == []
    place.install_plugin(scope="project", projectPath=str(place.root))
    assert len(place.found()) == 1


def test_a_plugin_that_only_path_tells_of_counts_once(place):
    folder = place.install_plugin()
    launcher = place.write(folder / "bin" / "grove-hook", "#!/bin/sh\n")
    search = f"/usr/bin:{launcher.parent}:{launcher.parent}:relative"
    (one,) = place.found(PATH=search)
    assert one.program == str(launcher)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "[]",
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
    assert allowed(place.root, place.environment) == frozenset()


def test_a_timeout_of_another_type_is_none(place):
    hook = {"type": "command", "command": "grove hook stop", "timeout": "10", "if": 3}
    place.write(
        place.root / ".claude" / "settings.json",
        {"hooks": {"Stop": [{"matcher": 1, "hooks": [hook]}]}},
    )
    (one,) = place.found()
    assert (one.timeout, one.condition, one.matcher) == (None, None, None)
    assert (one.program, one.arguments) == ("grove", ("hook", "stop"))


def test_what_is_allowed_comes_from_all_settings(place):
    for path, rule in (
        (place.home / ".claude" / "settings.json", "Read"),
        (place.root / ".claude" / "settings.local.json", "Bash(grove *)"),
    ):
        place.write(path, {"permissions": {"allow": [rule, 7]}})
    assert allowed(place.root, place.environment) == {"Read", "Bash(grove *)"}
