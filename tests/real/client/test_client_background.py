"""Work in the background at a stop: the gate waits for what ends, and holds when it has ended."""

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


def test_a_background_shell_defers_the_gate_until_it_has_ended(shop):
    shell = background(shop.wait_for_stop())
    turns = [CLOSE, shell, FINISHED, STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [["shell"], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [(each["gate"], each["blocks"]) for each in statuses(transcript)] == [("pending", 0)]
    assert len(held(transcript)) == 1
    assert shop.outcomes() == [("reflected", 1)]


def test_a_dev_server_in_the_background_defers_the_gate_only_once(shop):
    stop = shop.home / "stop the server"
    server = background(f"until test -e '{stop}'; do sleep 0.1; done")
    end = bash(f"touch '{stop}'")
    turns = [CLOSE, server, FINISHED, STATUS, FINISHED, REFLECT, end, *[FINISHED] * 3]
    transcript = shop.play(turns, prompt=["Close it, start the server.", "Go on."], record=True)
    assert_ended_well(transcript)
    assert running(transcript)[:2] == [["shell"], ["shell"]]
    assert stops(transcript)[:3] == [0, 2, 0]
    assert set(stops(transcript)[3:]) <= {0}
    assert [each["gate"] for each in statuses(transcript)] == ["pending"]
    assert shop.outcomes() == [("reflected", 1)]


def test_a_close_in_a_background_shell_holds_the_agent_once_it_has_happened(shop):
    close = background(f"{shop.wait_for_stop()}; bd close bd-1 --reason done")
    turns = [close, STATUS, FINISHED, FINISHED, STATUS, REFLECT, FINISHED]
    transcript = shop.play(turns, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [["shell"], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [each["gate"] for each in statuses(transcript)] == ["active", "blocked"]
    (reason,) = held(transcript)
    assert "ticket bd-1 is closed" in reason
    assert shop.outcomes() == [("reflected", 1)]


def test_a_close_that_fails_in_a_background_shell_does_not_hold_the_agent(shop):
    shop.lock_store(against="writing")
    close = background(f"{shop.wait_for_stop()}; bd close bd-1 --reason done")
    transcript = shop.play([close, FINISHED, STATUS, FINISHED], record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [["shell"], []]
    assert stops(transcript) == [0, 0]
    assert [each["gate"] for each in statuses(transcript)] == ["active"]


def test_a_background_agent_defers_the_gate_until_it_has_ended(shop):
    subagent = {"agents": {"SUBJOB": [bash(shop.wait_for_stop()), {"text": "Looked."}]}}
    call = agent("SUBJOB: look around", run_in_background=True)
    turns = [CLOSE, call, FINISHED, STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, script=subagent, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [["subagent"], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [(each["gate"], each["blocks"]) for each in statuses(transcript)] == [("pending", 0)]
    assert len(held(transcript)) == 1
    assert shop.outcomes() == [("reflected", 1)]


def test_a_close_of_a_background_agent_holds_the_main_agent_when_it_is_back(shop):
    subagent = {"agents": {"SUBJOB": [bash(shop.wait_for_stop()), CLOSE, {"text": "Closed."}]}}
    call = agent("SUBJOB: close bd-1", run_in_background=True)
    turns = [call, FINISHED, STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, script=subagent, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [["subagent"], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [each["gate"] for each in statuses(transcript)] == ["pending"]
    assert len(held(transcript)) == 1
    assert shop.outcomes() == [("reflected", 1)]
