"""What the output of ``bd`` and of its MCP server says about a close."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from grove_core import ToolResult

_MAX_DEPTH: Final = 20
_MAX_VALUES: Final = 100
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_CLOSED: Final = re.compile(r"(?m)^[^\w\n]*Closed ([\w.]+-[\w.-]+)")
_REFUSED: Final = re.compile(
    r"(?i)\b(?:cannot close|error:? (?:closing|resolving)(?: id)?) ([\w.-]+)"
)
_JSON_START: Final = re.compile(r"(?m)^\s*(?=[\[{])")


def is_same_issue(typed: str, issue_id: str) -> bool:
    """Tell whether an id as typed, perhaps without its prefix, means an issue."""
    typed, issue_id = typed.lower(), issue_id.lower()
    return typed == issue_id or issue_id.endswith(f"-{typed}")


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Tell whether a call's own output says that an issue was closed.

    Args:
        result: What became of the call.
        ticket_id: The issue's id as typed; ``None`` for any issue.

    Returns:
        Whether it says so, or ``None`` when it says nothing about it.
    """
    if isinstance(result.response, dict) and result.response.get("isError") is True:
        return False
    values = (result.response, result.error)
    text = _COLOUR.sub("", "\n".join(part for value in values for part in _texts(value)))
    closed = [match[1].rstrip(".:") for match in _CLOSED.finditer(text)]
    closed += [
        issue_id
        for value in (result.response, *_embedded_json(text))
        for issue_id, status in _issues(value)
        if status == "closed"
    ]
    if any(ticket_id is None or is_same_issue(ticket_id, issue_id) for issue_id in closed):
        return True
    refused = [match[1].rstrip(".:") for match in _REFUSED.finditer(text)]
    if any(ticket_id is None or is_same_issue(ticket_id, issue_id) for issue_id in refused):
        return False
    return None


def _texts(value: Any, depth: int = 0) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Give all texts within a JSON value."""
    if isinstance(value, str):
        yield value
    elif depth < _MAX_DEPTH and isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)


def _embedded_json(text: str) -> Iterator[Any]:
    """Give the JSON values that begin on a line of their own."""
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MAX_VALUES):
        match = _JSON_START.search(text, position)
        if match is None:
            break
        try:
            value, position = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            position = match.end() + 1
        else:
            yield value


def _issues(value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """Give id and status of every object that has both, however it is wrapped."""
    if depth < _MAX_DEPTH and isinstance(value, list | dict):
        if isinstance(value, dict):
            issue_id, status = value.get("id"), value.get("status")
            if isinstance(issue_id, str) and isinstance(status, str):
                yield issue_id, status
        for item in value.values() if isinstance(value, dict) else value:
            yield from _issues(item, depth + 1)
