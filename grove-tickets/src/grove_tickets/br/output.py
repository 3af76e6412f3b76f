"""What the output of ``br`` says about a close."""

import re
from typing import Final

from grove_core import ToolResult
from grove_tickets.outputs import json_objects, output_text, says_misuse
from grove_tickets.records import is_same_issue

# A line such as "Closed br-1: title" or "Skipped br-1: already closed".
_ISSUE: Final = re.compile(r"^\W*(Closed|Reopened|Skipped|Updated) ([\w.]+-[\w.-]+?):(.*)$")
_STATUS: Final = re.compile(r"^\s+status:.*(?:→|->) *(\w+)")
_REFUSED: Final = "refusing to close via `br update"


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue is closed."""
    text = output_text(result)
    said = [
        closed
        for issue_id, closed in (*_lines(text), *_objects(result))
        if ticket_id is None or is_same_issue(ticket_id, issue_id)
    ]
    if said:
        return any(said) if ticket_id is None else said[-1]
    return False if _REFUSED in text or says_misuse(text) else None


def _lines(text: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    updated = ""
    for line in text.splitlines():
        issue, status = _ISSUE.match(line), _STATUS.match(line)
        if issue is None:
            if status is not None and updated:
                found.append((updated, status[1].lower() == "closed"))
            continue
        what, issue_id, rest = issue.groups()
        updated = issue_id if what == "Updated" else ""
        if what != "Updated":
            is_closed = what == "Closed" or (what == "Skipped" and "already closed" in rest)
            found.append((issue_id, is_closed))
    return found


def _objects(result: ToolResult) -> list[tuple[str, bool]]:
    return [
        (str(one["id"]), one["status"] == "closed")
        for one in json_objects(result)
        if isinstance(one.get("id"), str) and isinstance(one.get("status"), str)
    ]
