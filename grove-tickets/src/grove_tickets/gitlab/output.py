"""What the output of ``glab`` and of MCP servers of GitLab says about a close."""

import re
from collections.abc import Iterator
from typing import Final

from grove_core import ToolResult
from grove_tickets.outputs import json_objects, output_text, says_error, says_misuse

_REFERENCE: Final = re.compile(r"([^#!]*)([#!])(\d+)")
# A line such as "✓ Closed issue #12" or "✓ Closed merge request !5.".
_LINE: Final = re.compile(
    r"(?im)^[^\w\n]*(closed|resolved|reopened) (?:issue|incident|merge request) ([#!])(\d+)"
)
# A merge tells its number only in the address on the line after it.
_MERGED: Final = re.compile(
    r"(?im)^[^\w\n]*(?:\w+ and )?merged![ \t\r]*$(?:\n\S*/merge_requests/(\d+))?"
)
_LATER: Final = re.compile(r"(?im)^[^\w\n]*will auto-merge")
_REFUSED: Final = re.compile(
    r"(?im)^[ \t]*(?:ERROR\b|[45]\d\d [A-Z])|\b(?:pipeline is required to succeed before merging"
    r"|still a work in progress|there are merge conflicts|no open merge request available)\b"
)
_ALREADY: Final = re.compile(
    r"(?i)this (?:merge request|issue) has (?:already )?been (?:merged|closed)"
)
_CLOSED_STATES: Final = frozenset({"closed", "merged"})


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue or a merge request is closed."""
    text = output_text(result)
    said = [
        closed
        for sign, number, closed in (*_lines(text), *_objects(result))
        if _is_meant(ticket_id, sign, number)
    ]
    if said:
        return any(said) if ticket_id is None else said[-1]
    if _ALREADY.search(text):
        return True
    refused = _LATER.search(text) or _REFUSED.search(text) or says_misuse(text)
    return False if refused or says_error(result) else None


def _is_meant(ticket_id: str | None, sign: str, number: str) -> bool:
    wanted = None if ticket_id is None else _REFERENCE.fullmatch(ticket_id)
    return wanted is None or (wanted[2] == sign and number in {wanted[3], ""})


def _lines(text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the sign, the number and the state that lines tell."""
    for match in _LINE.finditer(text):
        yield match[2], match[3], match[1].lower() != "reopened"
    for match in _MERGED.finditer(text):
        yield "!", match[1] or "", True


def _objects(result: ToolResult) -> Iterator[tuple[str, str, bool]]:
    for one in json_objects(result):
        number, state = one.get("iid"), one.get("state")
        if isinstance(number, int | str) and isinstance(state, str):
            # Only merge requests have branches.
            sign = "!" if "source_branch" in one else "#"
            yield sign, str(number), state in _CLOSED_STATES
