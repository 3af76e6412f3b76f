"""What tools say when they did nothing, which behind a pipe is no failure of the call."""

import pytest

from grove_core import Confirmation, TicketClose, ToolResult
from grove_tickets import github, jira, tissue
from grove_tickets.calls import store_directory
from grove_tickets.outputs import says_misuse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("To get started with GitHub CLI, please run:  gh auth login", True),
        ("The tool needs a Jira API token to function.", True),
        ("bash: line 1: gh: command not found", True),
        ("/bin/sh: 1: glab: not found", True),
        ("zsh: command not found: jira", True),
        ("bash: foo: command not found", False),
        ("Title: gh: command not found in CI", False),
        ("see gh auth login", False),
    ],
)
def test_a_tool_that_did_nothing(text, expected):
    assert says_misuse(f"first\n{text}\nlast") is expected


@pytest.mark.parametrize(
    ("system", "text"),
    [
        (github, "To get started with GitHub CLI, please run:  gh auth login\n"),
        (github, "bash: gh: command not found\n"),
        (jira, "The tool needs a Jira API token to function.\n"),
    ],
)
def test_such_a_close_is_none(system, text, make_context):
    close = TicketClose(system=system.SYSTEM, ticket_id="#12")
    result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
    assert system.confirm(close, result, make_context()) is Confirmation.NO


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("/x/.beads", "/x"),
        ("/x/.tissue/", "/x"),
        ("/x/shared-beads", None),
        ("/", None),
        ("~user/.beads", None),
        (None, "/y"),
    ],
)
def test_the_directory_that_holds_a_named_store(store, expected, bash):
    assert store_directory(bash(""), "/y", store, {}) == expected


def test_a_close_in_a_store_of_another_name_is_announced(bash, make_context):
    call = bash("tissue --store /x/mytissue status a closed")
    (close,) = tissue.closes(call, make_context())
    assert (close.ticket_id, close.directory) == ("a", None)
