"""What the tools of GitHub's MCP server close and open again."""

from collections.abc import Sequence
from typing import Final

from grove_core import TicketClose, ToolCall
from grove_tickets.github.references import reference
from grove_tickets.mcp import text_of, tool_of

_ISSUE_TOOLS: Final = frozenset({"issue_write", "update_issue", "update_issue_state"})
_PULL_REQUEST_TOOLS: Final = frozenset({"update_pull_request", "update_pull_request_state"})


def read_tool(system: str, call: ToolCall) -> Sequence[TicketClose]:
    """Return what a call would close or open again."""
    tool = tool_of(call, "github")
    fields = call.input
    state = "closed" if tool == "merge_pull_request" else text_of(fields, "state").lower()
    is_issue = tool in _ISSUE_TOOLS
    is_change = is_issue or tool in _PULL_REQUEST_TOOLS or tool == "merge_pull_request"
    names = ("issue_number",) if is_issue else ("pullNumber", "pull_number")
    number = text_of(fields, *names)
    is_proposal = fields.get("is_suggestion") is True
    if not is_change or not number or state not in {"open", "closed"} or is_proposal:
        return ()
    owner, name = text_of(fields, "owner"), text_of(fields, "repo")
    repository = f"{owner}/{name}" if owner and name else ""
    ticket_id = reference(repository, number, is_issue=is_issue)
    return [TicketClose(system=system, ticket_id=ticket_id, reopens=state == "open")]
