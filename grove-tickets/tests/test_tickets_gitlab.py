"""GitLab: what `glab` and MCP servers close, and whether it really happened."""

import os
import subprocess
from pathlib import Path

import pytest

from grove_core import Confirmation, Participation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import gitlab

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
    sign = "reopen " if close.reopens else ""
    return f"{sign}{close.ticket_id or '*'}{'' if close.certain else '@later'}"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("glab issue close 12", "#12"),
        ("glab issue close '#12'", "#12"),
        ("glab issue close 12,13", "#12 #13"),
        ("glab issue close -R g/p 12", "g/p#12"),
        ("glab issue -R g/s/p close 12", "g/s/p#12"),
        ("glab -R g/p issue close 12", "g/p#12"),
        ("glab issue close 12 --repo=https://gitlab.example.com/g/s/p.git", "g/s/p#12"),
        ("glab issue close 12 -R git@gitlab.com:g/p.git", "g/p#12"),
        ("GITLAB_REPO=g/p glab issue close 12", "g/p#12"),
        ("glab issue close https://gitlab.com/g/p/-/issues/12", "g/p#12"),
        ("glab issue close https://gitlab.com/g/s/p/-/issues/12", "g/s/p#12"),
        ("glab issue close https://gitlab.com/g/p/issues/12", "g/p#12"),
        ("glab issue close https://gitlab.com/g/p/-/work_items/12", "g/p#12"),
        ("glab issue close $N", "*"),
        ("glab issue close 12 -R $REPO", "*"),
        ("glab incident close 12", "#12"),
        ("glab incident resolve https://gitlab.com/g/p/-/issues/incident/12", "g/p#12"),
        ("glab issue reopen 12", "reopen #12"),
        ("glab issue close 12 && glab issue reopen 12", "#12 reopen #12"),
        ("glab mr close 1 2", "!1 !2"),
        ("glab mr close 1,2", "!1 !2"),
        ("glab mr close '!5'", "!5"),
        ("glab mr close", "*"),
        ("glab mr close user:branch", "*"),
        ("glab mr close 5 -R g/p", "g/p!5"),
        ("glab mr reopen 5", "reopen !5"),
        ("glab mr merge 5 --yes", "!5"),
        ("glab mr merge -y -s -d -m 'Fix #12' 5", "!5"),
        ("glab mr merge 5 --squash --squash-message 'closes #12' --sha abc", "!5"),
        ("glab mr accept 5", "!5"),
        ("glab mr merge", "*"),
        ("glab mr merge feature-x", "*"),
        ("glab mr merge https://gitlab.com/g/p/-/merge_requests/5", "g/p!5"),
        ("glab mr merge 5 --auto-merge", "!5@later"),
        ("glab mr merge 5 --when-pipeline-succeeds", "!5@later"),
        ("glab mr merge 5 --auto-merge=false", "!5"),
        ("glab issue note 12 -m /close", "#12"),
        ("glab issue note 12 --message 'Done in !5.\n\n/close\n'", "#12"),
        ("glab issue comment -m '/reopen' 12", "reopen #12"),
        ("glab mr note 5 -m /close", "!5"),
        ("glab mr note -m /merge", "*@later"),
        ("glab api -X PUT projects/:id/issues/12 -f state_event=close", "#12"),
        ("glab api --method PUT projects/:fullpath/issues/12 -F state_event=close", "#12"),
        ("glab api -X PUT projects/g%2Fs%2Fp/issues/12 -f state_event=close", "g/s/p#12"),
        ("glab api -X PUT projects/34/issues/12 -f state_event=close", "#12"),
        ("glab api -X PUT 'projects/:id/issues/12?state_event=close'", "#12"),
        ("glab api -X PUT projects/:id/issues/$N -f state_event=close", "*"),
        ("glab api -X PUT projects/:id/issues/12 -f state_event=reopen", "reopen #12"),
        ("glab api -X PUT projects/:id/merge_requests/5 -f state_event=close", "!5"),
        ("glab api -X PUT projects/:id/merge_requests/5/merge", "!5"),
        ("glab api -X PUT projects/:id/merge_requests/5/merge -F auto_merge=true", "!5@later"),
        ('glab api -X PUT projects/:id/issues/1 --input - <<< \'{"state_event":"close"}\'', "#1"),
    ],
)
def test_closes(command, expected, bash, make_context):
    found = gitlab.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "glab issue close",
        "glab issue close 12 13",
        "glab issue close abc",
        "glab issue close 12 --help",
        "glab issue list --closed",
        "glab issue list --search 'close 12'",
        "glab issue view 12",
        "glab issue update 12 --title 'close'",
        "glab issue create -t close -d 'Closes #12'",
        "glab issue delete 12",
        "glab issue note 12 -m 'Please /close this'",
        "glab issue note 12 -m 'closes #13'",
        "glab issue note 12",
        "glab mr note 5 -m '/approve'",
        "glab mr list --merged",
        "glab mr view 5",
        "glab mr approve 5",
        "glab mr create --fill",
        "glab mr update 5 --ready",
        "glab mr delete 5",
        "glab mr rebase 5",
        "glab ci run",
        "glab release close 12",
        "glab api projects/:id/issues/12 -f state_event=close",
        "glab api -X POST projects/:id/issues/12/notes -f body=/close",
        "glab api -X PUT projects/:id/issues/12 -f labels=close",
        "glab api -X GET projects/:id/merge_requests/5/merge",
        "glab api",
        "glab",
        "git commit -m 'Fixes #12'",
        "echo glab issue close 12",
    ],
)
def test_does_not_close(command, bash, make_context):
    assert gitlab.closed_by_shell(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        (
            "mcp__gitlab__update_issue",
            {"project_id": "g/p", "issue_iid": 12, "state_event": "close"},
            "g/p#12",
        ),
        (
            "mcp__GitLab-MCP__update_issue",
            {"project_id": "g%2Fp", "issue_iid": "12", "state_event": "close"},
            "g/p#12",
        ),
        (
            "mcp__plugin_x_gitlab__update_issue",
            {"project_id": 34, "issue_iid": 12, "state_event": "reopen"},
            "reopen #12",
        ),
        (
            "mcp__gitlab__update_merge_request",
            {"project_id": "g/p", "merge_request_iid": 5, "state_event": "close"},
            "g/p!5",
        ),
        (
            "mcp__gitlab__merge_merge_request",
            {"project_id": "g/p", "merge_request_iid": 5},
            "g/p!5",
        ),
        (
            "mcp__gitlab__merge_merge_request",
            {"project_id": "g/p", "merge_request_iid": 5, "auto_merge": True},
            "g/p!5@later",
        ),
        ("mcp__gitlab__update_issue", {"issue_iid": 12, "title": "close"}, ""),
        ("mcp__gitlab__update_issue", {"state_event": "close"}, ""),
        ("mcp__gitlab__get_issue", {"issue_iid": 12, "state_event": "close"}, ""),
        ("mcp__gitlab__list_issues", {"state": "closed", "issue_iid": 12}, ""),
        ("mcp__github__update_issue", {"issue_iid": 12, "state_event": "close"}, ""),
    ],
)
def test_server(tool, tool_input, expected, make_context):
    call = ToolCall(name=tool, input=tool_input, cwd="/x")
    found = gitlab.closed_by_server(call, make_context())
    assert " ".join(written(one) for one in found) == expected


def test_directory(bash, project, make_context):
    (found,) = gitlab.closed_by_shell(bash("cd sub && glab mr merge 5"), make_context())
    assert found.directory == str(project / "sub")


@pytest.mark.parametrize(
    ("text", "ticket_id", "expected"),
    [
        ("- Closing issue...\n✓ Closed issue #12\nhttps://gitlab.com/g/p/-/issues/12", "#12", YES),
        ("- Closing Issue...\n✓ Closed Issue #12\n", "g/p#12", YES),
        ("✓ Closed issue #13\n", "#12", UNKNOWN),
        ("✓ Closed issue #12\n", "!12", UNKNOWN),
        ("✓ Closed issue #12\n✓ Reopened issue #12\n", "#12", NO),
        ("✓ Resolved incident #12\n", "#12", YES),
        ("- Closing merge request...\n✓ Closed merge request !5.\nhttps://x", "!5", YES),
        ("✓ Closed merge request !1.\n✓ Closed merge request !2.\n", "!2", YES),
        ("✓ Merged!\nhttps://gitlab.com/g/p/-/merge_requests/5\n", "!5", YES),
        ("✓ Merged!\nhttps://gitlab.com/g/p/-/merge_requests/6\n", "!5", UNKNOWN),
        ("! No pipeline running on x\n✓ Squashed and merged!\n!5 Fix (x)\n", "!5", YES),
        ("✓ Merged!\n", None, YES),
        ("! Pipeline status: running\n✓ Will auto-merge\nhttps://x", "!5", NO),
        ("this merge request has already been merged", "!5", YES),
        ("this merge request has been closed", "!5", YES),
        ("   ERROR  \n\n  404 Not Found\n", "#12", NO),
        ("there are merge conflicts. Resolve conflicts and try again", "!5", NO),
        ('no open merge request available for "x"', None, NO),
        ('{"iid": 12, "state": "closed"}', "g/p#12", YES),
        ('{"iid": 12, "state": "opened"}', "#12", NO),
        ('{"iid": 5, "state": "merged", "source_branch": "x"}', "!5", YES),
        ('{"iid": 5, "state": "merged", "source_branch": "x"}', "#5", UNKNOWN),
        ("  Unknown flag: --x\n", "#12", NO),
        ("ERROR: accepts 1 arg(s), received 2", "#12", NO),
        ("", "#12", UNKNOWN),
    ],
)
def test_confirm(text, ticket_id, expected, make_context):
    close = TicketClose(system="gitlab", ticket_id=ticket_id)
    result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
    assert gitlab.confirm(close, result, make_context()) is expected


def test_confirm_after_a_failure_and_later(make_context):
    close = TicketClose(system="gitlab", ticket_id="#12")
    failed = ToolResult(succeeded=False, error="Exit code 1")
    assert gitlab.confirm(close, failed, make_context()) is NO
    assert gitlab.confirm(close, None, make_context()) is UNKNOWN


def test_found_in_every_repository_but_off_unless_enabled(project, make_context):
    assert gitlab.detect(make_context()) is None
    git_init(project, "issue-12")
    assert gitlab.detect(make_context()).marker == str(project / ".git")
    (probe,) = gitlab.grove_ticket_probes()
    assert probe.participation is Participation.ENABLED
    assert gitlab.current_ticket(make_context()) == Ticket(ticket_id="#12", source="gitlab")
