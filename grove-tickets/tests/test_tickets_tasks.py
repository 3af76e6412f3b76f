"""Claude Code's tasks, and the session: where they are, and whether the work on a list is done."""

import json

import pytest

from grove_core import (
    Confirmation,
    EnabledWhen,
    Ticket,
    TicketClose,
    ToolCall,
    ToolResult,
)
from grove_tickets import session, tasks

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
FAILURE = ToolResult(succeeded=False, error="no")


def updated(to: str = "completed", **fields) -> ToolResult:
    change = {"from": "in_progress", "to": to}
    return ToolResult(
        succeeded=True, response={"success": True, "taskId": "1", "statusChange": change, **fields}
    )


def todos(old, new) -> ToolResult:
    def items(statuses):
        return [
            {"content": name, "status": status, "activeForm": name}
            for name, status in statuses.items()
        ]

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


class TestDetection:
    def test_the_list_of_the_session(self, tmp_path, make_context):
        directory = tmp_path / "home/.claude/tasks/s-1"
        directory.mkdir(parents=True)
        context = make_context(session_id="s-1")
        (directory / ".lock").write_text("")
        assert tasks.detect(context) is None
        (directory / "1.json").write_text("{}")
        assert tasks.detect(context).marker == str(directory)
        assert tasks.detect(make_context(session_id="s-2")) is None

    def test_variables(self, tmp_path, make_context):
        directory = tmp_path / "config/tasks/shared"
        directory.mkdir(parents=True)
        (directory / "7.json").write_text("{}")
        config = str(tmp_path / "config")
        variables = {"CLAUDE_CONFIG_DIR": config, "CLAUDE_CODE_TASK_LIST_ID": "shared"}
        context = make_context(session_id="s-1", **variables)
        assert tasks.detect(context).marker == str(directory)

    @pytest.mark.parametrize("session_id", ["", "..", "../s-1", "/etc"])
    def test_names_that_are_no_list(self, session_id, tmp_path, make_context):
        directory = tmp_path / "home/.claude/s-1"
        directory.mkdir(parents=True)
        (directory / "1.json").write_text("{}")
        assert tasks.detect(make_context(session_id=session_id)) is None

    def test_a_session_is_always_there(self, make_context):
        found = session.detect(make_context())
        assert found.marker == "the session itself"
        assert found.note == "a session is a unit of work by itself"
        assert not hasattr(session, "grove_close_matchers")

    def test_descriptors(self):
        (of_tasks,), (of_session,) = tasks.grove_ticket_probes(), session.grove_ticket_probes()
        assert of_tasks.enabled_when is EnabledWhen.ACTIVE
        assert (of_tasks.per_session, of_session.per_session) == (False, True)
        (matcher,) = tasks.grove_close_matchers()
        assert matcher.once_per_prompt


def test_a_close_has_the_title_of_its_task(context):
    given = {"taskId": "3", "status": "completed", "subject": "S"}
    done = {"task_id": "1", "task_subject": "Fix login", "task_description": "x"}
    for name, tool_input, title in (
        ("TaskUpdate", given, "S"),
        ("TaskCompleted", done, "Fix login"),
    ):
        (found,) = tasks.closes(ToolCall(name=name, input=tool_input), context)
        assert found.title == title


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
