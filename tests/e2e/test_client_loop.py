"""The whole loop in the real client: close, stop, reflect, and the learning comes back."""

import json
import re

import pytest

pytestmark = pytest.mark.e2e

SUMMARY = "OrderReport.rows() runs one query per order unless items are prefetched"
CANDIDATE = {
    "category": "pitfall",
    "summary": SUMMARY,
    "detail": (
        "OrderReport.rows() in reports/orders.py reads order.items in a loop; with 2,000 orders it "
        "took 40 s. Call prefetch_related('items') first. It's guarded by test_report_query_count."
    ),
    "tags": ["orders", "n-plus-one", "prefetch"],
    "criteria_met": ["behavior_changing"],
    "scope": "project",
    "confidence": "high",
    "context_files": ["reports/orders.py"],
}
MAY_SPEAK = {"SessionStart", "UserPromptSubmit"}


def bash(command):
    return {"tool": "Bash", "input": {"command": command, "description": "Run it"}}


def submission(value):
    """The command in the form that the skill shows."""
    return bash(f"grove reflect <<< \"$(cat <<'EOF'\n{json.dumps(value, indent=2)}\nEOF\n)\"")


CLOSE = bash("bd close bd-1 --reason done")
REFLECT = submission({"candidates": [CANDIDATE]})
FINISHED = {"text": "Finished."}


def stops(transcript):
    """The exit code of each Stop hook."""
    return [hook["exit_code"] for hook in transcript["hooks"] if hook["hook_event"] == "Stop"]


def injected(transcript, request=None):
    """What hooks gave the model, in one request or in all."""
    return "\n".join(
        each["text"] for each in transcript["injected"] if request in (None, each["request"])
    )


def results(transcript):
    """What the tools answered."""
    new = (block for request in transcript["requests"] for block in request.get("new", ()))
    return [block["tool_result"] for block in new if "tool_result" in block]


def assert_ended_well(transcript):
    """The client ended by itself, and every hook kept its contract."""
    assert transcript["exit_code"] == 0, transcript["stderr"]
    assert not transcript["timed_out"]
    assert not transcript["is_error"]
    assert transcript["final_text"] == "Finished."
    assert transcript["left_running"] == []
    assert transcript["plugins"] == ["grove"]
    for hook in transcript["hooks"]:
        assert hook["exit_code"] in ({0, 2} if hook["hook_event"] == "Stop" else {0}), hook
        assert_said_only_context(hook)


def assert_said_only_context(hook):
    """Nothing on stdout but context for the model, where that is allowed; never a permission."""
    if not hook["stdout"]:
        return
    assert hook["hook_event"] in MAY_SPEAK, hook
    answer = json.loads(hook["stdout"])
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == hook["hook_event"]


def assert_touched_only_its_own(project):
    """Nothing in the work tree changed beside what grove and bd own."""
    strangers = {path for path in project.changed() if not path.startswith((".grove/", ".beads/"))}
    assert strangers == set()


def events(project, name):
    """The events of one kind in the project's log."""
    lines = (project.root / ".grove" / "stats.log").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


def test_a_closed_ticket_is_reflected_on_and_the_learning_comes_back(project):
    first = project.play([CLOSE, FINISHED, REFLECT, FINISHED])

    assert_ended_well(first)
    assert "✓ Closed bd-1" in results(first)[0]
    assert stops(first) == [2, 0]
    assert "ticket bd-1 is closed" in injected(first)
    assert "one step left" in injected(first)
    assert injected(first).count("one step left") == 1

    text = (project.root / ".grove" / "learnings.md").read_text()
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
        found = [{key: event[key] for key in of_second} for event in events(project, name)]
        assert found == [of_second], name


def test_a_learning_that_helped_is_counted(project):
    project.play([CLOSE, FINISHED, REFLECT, FINISHED])
    text = (project.root / ".grove" / "learnings.md").read_text()
    learning_id = re.search(r"\[(cl_\w+)\]", text).group(1)
    project.command("bd", "update", "bd-2", "--status", "in_progress")

    second = project.play([bash(f"grove ref {learning_id} --how 'found the loop'"), FINISHED])

    assert_ended_well(second)
    (referenced,) = events(project, "referenced")
    assert referenced["learning_id"] == learning_id
    assert referenced["session_id"] == second["session_id"]
    assert events(project, "dismissed") == []


def test_a_skip_with_a_reason_opens_the_gate(project):
    skip = bash("grove skip 'Only a label was renamed; nothing to learn from it'")
    transcript = project.play([CLOSE, FINISHED, skip, FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0]
    assert_touched_only_its_own(project)


def test_nothing_learned_opens_the_gate(project):
    nothing = submission(
        {"nothing_learned": "Only a label was renamed; it's nothing to learn from"}
    )
    transcript = project.play([CLOSE, FINISHED, nothing, FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0]


def test_an_empty_reflection_does_not_open_the_gate(project):
    empty = submission({"candidates": []})
    transcript = project.play([CLOSE, FINISHED, empty, FINISHED, REFLECT, FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 2, 0]


def test_an_agent_that_never_answers_is_let_go_by_the_breaker(project):
    transcript = project.play([CLOSE, *[FINISHED] * 4])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 2, 2, 0]


def test_a_reflection_before_the_stop_counts(project):
    transcript = project.play([CLOSE, REFLECT, FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [0]


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "bd show bd-1",
        "bd close bd-9 --reason done",  # fails: no such issue
        "bd close bd-9 --reason done | cat",  # succeeds as a command, and closed nothing
        "echo 'bd close bd-1'",
    ],
)
def test_work_without_a_close_is_not_stopped(project, command):
    transcript = project.play([bash(command), FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [0]
    assert injected(transcript) == ""
    assert project.changed() == set()


def test_a_close_in_a_command_that_fails_afterwards_counts(project):
    transcript = project.play([bash("bd close bd-1 && false"), FINISHED, REFLECT, FINISHED])
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0]


def test_a_subagents_close_stops_the_main_agent_only(project):
    agent = {
        "tool": "Agent",
        "input": {
            "description": "Close it",
            "prompt": "SUBJOB: close bd-1",
            "subagent_type": "general-purpose",
            "run_in_background": False,
        },
    }
    note = bash("grove observe 'rows() is called twice by the export'")
    subagent = {"agents": {"SUBJOB": [CLOSE, note, {"text": "Closed."}]}}
    transcript = project.play([agent, FINISHED, REFLECT, FINISHED], script=subagent)
    assert_ended_well(transcript)
    assert stops(transcript) == [2, 0]
    stopped = [each for each in transcript["injected"] if "one step left" in each["text"]]
    assert [each["conversation"] for each in stopped] == ["main"]
    assert "rows() is called twice by the export" in stopped[0]["text"]


def test_a_resumed_session_keeps_its_debt(project):
    first = project.play([CLOSE, FINISHED], args=["--max-turns", "1"])
    assert stops(first) == []
    second = project.play([FINISHED, REFLECT, FINISHED], args=["--resume", first["session_id"]])
    assert_ended_well(second)
    assert second["session_id"] == first["session_id"]
    assert stops(second) == [2, 0]
