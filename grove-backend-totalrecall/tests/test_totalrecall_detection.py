"""Total Recall is found in every form, and other people's memory folders are left alone."""

import json
import os

import pytest

from grove_backend_totalrecall.installation import Form, find_installation, possible_roots
from grove_core import ProjectContext

RULES = ".claude/rules/total-recall.md"


def put(root, name, text=""):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def make_folders(root, *names):
    for name in names or ("memory/daily", "memory/registers"):
        (root / name).mkdir(parents=True, exist_ok=True)


def enable(path, **plugins):
    put(path.parent, path.name, json.dumps({"enabledPlugins": plugins}))


# --- every form ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form", "command"),
    [
        ("standalone", Form.STANDALONE, "/recall-log"),
        ("plugin_user", Form.PLUGIN_USER, "/recall:recall-log"),
        ("plugin_project", Form.PLUGIN_PROJECT, "/recall:recall-log"),
        ("hand_made", Form.HAND_MADE, "/recall-log"),
    ],
)
def test_each_form_is_found_and_its_commands_are_named(make_form, name, form, command):
    context = make_form(name)
    found = find_installation(context)
    assert found.form is form
    assert found.root == context.root
    assert found.is_initialised
    assert found.missing == ()
    assert found.command("recall-log") == command
    assert not found.is_only_enabled


@pytest.mark.parametrize("name", ["not_initialised", "plugin_project_not_initialised"])
def test_what_is_installed_without_a_memory_is_not_initialised(make_form, name):
    found = find_installation(make_form(name))
    assert not found.is_initialised
    assert found.missing == ("memory/daily", "memory/registers")
    assert not found.is_only_enabled


def test_a_plugin_for_all_projects_is_told_from_one_that_is_used_here(only_enabled):
    found = find_installation(only_enabled)
    assert not found.is_initialised
    assert found.is_only_enabled
    assert found.markers == ("~/.claude/settings.json",)


@pytest.mark.parametrize("name", ["only_folder", "nothing"])
def test_other_projects_are_left_alone(make_form, name):
    assert find_installation(make_form(name)) is None


def test_health_checks_may_ask_with_the_context_of_a_project(standalone):
    context = ProjectContext(
        root=standalone.root, cwd=standalone.root, environment=standalone.environment
    )
    assert find_installation(context) == find_installation(standalone)


# --- markers ------------------------------------------------------------------------------------

MARKERS = {
    RULES: "",
    ".claude/commands/recall-log.md": "",
    "rules/total-recall.md": "",
    "memory/SCHEMA.md": "How TOTAL RECALL keeps this.",
    "memory/registers/_index.md": "",
    ".claude/settings.json": '{"enabledPlugins": {"recall@anywhere": true}}',
    ".claude/settings.local.json": '{"enabledPlugins": {"recall@anywhere": true}}',
}


@pytest.mark.parametrize("marker", MARKERS)
def test_each_marker_alone_beside_a_memory_gives_it_away(root, make_context, marker):
    make_folders(root)
    put(root, marker, MARKERS[marker])
    found = find_installation(make_context(root))
    assert found.markers == (marker,)
    assert found.is_initialised


@pytest.mark.parametrize("marker", MARKERS)
def test_each_marker_without_a_memory_is_not_initialised(root, make_context, marker):
    put(root, marker, MARKERS[marker])
    found = find_installation(make_context(root))
    assert not found.is_initialised
    assert "memory/daily" in found.missing


@pytest.mark.parametrize(
    "name", ["memory/SCHEMA.md", ".claude/settings.json", ".claude/settings.local.json", RULES]
)
def test_a_folder_or_a_pipe_in_a_markers_place_is_none(root, make_context, name):
    make_folders(root)
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir()
    assert find_installation(make_context(root)) is None
    path.rmdir()
    os.mkfifo(path)
    assert find_installation(make_context(root)) is None


def test_markers_are_named_in_order_with_the_users_last(standalone, home):
    enable(home / ".claude" / "settings.json", **{"recall@x": True})
    assert find_installation(standalone).markers == (
        RULES,
        ".claude/commands/recall-log.md",
        "memory/SCHEMA.md",
        "memory/registers/_index.md",
        "~/.claude/settings.json",
    )


def test_registers_alone_may_be_missing(standalone):
    for path in (standalone.root / "memory" / "registers").iterdir():
        path.unlink()
    (standalone.root / "memory" / "registers").rmdir()
    found = find_installation(standalone)
    assert found.is_initialised
    assert found.missing == ("memory/registers",)


# --- the plugin ---------------------------------------------------------------------------------


@pytest.fixture
def plugin_settings(root, home):
    """The three settings files of the client, beside a memory."""
    make_folders(root)
    project = root / ".claude"
    return (
        home / ".claude" / "settings.json",
        project / "settings.json",
        project / "settings.local.json",
    )


@pytest.mark.parametrize(
    ("user", "project", "local", "form"),
    [
        (True, None, None, Form.PLUGIN_USER),
        (None, True, None, Form.PLUGIN_PROJECT),
        (None, None, True, Form.PLUGIN_PROJECT),
        (True, True, None, Form.PLUGIN_PROJECT),
        (False, True, None, Form.PLUGIN_PROJECT),
        (True, False, None, None),
        (True, True, False, None),
        (True, None, False, None),
        (None, False, True, Form.PLUGIN_PROJECT),
        (False, None, None, None),
    ],
)
def test_narrower_settings_overrule_wider_ones(
    plugin_settings, make_context, user, project, local, form
):
    for path, enabled in zip(plugin_settings, (user, project, local), strict=True):
        if enabled is not None:
            enable(path, **{"recall@market": enabled, "other@market": True})
    found = find_installation(make_context(plugin_settings[1].parents[1]))
    assert (found and found.form) == form


def test_the_plugin_of_one_marketplace_may_be_off_and_another_on(root, home, make_context):
    make_folders(root)
    enable(home / ".claude" / "settings.json", **{"recall@a": True, "recall@b": True})
    enable(root / ".claude" / "settings.json", **{"recall@a": False})
    assert find_installation(make_context(root)).form is Form.PLUGIN_USER


def test_plugins_with_similar_names_are_others(root, home, make_context):
    make_folders(root)
    enable(home / ".claude" / "settings.json", **{"total-recall@a": True, "recall": True})
    assert find_installation(make_context(root)) is None


def test_the_clients_directory_may_be_elsewhere(root, home, tmp_path, make_context):
    make_folders(root)
    enable(tmp_path / "elsewhere" / "settings.json", **{"recall@a": True})
    assert find_installation(make_context(root)) is None
    found = find_installation(make_context(root, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere")))
    assert found.form is Form.PLUGIN_USER
    assert found.markers == (str(tmp_path / "elsewhere" / "settings.json"),)
    enable(home / ".claude" / "settings.json", **{"recall@a": True})
    moved = make_context(root, CLAUDE_CONFIG_DIR=str(tmp_path / "nowhere"))
    assert find_installation(moved) is None


def test_in_the_users_home_the_settings_are_the_users(home, make_context):
    enable(home / ".claude" / "settings.json", **{"recall@a": True})
    found = find_installation(make_context(home))
    assert found.form is Form.PLUGIN_USER
    assert found.is_only_enabled


def test_a_plugin_for_all_projects_does_not_take_a_folder_of_half_the_shape(
    only_enabled, make_context
):
    make_folders(only_enabled.root, "memory/daily")
    assert not find_installation(only_enabled).is_initialised
    make_folders(only_enabled.root, "memory/registers")
    assert find_installation(only_enabled).is_initialised


def test_commands_of_the_project_come_before_those_of_a_plugin(standalone, home):
    enable(home / ".claude" / "settings.json", **{"recall@a": True})
    found = find_installation(standalone)
    assert found.form is Form.STANDALONE
    assert found.command("recall-log") == "/recall-log"


def test_without_its_commands_the_plugins_are_used(plugin_user):
    put(plugin_user.root, RULES)
    assert find_installation(plugin_user).command("recall-log") == "/recall:recall-log"


def test_no_home_means_no_settings_of_the_user(root, make_context):
    make_folders(root)
    assert find_installation(make_context(root, HOME="")) is None


@pytest.mark.parametrize(
    "settings",
    [
        b"",
        b'{"enabledPlugins": {"recall@a": true}',
        b'["recall@a"]',
        b'"recall@a"',
        b'{"enabledPlugins": ["recall@a"]}',
        b'{"enabledPlugins": "recall@a"}',
        b'{"enabledPlugins": {"recall@a": "yes"}}',
        b'{"enabledPlugins": {"recall@a": 1}}',
        b'{"other": {"recall@a": true}}',
        b'\xff\xfe{"recall@a"',
        b'{"recall@a": ' + b"[" * 100_000,
        b'{"enabledPlugins": {"recall@a": true}, "padding": "' + b" " * (1 << 20) + b'"}',
    ],
    ids=lambda settings: ascii(settings[:40]),
)
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_settings_that_cannot_be_read_are_no_marker(root, make_context, settings, name):
    make_folders(root)
    put(root, f".claude/{name}").write_bytes(settings)
    assert find_installation(make_context(root)) is None


# --- what stands in the way ---------------------------------------------------------------------


def test_memory_may_be_a_file(root, make_context):
    put(root, RULES)
    put(root, "memory")
    found = find_installation(make_context(root))
    assert not found.is_initialised
    assert found.missing == ("memory/daily", "memory/registers")


def test_links_in_circles_are_nothing(root, make_context):
    (root / "memory").symlink_to("memory")
    (root / ".claude").symlink_to(root / ".claude")
    assert find_installation(make_context(root)) is None
    put(root, "rules/total-recall.md")
    assert not find_installation(make_context(root)).is_initialised


def test_links_to_folders_are_followed(standalone, tmp_path):
    (standalone.root / "memory").rename(tmp_path / "elsewhere")
    (standalone.root / "memory").symlink_to(tmp_path / "elsewhere")
    assert find_installation(standalone).is_initialised


def test_a_project_that_is_gone_is_nothing(tmp_path, make_context):
    assert find_installation(make_context(tmp_path / "gone")) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_is_no_marker(standalone):
    for name in (".claude", "memory"):
        (standalone.root / name).chmod(0)
    assert find_installation(standalone) is None
    for name in (".claude", "memory"):
        (standalone.root / name).chmod(0o755)


# --- the root -----------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path):
    """A work tree with a package in it, and another project beside it."""
    for name in ("tree/package/inner", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "tree" / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("start", "variable", "expected"),
    [
        ("tree", None, "tree"),
        ("tree/package", None, "tree"),
        ("tree/package/inner", None, "tree"),
        ("other", None, "other"),
        ("tree/package", "tree/package", "tree/package"),
        ("tree/package", "tree", "tree"),
        ("tree", "tree/package", "tree/package"),
        ("tree", "tree/package/../package", "tree/package"),
        ("tree/package", "other", "tree"),
        ("other", "tree", "other"),
        ("other", "tree/missing", "other"),
        ("tree/package", "tree/missing", "tree"),
    ],
)
def test_root_is_what_total_recalls_hooks_take(places, make_context, start, variable, expected):
    variables = {"CLAUDE_PROJECT_DIR": f"{places}/{variable}"} if variable else {}
    assert possible_roots(make_context(places / start, **variables))[0] == places / expected


def test_root_of_a_linked_work_tree_is_its_own(places, make_context):
    put(places / "tree" / "linked", ".git", "gitdir: ../.git/worktrees/linked\n")
    assert possible_roots(make_context(places / "tree" / "linked"))[0] == places / "tree" / "linked"


def test_root_is_found_through_links(places, make_context):
    (places / "link").symlink_to("tree")
    context = make_context(places / "tree", CLAUDE_PROJECT_DIR=str(places / "link"))
    assert possible_roots(context)[0] == places / "tree"


@pytest.mark.parametrize("variable", ["", "package", ".", "/dev/null", "/\0"])
def test_a_variable_that_names_no_place_is_passed_over(places, make_context, monkeypatch, variable):
    monkeypatch.chdir(places / "tree")
    context = make_context(places / "tree", CLAUDE_PROJECT_DIR=variable)
    assert possible_roots(context)[0] == places / "tree"


def test_memory_is_found_above_the_project_in_its_work_tree(make_form, make_context, places):
    make_form("standalone", at=places / "tree")
    found = find_installation(make_context(places / "tree" / "package"))
    assert found.root == places / "tree"
    assert found.is_initialised
