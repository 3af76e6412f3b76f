"""Jira: which moves end the work on an issue, and whether they really happened."""

import os
import subprocess
from pathlib import Path

import pytest
from attrs import evolve

from grove_core import Confirmation, Participation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import jira

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
        ("jira issue move PROJ-1 Done", "PROJ-1"),
        ("jira issues mv PROJ-1 done", "PROJ-1"),
        ("jira issue transition PROJ-1 CLOSED", "PROJ-1"),
        ('jira issue move PROJ-1 "Won\'t Do"', "PROJ-1"),
        ("jira issue move PROJ-1 'Won\u2019t do'", "PROJ-1"),
        ("jira issue move PROJ-1 'Resolve Issue'", "PROJ-1"),
        ("jira issue move proj-1 Done", "proj-1"),
        ("jira issue move 1 Done", "1"),
        ("jira issue move PROJ-1 Done --comment 'see PROJ-2' -RFixed -a me", "PROJ-1"),
        ("jira issue move --resolution=Fixed PROJ-1 Done --web", "PROJ-1"),
        ("jira -p PROJ issue move 1 Done", "1"),
        ("jira --config x.yml issue -p PROJ move PROJ-1 Done", "PROJ-1"),
        ("jira issue move PROJ-1 Done --debug", "PROJ-1"),
        ("jira issue move $KEY Done", "*"),
        ("jira issue move PROJ-1 Done && jira issue move PROJ-2 Done", "PROJ-1 PROJ-2"),
        ("jira issue move PROJ-1 'In Progress'", "reopen PROJ-1"),
        ("jira issue move PROJ-1 'To Do'", "reopen PROJ-1"),
        ("jira issue move PROJ-1 Done; jira issue move PROJ-1 Open", "PROJ-1 reopen PROJ-1"),
        ("acli jira workitem transition --key PROJ-1 --status Done --yes", "PROJ-1"),
        ("acli jira workitem transition -k 'PROJ-1,PROJ-2' -s done", "PROJ-1 PROJ-2"),
        ("acli jira workitem transition --jql 'project = X' --status Done", "*"),
        ("acli jira workitem transition --key PROJ-1 --status 'To Do'", "reopen PROJ-1"),
    ],
)
def test_moves(command, expected, bash, make_context):
    found = jira.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "jira issue move PROJ-1",
        "jira issue move",
        "jira issue move PROJ-1 Done --help",
        "jira issue move PROJ-1 $STATE",
        "jira issue list -s Done",
        "jira issue list -q 'status = Done' move",
        "jira issue view PROJ-1",
        "jira issue comment add PROJ-1 'Done'",
        "jira issue edit PROJ-1 -s Done --no-input",
        "jira issue create -tTask -s'move PROJ-1 Done'",
        "jira issue assign PROJ-1 me",
        "jira issue delete PROJ-1",
        "jira sprint close 7",
        "jira epic add PROJ-1 PROJ-2",
        "jira move PROJ-1 Done",
        "acli jira workitem view PROJ-1",
        "acli jira workitem search --jql 'status = Done'",
        "acli jira workitem transition --key PROJ-1",
        "echo jira issue move PROJ-1 Done",
        "git commit -m 'PROJ-1 #done jira issue move PROJ-1 Done'",
    ],
)
def test_does_not_move(command, bash, make_context):
    assert jira.closed_by_shell(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        (
            "mcp__atlassian__transitionJiraIssue",
            {"cloudId": "x", "issueIdOrKey": "PROJ-1", "transition": {"name": "Done"}},
            "PROJ-1",
        ),
        (
            "mcp__claude_ai_Atlassian__transitionJiraIssue",
            {"issueIdOrKey": "PROJ-1", "transition": {"id": "31", "name": "Close Issue"}},
            "PROJ-1",
        ),
        (
            "mcp__mcp-jira__jira_transition_issue",
            {"issue_key": "PROJ-1", "transition_name": "done"},
            "PROJ-1",
        ),
        (
            "mcp__plugin_x_jira__transition_issue",
            {"issueKey": "PROJ-1", "transitionName": "Reopen"},
            "reopen PROJ-1",
        ),
        (
            "mcp__atlassian__transitionJiraIssue",
            {"issueIdOrKey": "PROJ-1", "transition": {"id": "31"}},
            "",
        ),
        ("mcp__jira__jira_transition_issue", {"issue_key": "PROJ-1", "transition_id": "31"}, ""),
        ("mcp__jira__transition_issue", {"issueKey": "PROJ-1", "transition": "31"}, ""),
        ("mcp__jira__get_transitions", {"issueKey": "PROJ-1", "transition": "Done"}, ""),
        ("mcp__jira__addComment", {"issueIdOrKey": "PROJ-1", "name": "Done"}, ""),
        ("mcp__linear__transition_issue", {"issueKey": "PROJ-1", "transition": "Done"}, ""),
        ("mcp__jira__transition_issue", {"transition": {"name": "Done"}}, ""),
    ],
)
def test_server(tool, tool_input, expected, make_context):
    call = ToolCall(name=tool, input=tool_input, cwd="/x")
    found = jira.closed_by_server(call, make_context())
    assert " ".join(written(one) for one in found) == expected


def test_the_names_of_done_states_are_configured(bash, make_context):
    settings = jira.JiraSettings(done=("Shipped",))
    context = evolve(make_context(), settings=settings)
    (shipped,) = jira.closed_by_shell(bash("jira issue move PROJ-1 SHIPPED"), context)
    (done,) = jira.closed_by_shell(bash("jira issue move PROJ-1 Done"), context)
    assert not shipped.reopens
    assert done.reopens
    moved = ToolResult(succeeded=True, response='✓ Issue transitioned to state "Shipped"')
    assert jira.confirm(shipped, moved, context) is YES
    assert jira.confirm(shipped, moved, make_context()) is NO


MOVED = '✓ Issue transitioned to state "Done"\nhttps://x.example.org/browse/PROJ-1\n'


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        (MOVED, "PROJ-1", YES),
        (MOVED, "proj-1", YES),
        (MOVED, "1", YES),
        (MOVED, None, YES),
        (MOVED, "PROJ-2", UNKNOWN),
        ('✓ Issue transitioned to state "Done"\n', "PROJ-1", YES),
        ('✓ Issue transitioned to state "In Review"\n', "PROJ-1", NO),
        (MOVED + MOVED.replace("Done", "Open"), "PROJ-1", NO),
        (MOVED.replace("Done", "Open") + MOVED, "PROJ-1", YES),
        (
            "\n✗ Error: invalid transition state \"Done\"\nAvailable states for issue PROJ-1: 'Open'",
            "PROJ-1",
            NO,
        ),
        ("✗ Error: Issue does not exist", "PROJ-1", NO),
        ('{"key": "PROJ-1", "status": {"name": "Done", "category": "Done"}}', "PROJ-1", YES),
        ('{"key": "PROJ-1", "fields": {"status": {"name": "Open"}}}', "PROJ-1", NO),
        ('{"key": "PROJ-2", "status": {"name": "Done"}}', "PROJ-1", UNKNOWN),
        ("Error: unknown flag: --x", "PROJ-1", NO),
        ("✗ Issue does not exist or you do not have permission to see it.", "PROJ-1", NO),
        ("", "PROJ-1", UNKNOWN),
    ],
)
def test_confirm(text, key, expected, make_context):
    close = TicketClose(system="jira", ticket_id=key)
    result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
    assert jira.confirm(close, result, make_context()) is expected


def test_confirm_after_a_failure_and_later(make_context):
    close = TicketClose(system="jira", ticket_id="PROJ-1")
    failed = ToolResult(succeeded=False, error="Exit code 1")
    assert jira.confirm(close, failed, make_context()) is NO
    assert jira.confirm(close, None, make_context()) is UNKNOWN


class TestDetection:
    def test_off_unless_enabled(self, make_context):
        (probe,) = jira.grove_ticket_probes()
        assert probe.participation is Participation.ENABLED
        assert jira.detect(make_context()).marker == "ticketing.overrides.jira"

    def test_the_configuration_of_the_user(self, tmp_path, make_context):
        file = tmp_path / "home/.config/.jira/.config.yml"
        file.parent.mkdir(parents=True)
        file.write_text("")
        assert jira.detect(make_context()).marker == str(file)

    def test_a_configuration_that_a_variable_names(self, project, make_context):
        (project / "jira.yml").write_text("")
        context = make_context(JIRA_CONFIG_FILE="jira.yml")
        assert jira.detect(context).marker == str(project / "jira.yml")


@pytest.mark.parametrize(
    ("branch", "key"),
    [
        ("PROJ-123", "PROJ-123"),
        ("feature/PROJ-123-title", "PROJ-123"),
        ("PROJ2-9_title", None),
        ("AB_C-9-title", "AB_C-9"),
        ("proj-123", None),
        ("main", None),
        ("v1-12", None),
        ("XPROJ-0", None),
    ],
)
def test_current_ticket_is_named_by_the_branch(branch, key, project, make_context):
    git_init(project, branch)
    expected = None if key is None else Ticket(ticket_id=key, source="jira")
    assert jira.current_ticket(make_context()) == expected


def test_no_repository_no_ticket(make_context):
    assert jira.current_ticket(make_context()) is None
