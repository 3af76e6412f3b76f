"""GitLab: issues and merge requests, closed with ``glab`` and MCP servers of GitLab."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from grove_core import (
    CloseMatcher,
    ProjectContext,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets import forges
from grove_tickets.arguments import Arguments, is_known, take_apart
from grove_tickets.calls import matchers, text_of, tool_of
from grove_tickets.outputs import json_objects, output_text, told

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM: Final = "gitlab"
_GROUPS: Final = frozenset({"issue", "mr", "incident"})
_VERBS: Final = ("close", "merge", "accept", "resolve", "reopen")
_NOTES: Final = ("note", "comment")
_MERGES_LATER: Final = ("merge_when_pipeline_succeeds", "auto_merge")
_TOOLS: Final = frozenset({"update_issue", "update_merge_request", "merge_merge_request"})
_URL: Final = r"https?://[^/]+/(.+?)/(?:-/)?(issues|work_items|merge_requests)/(?:incident/)?(\d+)"
_API_PATH: Final = (
    r"(?:https?://[^/]+/api/v4/|/)?projects/([^/]+)/(issues|merge_requests)/([^/]+)(/merge)?"
)
# A line such as "✓ Closed issue #12" or "✓ Closed merge request !5.".
_LINE: Final = (
    r"(?im)^[^\w\n]*(closed|resolved|reopened) (?:issue|incident|merge request) ([#!])(\d+)"
)
# A merge tells its number only in the address on the line after it.
_MERGED: Final = r"(?im)^[^\w\n]*(?:\w+ and )?merged![ \t\r]*$(?:\n\S*/merge_requests/(\d+))?"
_ALREADY: Final = r"(?i)this (?:(issue)|merge request) has (?:already )?been (?:merged|closed)"
_REFUSED: Final = (
    r"(?im)^[^\w\n]*will auto-merge|^[ \t]*(?:ERROR\b|[45]\d\d [A-Z])"
    r"|\b(?:pipeline is required to succeed before merging"
    r"|still a work in progress|there are merge conflicts|no open merge request available)\b"
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitLab."""
    return [forges.probe(SYSTEM)]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of issues and merge requests; GitLab itself is never asked."""
    return matchers(
        SYSTEM,
        closes,
        printed=_says_closed,
        commands=[f"glab {verb}" for verb in (*_VERBS, *_NOTES, "api")],
        tools=("issue_iid state_event", "merge_request_iid"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return what a call would close and open again."""
    if call.name == "Bash":
        return forges.changed_by_program(call, context, "glab", _changed_by_glab)
    return _changed_by_tool(call)


def _changed_by_glab(command: "Command", environment: Mapping[str, str]) -> Iterator[TicketClose]:
    name, arguments = take_apart("glab", command.words[1:], _GROUPS)
    if arguments.has("-h", "--help"):
        return
    if name == "api":
        yield from _changed_by_request(arguments, command.stdin)
        return
    group, _, verb = name.partition(" ")
    waits = arguments.has("--auto-merge", "--when-pipeline-succeeds")
    verbs = [verb] if verb in _VERBS else []
    if verb in _NOTES:
        text = arguments.value("-m", "--message") or ""
        verbs = re.findall(r"(?m)^/(close|reopen|merge)[ \t]*$", text)
        waits = "merge" in verbs  # which is done later
    project = forges.repository_named(arguments, command, environment, "GITLAB_REPO")
    ids = _tickets(arguments, project, is_issue=group != "mr") if group in _GROUPS else ()
    for one, what in product(ids, verbs):
        reopens = what == "reopen"
        yield TicketClose(system=SYSTEM, ticket_id=one, reopens=reopens, certain=not waits)


def _tickets(arguments: Arguments, project: str, *, is_issue: bool) -> Sequence[str | None]:
    """Return what a command names; without a name, the branch's own merge request is meant."""
    words = [word for word in arguments.positionals if word]
    if is_issue and len(words) != 1:
        return ()
    if not words:
        return [None]
    typed = words[0].split(",") if len(words) == 1 else words
    named = (forges.ids_named(one, project, _URL, _reference, is_issue=is_issue) for one in typed)
    return [ticket_id for ids in named for ticket_id in ids]


def _reference(project: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a merge request."""
    return f"{project}{'#' if is_issue else '!'}{number}"


def _changed_by_request(arguments: Arguments, stdin: str | None) -> Sequence[TicketClose]:
    """Read ``glab api``."""
    method, endpoint, fields = forges.request_of(arguments, stdin)
    path = re.fullmatch(_API_PATH, endpoint)
    if path is None or method != "PUT":
        return ()
    project, kind, number, merge = path.groups()
    ticket_id = None
    if is_known(project + number):
        ticket_id = _reference(_name_of(project), number, is_issue=kind == "issues")
    return _change(ticket_id, fields, is_merge=merge is not None)


def _changed_by_tool(call: ToolCall) -> Sequence[TicketClose]:
    """Read a call of an MCP server of GitLab."""
    tool = tool_of(call, "gitlab")
    is_issue = tool == "update_issue"
    number = text_of(call.input, "issue_iid" if is_issue else "merge_request_iid")
    if tool not in _TOOLS or not number:
        return ()
    ticket_id = _reference(_name_of(text_of(call.input, "project_id")), number, is_issue=is_issue)
    return _change(ticket_id, call.input, is_merge=tool == "merge_merge_request")


def _change(
    ticket_id: str | None, fields: Mapping[str, Any], *, is_merge: bool
) -> Sequence[TicketClose]:
    event = "close" if is_merge else text_of(fields, "state_event")
    if event not in {"close", "reopen"}:
        return ()
    waits = is_merge and any(str(fields.get(name)).lower() == "true" for name in _MERGES_LATER)
    reopens = event == "reopen"
    return [TicketClose(system=SYSTEM, ticket_id=ticket_id, reopens=reopens, certain=not waits)]


def _name_of(project: str) -> str:
    """Return a project's path; nothing for a placeholder or a number."""
    name = project.replace("%2F", "/")
    return name if "/" in name else ""


def _says_closed(close: TicketClose, result: ToolResult, _: ProjectContext) -> bool | None:
    """Return whether a call's own output says that an issue or a merge request is closed."""
    text = output_text(result)
    wanted = re.search(r"([#!])(\d+)$", close.ticket_id or "")
    said = (
        closed
        for sign, number, closed in _said(result, text)
        if wanted is None or (wanted[1] == sign and number in {wanted[2], ""})
    )
    return told(said, close.ticket_id, text, _REFUSED)


def _said(result: ToolResult, text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the sign, the number and the state that lines and JSON tell."""
    for match in re.finditer(_ALREADY, text):
        yield "#" if match[1] else "!", "", True
    for match in re.finditer(_LINE, text):
        yield match[2], match[3], match[1].lower() != "reopened"
    for match in re.finditer(_MERGED, text):
        yield "!", match[1] or "", True
    for one in json_objects(result):
        number, state = one.get("iid"), one.get("state")
        if isinstance(number, int | str) and isinstance(state, str):
            # Only merge requests have branches.
            sign = "!" if "source_branch" in one else "#"
            yield sign, str(number), state in {"closed", "merged"}
