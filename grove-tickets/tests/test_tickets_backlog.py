"""Backlog.md: which task is meant, which is in progress, and whether it is closed."""

import json
import re

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import backlog

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Updated task TASK-7\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nTask 99 not found.")
# Each command with what it closes: an id, `*` for one not known yet, `^` before one opened again.
COMMANDS = [
    ("backlog task edit 7 -s Done", "7"),
    ("backlog task edit 7 --status Done", "7"),
    ("backlog task edit 7 --status=Done", "7"),
    ("backlog task edit 7 -sDone", "7"),
    ("backlog task edit TASK-7 -s done", "TASK-7"),
    ("backlog task edit task-7 -s DONE", "task-7"),
    ("backlog task edit 7 -s ' d one '", "7"),
    ("backlog tasks edit -s Done 2", "2"),
    ("backlog task edit 1 2 3 -s Done", "1 2 3"),
    ("backlog task edit 1 -s Done 2.1", "1 2.1"),
    ("backlog task --plain edit 7 -s Done", "7"),
    ("backlog task edit 7 -s Done --plain", "7"),
    ("backlog task edit 7 -s 'In Progress' -s Done", "7"),
    ("backlog task edit 7 --check-ac 1 --check-ac 2 --notes 'a b' -s Done", "7"),
    ("backlog task edit 7 --final-summary $'a\\nb' -s Done -a @me -l x,y", "7"),
    ("backlog task edit 7 -t '-s' -s Done", "7"),
    ("backlog task edit -- 7 -s Done", ""),
    ("backlog task edit -s Done -- 7", "7"),
    ("backlog.md task edit 7 -s Done", "7"),
    ("npx backlog.md task edit 7 -s Done", "7"),
    ("npx -y backlog.md@latest task edit 7 -s Done", "7"),
    ("bunx backlog.md tasks edit 7 -s Done", "7"),
    ("backlog task edit $ID -s Done", "*"),
    ("for i in 1 2; do backlog task edit $i -s Done; done", "1 2"),
    ("backlog task edit 7 -s 'In Progress'", "^7"),
    ("backlog task edit 7 -s Done; backlog task edit 7 -s 'to do'", "7 ^7"),
    ("backlog task edit 7 -s=Done", ""),
    ("backlog task edit 7 -s $STATUS", ""),
    ("backlog task edit 7 -s", ""),
    ("backlog task edit 7 -s ''", ""),
    ("backlog task edit -s Done", ""),
    ("backlog task edit 7 -s Done --help", ""),
    ("backlog task edit 7 -hs Done", ""),
    ("backlog task -h edit 7 -s Done", ""),
    ("backlog help task edit 7 -s Done", ""),
    ("backlog task help edit 7 -s Done", ""),
    ("backlog task edit 7 --notes '-s Done'", ""),
    ("backlog task edit 7 --notes -s Done", ""),
    ("backlog task edit 1 --check-ac 1 --append-notes 'Done'", ""),
    ("backlog task edit 7 --plain", ""),
    ("backlog task 7 -s Done", ""),
    ("backlog task done 7", ""),
    ("backlog task close 7", ""),
    ("backlog task complete 7", ""),
    ("backlog task archive 7", ""),
    ("backlog task demote 7", ""),
    ("backlog task view 7 --plain", ""),
    ("backlog task list -s Done --plain", ""),
    ("backlog task create 'Done' -s 'To Do'", ""),
    ("backlog task create 'edit 7' -s Done", ""),
    ("backlog draft edit 7 -s Done", ""),
    ("backlog edit task 7 -s Done", ""),
    ("backlog search Done --status Done", ""),
    ("backlog cleanup", ""),
    ("backlog board", ""),
    ("backlog", ""),
    ("backlog task", ""),
    ("npx backlog task-edit 7 -s Done", ""),
    ("echo backlog task edit 7 -s Done", ""),
    ("git commit -m 'backlog task edit 7 -s Done'", ""),
]

# What 1.52.0 writes.
TASK = """\
---
id: {id}
title: >-
  A: long title # with [odd] 'stuff' that is quite long indeed and goes over
  eighty characters
status: {status}
assignee: []
created_date: '2026-11-22 05:31'
{updated}labels:
  - a b
  - c
dependencies: []
ordinal: 1000
---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
Some text
that goes on
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 in progress
<!-- AC:END -->
"""
CONFIG = """\
project_name: "x"
default_status: "To Do"
statuses: {statuses}
labels: []
date_format: yyyy-mm-dd
auto_commit: false
task_prefix: "task"
"""
USUAL = '["To Do", "In Progress", "Done"]'


@pytest.fixture
def configure(project):
    def create(name="backlog/config.yml", statuses=USUAL, more="", directory=project):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONFIG.format(statuses=statuses) + more)
        return path

    return create


@pytest.fixture
def write(project):
    def create(ticket_id, status, folder="backlog/tasks", updated="", directory=project):
        path = directory / folder / f"{ticket_id.lower()} - A-long-title.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        line = f"updated_date: '{updated}'\n" if updated else ""
        path.write_text(TASK.format(id=ticket_id.upper(), status=status, updated=line))
        return path

    return create


def close(ticket_id="7", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="backlog", ticket_id=ticket_id, directory=directory)


def shown(found):
    return " ".join(f"{'^' * one.reopens}{one.ticket_id or '*'}" for one in found)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_closes(command, expected, bash, make_context):
    found = backlog.closes(bash(command), make_context())
    assert shown(found) == expected
    for_shell, _ = backlog.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(command)))
    assert not found or any(words.issuperset(each.split()) for each in for_shell.literals)


@pytest.mark.parametrize(
    ("name", "tool_input", "expected"),
    [
        ("mcp__backlog__task_edit", {"id": "TASK-7", "status": "done"}, "TASK-7"),
        ("mcp__plugin_x_Backlog-md__task_edit", {"id": "7", "status": "Done"}, "7"),
        ("mcp__backlog__task_edit", {"id": "7", "status": "In Progress", "title": "Done"}, "^7"),
        ("mcp__backlog__task_edit", {"id": "7", "title": "Done"}, ""),
        ("mcp__backlog__task_edit", {"status": "Done"}, ""),
        ("mcp__backlog__task_edit", {"id": ["7"], "status": "Done"}, ""),
        # It only puts away what is closed already.
        ("mcp__backlog__task_complete", {"id": "7"}, ""),
        ("mcp__backlog__task_create", {"title": "x", "status": "Done", "id": "7"}, ""),
        ("mcp__backlog__task_list", {"status": "Done", "id": "7"}, ""),
        ("mcp__other__task_edit", {"id": "7", "status": "Done"}, ""),
        ("task_edit", {"id": "7", "status": "Done"}, ""),
    ],
)
def test_server(name, tool_input, expected, project, make_context):
    call = ToolCall(name=name, input=tool_input, cwd=str(project))
    found = backlog.closes(call, make_context())
    assert shown(found) == expected
    _, for_server = backlog.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(tool_input)))
    assert not found or any(words.issuperset(each.split()) for each in for_server.literals)


class TestTheLastStatusIsTheDoneOne:
    @pytest.mark.parametrize(
        "name", ["backlog/config.yml", ".backlog/config.yaml", "backlog.config.yml"]
    )
    def test_of_the_configuration(self, name, configure, bash, make_context):
        configure(name, '["To Do", "Done", "Shipped it"]')
        context = make_context()
        assert shown(backlog.closes(bash("backlog task edit 7 -s shippedit"), context)) == "7"
        assert shown(backlog.closes(bash("backlog task edit 7 -s Done"), context)) == "^7"

    @pytest.mark.parametrize("statuses", ["[]", "Done", "[broken", "\n  - A\n  - Done"])
    def test_otherwise_it_is_done(self, statuses, configure, bash, make_context):
        configure(statuses=statuses)
        found = backlog.closes(bash("backlog task edit 7 -s Done"), make_context())
        assert shown(found) == "7"

    def test_of_the_directory_that_is_meant(self, project, configure, bash, make_context):
        configure(statuses='["A", "Shipped"]', directory=project / "sub")
        found = backlog.closes(bash("cd sub && backlog task edit 7 -s Shipped"), make_context())
        assert found == (close("7", project / "sub"),)

    def test_and_of_the_server_s(self, project, configure, make_context):
        configure(statuses='["A", "Shipped"]')
        call = ToolCall(
            name="mcp__backlog__task_edit",
            input={"id": "7", "status": "Shipped"},
            cwd=str(project),
        )
        assert shown(backlog.closes(call, make_context())) == "7"


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("backlog task edit 7 -s Done", None),
        ("cd sub && backlog task edit 7 -s Done", "{project}/sub"),
        ("BACKLOG_CWD=/x backlog task edit 7 -s Done", "/x"),
        ("export BACKLOG_CWD=sub; cd deep; backlog task edit 7 -s Done", "{project}/deep/sub"),
        ("BACKLOG_CWD=. backlog task edit 7 -s Done", None),
        ("BACKLOG_CWD=$X backlog task edit 7 -s Done", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = backlog.closes(bash(command), make_context())
    assert found == close(directory=directory and directory.format(project=project))


class TestDetection:
    def test_nothing(self, project, make_context):
        (project / "backlog").mkdir()
        assert backlog.detect(make_context()) is None

    @pytest.mark.parametrize(
        "name",
        [
            "backlog.config.yml",
            "backlog/config.yml",
            "backlog/config.yaml",
            ".backlog/config.yml",
            ".backlog/config.yaml",
        ],
    )
    def test_from_a_sub_directory(self, name, project, configure, make_context):
        path = configure(name)
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        assert backlog.detect(make_context(deep)).marker == str(path)

    def test_the_variable(self, project, tmp_path, configure, make_context):
        path = configure(directory=tmp_path / "elsewhere")
        (tmp_path / "elsewhere" / "sub").mkdir()
        for value in (str(tmp_path / "elsewhere"), "../elsewhere/sub"):
            found = backlog.detect(make_context(BACKLOG_CWD=value))
            assert found.marker.replace("project/../", "") == str(path)

    def test_a_directory_of_that_name_may_be_work(self):
        (probe,) = backlog.grove_ticket_probes()
        assert "backlog" not in probe.paths
        assert {"backlog/tasks", ".backlog", "backlog.config.yml"} <= set(probe.paths)


class TestCurrentTicket:
    def test_none(self, configure, write, make_context):
        assert backlog.current_ticket(make_context()) is None
        configure()
        assert backlog.current_ticket(make_context()) is None
        write("TASK-1", "To Do")
        write("TASK-2", "In Progress", "backlog/completed")
        assert backlog.current_ticket(make_context()) is None

    def test_the_one_in_progress(self, configure, write, make_context):
        configure()
        write("TASK-1", "To Do")
        write("TASK-2.1", "In Progress")
        assert backlog.current_ticket(make_context()) == Ticket(
            ticket_id="TASK-2.1",
            source="backlog",
            title="A: long title # with [odd] 'stuff' that is quite long indeed and goes over"
            " eighty characters",
            description="Some text\nthat goes on",
            labels=("a b", "c"),
        )

    def test_of_several_the_one_updated_last(self, configure, write, make_context):
        configure()
        write("TASK-1", "In Progress", updated="2026-11-23 09:00")
        write("TASK-2", "In Progress", updated="2026-11-23 10:00")
        write("TASK-3", "In Progress")
        assert backlog.current_ticket(make_context()).ticket_id == "TASK-2"

    @pytest.mark.parametrize(
        ("more", "folder"),
        [
            ('backlog_directory: "planning/x"\n', "planning/x/tasks"),
            ("", ".backlog/tasks"),
            ("", "backlog/tasks"),
        ],
    )
    def test_where_the_tasks_lie(self, more, folder, configure, write, make_context):
        configure("backlog.config.yml", more=more)
        write("TASK-1", "In Progress", folder)
        assert backlog.current_ticket(make_context()).ticket_id == "TASK-1"


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"), [("Done", YES), ("To Do", NO), ("In Progress", NO)]
    )
    def test_the_file_decides(self, status, answer, result, configure, write, make_context):
        configure()
        write("TASK-7", status)
        write("TASK-71", "To Do")
        assert backlog.confirm(close(), result, make_context()) is answer

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            ("7", YES),
            ("task-7", YES),
            ("TASK-7", YES),
            ("07", YES),
            ("7.1", NO),
            ("task-7.01", NO),
            ("8", NO),
            ("issue-7", NO),
            ("", NO),
        ],
    )
    def test_how_ids_may_be_typed(self, typed, answer, configure, write, make_context):
        configure()
        write("TASK-007", "Done")
        write("TASK-7.1", "To Do")
        assert backlog.confirm(close(typed), SUCCESS, make_context()) is answer

    @pytest.mark.parametrize(
        ("folder", "status", "answer"),
        [
            ("completed", "Done", YES),
            ("completed", "Old", YES),
            ("archive/tasks", "To Do", NO),
            ("drafts", "Done", UNKNOWN),
        ],
    )
    def test_what_is_put_away(self, folder, status, answer, configure, write, make_context):
        configure()
        write("TASK-7", status, f"backlog/{folder}")
        assert backlog.confirm(close(), None, make_context()) is answer

    def test_the_last_of_other_statuses(self, configure, write, make_context):
        configure(statuses='["To Do", "Done", "Shipped"]')
        write("TASK-7", "Done")
        write("TASK-8", "Shipped")
        assert backlog.confirm(close("7"), SUCCESS, make_context()) is NO
        assert backlog.confirm(close("8"), SUCCESS, make_context()) is YES

    @pytest.mark.parametrize("ticket_id", ["7", None])
    def test_without_a_project(self, ticket_id, make_context):
        assert backlog.confirm(close(ticket_id), SUCCESS, make_context()) is UNKNOWN
        assert backlog.confirm(close(ticket_id), None, make_context()) is UNKNOWN
        assert backlog.confirm(close(ticket_id), FAILURE, make_context()) is NO

    def test_a_server_that_refuses(self, make_context):
        refused = ToolResult(
            succeeded=True,
            response={"content": [{"type": "text", "text": "Task not found"}], "isError": True},
        )
        assert backlog.confirm(close(), refused, make_context()) is NO

    def test_another_directory(self, project, configure, write, make_context):
        configure()
        write("TASK-7", "To Do")
        configure(directory=project / "sub")
        write("TASK-7", "Done", directory=project / "sub")
        assert backlog.confirm(close("7", project / "sub"), SUCCESS, make_context()) is YES
        assert backlog.confirm(close("7"), SUCCESS, make_context()) is NO
