"""The client's own tasks as tickets: no task is ever held, the agent is held at its stop."""

import pytest
from scenario import (
    FINISHED,
    REFLECT,
    STATUS,
    assert_ended_well,
    held,
    recorded,
    results,
    statuses,
    stops,
)


def create(subject):
    return {"tool": "TaskCreate", "input": {"subject": subject, "description": f"{subject} now"}}


def complete(task_id):
    return {"tool": "TaskUpdate", "input": {"taskId": task_id, "status": "completed"}}


@pytest.fixture
def office(without_beads):
    """A project whose only ticket system is the client's tasks, after `grove init`."""
    without_beads.command("grove", "init", "--quiet")
    without_beads.commit()
    return without_beads


def assert_tasks_were_completed(transcript, *task_ids):
    """The client was let store them: the tool succeeded, and no hook gave feedback."""
    announced = [each["task_id"] for each in recorded(transcript, "TaskCompleted")]
    assert announced == list(task_ids)
    updates = [
        each["tool_response"]
        for each in recorded(transcript, "PostToolUse")
        if each["tool_name"] == "TaskUpdate"
    ]
    assert [each["statusChange"]["to"] for each in updates] == ["completed"] * len(task_ids)
    assert all(each["success"] for each in updates)
    assert not any("TaskCompleted hook" in answer for answer in results(transcript))


def test_the_last_task_is_completed_unhindered_and_the_agent_is_held_at_its_stop(office):
    turns = [create("Mend the report"), complete("1"), STATUS, FINISHED, REFLECT, STATUS, FINISHED]
    transcript = office.play(turns, record=True)
    assert_ended_well(transcript)
    assert_tasks_were_completed(transcript, "1")
    owed, paid = statuses(transcript)
    assert owed["gate"] == "pending"
    assert [(each["source"], each["ticket_id"]) for each in owed["closed"]] == [("tasks", "1")]
    assert owed["closed"][0]["title"] == "Mend the report"
    assert paid["gate"] == "reflected"
    assert stops(transcript) == [2, 0]
    (reason,) = held(transcript)
    assert "ticket 1 is closed" in reason
    assert office.outcomes() == [("reflected", 1)]
