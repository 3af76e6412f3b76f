"""GitLab: issues and merge requests, closed with ``glab`` and MCP servers of GitLab."""

from collections.abc import Sequence

from grove_core import (
    CloseMatcher,
    Confirmation,
    Detection,
    EnabledWhen,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.forges import find_git, ticket_of_branch
from grove_tickets.outputs import confirmation

grove_api = 2
SYSTEM = "gitlab"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitLab; a git repository alone does not say that its issues are the tickets."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            enabled_when=EnabledWhen.OVERRIDDEN,
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of issues and merge requests."""
    return [
        CloseMatcher(
            system=SYSTEM,
            literals=(
                "glab close",
                "glab merge",
                "glab accept",
                "glab resolve",
                "glab reopen",
                "glab note",
                "glab comment",
                "glab api",
            ),
            tools=("Bash",),
            match=closed_by_shell,
            confirm=confirm,
        ),
        CloseMatcher(
            system=SYSTEM,
            literals=("issue_iid state_event", "merge_request_iid"),
            tools=("mcp__*",),
            match=closed_by_server,
            confirm=confirm,
        ),
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find a git repository."""
    return find_git(context)


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    return ticket_of_branch(context, SYSTEM)


def closed_by_shell(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return what a shell command would close and open again."""
    from grove_tickets.gitlab.commands import read_shell

    return tuple(read_shell(SYSTEM, call, context.environment))


def closed_by_server(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Return what a call of an MCP server of GitLab would close and open again."""
    from grove_tickets.gitlab.api import read_tool

    return read_tool(SYSTEM, call)


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:  # noqa: ARG001
    """Return whether an issue or a merge request is closed; GitLab itself is never asked."""
    from grove_tickets.gitlab.output import says_closed

    return confirmation(result, printed=lambda answer: says_closed(answer, close.ticket_id))
