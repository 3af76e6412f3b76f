"""Total Recall is found in every form, and other people's memory folders are left alone."""

import json

import pytest

from grove_backend_totalrecall.installation import Form, find_installation, possible_roots

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
        (True, False, None, None),
        (True, True, False, None),
        (None, False, True, Form.PLUGIN_PROJECT),
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


@pytest.mark.parametrize(
    "settings",
    [
        b"",
        b'{"enabledPlugins": {"recall@a": "yes"}}',
        b'{"enabledPlugins": {"recall": true, "total-recall@a": true}}',
        b'{"recall@a": ' + b"[" * 100_000,
        b'{"enabledPlugins": {"recall@a": true}, "padding": "' + b" " * (1 << 20) + b'"}',
    ],
    ids=lambda settings: ascii(settings[:40]),
)
def test_settings_that_cannot_be_read_are_no_marker(root, make_context, settings):
    make_folders(root)
    put(root, ".claude/settings.json").write_bytes(settings)
    assert find_installation(make_context(root)) is None


# --- the root -----------------------------------------------------------------------------------


@pytest.fixture
def paths(tmp_path):
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
        ("tree/package", "tree/package", "tree/package"),
        ("tree", "tree/package/../package", "tree/package"),
        ("tree/package", "other", "tree"),
        ("other", "tree", "other"),
    ],
)
def test_root_is_what_total_recalls_hooks_take(paths, make_context, start, variable, expected):
    variables = {"CLAUDE_PROJECT_DIR": f"{paths}/{variable}"} if variable else {}
    assert possible_roots(make_context(paths / start, **variables))[0] == paths / expected
