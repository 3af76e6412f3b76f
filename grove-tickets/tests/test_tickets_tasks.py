"""Claude Code's tasks: recorded calls, and whether the work on the list is done."""

import json

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import tasks

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
FAILURE = ToolResult(succeeded=False, error="no")


def updated(to: str = "completed", **fields) -> ToolResult:
    change = {"from": "in_progress", "to": to}
    return ToolResult(succeeded=True, response={"success": True, "taskId": "1", "statusChange": change, **fields})  # fmt: skip


def todos(old, new) -> ToolResult:
    def items(statuses):
        return [{"content": name, "status": status, "activeForm": name} for name, status in statuses.items()]  # fmt: skip

    return ToolResult(succeeded=True, response={"oldTodos": items(old), "newTodos": items(new)})


@pytest.fixture
def write(tmp_path):
    def put(**statuses):
        directory = tmp_path / "home/.claude/tasks/s-1"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / ".highwatermark").write_text("9")
        for name, status in statuses.items():
            number = name.removeprefix("task")
            task = {"id": number, "subject": f"S{number}", "description": "D", "status": status}
            (directory / f"{number}.json").write_text(json.dumps(task))
        return directory

    return put


@pytest.fixture
def context(make_context):
    return make_context(session_id="s-1")


CLOSE = TicketClose(system="tasks", ticket_id="1")
TODOS = TicketClose(system="tasks", ticket_id=None)


@pytest.mark.parametrize(
    ("name", "tool_input", "expected"),
    [
        ("TaskUpdate", {"taskId": "3", "status": "completed", "subject": "S"}, ("3", "S")),
        ("TaskUpdate", {"taskId": 3, "status": "completed"}, ("3", "")),
        ("TaskUpdate", {"taskId": "3", "status": "in_progress"}, None),
        ("TaskUpdate", {"taskId": "3", "subject": "completed"}, None),
        ("TaskUpdate", {"status": "completed"}, None),
        ("TaskUpdate", {"taskId": None, "status": "completed"}, None),
        ("TaskCompleted", {"task_id": "1", "task_subject": "Fix login", "task_description": "x"}, ("1", "Fix login")),
        ("TaskCompleted", {}, None),
        ("TodoWrite", {"todos": [{"content": "a", "status": "completed"}]}, (None, "")),
        ("TodoWrite", {"todos": [{"content": "completed", "status": "pending"}]}, None),
        ("TodoWrite", {"todos": ["completed", None]}, None),
        ("TodoWrite", {"todos": "completed"}, None),
        ("TaskCreate", {"subject": "completed"}, None),
        ("Bash", {"command": "echo completed"}, None),
    ],
)  # fmt: skip
def test_closes(name, tool_input, expected, context):
    found = [(one.ticket_id, one.title) for one in tasks.closes(ToolCall(name=name, input=tool_input), context) if not one.reopens]  # fmt: skip
    assert found == ([] if expected is None else [expected])


def test_a_task_that_is_taken_up_again(context):
    call = ToolCall(name="TaskUpdate", input={"taskId": 3, "status": "in_progress"})
    (found,) = tasks.closes(call, context)
    assert (found.ticket_id, found.reopens) == ("3", True)


class TestConfirmTask:
    def test_the_last_open_task(self, write, context):
        write(task1="completed", task2="completed", task3="deleted")
        assert tasks.confirm(CLOSE, updated(), context) is YES

    @pytest.mark.parametrize("status", ["pending", "in_progress"])
    def test_another_one_is_open(self, status, write, context):
        write(task1="completed", task2=status)
        assert tasks.confirm(CLOSE, updated(), context) is NO
        assert tasks.confirm(CLOSE, None, context) is NO

    def test_it_need_not_be_stored_yet(self, write, context):
        write(task1="in_progress", task2="completed")
        assert tasks.confirm(CLOSE, updated(), context) is YES
        assert tasks.confirm(CLOSE, None, context) is NO

    def test_a_list_that_cannot_be_read_counts(self, write, context):
        assert tasks.confirm(CLOSE, updated(), context) is YES
        directory = write(task1="completed")
        (directory / "1.json").write_text("{")
        assert tasks.confirm(CLOSE, updated(), context) is YES

    @pytest.mark.parametrize(
        "result",
        [
            FAILURE,
            updated(success=False, statusChange=None, error="TaskCompleted hook feedback: no"),
            updated(to="in_progress"),
        ],
    )
    def test_it_was_refused(self, result, write, context):
        write(task1="completed")
        assert tasks.confirm(CLOSE, result, context) is NO

    @pytest.mark.parametrize("response", [None, "ok", [], {"success": True}, {"statusChange": 1}])
    def test_responses_of_other_shapes(self, response, write, context):
        write(task1="completed")
        result = ToolResult(succeeded=True, response=response)
        assert tasks.confirm(CLOSE, result, context) is YES


class TestConfirmTodos:
    @pytest.mark.parametrize(
        ("old", "new", "answer"),
        [
            ({"a": "in_progress"}, {"a": "completed"}, YES),
            ({}, {"a": "completed", "b": "completed"}, YES),
            ({"a": "completed", "b": "pending"}, {"a": "completed", "b": "completed"}, YES),
            ({"a": "in_progress"}, {"a": "completed", "b": "pending"}, NO),
            ({"a": "completed"}, {"a": "completed"}, NO),
            ({"a": "completed"}, {}, NO),
        ],
    )
    def test_all_done_and_some_newly(self, old, new, answer, context):
        assert tasks.confirm(TODOS, todos(old, new), context) is answer

    def test_without_a_readable_result(self, context):
        assert tasks.confirm(TODOS, FAILURE, context) is NO
        assert tasks.confirm(TODOS, ToolResult(succeeded=True, response="x"), context) is NO
        assert tasks.confirm(TODOS, None, context) is UNKNOWN


class TestCurrentTicket:
    def test_the_one_in_progress(self, write, context):
        write(task1="completed", task2="in_progress", task3="pending")
        assert tasks.current_ticket(context) == Ticket(
            ticket_id="2", source="tasks", title="S2", description="D"
        )

    def test_several_or_none(self, write, context):
        assert tasks.current_ticket(context) is None
        write(task1="in_progress", task2="in_progress")
        assert tasks.current_ticket(context) is None
