"""What the plugin offers, that offering it is cheap, and what doctor is told."""

import os
import subprocess
import sys
from datetime import date

import pytest

from grove_backend_totalrecall import plugin
from grove_backend_totalrecall.health import check_project, describe, write_fault
from grove_backend_totalrecall.installation import find_installation
from grove_backend_totalrecall.places import LARGEST_BYTES
from grove_backend_totalrecall.settings import TotalRecallSettings
from grove_core import BackendError, ProjectContext

TODAY = date(2026, 2, 7)


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
    assert "\n" not in health.mend
    return health


# --- what is offered ----------------------------------------------------------------------------


def test_offering_imports_nothing_but_the_settings():
    code = (
        "import sys; from grove_backend_totalrecall import plugin; plugin.grove_memory_backends(); "
        "plugin.grove_health_checks(); "
        "print(sorted(m for m in sys.modules if m.startswith('grove_backend_totalrecall.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    package = "grove_backend_totalrecall"
    assert result.stdout.strip() == str([f"{package}.plugin", f"{package}.settings"])


def test_spec_names_what_belongs_to_total_recall(spec):
    assert spec.name == "total-recall"
    assert spec.settings is TotalRecallSettings
    assert "memory/daily" in spec.paths
    assert ".claude/commands/recall-init-ids.md" in spec.paths


@pytest.mark.parametrize("name", ["standalone", "hand_made"])
def test_everything_the_project_holds_is_among_the_paths(spec, make_form, name):
    context = make_form(name)
    others = {".gitignore", "CLAUDE.md", ".claude/settings.local.json"}
    others |= {".claude/hooks/session-start.sh", ".claude/hooks/pre-compact.sh"}
    files = {
        path.relative_to(context.root).as_posix()
        for path in context.root.rglob("*")
        if path.is_file()
    }
    left = {one for one in files if not any(f"{one}/".startswith(f"{own}/") for own in spec.paths)}
    assert left <= others


def test_a_package_called_memory_is_work(spec):
    assert not any("memory/allocator.py".startswith(path) for path in spec.paths)


# --- detection ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("standalone", "standalone"),
        ("plugin_user", "plugin, user scope"),
        ("plugin_project", "plugin, project scope"),
        ("hand_made", "made by hand"),
    ],
)
def test_detection_names_form_and_root(spec, make_form, name, form):
    context = make_form(name)
    found = spec.detect(context)
    assert found.usable
    assert found.note == f"found Total Recall ({form}) in {context.root}"
    assert (context.root / found.marker).exists()


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("not_initialised", "Run /recall-init in the client"),
        ("plugin_project_not_initialised", "Run /recall:recall-init in the client"),
        ("only_enabled", "Run /recall:recall-init in the client"),
    ],
)
def test_what_is_not_initialised_cannot_be_used_and_says_what_to_run(spec, make_form, name, mend):
    context = make_form(name)
    found = spec.detect(context)
    assert not found.usable
    assert mend in found.note
    with pytest.raises(BackendError, match="/recall"):
        spec.open(context)


def test_opening_where_there_is_nothing_says_so(spec, only_folder):
    assert spec.detect(only_folder) is None
    with pytest.raises(BackendError, match="not used there"):
        spec.open(only_folder)


def test_opening_gives_the_backend(spec, standalone):
    backend = spec.open(standalone)
    assert backend.name == "total-recall"
    assert backend.ping().ok


def test_detecting_a_plain_project_parses_no_settings(root, home):
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"enabledPlugins": {"other@x": true}}')
    code = (
        "import sys, pathlib; from grove_core import BackendContext\n"
        "from grove_backend_totalrecall import plugin\n"
        "(spec,) = plugin.grove_memory_backends(); before = set(sys.modules)\n"
        f"context = BackendContext(root=pathlib.Path({str(root)!r}), home=pathlib.Path('/nowhere'),"
        f" environment={{'HOME': {str(home)!r}}})\n"
        "assert spec.detect(context) is None\n"
        "print(sorted(set(sys.modules) - before))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert "json" not in result.stdout
    assert "subprocess" not in result.stdout
    assert "installation" in result.stdout


# --- doctor -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["standalone", "plugin_user", "plugin_project", "hand_made"])
def test_a_good_installation_is_well(make_form, name):
    context = make_form(name)
    health = check(context)
    assert health.ok
    assert not health.mend
    assert describe(find_installation(context)) in health.detail


@pytest.mark.parametrize("name", ["only_folder", "nothing"])
def test_where_it_is_not_used_there_is_nothing_to_say(make_form, name):
    health = check(make_form(name))
    assert (health.ok, health.mend) == (True, "")
    assert "not used" in health.detail


def test_a_plugin_that_is_not_used_here_is_only_mentioned(only_enabled):
    health = check(only_enabled)
    assert (health.ok, health.mend) == (True, "")
    assert "~/.claude/settings.json" in health.detail


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("not_initialised", "/recall-init"),
        ("plugin_project_not_initialised", "/recall:recall-init"),
    ],
)
def test_what_is_not_initialised_is_warned_of(make_form, name, mend):
    health = check(make_form(name))
    assert health.ok
    assert "no memory/daily" in health.detail
    assert mend in health.mend


def test_without_a_command_the_folders_are_made_by_hand(hand_made):
    (hand_made.root / "memory" / "daily").rmdir()
    command = check(hand_made).mend.partition("or: ")[2]
    subprocess.run(command, shell=True, check=True)
    assert not check(hand_made).mend


def test_rules_without_their_commands_name_the_installer(not_initialised):
    for path in (not_initialised.root / ".claude" / "commands").iterdir():
        path.unlink()
    assert check(not_initialised).mend.startswith("Run Total Recall's install.sh")


def test_mends_survive_blanks_in_names(make_form, tmp_path):
    place = tmp_path / "it's a project"
    place.mkdir()
    context = make_form("hand_made", at=place)
    (place / "memory" / "daily").rmdir()
    subprocess.run(check(context).mend.partition("or: ")[2], shell=True, check=True)
    assert (place / "memory" / "daily").is_dir()


@pytest.mark.parametrize("name", ["memory", "memory/daily"])
def test_a_file_in_the_way_is_named(not_initialised, name):
    path = not_initialised.root / name
    path.parent.mkdir(exist_ok=True)
    path.touch()
    health = check(not_initialised)
    assert f"{name} is no folder" in health.detail
    assert health.mend.startswith(f"Move {path} out of the way, then run /recall-init")


def test_missing_registers_are_a_warning(standalone):
    registers = standalone.root / "memory" / "registers"
    registers.rename(standalone.root / "gone")
    health = check(standalone)
    assert health.ok
    assert "there is no memory/registers" in health.detail
    assert "/recall-init" in health.mend
    registers.touch()
    assert "memory/registers is no folder" in check(standalone).detail


def log_of(context):
    return context.root / "memory" / "daily" / f"{TODAY}.md"


def dangle(log):
    log.symlink_to("nowhere.md")


def lead_out(log):
    (log.parents[3] / "outside.md").touch()
    log.symlink_to(log.parents[3] / "outside.md")


def lead_out_by_folder(log):
    outside = log.parents[3] / "outside"
    log.parent.rename(outside)
    log.parent.symlink_to(outside)


def be_folder(log):
    log.mkdir()


def be_huge(log):
    with log.open("wb") as file:
        file.truncate(LARGEST_BYTES + 1)


@pytest.mark.parametrize(
    ("spoil", "words", "mend"),
    [
        (dangle, "leads nowhere", "rm {log}"),
        (lead_out, "{log} leads to", "Replace the symbolic link {log} by what it leads to"),
        (
            lead_out_by_folder,
            "{log.parent} leads to",
            "Replace the symbolic link {log.parent} by what it leads to",
        ),
        (be_folder, "{log} is no file", "Move {log} out of the way"),
        (be_huge, "is over 16 MiB", "Split {log}"),
    ],
)
def test_a_log_that_cannot_be_written_is_broken(standalone, spoil, words, mend):
    log = log_of(standalone)
    spoil(log)
    health = check(standalone)
    assert not health.ok
    assert words.format(log=log) in health.detail
    assert health.mend.startswith(mend.format(log=log))


def test_links_within_the_root_are_fine(standalone):
    target = standalone.root / "elsewhere.md"
    target.touch()
    log_of(standalone).symlink_to(target)
    assert write_fault(log_of(standalone), standalone.root) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_written_is_broken(standalone):
    log = log_of(standalone)
    log.parent.chmod(0o500)
    health = check(standalone)
    assert not health.ok
    assert health.mend == f"chmod u+wx {log.parent}"
    log.parent.chmod(0o755)
    log.touch()
    log.chmod(0o400)
    assert check(standalone).mend == f"chmod u+rw {log}"


def test_logs_that_are_not_read_as_written_are_named(standalone):
    daily = standalone.root / "memory" / "daily"
    for day in range(1, 6):
        (daily / f"2026-01-0{day}.md").write_bytes(b"[10:00] caf\xe9\n")
    (daily / "notes.md").write_bytes(b"\xff")
    be_huge(daily / "2026-01-09.md")
    health = check(standalone)
    assert health.ok
    assert "memory/daily/2026-01-05.md, memory/daily/2026-01-04.md" in health.detail
    assert "and 2 more is not all UTF-8" in health.detail
    assert "memory/daily/2026-01-09.md is over 16 MiB" in health.detail
    assert "iconv" in health.mend


def test_a_link_in_a_circle_among_the_logs_is_passed_over(standalone):
    log = standalone.root / "memory" / "daily" / "2026-01-01.md"
    log.symlink_to(log)
    assert check(standalone).ok


@pytest.mark.parametrize(("name", "ignored"), [("standalone", True), ("plugin_project", False)])
def test_a_memory_that_git_ignores_is_remarked_on(make_form, name, ignored):
    context = make_form(name)
    subprocess.run(["git", "init", "--quiet", context.root], check=True)
    health = check(context)
    assert (health.ok, health.mend) == (True, "")
    assert ("git ignores" in health.detail) is ignored


def test_doctor_takes_the_local_day(standalone):
    (found,) = plugin.grove_health_checks()
    project = ProjectContext(
        root=standalone.root, cwd=standalone.root, environment=standalone.environment
    )
    dangle(standalone.root / "memory" / "daily" / f"{date.today()}.md")
    health = found.run(project)
    assert found.name == "total recall"
    assert not health.ok
