"""What requests to GitLab close and open again, by ``glab api`` and by MCP servers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import Arguments, is_known
from grove_tickets.calls import text_of, tool_of
from grove_tickets.forges import request_fields

_HOST: Final = re.compile(r"^https?://[^/]+/api/v4/|^/")
_PATH: Final = re.compile(r"projects/([^/]+)/(issues|merge_requests)/([^/]+)(/merge)?")
_MERGES_LATER: Final = ("merge_when_pipeline_succeeds", "auto_merge")


def read_request(system: str, arguments: Arguments, stdin: str | None) -> Sequence[TicketClose]:
    """Return what a request would close or open again."""
    if not arguments.positionals or arguments.value("-X", "--method") not in {"PUT", "put"}:
        return ()
    endpoint, _, query = _HOST.sub("", arguments.positionals[0], count=1).partition("?")
    path = _PATH.fullmatch(endpoint)
    if path is None:
        return ()
    fields = {**dict(parse_qsl(query)), **request_fields(arguments, stdin)}
    project, kind, number, merge = path.groups()
    ticket_id = None
    if is_known(project + number):
        ticket_id = reference(_name_of(project), number, is_issue=kind == "issues")
    return _change(system, ticket_id, fields, is_merge=merge is not None)


def read_tool(system: str, call: ToolCall) -> Sequence[TicketClose]:
    """Return what a call of an MCP server would close or open again."""
    tool = tool_of(call, "gitlab")
    is_issue = tool == "update_issue"
    number = text_of(call.input, "issue_iid" if is_issue else "merge_request_iid")
    if tool not in {"update_issue", "update_merge_request", "merge_merge_request"} or not number:
        return ()
    ticket_id = reference(_name_of(text_of(call.input, "project_id")), number, is_issue=is_issue)
    return _change(system, ticket_id, call.input, is_merge=tool == "merge_merge_request")


def _change(
    system: str, ticket_id: str | None, fields: Mapping[str, Any], *, is_merge: bool
) -> Sequence[TicketClose]:
    event = "close" if is_merge else text_of(fields, "state_event")
    if event not in {"close", "reopen"}:
        return ()
    waits = is_merge and any(str(fields.get(name)).lower() == "true" for name in _MERGES_LATER)
    reopens = event == "reopen"
    return [TicketClose(system=system, ticket_id=ticket_id, reopens=reopens, certain=not waits)]


def _name_of(project: str) -> str:
    """Return a project's path; nothing for a placeholder or a number."""
    name = unquote(project)
    return name if "/" in name else ""


def reference(project: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a merge request."""
    return f"{project}{'#' if is_issue else '!'}{number}"
