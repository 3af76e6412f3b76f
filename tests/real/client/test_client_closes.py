"""Which closes hold the agent: those that happened, as far as the ticket system can tell."""

import pytest
from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    STATUS,
    agent,
    assert_ended_well,
    bash,
    held,
    results,
    statuses,
    stops,
)


@pytest.mark.parametrize(
    "command",
    [
        "bd close bd-1 --reason done",
        "bd close bd-1 --reason done >/dev/null 2>&1 || true",  # and no word of bd's is left
    ],
)
def test_a_close_that_bd_refuses_does_not_hold_the_agent(shop, command):
    shop.lock_store(against="writing")
    transcript = shop.play([bash(command), STATUS, FINISHED])
    assert_ended_well(transcript)
    assert "Closed" not in results(transcript)[0]
    assert stops(transcript) == [0]
    assert held(transcript) == []
    (status,) = statuses(transcript)
    assert (status["gate"], status["closed"], status["blocks"]) == ("active", [], 0)
    assert status["ticket"]["ticket_id"] == "bd-1"
    assert shop.outcomes() == []


def test_a_subagents_close_holds_the_main_agent_only(shop):
    note = bash("grove observe 'rows() is called twice by the export'")
    subagent = {"agents": {"SUBJOB": [CLOSE, note, {"text": "Closed."}]}}
    turns = [agent("SUBJOB: close bd-1"), STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, script=subagent)
    assert_ended_well(transcript)
    assert [each["gate"] for each in statuses(transcript)] == ["pending"]
    assert stops(transcript) == [2, 0]
    (reason,) = held(transcript)
    assert "ticket bd-1 is closed" in reason
    assert "rows() is called twice by the export" in reason
    of_subagent = [each for each in transcript["requests"] if each["conversation"] != "main"]
    assert [each["reply"] for each in of_subagent] == subagent["agents"]["SUBJOB"]
    assert all("Stop hook" not in text for each in of_subagent for text in each["from_hooks"])
    assert shop.outcomes() == [("reflected", 1)]
