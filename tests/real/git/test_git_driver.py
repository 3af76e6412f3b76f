"""The merge driver in a clone's configuration: what it does when it cannot run, and its removal."""

import shlex

import pytest

from grove_core.flow.merge_driver import driver_command, find_driver

OURS, THEIRS = "cl_20260206_oooooo", "cl_20260206_tttttt"
OLD = "if command -v grove >/dev/null; then grove merge-driver %O %A %B %P; else false; fi"


def registered(world):
    return world.git("config", "--get", "merge.grove.driver").removesuffix("\n")


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
def test_a_driver_that_cannot_run_loses_neither_side(world, merge_branches, kind):
    world.make_git()
    world.grove("init")
    command = driver_command(broken_program(world.others, kind))
    world.git("config", "merge.grove.driver", command)
    merged = merge_branches(world.learnings_file)
    text = world.learnings_file.read_text()
    assert merged.returncode != 0
    assert "<<<<<<<" in text
    assert OURS in text
    assert THEIRS in text


def test_a_program_of_any_name_is_run(world, merge_branches):
    world.make_git()
    world.grove("init")
    real = shlex.split(registered(world))[0]
    program = world.others / "gr%Ove it's %%"
    world.others.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(real)} "$@"\n')
    program.chmod(0o755)
    world.git("config", "merge.grove.driver", driver_command(str(program)))
    assert merge_branches(world.learnings_file).returncode == 0
    assert {OURS, THEIRS} <= {one["id"] for one in world.grove("list", "--json").json["learnings"]}


def test_a_project_in_a_directory_like_an_option_is_merged(world, merge_branches):
    world.make_git()
    inner = world.project / "-x"
    (inner / ".grove").mkdir(parents=True)
    world.lent.append(inner)
    world.grove("init", cwd=inner)
    file = inner / ".grove" / "learnings.md"
    assert merge_branches(file).returncode == 0
    text = file.read_text()
    assert OURS in text
    assert THEIRS in text
    assert "<<<<<<<" not in text


def test_markers_are_written_once(world, merge_branches):
    """What the driver leaves as git's own merge is not merged a second time."""
    world.make_git()
    world.grove("init")
    file = world.project / ".grove" / "learnings" / "x.md"
    file.parent.mkdir()
    file.write_text("start\n")
    world.git("config", "merge.grove.driver", registered(world).replace("%P", "notes.txt"))
    merged = merge_branches(file)
    assert merged.returncode != 0
    text = file.read_text()
    assert [text.count(f"> Detail of {branch}\n") for branch in ("ours", "theirs")] == [1, 1]
    assert text.count("<<<<<<<") == text.count(">>>>>>>") == 2


def test_the_older_form_is_renewed(world):
    world.make_git()
    world.grove("init")
    now = registered(world)
    world.git("config", "merge.grove.driver", OLD)
    assert find_driver(world.project).is_outdated
    found = {one["name"]: one for one in world.grove("doctor", "--json").json["checks"]}
    assert found["merge driver"]["status"] == "warning"
    assert world.grove("init", "--json").json["merge_driver"] == "registered"
    assert registered(world) == now
    assert not find_driver(world.project).is_outdated


def test_another_project_of_the_clone_keeps_the_driver(world):
    world.make_git()
    config = world.project / ".git" / "config"
    before = config.read_bytes()
    inner = world.project / "inner"
    (inner / ".grove").mkdir(parents=True)
    world.grove("init", "--yes")
    world.lent.append(inner)
    assert world.grove("init", "--json", cwd=inner).json["merge_driver"] == "kept"
    done = world.grove("init", "--uninstall", "--yes", "--json")
    assert any(str(inner) in note for note in done.json["notes"])
    assert "merge-driver" in registered(world)
    world.grove("init", "--uninstall", "--yes", cwd=inner)
    assert config.read_bytes() == before


def test_a_name_and_a_section_of_ones_own_stay(world):
    world.make_git()
    own = '[merge "grove"]\n\t# mine\n\tname = of mine\n'
    config = world.project / ".git" / "config"
    with config.open("a") as file:
        file.write(own)
    world.grove("init")
    assert world.git("config", "--get", "merge.grove.name") == "of mine\n"
    world.grove("init", "--uninstall", "--yes")
    assert config.read_text().endswith(own)


@pytest.mark.parametrize("end", ["", "\n"])
def test_lines_added_to_ones_own_attributes_are_taken_back(world, end):
    path = world.project / ".grove" / ".gitattributes"
    path.parent.mkdir()
    text = f"# mine\n*.jsonl -merge{end}"
    path.write_text(text)
    world.make_git()
    world.grove("init")
    assert path.read_text() != text
    world.grove("init", "--uninstall", "--yes")
    assert path.read_text() == text


def test_a_wider_pattern_is_not_overridden(world):
    world.make_git()
    (world.project / ".gitattributes").write_text("*.md merge=union\n*.log binary\n")
    world.grove("init")
    text = (world.project / ".grove" / ".gitattributes").read_text()
    assert text == "*.jsonl merge=union\n"
    found = {one["name"]: one for one in world.grove("doctor", "--json").json["checks"]}
    assert found["git attributes"]["status"] == "ok"
    assert world.grove("init", "--json").json["extended"] == []
