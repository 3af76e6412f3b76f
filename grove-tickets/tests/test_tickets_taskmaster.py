"""Taskmaster: which tasks are meant, which is in progress, and whether one is done."""

import json
import re

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import taskmaster

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
# An unknown id is told of below such a box, too.
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Successfully updated 0 tasks\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nFailed to update task 99:")
# Each command with what it closes: an id, `*` for one not known yet, `^` before one opened again.
COMMANDS = [
    ("task-master set-status --id=3 --status=done", "3"),
    ("task-master set-status --id 3 --status done", "3"),
    ("task-master set-status -s done -i 5", "5"),
    ("task-master set-status -i5 -sdone", "5"),
    ("task-master set-status 3 done", "3"),
    ("task-master set-status 3 --status=done", "3"),
    ("task-master set-status 3,4.1 done", "3 4.1"),
    ("task-master set-status --id='1, 2' --status=done", "1 2"),
    ("task-master set-status --id=1,,2, --status=done", "1 2"),
    ("task-master status 3 done", "3"),
    ("task-master status --id=3 --status=done --silent", "3"),
    ("task-master set-status --id=3 --status=done -f json -p /r", "3"),
    ("task-master set-status --id=3 --status=done --tag feature", "3"),
    ("task-master set-status --id=3 --status=review --status=done", "3"),
    ("npx task-master set-status --id=3 --status=done", "3"),
    ("npx -y -p task-master-ai task-master set-status 3 done", "3"),
    ("npx task-master-ai set-status --id=3 --status=done", "3"),
    ("npx task-master-ai@latest set-status --id=3 --status=done", "3"),
    ("./node_modules/.bin/task-master set-status 3 done", "3"),
    ("taskmaster set-status 3 done", "3"),
    ("tm set-status 3 done", "3"),
    ("task-master set-status --id=$ID --status=done", "*"),
    ("task-master next | xargs -I{} task-master set-status {} done", "*"),
    ("task-master set-status --id=3 --status=pending", "^3"),
    ("task-master set-status --id=3 --status=review", "^3"),
    ("task-master set-status 3 in-progress && x && task-master set-status 3 done", "^3 3"),
    ("task-master set-status --id=3 --status=cancelled", "3"),
    ("task-master set-status --id=3 --status=completed", ""),
    ("task-master set-status --id=3 --status=DONE", ""),
    ("task-master set-status --id=3 --status=$STATUS", ""),
    ("task-master set-status --id=3 --status", ""),
    ("task-master set-status --id=3 -s=done", ""),
    ("task-master set-status 3 4 done", ""),
    ("task-master set-status --id=3 done", ""),
    ("task-master set-status done 3", ""),
    ("task-master set-status done", ""),
    ("task-master set-status --status=done", ""),
    ("task-master set-status --id= --status=done", ""),
    ("task-master set-status --id=3 --status=done --help", ""),
    ("task-master set-status -h --id=3 --status=done", ""),
    ("task-master help set-status 3 done", ""),
    ("task-master --help set-status 3 done", ""),
    ("task-master list done", ""),
    ("task-master list --status=done", ""),
    ("task-master show 3 --status done", ""),
    ("task-master remove-task --id=3 -y", ""),
    ("task-master update-subtask --id=3.1 --prompt='set-status 3.1 done'", ""),
    ("task-master add-task --prompt 'task-master set-status 3 done'", ""),
    ("task-master next", ""),
    ("task-master", ""),
    ("tm status 3 done", ""),
    ("task master set-status 3 done", ""),
    ("echo task-master set-status 3 done", ""),
    ("git commit -m 'task-master set-status 3 done'", ""),
]


def tasks_of(*statuses, subtasks=()):
    return [
        {
            "id": number,
            "title": f"Task {number}",
            "description": f"What {number} is",
            "status": status,
            "subtasks": [
                {"id": at, "title": "s", "status": one} for at, one in enumerate(subtasks, 1)
            ],
        }
        for number, status in enumerate(statuses, 1)
    ]


@pytest.fixture
def write(project):
    def create(tasks, name=".taskmaster/tasks/tasks.json", directory=project):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks))

    return create


def close(ticket_id="1", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="taskmaster", ticket_id=ticket_id, directory=directory)


def shown(found):
    return " ".join(f"{'^' * one.reopens}{one.ticket_id or '*'}" for one in found)


def call(name, **tool_input):
    return ToolCall(name=name, input=tool_input, cwd="/r")


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_closes(command, expected, bash, make_context):
    found = taskmaster.closes(bash(command), make_context())
    assert shown(found) == expected
    for_shell, _ = taskmaster.grove_close_matchers()
    words = set(re.findall(r"[\w-]+", json.dumps(command)))
    assert not found or any(words.issuperset(each.split()) for each in for_shell.literals)


@pytest.mark.parametrize(
    ("name", "tool_input", "expected"),
    [
        ("mcp__task-master-ai__set_task_status", {"id": "1.1,1.2", "status": "done"}, "1.1 1.2"),
        ("mcp__taskmaster__set_task_status", {"id": "3", "status": "done", "tag": "x"}, "3"),
        ("mcp__Task_Master__set_task_status", {"id": 3, "status": "done"}, "3"),
        ("mcp__plugin_taskmaster_ai__set_task_status", {"id": "3", "status": "done"}, "3"),
        ("mcp__task-master-ai__set_task_status", {"id": "3", "status": "pending"}, "^3"),
        ("mcp__task-master-ai__set_task_status", {"id": "3", "status": "finished"}, ""),
        ("mcp__task-master-ai__set_task_status", {"status": "done"}, ""),
        ("mcp__task-master-ai__get_tasks", {"id": "3", "status": "done"}, ""),
        ("mcp__task-master-ai__update_task", {"id": "3", "prompt": "status done"}, ""),
        ("mcp__other__set_task_status", {"id": "3", "status": "done"}, ""),
    ],
)
def test_server(name, tool_input, expected, make_context):
    found = taskmaster.closes(call(name, projectRoot="/r", **tool_input), make_context())
    assert shown(found) == expected
    _, for_server = taskmaster.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(tool_input)))
    assert not found or any(words.issuperset(each.split()) for each in for_server.literals)


@pytest.mark.parametrize(
    ("root", "directory"),
    [("/r", None), ("/r/", None), ("file:///r", None), ("/x/y", "/x/y"), ("", None), (None, None)],
)
def test_root_of_the_server_s_call(root, directory, make_context):
    given = {} if root is None else {"projectRoot": root}
    one = call("mcp__taskmaster__set_task_status", id="3", status="done", **given)
    assert taskmaster.closes(one, make_context()) == (close("3", directory),)


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("task-master set-status 3 done", None),
        ("cd sub && task-master set-status 3 done", "{project}/sub"),
        ("task-master set-status 3 done -p sub", "{project}/sub"),
        ("task-master set-status 3 done --project=/x", "/x"),
        ("cd sub && task-master set-status 3 done --project /x", "/x"),
        ("task-master set-status 3 done -p .", None),
        ("task-master set-status 3 done -p $X", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = taskmaster.closes(bash(command), make_context())
    assert found == close("3", directory and directory.format(project=project))


class TestDetection:
    def test_nothing(self, make_context):
        assert taskmaster.detect(make_context()) is None

    @pytest.mark.parametrize(
        ("name", "marker"),
        [
            (".taskmaster/tasks/tasks.json", ".taskmaster/tasks"),
            (".taskmaster/config.json", ".taskmaster/config.json"),
            (".taskmaster/state.json", ".taskmaster/state.json"),
            (".taskmasterconfig", ".taskmasterconfig"),
            ("tasks/tasks.json", "tasks/tasks.json"),
        ],
    )
    def test_from_a_sub_directory(self, name, marker, project, write, make_context):
        write({}, name)
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        assert taskmaster.detect(make_context(deep)).marker == str(project / marker)

    def test_the_tool_s_login_is_no_project(self, write, make_context, tmp_path):
        write({}, ".taskmaster/auth.json", tmp_path)
        assert taskmaster.detect(make_context()) is None

    def test_descriptors(self):
        (probe,) = taskmaster.grove_ticket_probes()
        assert ".taskmaster" in probe.paths


class TestCurrentTicket:
    def test_none(self, write, make_context):
        assert taskmaster.current_ticket(make_context()) is None
        write({"master": {"tasks": tasks_of("pending", "done")}})
        assert taskmaster.current_ticket(make_context()) is None

    def test_the_one_in_progress(self, write, make_context):
        write({"master": {"tasks": tasks_of("done", "in-progress", "pending")}})
        assert taskmaster.current_ticket(make_context()) == Ticket(
            ticket_id="2", source="taskmaster", title="Task 2", description="What 2 is"
        )

    def test_of_several_the_one_updated_last(self, write, make_context):
        tasks = tasks_of("in-progress", "in-progress", "in-progress")
        tasks[0]["updatedAt"] = "2026-11-22T05:37:56.611Z"
        tasks[1]["updatedAt"] = "2026-11-22T05:38:02.662Z"
        write({"master": {"tasks": tasks}})
        assert taskmaster.current_ticket(make_context()).ticket_id == "2"

    def test_of_the_current_tag(self, write, make_context):
        write({"master": {"tasks": tasks_of("in-progress")}, "x": {"tasks": tasks_of("done")}})
        write({"currentTag": "x"}, ".taskmaster/state.json")
        assert taskmaster.current_ticket(make_context()) is None
        assert taskmaster.current_ticket(make_context(TASKMASTER_TAG="master")).ticket_id == "1"

    @pytest.mark.parametrize(
        "content", ["", "[]", "{", '{"master": []}', '{"master": {"tasks": [1, null]}}', "[" * 5000]
    )
    def test_broken_files(self, content, write, make_context):
        write(content)
        write(content, ".taskmaster/state.json")
        assert taskmaster.current_ticket(make_context()) is None


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"),
        [("done", YES), ("completed", YES), ("pending", NO), ("review", NO), ("cancelled", YES)],
    )
    def test_the_list_decides(self, status, answer, result, write, make_context):
        write({"master": {"tasks": tasks_of(status, "in-progress")}})
        assert taskmaster.confirm(close(), result, make_context()) is answer

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [("1", NO), ("1.1", YES), ("1.2", NO), ("1.3", NO), ("2", YES), ("9", NO)],
    )
    @pytest.mark.parametrize("of_text", [False, True])
    def test_subtasks(self, of_text, typed, answer, write, make_context):
        tasks = tasks_of("pending", "done", subtasks=("done", "pending"))
        if of_text:  # as 0.43 writes them
            tasks = [{**task, "id": str(task["id"])} for task in tasks]
        write({"master": {"tasks": tasks}})
        assert taskmaster.confirm(close(typed), SUCCESS, make_context()) is answer

    def test_the_current_tag(self, write, make_context):
        write({"master": {"tasks": tasks_of("done")}, "x": {"tasks": tasks_of("pending")}})
        assert taskmaster.confirm(close(), SUCCESS, make_context()) is YES
        write({"currentTag": "x"}, ".taskmaster/state.json")
        assert taskmaster.confirm(close(), SUCCESS, make_context()) is NO

    def test_the_tag_that_the_server_names(self, write, make_context):
        write({"master": {"tasks": tasks_of("pending")}, "x": {"tasks": tasks_of("done")}})
        answer = {
            "data": {"tasks": [{"taskId": "1", "oldStatus": "pending", "newStatus": "done"}]},
            "version": {"version": "0.43.1", "name": "task-master-ai"},
            "tag": "x",
        }
        text = json.dumps(answer, indent=2)
        result = ToolResult(succeeded=True, response=[{"type": "text", "text": text}])
        assert taskmaster.confirm(close(), result, make_context()) is YES

    def test_a_list_without_tags_in_its_old_place(self, write, make_context):
        write({"tasks": tasks_of("done", "pending")}, "tasks/tasks.json")
        assert taskmaster.confirm(close("1"), SUCCESS, make_context()) is YES
        assert taskmaster.confirm(close("2"), SUCCESS, make_context()) is NO

    @pytest.mark.parametrize(
        ("stdout", "ticket_id", "answer"),
        [
            ('{"taskId": "H-1", "oldStatus": "pending", "newStatus": "done"}', "H-1", YES),
            ('{"taskId": "H-1", "oldStatus": "done", "newStatus": "pending"}', "H-1", NO),
            ('{"taskId": "H-2", "oldStatus": "pending", "newStatus": "done"}', "H-1", UNKNOWN),
            ("Successfully updated 0 tasks", "H-1", UNKNOWN),
        ],
    )
    def test_tasks_that_lie_elsewhere(self, stdout, ticket_id, answer, make_context):
        result = ToolResult(
            succeeded=True,
            response={"stdout": f'{{\n"success": true, "updatedTasks": [{stdout}]}}'}
            if stdout.startswith("{")
            else {"stdout": stdout},
        )
        assert taskmaster.confirm(close(ticket_id), result, make_context()) is answer

    @pytest.mark.parametrize("ticket_id", ["1", None])
    def test_without_a_list(self, ticket_id, make_context):
        assert taskmaster.confirm(close(ticket_id), SUCCESS, make_context()) is UNKNOWN
        assert taskmaster.confirm(close(ticket_id), None, make_context()) is UNKNOWN
        assert taskmaster.confirm(close(ticket_id), FAILURE, make_context()) is NO

    def test_another_directory(self, project, write, make_context):
        write({"master": {"tasks": tasks_of("pending")}})
        write({"master": {"tasks": tasks_of("done")}}, directory=project / "sub")
        (project / "sub" / "deep").mkdir()
        inner = close("1", project / "sub" / "deep")
        assert taskmaster.confirm(inner, SUCCESS, make_context()) is YES
        assert taskmaster.confirm(close("1"), SUCCESS, make_context()) is NO
