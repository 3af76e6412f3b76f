"""The merge driver in a clone's configuration: what it does when it cannot run, and its removal."""

import pytest

from grove_core.flow.merge_driver import driver_command

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
