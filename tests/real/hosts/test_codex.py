"""grove in the real Codex, as far as it differs: its sandbox, its patches, its trust."""

import json

import pytest
from hosts import Call
from hosts.shop import CLOSE, REFLECT, Shop

PATCH = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"


@pytest.fixture
def shop(codex, tmp_path):
    return Shop.of(codex, tmp_path / "programs")


def test_a_home_that_the_sandbox_opens_needs_no_inbox(shop):
    roots = json.dumps([str(shop.stage.home / ".grove")])
    writable = ("-c", f"sandbox_workspace_write.writable_roots={roots}")
    run = shop.play(CLOSE, "Done.", REFLECT, "Finished.", arguments=writable)
    assert "stored cl_" in run.requests[3].new
    assert shop.held(run) == [2]
    assert not (shop.stage.project / ".grove" / "inbox").exists()


def test_a_gate_of_a_plugin_keeps_a_patch_out(shop):
    config = shop.stage.home / ".grove" / "config.toml"
    config.write_text('[gates.review]\ntools = ["apply_patch"]\n')
    run = shop.play(Call("apply_patch", PATCH), *["Done."] * 30)
    assert "blocked by PreToolUse hook" in run.requests[1].new
    assert not (shop.stage.project / "new.txt").exists()


def test_doctor_names_what_codex_leaves_out(shop):
    assert "not trusted" not in shop.grove("doctor")
    config = shop.stage.home / ".codex" / "config.toml"
    config.write_text(config.read_text().partition("[hooks.state")[0])
    assert "not trusted" in shop.grove("doctor")
    assert shop.held(shop.play(CLOSE, "Done.")) == []
