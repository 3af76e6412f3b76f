"""Work in the background at a stop: the gate waits for what ends, and holds when it has ended."""

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
    recorded,
    statuses,
    stops,
)


def background(command):
    """A shell command that the client does not wait for."""
    return bash(command, run_in_background=True)


def running(transcript):
    """The kinds of background work that the client named at each stop."""
    stopped = recorded(transcript, "Stop")
    return [[task["type"] for task in each["background_tasks"]] for each in stopped]


@pytest.mark.parametrize("kind", ["shell", "subagent"])
def test_background_work_defers_the_gate_until_it_has_ended(shop, kind):
    script = {}
    work = background(shop.wait_for_stop())
    if kind == "subagent":
        script = {"agents": {"SUBJOB": [bash(shop.wait_for_stop()), {"text": "Looked."}]}}
        work = agent("SUBJOB: look around", run_in_background=True)
    turns = [CLOSE, work, FINISHED, STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, script=script, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [[kind], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [(each["gate"], each["blocks"]) for each in statuses(transcript)] == [("pending", 0)]
    assert len(held(transcript)) == 1
    assert shop.outcomes() == [("reflected", 1)]
