"""How the backend is offered, and where Total Recall is installed or only seems to be."""

import json
import os
from datetime import date

import pytest
from core_worlds import write_file

from grove_backend_totalrecall import plugin
from grove_backend_totalrecall.health import check_project
from grove_backend_totalrecall.installation import Form, find_installation, possible_roots
from grove_backend_totalrecall.paths import LARGEST_BYTES
from grove_core import BackendError, ProjectContext

TODAY = date(2026, 2, 7)
HUGE = LARGEST_BYTES + 1


@pytest.fixture
def spec():
    (found,) = plugin.grove_memory_backends()
    return found


def listing(folder):
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def check(context, today=TODAY):
    """Doctor's look, which must change nothing."""
    before = listing(context.root)
    project = ProjectContext(root=context.root, cwd=context.root, environment=context.environment)
    health = check_project(project, today)
    assert listing(context.root) == before
    assert "\n" not in health.detail
    assert "\n" not in health.fix
    return health


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("standalone", "standalone"),
        ("plugin_user", "plugin, user scope"),
        ("plugin_project", "plugin, project scope"),
        ("hand_made", "made by hand"),
    ],
)
def test_a_good_installation_is_named_and_well(spec, make_form, name, form):
    context = make_form(name)
    found = spec.detect(context)
    assert found.usable
    assert found.note == f"found Total Recall ({form}) in {context.root}"
    assert (context.root / found.marker).exists()
    assert spec.open(context).name == spec.name == "total-recall"
    health = check(context)
    assert (health.ok, health.fix) == (True, "")
    assert form in health.detail


@pytest.mark.parametrize(
    ("name", "command", "is_warned"),
    [
        ("not_initialised", "/recall-init", True),
        ("plugin_project_not_initialised", "/recall:recall-init", True),
        ("only_enabled", "/recall:recall-init", False),
    ],
)
def test_what_is_not_initialised_cannot_be_used_and_says_what_to_run(
    spec, make_form, name, command, is_warned
):
    context = make_form(name)
    found = spec.detect(context)
    assert not found.usable
    assert f"Run {command} in the client" in found.note
    with pytest.raises(BackendError, match="/recall"):
        spec.open(context)
    health = check(context)
    assert health.ok
    assert (command in health.fix) is is_warned
    assert ("no memory/daily" if is_warned else "~/.claude/settings.json") in health.detail


def log_of(context, day=TODAY):
    return context.root / "memory" / "daily" / f"{day}.md"


@pytest.mark.parametrize(
    ("spoil", "words", "mend"),
    [
        (
            lambda log: log.symlink_to("nowhere.md"),
            "is a symbolic link",
            "Replace the symbolic link",
        ),
        (
            lambda log: log.symlink_to("/dev/null"),
            "{log} leads to",
            "Replace the symbolic link {log} by what it leads to",
        ),
        (lambda log: log.mkdir(), "{log} is no file", "Move {log} out of the way"),
        (
            lambda log: log.touch() or os.truncate(log, HUGE),
            "is too large to be read",
            "Split {log}",
        ),
    ],
)
def test_a_log_that_cannot_be_written_is_broken(standalone, spoil, words, mend):
    log = log_of(standalone)
    spoil(log)
    health = check(standalone)
    assert not health.ok
    assert words.format(log=log) in health.detail
    assert health.fix.startswith(mend.format(log=log))


RULES = ".claude/rules/total-recall.md"


def put(root, name, text=""):
    return write_file(root / name, text)


def make_folders(root, *names):
    for name in names or ("memory/daily", "memory/registers"):
        (root / name).mkdir(parents=True, exist_ok=True)


def enable(path, **plugins):
    put(path.parent, path.name, json.dumps({"enabledPlugins": plugins}))


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
