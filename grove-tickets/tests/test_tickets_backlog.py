"""Backlog.md: which status is the done one, which task is in progress, and whether it is closed."""

import pytest
from core_worlds import write_file

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import backlog

confirm = backlog.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Updated task TASK-7\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nTask 99 not found.")
# What 1.52.0 writes.
TASK = """\
---
id: {id}
title: >-
  A: long title # with [odd] 'stuff' that is quite long indeed and goes over
  eighty characters
status: {status}
assignee: []
{updated}labels:
  - a b
  - c
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
CONFIG = 'project_name: "x"\nstatuses: {statuses}\ntask_prefix: "task"\n'


@pytest.fixture
def configure(project):
    def create(
        name="backlog/config.yml", statuses='["To Do", "In Progress", "Done"]', more="", inside=""
    ):
        return write_file(project / inside / name, CONFIG.format(statuses=statuses) + more)

    return create


@pytest.fixture
def write(project):
    def create(ticket_id, status, folder="backlog/tasks", updated="", inside=""):
        path = project / inside / folder / f"{ticket_id.lower()} - A-long-title.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        line = f"updated_date: '{updated}'\n" if updated else ""
        path.write_text(TASK.format(id=ticket_id.upper(), status=status, updated=line))

    return create


def close(ticket_id="7", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="backlog", ticket_id=ticket_id, directory=directory)


class TestTheLastStatusIsTheDoneOne:
    def closes(self, context, status, before=""):
        command = f"{before}backlog task edit 7 -s {status}"
        call = ToolCall(name="Bash", input={"command": command}, cwd=str(context.root))
        (found,) = backlog.closes(call, context)
        return found

    @pytest.mark.parametrize(
        "name", ["backlog/config.yml", ".backlog/config.yaml", "backlog.config.yml"]
    )
    def test_of_the_configuration(self, name, configure, make_context):
        configure(name, '["To Do", "Done", "Shipped it"]')
        context = make_context()
        assert not self.closes(context, "shippedit").reopens
        assert self.closes(context, "Done").reopens
        edited = {"id": "7", "status": "Shipped It"}
        call = ToolCall(name="mcp__backlog__task_edit", input=edited, cwd=str(context.root))
        (found,) = backlog.closes(call, context)
        assert not found.reopens

    @pytest.mark.parametrize("statuses", ["[]", "Done", "[broken", "\n  - A\n  - Done"])
    def test_otherwise_it_is_done(self, statuses, configure, make_context):
        configure(statuses=statuses)
        assert not self.closes(make_context(), "Done").reopens

    def test_of_the_directory_that_is_meant(self, project, configure, make_context):
        configure(statuses='["A", "Shipped"]', inside="sub")
        found = self.closes(make_context(), "Shipped", "cd sub && ")
        assert found == close("7", project / "sub")


class TestDetection:
    def test_the_variable(self, project, configure, make_context):
        path = configure(inside="../elsewhere").resolve()
        (project.parent / "elsewhere" / "sub").mkdir()
        for value in (str(path.parents[1]), "../elsewhere/sub"):
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
        write("TASK-1", "To Do")
        write("TASK-2", "In Progress", "backlog/completed")
        assert backlog.current_ticket(make_context()) is None

    def test_of_several_in_progress_the_one_updated_last(self, configure, write, make_context):
        configure()
        write("TASK-1", "In Progress", updated="2026-11-23 09:00")
        write("TASK-2.1", "In Progress", updated="2026-11-23 10:00")
        write("TASK-3", "In Progress")
        assert backlog.current_ticket(make_context()) == Ticket(
            ticket_id="TASK-2.1",
            source="backlog",
            title="A: long title # with [odd] 'stuff' that is quite long indeed and goes over"
            " eighty characters",
            description="Some text\nthat goes on",
            labels=("a b", "c"),
        )

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
        ("place", "answer"),
        [
            (("Done", "backlog/tasks"), YES),
            (("To Do", "backlog/tasks"), NO),
            (("In Progress", "backlog/tasks"), NO),
            (("Old", "backlog/completed"), YES),
            (("To Do", "backlog/archive/tasks"), NO),
        ],
    )
    def test_the_file_decides(self, place, answer, result, configure, write, make_context):
        configure()
        write("TASK-7", *place)
        write("TASK-71", "To Do")
        assert confirm(close(), result, make_context()) is answer

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
        assert confirm(close(typed), SUCCESS, make_context()) is answer

    def test_the_last_of_other_statuses_in_another_directory(
        self, project, configure, write, make_context
    ):
        configure()
        write("TASK-7", "Done")
        configure(statuses='["To Do", "Done", "Shipped"]', inside="sub")
        write("TASK-7", "Done", inside="sub")
        write("TASK-8", "Shipped", inside="sub")
        assert confirm(close("7"), SUCCESS, make_context()) is YES
        assert confirm(close("7", project / "sub"), SUCCESS, make_context()) is NO
        assert confirm(close("8", project / "sub"), SUCCESS, make_context()) is YES
