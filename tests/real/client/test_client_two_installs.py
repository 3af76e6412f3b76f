"""Plugin and project hooks side by side: everything happens twice in the client, once in grove."""

import json

import pytest
from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    STATUS,
    assert_ended_well,
    held,
    statuses,
    stops,
)

from grove_hosts.claude_code.hooks import hook_groups


@pytest.fixture
def twice(shop, grove_folder):
    """A project with the plugin's hooks in its local settings, too, and one learning."""
    hooks = hook_groups(str(grove_folder / "grove"), ())
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
    assert stops(transcript) == [2, 2, 2, 0]  # whichever of the hooks has answered
    assert [each["blocks"] for each in statuses(transcript)] == [1, 2, 3]
    assert [each["gate"] for each in statuses(transcript)] == ["blocked"] * 3
    reasons = held(transcript)
    assert len(reasons) == 3
    for count, reason in enumerate(reasons[:2], start=1):
        assert f"this is {count} of 3" in reason
    said = [hook["stderr"] + hook["stdout"] for hook in of(transcript, "Stop")]
    warned = [each for each in said if "asked for 3 times" in each]
    assert len(warned) == 1
    assert twice.outcomes() == [("breaker", 3)]
