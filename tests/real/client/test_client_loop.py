"""The whole loop in the real client: close, stop, reflect, and the learning comes back."""

import re

from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    SUMMARY,
    assert_ended_well,
    held,
    injected,
    results,
    stops,
)


def assert_touched_only_its_own(project):
    """Nothing in the work tree changed beside what grove and bd own."""
    strangers = {path for path in project.changed() if not path.startswith((".grove/", ".beads/"))}
    assert strangers == set()


def test_a_closed_ticket_is_reflected_on_and_the_learning_comes_back(project):
    first = project.play([CLOSE, FINISHED, REFLECT, FINISHED])

    assert_ended_well(first)
    assert "✓ Closed bd-1" in results(first)[0]
    assert stops(first) == [2, 0]
    assert "ticket bd-1 is closed" in injected(first)
    assert len(held(first)) == 1

    text = project.learnings()
    heading = re.search(r"^### \[(cl_\w+)\] (.*)$", text, re.MULTILINE)
    learning_id = heading.group(1)
    assert heading.group(2) == SUMMARY
    assert f"- **Origin:** ticket bd-1 | session {first['session_id']}\n" in text
    assert_touched_only_its_own(project)

    project.command("bd", "update", "bd-2", "--status", "in_progress")
    second = project.play([FINISHED], prompt="Make the export of orders fast.")

    assert_ended_well(second)
    assert stops(second) == [0]
    assert second["session_id"] != first["session_id"]
    assert learning_id in injected(second, request=0)
    assert SUMMARY in injected(second, request=0)
    assert injected(second).count(SUMMARY) == 1
    assert_touched_only_its_own(project)

    # What was shown is counted, and that nobody used it is known once the session has ended.
    of_second = {"learning_id": learning_id, "session_id": second["session_id"]}
    for name in ("surfaced", "dismissed"):
        found = [{key: event[key] for key in of_second} for event in project.events(name)]
        assert found == [of_second], name
