"""What the output of ``bd`` and of its MCP server says about a close."""

import re
from typing import Final

from grove_core import ToolResult
from grove_tickets.outputs import json_objects, output_text, says_error
from grove_tickets.records import is_same_issue

_CLOSED: Final = re.compile(r"(?m)^[^\w\n]*Closed ([\w.]+-[\w.-]+)")
_REFUSED: Final = re.compile(
    r"(?i)\b(?:cannot close(?: epic)?|error:? (?:closing|resolving)(?: id)?) ([\w.-]+)"
)


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue was closed."""
    if says_error(result):
        return False
    text = output_text(result)
    closed = [match[1].rstrip(".:") for match in _CLOSED.finditer(text)]
    closed += [str(one["id"]) for one in json_objects(result) if is_closed_issue(one)]
    if any(ticket_id is None or is_same_issue(ticket_id, issue_id) for issue_id in closed):
        return True
    refused = [match[1].rstrip(".:") for match in _REFUSED.finditer(text)]
    if any(ticket_id is None or is_same_issue(ticket_id, issue_id) for issue_id in refused):
        return False
    return None


def is_closed_issue(value: dict[str, object]) -> bool:
    """Return whether an object of a tool's JSON is an issue that is closed."""
    return isinstance(value.get("id"), str) and value.get("status") == "closed"
