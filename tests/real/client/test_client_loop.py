"""The whole loop with the real client: closes, blocks, reflections, the breaker, tasks and background work."""

import json
import re
from pathlib import Path

import pytest
from hosts import Call
from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    STATUS,
    SUMMARY,
    agent,
    assert_ended_well,
    bash,
    held,
    injected,
    recorded,
    results,
    statuses,
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
    subagent = {"agents": {"SUBJOB": [CLOSE, note, "Closed."]}}
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
        script = {"agents": {"SUBJOB": [bash(shop.wait_for_stop()), "Looked."]}}
        work = agent("SUBJOB: look around", run_in_background=True)
    turns = [CLOSE, work, FINISHED, STATUS, FINISHED, REFLECT, FINISHED]
    transcript = shop.play(turns, script=script, record=True)
    assert_ended_well(transcript)
    assert running(transcript) == [[kind], [], []]
    assert stops(transcript) == [0, 2, 0]
    assert [(each["gate"], each["blocks"]) for each in statuses(transcript)] == [("pending", 0)]
    assert len(held(transcript)) == 1
    assert shop.outcomes() == [("reflected", 1)]


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


LESSONS = Path(__file__).parents[2] / "data" / "lessons"
VAGUE = """grove reflect --category process --criterion behavior_changing --tag quality \
--summary 'Always test reports carefully' \
--detail 'Good tests find mistakes early and make everybody more confident.'"""
CONCRETE = """grove reflect --category pitfall --criterion behavior_changing --tag orders \
--summary 'OrderReport.rows() asks once per order' \
--detail 'Without prefetch_items() 2,000 orders take 40 s, and the export times out.'"""


def test_a_vague_reflection_is_refused_once_with_its_reason_and_the_second_is_stored(project):
    run = project.play([CLOSE, FINISHED, bash(VAGUE), bash(CONCRETE), FINISHED])
    refused, stored = results(run)[-2:]
    assert "It says neither why, nor when, nor what else happens" in refused
    assert 'say for example: "Always test reports carefully because …; else …".' in refused
    assert "stored cl_" in stored
    assert "The gate is open." in stored
    assert "OrderReport.rows() asks once per order" in project.learnings()
    assert "Always test reports" not in project.learnings()


def test_a_flood_of_fifty_stores_five(project):
    lines = (LESSONS / "authors.jsonl").read_text(encoding="utf-8").splitlines()
    good = [one["candidate"] for one in map(json.loads, lines) if one["label"] == "keep"]
    (project.root / "flood.json").write_text(json.dumps({"candidates": good[:50]}))
    run = project.play([CLOSE, FINISHED, bash("grove reflect < flood.json"), FINISHED])
    said = results(run)[-1]
    assert said.count("stored cl_") == project.learnings().count("### [cl_") == 5
    assert "a reflection stores 5 (reflection.max_learnings)" in said
    assert "The gate is open." in said


def test_the_brief_quotes_what_the_client_s_transcript_holds(project):
    prompt = "No, ask bd, and never read the JSON file instead of that."
    turns = [CLOSE, bash("bd show bd-77"), bash("bd show bd-2"), FINISHED, FINISHED]
    session_id = project.play(turns, prompt=prompt)["session_id"]
    words = ("grove", "reflect", "--brief", "--json", "--session-id", session_id)
    brief = json.loads(project.command(*words))
    assert brief["corrections"] == [prompt]
    assert brief["repaired"] == ["bd show bd-77: failed; passed: bd show bd-2"]


def create(subject):
    return Call("TaskCreate", {"subject": subject, "description": f"{subject} now"})


def complete(task_id):
    return Call("TaskUpdate", {"taskId": task_id, "status": "completed"})


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
