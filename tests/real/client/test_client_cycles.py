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
    bash,
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


def test_work_without_a_close_after_a_reflection_is_not_held(shop):
    edit = bash("printf 'x = 1\\n%.0s' 1 2 3 4 5 6 7 8 9 >> reports/orders.py")
    turns = [CLOSE, FINISHED, REFLECT, FINISHED, edit, FINISHED]
    transcript = shop.play(turns, prompt=["Close it.", "One more change."])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0, 0]
    assert shop.outcomes() == [("reflected", 1)]


def test_the_second_close_of_a_ticket_that_was_opened_again_holds_again(shop):
    reopen = bash("bd update bd-1 --status in_progress")
    skip = bash("grove skip 'The same bug once more; it is written down already'")
    turns = [CLOSE, FINISHED, REFLECT, FINISHED, reopen, CLOSE, FINISHED, skip, FINISHED]
    transcript = shop.play(turns, prompt=["Close it.", "It is not fixed; again."])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0, 2, 0]
    assert shop.outcomes() == [("reflected", 1), ("skipped", 1)]
