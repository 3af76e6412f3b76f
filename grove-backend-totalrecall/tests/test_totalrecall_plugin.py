"""What the plugin offers, that offering it is cheap, and what doctor is told."""

import os
from datetime import date

import pytest

from grove_backend_totalrecall import plugin
from grove_backend_totalrecall.health import check_project
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


# --- detection and doctor -----------------------------------------------------------------------


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
