"""Plugin and project hooks side by side: everything happens twice in the client, once in grove."""

import json
import shlex
from pathlib import Path

import pytest
from scenario import (
    CLOSE,
    FINISHED,
    OTHER_CANDIDATE,
    REFLECT,
    STATUS,
    SUMMARY,
    assert_ended_well,
    held,
    injected,
    reflection,
    statuses,
    stops,
)

PLUGIN = Path(__file__).parents[3] / "plugin"


@pytest.fixture
def twice(shop, grove_folder):
    """A project with the plugin's hooks in its local settings, too, and one learning."""
    program = str(grove_folder / "grove")
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    for group in (group for groups in hooks.values() for group in groups):
        for hook in group["hooks"]:
            event = hook["command"].partition(" ")[2]
            hook["command"] = shlex.join([program, "hook", event])
    settings = shop.root / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": hooks}))
    shop.play([REFLECT, FINISHED])
    return shop


def of(transcript, event):
    return [hook for hook in transcript["hooks"] if hook["hook_event"] == event]


def test_each_stop_counts_once_and_three_blocks_are_given(twice):
    turns = [CLOSE, FINISHED, STATUS, FINISHED, STATUS, FINISHED, STATUS, FINISHED]
    transcript = twice.play(turns)
    assert_ended_well(transcript)
    assert len(stops(transcript)) == 8  # four stops, two hooks each
    assert [each["blocks"] for each in statuses(transcript)] == [1, 2, 3]
    assert [each["gate"] for each in statuses(transcript)] == ["blocked"] * 3
    assert [code for code in stops(transcript) if code] == [2, 2, 2]
    reasons = held(transcript)
    assert len(reasons) == 3
    for count, reason in enumerate(reasons[:2], start=1):
        assert f"this is {count} of 3" in reason
    warned = [hook for hook in of(transcript, "Stop") if "asked for 3 times" in hook["stderr"]]
    assert len(warned) == 1
    assert twice.outcomes() == [("breaker", 3)]


def test_what_was_learned_is_shown_once_and_counted_once(twice):
    transcript = twice.play([STATUS, FINISHED], prompt="Why is OrderReport.rows() so slow?")
    assert_ended_well(transcript)
    assert len(of(transcript, "SessionStart")) == 2
    assert len(of(transcript, "UserPromptSubmit")) == 2
    assert injected(transcript).count(SUMMARY) == 1
    assert len(statuses(transcript)) == 1
    for name in ("surfaced", "dismissed"):
        assert [each["session_id"] for each in twice.events(name)] == [transcript["session_id"]]


def test_one_reflection_opens_the_gate(twice):
    turns = [CLOSE, FINISHED, STATUS, reflection(OTHER_CANDIDATE), STATUS, FINISHED]
    transcript = twice.play(turns)
    assert_ended_well(transcript)
    found = [(each["gate"], each["blocks"]) for each in statuses(transcript)]
    assert found == [("blocked", 1), ("reflected", 0)]
    assert sorted(stops(transcript)) == [0, 0, 0, 2]
    assert len(held(transcript)) == 1
    assert twice.outcomes() == [("reflected", 1)]
