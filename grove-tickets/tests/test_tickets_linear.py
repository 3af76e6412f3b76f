"""Linear: which changes of state end the work on an issue, and whether they really happened."""

import os
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from grove_core import Confirmation, Participation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import linear

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def git_init(directory: Path, branch: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
    }
    command = ["git", "init", "--quiet", f"--initial-branch={branch}"]
    subprocess.run(command, cwd=directory, env=environment, check=True)


def written(close: TicketClose) -> str:
    return f"{'reopen ' if close.reopens else ''}{close.ticket_id or '*'}"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('linear issue update ENG-123 -s completed -t "x"', "ENG-123"),
        ("linear issue update ENG-123 --state Done", "ENG-123"),
        ("linear issue update ENG-123 --state=canceled", "ENG-123"),
        ("linear issue update ENG-123 -sDuplicate", "ENG-123"),
        ("linear i update eng-123 -s DONE", "eng-123"),
        ("linear issue update -s done 123", "123"),
        ("linear issue update -t 'Done' -d x -s Done ENG-1 --priority 2", "ENG-1"),
        ("linear issue update -w acme ENG-1 -s Done", "ENG-1"),
        ('linear issue update -s "Done"', "*"),
        ("linear issue update $ID -s Done", "*"),
        ("npx -y linear issue update ENG-1 -s Done", "ENG-1"),
        ("linear issue update ENG-123 --state 'In Progress'", "reopen ENG-123"),
        ("linear issue update ENG-1 -s Done && linear i update ENG-1 -s Todo", "ENG-1 reopen ENG-1"),
    ],
)  # fmt: skip
def test_updates(command, expected, bash, make_context):
    found = linear.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "linear issue start ENG-123",
        "linear issue update ENG-123 -t Done",
        "linear issue update ENG-123 -s $STATE",
        "linear issue update ENG-123 -s Done --help",
        "linear issue list -s completed",
        "linear issue view ENG-123",
        "linear issue create -t x -s Done",
        "linear issue comment add ENG-1 -b 'update ENG-1 -s Done'",
        "linear issue delete ENG-1",
        "linear project update X -s completed",
        "linear team list",
        "linear",
        "echo linear issue update ENG-1 -s Done",
        "git commit -m 'Fixes ENG-1'",
    ],
)
def test_does_not_update(command, bash, make_context):
    assert linear.closed_by_shell(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        ("mcp__linear__update_issue", {"id": "ENG-1", "state": "Done"}, "ENG-1"),
        ("mcp__linear-server__save_issue", {"id": "ENG-1", "state": "completed"}, "ENG-1"),
        ("mcp__claude_ai_Linear__save_issue", {"id": "ENG-1", "state": "Canceled"}, "ENG-1"),
        ("mcp__plugin_x_linear__update_issue", {"id": "ENG-1", "state": "done"}, "ENG-1"),
        ("mcp__linear__linear_update_issue", {"id": "ENG-1", "state": "Done"}, "ENG-1"),
        ("mcp__linear__update_issue", {"id": "ENG-1", "state": "In Review"}, "reopen ENG-1"),
        (
            "mcp__linear__update_issue",
            {"id": "ENG-1", "state": "5c8f2f0e-6a43-4a0c-9c3f-0f3f6f1d2a11"},
            "",
        ),
        ("mcp__linear__save_issue", {"title": "x", "team": "ENG", "state": "Done"}, ""),
        ("mcp__linear__update_issue", {"id": "ENG-1", "title": "Done"}, ""),
        ("mcp__linear__list_issues", {"id": "ENG-1", "state": "Done"}, ""),
        ("mcp__linear__update_project", {"id": "x", "state": "completed"}, ""),
        ("mcp__github__update_issue", {"id": "ENG-1", "state": "Done"}, ""),
        ("mcp__beads__update", {"id": "ENG-1", "state": "Done"}, ""),
    ],
)
def test_server(tool, tool_input, expected, make_context):
    call = ToolCall(name=tool, input=tool_input, cwd="/x")
    found = linear.closed_by_server(call, make_context())
    assert " ".join(written(one) for one in found) == expected


def test_the_names_of_done_states_are_configured(bash, make_context):
    context = evolve(make_context(), settings=linear.LinearSettings(done=("Shipped",)))
    (shipped,) = linear.closed_by_shell(bash("linear issue update ENG-1 -s shipped"), context)
    (done,) = linear.closed_by_shell(bash("linear issue update ENG-1 -s Done"), context)
    assert not shipped.reopens
    assert done.reopens


def test_directory(bash, project, make_context):
    command = "cd sub && linear issue update ENG-1 -s Done"
    (found,) = linear.closed_by_shell(bash(command), make_context())
    assert found.directory == str(project / "sub")


UPDATED = (
    "Updating issue ENG-1\n\n✓ Updated issue ENG-1: Parser\nhttps://linear.example.org/ENG-1\n"
)


@pytest.mark.parametrize(
    ("text", "ticket_id", "expected"),
    [
        (UPDATED, "ENG-1", YES),
        (UPDATED, "eng-1", YES),
        (UPDATED, "1", YES),
        (UPDATED, None, YES),
        (UPDATED, "ENG-2", UNKNOWN),
        ("✗ Failed to update issue Error: x", "ENG-1", NO),
        ("Could not find workflow state 'Done' for team ENG", "ENG-1", NO),
        ("Could not determine issue ID. Please provide an issue ID", None, NO),
        ('{"id": "ENG-1", "title": "x", "status": "Done"}', "ENG-1", YES),
        ('{"id": "ENG-1", "status": "In Progress"}', "ENG-1", NO),
        ('{"id": "5c8f", "identifier": "ENG-1", "state": {"name": "Done"}}', "ENG-1", YES),
        ('{"id": "ENG-2", "status": "Done"}', "ENG-1", UNKNOWN),
        ('error: Unknown option "--x".', "ENG-1", NO),
        ("", "ENG-1", UNKNOWN),
    ],
)
def test_confirm(text, ticket_id, expected, make_context):
    close = TicketClose(system="linear", ticket_id=ticket_id)
    result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
    assert linear.confirm(close, result, make_context()) is expected


def test_after_a_reopening_the_issue_is_not_closed(make_context):
    reopening = TicketClose(system="linear", ticket_id="ENG-1", reopens=True)
    result = ToolResult(succeeded=True, response={"stdout": UPDATED, "stderr": ""})
    assert linear.confirm(reopening, result, make_context()) is NO


def test_confirm_after_a_failure_and_later(make_context):
    close = TicketClose(system="linear", ticket_id="ENG-1")
    failed = ToolResult(succeeded=False, error="Exit code 1")
    assert linear.confirm(close, failed, make_context()) is NO
    assert linear.confirm(close, None, make_context()) is UNKNOWN


@pytest.fixture
def repository(project):
    def make(branch: str = "main"):
        git_init(project, branch)
        return project

    return make


class TestDetection:
    def test_nothing(self, repository, make_context):
        repository()
        assert linear.detect(make_context()) is None

    @pytest.mark.parametrize("name", ["linear.toml", ".linear.toml", ".config/linear.toml"])
    def test_at_the_top_of_the_work_tree(self, name, repository, make_context):
        project = repository()
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("")
        assert linear.detect(make_context(deep)).marker == str(project / name)
        (probe,) = linear.grove_ticket_probes()
        assert probe.participation is Participation.DETECTED

    def test_outside_a_repository_only_in_the_directory_itself(self, project, make_context):
        (project / ".linear.toml").write_text("")
        deep = project / "a"
        deep.mkdir()
        assert linear.detect(make_context()).marker == str(project / ".linear.toml")
        assert linear.detect(make_context(deep)) is None


@pytest.mark.parametrize(
    ("branch", "team", "ticket_id"),
    [
        ("ENG-123", "", "ENG-123"),
        ("user/eng-123-title", "", "ENG-123"),
        ("user/eng-123-title", 'team_id = "ENG"', "ENG-123"),
        ("user/fix-2-eng-123", 'team_id = "ENG"', "ENG-123"),
        ("user/ops-123-title", 'team_id = "ENG"', None),
        ("main", "", None),
        ("eng-0", "", None),
    ],
)
def test_current_ticket_is_named_by_the_branch(branch, team, ticket_id, repository, make_context):
    project = repository(branch)
    (project / ".linear.toml").write_text(f"workspace = 'x'\n{team}\n")
    expected = None if ticket_id is None else Ticket(ticket_id=ticket_id, source="linear")
    assert linear.current_ticket(make_context()) == expected


def test_no_repository_no_ticket(make_context):
    assert linear.current_ticket(make_context()) is None
