"""GitHub: issues and pull requests, closed with ``gh``, its MCP server and words in commits."""

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
SYSTEM = "github"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitHub; a git repository alone does not say that its issues are the tickets."""
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
    """Offer to recognise closes of issues and pull requests."""
    return [
        CloseMatcher(
            system=SYSTEM,
            literals=(
                "gh close",
                "gh merge",
                "gh reopen",
                "gh api",
                "gh pr create",
                "gh pr new",
                "gh pr edit",
                "git commit",
                "git merge",
            ),
            tools=("Bash",),
            match=closed_by_shell,
            confirm=confirm,
        ),
        CloseMatcher(
            system=SYSTEM,
            literals=("issue_number state", "pullNumber", "pull_number"),
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
    from grove_tickets.github.commands import read_shell

    return tuple(read_shell(SYSTEM, call, context.environment))


def closed_by_server(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:  # noqa: ARG001
    """Return what a call of GitHub's MCP server would close and open again."""
    from grove_tickets.github.api import read_tool

    return read_tool(SYSTEM, call)


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue or a pull request is closed; GitHub itself is never asked."""
    from grove_tickets.github import output

    def committed() -> bool | None:
        # Later another branch may be checked out than the one that was committed to.
        if result is None or close.certain or not output.is_issue(close.ticket_id):
            return None
        return output.takes_effect(result, context.cwd)

    return confirmation(
        result, committed, printed=lambda answer: output.says_closed(answer, close.ticket_id)
    )
