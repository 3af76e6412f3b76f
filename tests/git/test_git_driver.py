"""The merge driver in a clone's configuration: what it does when it cannot run, and its removal."""

import json
import shlex
import subprocess

import pytest

from grove_core.flow.merge_driver import driver_command, find_driver

OURS, THEIRS = "cl_20260206_oooooo", "cl_20260206_tttttt"
OLD = "if command -v grove >/dev/null; then grove merge-driver %O %A %B %P; else false; fi"


def git(world, *words, check=True, cwd=None):
    environment = {
        **world.environment,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_AUTHOR_NAME": "n",
        "GIT_AUTHOR_EMAIL": "e",
        "GIT_COMMITTER_NAME": "n",
        "GIT_COMMITTER_EMAIL": "e",
    }
    return subprocess.run(
        ["git", *words],
        cwd=cwd or world.project,
        env=environment,
        check=check,
        capture_output=True,
        text=True,
    )


def registered(world):
    return git(world, "config", "--get", "merge.grove.driver").stdout.removesuffix("\n")


def config_of(world):
    return world.project / ".git" / "config"


def init_in(world, folder, *words):
    """A project below the watched one."""
    process = world.start("init", "--json", *words, cwd=folder)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def merge_branches(world, file):
    """Two branches append a learning each; returns git's word on their merge."""
    git(world, "add", "-A")
    git(world, "commit", "-qm", "all")
    for branch, one in (("ours", OURS), ("theirs", THEIRS)):
        git(world, "checkout", "-q", "-b", branch, "main")
        with file.open("a") as opened:
            opened.write(f"\n### [{one}] A learning of {branch}\n\n- **Category:** pattern\n")
        git(world, "commit", "-qam", branch)
    return git(world, "merge", "-q", "--no-edit", "ours", check=False)


def broken_program(folder, kind):
    folder.mkdir()
    program = folder / "gr%Ove it's"
    if kind == "dead shebang":
        program.write_text("#!/nowhere/python\n")
    elif kind == "import error":
        program.write_text("#!/bin/sh\nexit 1\n")
    elif kind == "not executable":
        program.write_text("")
    if kind in {"dead shebang", "import error"}:
        program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("kind", ["dead shebang", "import error", "not executable", "missing"])
def test_a_driver_that_cannot_run_loses_neither_side(world, kind):
    world.make_git()
    world.grove("init")
    command = driver_command(broken_program(world.others, kind))
    git(world, "config", "merge.grove.driver", command)
    merged = merge_branches(world, world.learnings_file)
    text = world.learnings_file.read_text()
    assert merged.returncode != 0
    assert "<<<<<<<" in text
    assert OURS in text
    assert THEIRS in text


def test_a_program_of_any_name_is_run(world):
    world.make_git()
    world.grove("init")
    real = shlex.split(registered(world))[0]
    program = world.others / "gr%Ove it's %%"
    world.others.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(real)} "$@"\n')
    program.chmod(0o755)
    git(world, "config", "merge.grove.driver", driver_command(str(program)))
    assert merge_branches(world, world.learnings_file).returncode == 0
    assert {OURS, THEIRS} <= {one["id"] for one in world.grove("list", "--json").json["learnings"]}


def test_a_project_in_a_directory_like_an_option_is_merged(world):
    world.make_git()
    inner = world.project / "-x"
    (inner / ".grove").mkdir(parents=True)
    init_in(world, inner)
    file = inner / ".grove" / "learnings.md"
    assert merge_branches(world, file).returncode == 0
    text = file.read_text()
    assert OURS in text
    assert THEIRS in text
    assert "<<<<<<<" not in text


def test_markers_are_written_once(world):
    """What the driver leaves as git's own merge is not merged a second time."""
    world.make_git()
    world.grove("init")
    file = world.project / ".grove" / "learnings" / "x.md"
    file.parent.mkdir()
    file.write_text("start\n")
    git(world, "config", "merge.grove.driver", registered(world).replace("%P", "notes.txt"))
    merged = merge_branches(world, file)
    assert merged.returncode != 0
    assert file.read_text().count("<<<<<<<") == 1


def test_the_older_form_is_renewed(world):
    world.make_git()
    world.grove("init")
    now = registered(world)
    git(world, "config", "merge.grove.driver", OLD)
    assert find_driver(world.project).is_outdated
    found = {one["name"]: one for one in world.grove("doctor", "--json").json["checks"]}
    assert found["merge driver"]["status"] == "warning"
    assert world.grove("init", "--json").json["merge_driver"] == "registered"
    assert registered(world) == now
    assert not find_driver(world.project).is_outdated


def test_another_project_of_the_clone_keeps_the_driver(world):
    world.make_git()
    before = config_of(world).read_bytes()
    inner = world.project / "inner"
    (inner / ".grove").mkdir(parents=True)
    world.grove("init", "--yes")
    assert init_in(world, inner)["merge_driver"] == "kept"
    done = world.grove("init", "--uninstall", "--yes", "--json")
    assert any(str(inner) in note for note in done.json["notes"])
    assert "merge-driver" in registered(world)
    init_in(world, inner, "--uninstall", "--yes")
    assert config_of(world).read_bytes() == before


def test_a_lost_record_is_made_up_for(world):
    world.make_git()
    before = config_of(world).read_bytes()
    world.grove("init")
    for path in (world.grove_home / "installed").rglob("record.json"):
        path.unlink()
    world.grove("init")
    world.grove("init", "--uninstall", "--yes")
    assert config_of(world).read_bytes() == before


def test_a_name_and_a_section_of_ones_own_stay(world):
    world.make_git()
    own = '[merge "grove"]\n\t# mine\n\tname = of mine\n'
    with config_of(world).open("a") as file:
        file.write(own)
    world.grove("init")
    assert git(world, "config", "--get", "merge.grove.name").stdout == "of mine\n"
    world.grove("init", "--uninstall", "--yes")
    assert config_of(world).read_text().endswith(own)


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_added_to_ones_own_attributes_are_taken_back(world, end):
    path = world.project / ".grove" / ".gitattributes"
    path.parent.mkdir()
    text = f"# mine\nstats.log -merge{end}"
    path.write_text(text)
    world.make_git()
    world.grove("init")
    assert path.read_text() != text
    world.grove("init", "--uninstall", "--yes")
    assert path.read_text() == text


def test_only_added_lines_leave_attributes_that_have_changed(world):
    path = world.project / ".grove" / ".gitattributes"
    path.parent.mkdir()
    path.write_text("stats.log merge=union\n")
    world.grove("init")
    with path.open("a") as file:
        file.write("later text\n")
    world.grove("init", "--uninstall", "--yes")
    assert path.read_text() == "stats.log merge=union\nlater text\n"


def test_a_wider_pattern_is_not_overridden(world):
    world.make_git()
    (world.project / ".gitattributes").write_text("*.md merge=union\n*.log binary\n")
    world.grove("init")
    text = (world.project / ".grove" / ".gitattributes").read_text()
    assert text == "*.jsonl merge=union\n"
    found = {one["name"]: one for one in world.grove("doctor", "--json").json["checks"]}
    assert found["git attributes"]["status"] == "ok"
    assert world.grove("init", "--json").json["extended"] == []


def test_lines_added_to_attributes_that_init_has_made_stay_with_them(world):
    path = world.project / ".grove" / ".gitattributes"
    world.grove("init")
    text = path.read_text()
    path.write_text(text.replace("learnings.md merge=grove\n", ""))
    world.grove("init")
    extended = path.read_text()
    assert sorted(extended.splitlines()) == sorted(text.splitlines())
    world.grove("init", "--uninstall", "--yes")
    assert path.read_text() == extended
