"""What is Copilot CLI's own: it reads hooks for Claude Code as well, and subagents have other ids."""

import pytest
from hosts import COPILOT, Call
from hosts.shop import CLOSE, MOST_BLOCKS, REFLECT, Shop
from session_server import PLUGIN

pytestmark = pytest.mark.parametrize("stage", [COPILOT], ids=["copilot"], indirect=True)


@pytest.mark.parametrize("own", [True, False])
# It drops hooks of a type that it does not know, and starts the plugin's server all the same.
@pytest.mark.parametrize(("where", "ran"), [("settings", "hook pre-tool-use"), ("plugin", "serve")])
def test_hooks_for_claude_code_are_silent(stage, tmp_path, where, ran, own):
    shop = Shop.of(stage, tmp_path / "programs")
    if not own:
        (stage.home / ".copilot" / "hooks" / "grove.json").unlink()
    named, options = stage.home / ".grove" / "program", ["--plugin-dir", str(PLUGIN)]
    if where == "settings":
        named, options = stage.project / ".claude" / "settings.json", []
        shop.grove("init", "--hooks", "claude-code", "--shared", "--yes")
    calls = shop.watch(named)
    run = shop.play(CLOSE, *["Done."] * 30, arguments=options)
    assert "status: closed" in shop.ticket.read_text()
    asked = [1] * MOST_BLOCKS if own else []
    assert [one.new.count("is closed") for one in run.requests] == [0, 0, *asked]
    assert ran in calls.read_text().splitlines()
    assert any((stage.home / ".grove" / "sessions").glob("*")) is own


def test_what_a_subagent_closes_counts_for_the_session(stage, tmp_path):
    shop = Shop.of(stage, tmp_path / "programs")
    words = {"agent_type": "general-purpose", "name": "close", "description": "Close it"}
    agent = Call("task", {**words, "prompt": "Close shop-1.", "mode": "sync"})
    run = shop.play(agent, CLOSE, "It is closed.", "Done.", REFLECT, "Finished.")
    assert shop.held(run) == [4]
    assert f"session {run.session}" in shop.learnings()
