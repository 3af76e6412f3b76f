"""Sessions that end, are taken up again, split, are cleared and are compacted: whose debt it is."""

import pytest
from scale import turned_up
from scenario import (
    CANDIDATE,
    CLOSE,
    CLOSE_OTHER,
    CUT_OFF,
    FINISHED,
    OTHER_CANDIDATE,
    REFLECT,
    STATUS,
    SUMMARY,
    assert_ended_well,
    assert_hooks_kept_their_contract,
    held,
    injected,
    recorded,
    reflection,
    statuses,
    stops,
)


@pytest.fixture
def indebted(shop):
    """The run of a session that closed a ticket and ended before its first stop."""
    transcript = shop.play([CLOSE, FINISHED], args=["--max-turns", "1"])
    assert_hooks_kept_their_contract(transcript)
    assert stops(transcript) == []
    return transcript


def sources(transcript):
    """Why sessions started, as the client said."""
    return [(each["source"], each["session_id"]) for each in recorded(transcript, "SessionStart")]


def ended_without(session_id):
    """How a start names the debt of another session."""
    return f"session {session_id} ended with its reflection pending (bd-1)"


@pytest.mark.parametrize("way", turned_up(["--resume"], ["--resume", "--continue"]))
def test_a_session_that_is_taken_up_again_keeps_its_debt(shop, indebted, way):
    session_id = indebted["session_id"]
    words = [way, session_id] if way == "--resume" else [way]
    second = shop.play([STATUS, FINISHED, REFLECT, FINISHED], args=words, record=True)
    assert_ended_well(second)
    assert sources(second) == [("resume", session_id)]
    assert "its reflection is still pending" in injected(second, request=0)
    assert ended_without(session_id) not in injected(second)
    assert [each["gate"] for each in statuses(second)] == ["pending"]
    assert stops(second) == [2, 0]
    assert shop.outcomes() == [("reflected", 1)]
    assert shop.status()["pending"] == []


def test_a_fork_is_a_new_session_and_names_its_parents_debt(shop, indebted):
    parent = indebted["session_id"]
    turns = [STATUS, FINISHED, CLOSE_OTHER, FINISHED, REFLECT, FINISHED]
    words = ["--resume", parent, "--fork-session"]
    fork = shop.play(turns, args=words, record=True, prompt=["Go on.", "Close the other."])
    assert_ended_well(fork)
    assert fork["session_id"] != parent
    assert sources(fork) == [("fork", fork["session_id"])]
    assert ended_without(parent) in injected(fork, request=0)
    (status,) = statuses(fork)
    assert (status["gate"], status["closed"]) == ("idle", [])
    assert stops(fork) == [0, 2, 0]
    (reason,) = held(fork)
    assert "ticket bd-2 is closed" in reason
    (debt,) = shop.status()["pending"]
    assert parent in debt


def test_clear_begins_a_session_without_debt_and_names_the_old_ones(shop):
    pay = reflection(CANDIDATE)
    turns = [CLOSE, CUT_OFF, STATUS, FINISHED, CLOSE_OTHER, FINISHED, pay, FINISHED]
    prompts = ["Close it.", "/clear", "Go on.", "Close the other."]
    transcript = shop.play(turns, prompt=prompts, record=True)
    assert_ended_well(transcript)
    old, new = transcript["session_ids"]
    assert sources(transcript) == [("startup", old), ("clear", new)]
    ends = [(each["reason"], each["session_id"]) for each in recorded(transcript, "SessionEnd")]
    assert ends == [("clear", old), ("other", new)]
    assert [each["session_id"] for each in recorded(transcript, "Stop")] == [new] * 3
    named = [each for each in transcript["injected"] if ended_without(old) in each["text"]]
    assert len(named) == 1
    (status,) = statuses(transcript)
    assert (status["id"], status["gate"], status["closed"]) == (new, "idle", [])
    assert stops(transcript) == [0, 2, 0]
    # `grove reflect` without an id is the new session's, though the process is the same.
    assert f"session {new}" in shop.learnings()
    (debt,) = shop.status()["pending"]
    assert old in debt


def test_compaction_on_demand_keeps_the_debt_and_shows_again_what_was_shown(shop):
    shop.play([REFLECT, FINISHED])
    prompts = ["Close it.", "/compact", "Go on."]
    last = reflection(OTHER_CANDIDATE)
    turns = [CLOSE, CUT_OFF, STATUS, FINISHED, last, FINISHED]
    transcript = shop.play(turns, prompt=prompts, record=True)
    assert_ended_well(transcript)
    (session_id,) = transcript["session_ids"]
    assert sources(transcript) == [("startup", session_id), ("compact", session_id)]
    main = [each for each in transcript["requests"] if each["conversation"] == "main"]
    (afterwards,) = (each for each in main if each["reply"] == STATUS)
    said = "\n".join(afterwards["from_hooks"])
    assert "its reflection is still pending" in said
    assert SUMMARY in said
    (status,) = statuses(transcript)
    assert (status["gate"], status["blocks"]) == ("pending", 0)
    assert stops(transcript) == [2, 0]
    assert shop.outcomes()[-1] == ("reflected", 1)
