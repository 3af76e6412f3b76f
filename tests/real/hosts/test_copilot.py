"""Copilot CLI reads what was written for Claude Code, and works beside it undisturbed."""

import json
import os

import pytest
from hosts import COPILOT, Shell, play
from session_server import PLUGIN
from world import GROVE

from grove_hosts.claude_code.hooks import hook_groups


@pytest.fixture
def witness(world):
    """A `grove` that leaves a line before it runs the real one; gives the program and its lines."""
    program, lines = world.others / "bin" / "grove", world.others / "calls"
    program.parent.mkdir(parents=True)
    words = " ".join(f"'{word}'" for word in GROVE)
    program.write_text(f'#!/bin/sh\necho "$@" >> \'{lines}\'\nexec {words} "$@"\n')
    program.chmod(0o755)
    return program, lines


# It drops hooks of a type that it does not know, and starts the plugin's server all the same.
@pytest.mark.skipif(bool(COPILOT.missing), reason=COPILOT.missing)
@pytest.mark.parametrize(("where", "run"), [("settings", "hook pre-tool-use"), ("plugin", "serve")])
def test_it_runs_a_command_beside_groves_hooks(beads, witness, where, run):
    program, lines = witness
    COPILOT.configure(beads.home, beads.project)
    options = ["--plugin-dir", str(PLUGIN)]
    if where == "settings":
        options = []
        settings = beads.project / ".claude" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": hook_groups(str(program), ())}))
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    ran = play(
        COPILOT,
        [Shell("echo done > ran.txt"), "Done."],
        beads.project,
        home=beads.home,
        environment={**beads.environment, "PATH": path},
        arguments=options,
    )
    assert ran.exit_code == 0, ran.stderr
    assert (beads.project / "ran.txt").read_text() == "done\n"
    results = [text for role, text in ran.requests[-1].messages if role == "tool"]
    assert results
    assert not any("hook" in one.lower() for one in results), results
    assert run in lines.read_text().splitlines()
    assert not list((beads.grove_home / "sessions").glob("*"))
