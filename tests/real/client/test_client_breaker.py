"""An agent that never answers: held three times, let go, and the person is told."""

import pytest
from scenario import (
    CLOSE,
    FINISHED,
)


@pytest.fixture
def let_go(shop):
    """The run of an agent that ignored every block."""
    return shop.play([CLOSE, *[FINISHED] * 4])


def test_the_person_sees_the_result_and_the_debt_after_three_ignored_blocks(shop, let_go):
    # The last word of the agent is the result, and not an empty text or an error of a hook's.
    assert let_go["final_text"] == "Finished."
    assert (let_go["result"], let_go["is_error"], let_go["stderr"]) == ("success", False, "")
    of_stops = [hook for hook in let_go["hooks"] if hook["hook_event"] == "Stop"]
    last = [hook for hook in of_stops if hook["moment"] == of_stops[-1]["moment"]]
    said = "".join(hook["stderr"] + hook["stdout"] for hook in last)
    assert said.count("asked for 3 times") == 1
    assert "`grove status`" in said
    assert shop.outcomes() == [("breaker", 3)]

    session_id = let_go["session_id"]
    (debt,) = shop.status()["pending"]
    assert "bd-1" in debt
    assert f"grove reflect --session-id {session_id}" in debt
    assert debt in " ".join(shop.command("grove", "status").split())
