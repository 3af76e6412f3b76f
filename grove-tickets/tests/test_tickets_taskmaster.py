"""Taskmaster: where its list lies, which task is in progress, and whether one is done."""

import json

import pytest
from core_worlds import write_file

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import taskmaster
from grove_tickets.states import CancelledSettings

confirm = taskmaster.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
# An unknown id is told of below such a box, too.
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Successfully updated 0 tasks\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nFailed to update task 99:")
STATE = ".taskmaster/state.json"


def tasks_of(*statuses, subtasks=(), kind=int):
    below = [{"id": at, "title": "s", "status": one} for at, one in enumerate(subtasks, 1)]
    return [
        {
            "id": kind(number),
            "title": f"Task {number}",
            "description": f"What {number} is",
            "status": status,
            "subtasks": below,
        }
        for number, status in enumerate(statuses, 1)
    ]


def tagged(**tasks):
    return {tag: {"tasks": own} for tag, own in tasks.items()}


@pytest.fixture
def write(project):
    def create(content, name=".taskmaster/tasks/tasks.json"):
        write_file(project / name, content if isinstance(content, str) else json.dumps(content))

    return create


def close(ticket_id="1", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="taskmaster", ticket_id=ticket_id, directory=directory)


@pytest.mark.parametrize(
    ("root", "directory"),
    [("/r", None), ("/r/", None), ("file:///r", None), ("/x/y", "/x/y"), ("", None)],
)
def test_root_of_the_servers_call(root, directory, make_context):
    given = {"id": "3", "status": "done", "projectRoot": root}
    call = ToolCall(name="mcp__taskmaster__set_task_status", input=given, cwd="/r")
    assert taskmaster.closes(call, make_context()) == (close("3", directory),)


class TestCurrentTicket:
    def test_of_several_the_one_updated_last(self, write, make_context):
        write(tagged(master=tasks_of("pending", "done")))
        assert taskmaster.current_ticket(make_context()) is None
        tasks = tasks_of("in-progress", "in-progress", "in-progress")
        tasks[0]["updatedAt"] = "2026-11-22T05:37:56.611Z"
        tasks[1]["updatedAt"] = "2026-11-22T05:38:02.662Z"
        write(tagged(master=tasks))
        assert taskmaster.current_ticket(make_context()) == Ticket(
            ticket_id="2", source="taskmaster", title="Task 2", description="What 2 is"
        )

    def test_of_the_current_tag(self, write, make_context):
        write(tagged(master=tasks_of("in-progress"), x=tasks_of("done")))
        write({"currentTag": "x"}, STATE)
        assert taskmaster.current_ticket(make_context()) is None
        assert taskmaster.current_ticket(make_context(TASKMASTER_TAG="master")).ticket_id == "1"


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"),
        [("done", YES), ("completed", YES), ("pending", NO), ("review", NO), ("cancelled", NO)],
    )
    def test_the_list_decides(self, status, answer, result, write, make_context):
        write(tagged(master=tasks_of(status, "in-progress")))
        assert confirm(close(), result, make_context()) is answer

    def test_what_is_cancelled_counts_where_the_settings_say_so(self, write, make_context):
        write(tagged(master=tasks_of("cancelled")))
        command = "task-master set-status --id=1 --status=cancelled"
        call = ToolCall(name="Bash", input={"command": command}, cwd="/p")
        counting = make_context(settings=CancelledSettings(cancelled_counts=True))
        assert taskmaster.closes(call, make_context(settings=CancelledSettings())) == ()
        assert [one.ticket_id for one in taskmaster.closes(call, counting)] == ["1"]
        assert confirm(close(), SUCCESS, counting) is YES

    @pytest.mark.parametrize("kind", [int, str])
    @pytest.mark.parametrize(
        ("typed", "answer"),
        [("1", NO), ("1.1", YES), ("1.2", NO), ("1.3", NO), ("2", YES), ("9", NO)],
    )
    def test_subtasks(self, kind, typed, answer, write, make_context):
        tasks = tasks_of("pending", "done", subtasks=("done", "pending"), kind=kind)
        write(tagged(master=tasks))
        assert confirm(close(typed), SUCCESS, make_context()) is answer

    def test_the_tag_that_is_current_or_that_the_server_names(self, write, make_context):
        write(tagged(master=tasks_of("done"), x=tasks_of("pending"), y=tasks_of("done")))
        assert confirm(close(), SUCCESS, make_context()) is YES
        write({"currentTag": "x"}, STATE)
        assert confirm(close(), SUCCESS, make_context()) is NO
        change = {"taskId": "1", "oldStatus": "pending", "newStatus": "done"}
        text = json.dumps({"data": {"tasks": [change]}, "tag": "y"}, indent=2)
        result = ToolResult(succeeded=True, response=[{"type": "text", "text": text}])
        assert confirm(close(), result, make_context()) is YES

    def test_a_list_without_tags_in_its_old_place(self, write, make_context):
        write({"tasks": tasks_of("done", "pending")}, "tasks/tasks.json")
        assert confirm(close("1"), SUCCESS, make_context()) is YES
        assert confirm(close("2"), SUCCESS, make_context()) is NO

    @pytest.mark.parametrize(
        ("task_id", "status", "answer"),
        [("H-1", "done", YES), ("H-1", "pending", NO), ("H-2", "done", UNKNOWN)],
    )
    def test_tasks_that_lie_elsewhere(self, task_id, status, answer, make_context):
        change = {"taskId": task_id, "oldStatus": "x", "newStatus": status}
        text = json.dumps({"success": True, "updatedTasks": [change]}, indent=1)
        result = ToolResult(succeeded=True, response={"stdout": text})
        assert confirm(close("H-1"), result, make_context()) is answer

    def test_another_directory(self, project, write, make_context):
        write(tagged(master=tasks_of("pending")))
        write(tagged(master=tasks_of("done")), "sub/.taskmaster/tasks/tasks.json")
        (project / "sub" / "deep").mkdir()
        inner = close("1", project / "sub" / "deep")
        assert confirm(inner, SUCCESS, make_context()) is YES
        assert confirm(close("1"), SUCCESS, make_context()) is NO
