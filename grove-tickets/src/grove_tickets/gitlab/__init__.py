"""GitLab: issues and merge requests, closed with ``glab`` and MCP servers of GitLab."""

from collections.abc import Sequence

from grove_core import (
    CloseMatcher,
    Confirmation,
    Detection,
    Participation,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)

grove_api = 1
SYSTEM = "gitlab"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitLab; a git repository alone does not say that its issues are the tickets."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            participation=Participation.ENABLED,
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
    """Find a git repository.

    Args:
        context: Where to look.

    Returns:
        Its git directory, or ``None``.
    """
    from grove_tickets.forges import find_git

    return find_git(context)


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Tell which issue the branch that is checked out names.

    Args:
        context: Where to look.

    Returns:
        The issue, of which only the number is known, or ``None``.
    """
    from grove_tickets.forges import ticket_of_branch

    return ticket_of_branch(context, SYSTEM)


def closed_by_shell(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Tell what a shell command would close and open again.

    Args:
        call: A call of the shell.
        context: Where it would run.

    Returns:
        Closes and reopenings; a merge that waits for a pipeline is not certain.
    """
    from grove_tickets.gitlab.commands import read_shell

    return tuple(read_shell(SYSTEM, call, context.environment))


def closed_by_server(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Tell what a call of an MCP server of GitLab would close and open again.

    Args:
        call: A call of a tool of an MCP server.
        context: Not needed: the call says it all.

    Returns:
        At most one close or reopening.
    """
    from grove_tickets.gitlab.api import read_tool

    return read_tool(SYSTEM, call)


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:  # noqa: ARG001
    """Tell whether an issue or a merge request is closed; GitLab itself is never asked.

    Args:
        close: The announced close.
        result: What became of the call, or ``None`` when the state is asked for again.
        context: Not needed: nothing is stored here.

    Returns:
        What the call's own output says; else no after a failure, and unknown after a success.
    """
    from grove_tickets.confirming import confirmation
    from grove_tickets.gitlab.output import says_closed

    def printed() -> bool | None:
        return None if result is None else says_closed(result, close.ticket_id)

    return confirmation(result, printed)
