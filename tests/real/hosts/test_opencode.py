"""OpenCode's plugin where the client does what the others do not."""

import json

import pytest
from core_worlds import write_program
from hosts import OPENCODE, Call, Shell
from hosts.shop import CLOSE, MOST_BLOCKS, Shop

pytestmark = pytest.mark.parametrize("stage", [OPENCODE], ids=["opencode"], indirect=True)
PLUGIN = ".config/opencode/plugins/grove.js"


@pytest.fixture
def shop(stage, tmp_path):
    return Shop.of(stage, tmp_path / "programs")


def test_a_text_before_a_call_is_no_stop(shop):
    # On this wire a text ends before the call behind it begins.
    path = shop.stage.home / ".config" / "opencode" / "opencode.json"
    config = json.loads(path.read_text())
    config["provider"]["fake"]["npm"] = "@ai-sdk/anthropic"
    path.write_text(json.dumps(config))
    work = [(f"Step {number}.", Shell(f"echo {number}")) for number in range(4)]
    run = shop.play(("Closing.", CLOSE), *work, "Done.", work[0], *["Done."] * 9)
    assert shop.held(run) == [6, 8, 9]
    # Those that were taken back are hidden from the model for good.
    assert run.requests[-1].read.count("is closed") == MOST_BLOCKS


def test_what_a_subagent_closes_is_asked_of_the_session(shop):
    task = {"description": "Close it", "prompt": "Close shop-1.", "subagent_type": "general"}
    run = shop.play(Call("task", task), CLOSE, "It is closed.", "Done.", "No.", "No.", "No.")
    assert shop.held(run) == [4, 5, 6]


def test_the_agents_shell_knows_the_session(shop):
    run = shop.play(Shell("echo session $GROVE_SESSION_ID"), "Done.")
    assert f"session {run.session}" in run.requests[1].new


@pytest.mark.parametrize(
    "program",
    [None, "#!/nowhere\n", "#!/bin/sh\necho broken; echo broken >&2; exit 2\n"],
)
def test_without_a_grove_that_works_the_agent_goes_on(shop, program):
    plugin, grove = shop.stage.home / PLUGIN, shop.programs / "grove"
    plugin.write_text(plugin.read_text().replace(str(grove.readlink()), str(grove)))
    grove.unlink()
    if program:
        write_program(grove, program)
    run = shop.play(CLOSE, "Done.")
    assert len(run.requests) == 2
    assert "status: closed" in shop.ticket.read_text()
