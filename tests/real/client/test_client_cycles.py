"""Several cycles of the gate in one session of the client."""

from scenario import (
    CLOSE,
    CLOSE_OTHER,
    FINISHED,
    OTHER_CANDIDATE,
    REFLECT,
    STATUS,
    SUMMARY,
    assert_ended_well,
    held,
    reflection,
    statuses,
    stops,
)

REFLECT_AGAIN = reflection(OTHER_CANDIDATE)


def test_work_after_a_reflection_opens_a_new_cycle_with_the_next_close(shop):
    first = [CLOSE, FINISHED, REFLECT, FINISHED]
    talk = [STATUS, FINISHED]
    second = [CLOSE_OTHER, STATUS, FINISHED, STATUS, REFLECT_AGAIN, STATUS, FINISHED]
    transcript = shop.play(
        [*first, *talk, *second], prompt=["Close the first.", "Explain it.", "Close the second."]
    )
    assert_ended_well(transcript)
    assert [each["result"] for each in transcript["results"]] == ["Finished."] * 3
    assert len(transcript["session_ids"]) == 1
    assert stops(transcript) == [2, 0, 0, 2, 0]
    one, other = held(transcript)
    assert "ticket bd-1 is closed" in one
    assert "ticket bd-2 is closed" in other
    assert "this is 1 of 3" in other
    found = [(each["gate"], each["blocks"]) for each in statuses(transcript)]
    assert found == [("reflected", 0), ("pending", 0), ("blocked", 1), ("reflected", 0)]
    assert shop.outcomes() == [("reflected", 1), ("reflected", 1)]
    text = shop.learnings()
    assert SUMMARY in text
    assert OTHER_CANDIDATE["summary"] in text
