"""GitLab: issues and merge requests, closed with ``glab`` and MCP servers of GitLab."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

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
from grove_tickets.arguments import Arguments, is_known, take_apart
from grove_tickets.calls import matchers, shell_commands, store_directory, text_of, tool_of
from grove_tickets.forges import (
    find_git,
    is_number,
    repository_path,
    request_fields,
    ticket_of_branch,
)
from grove_tickets.outputs import (
    confirmation,
    json_objects,
    output_text,
    said_last,
    says_error,
    says_misuse,
)

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM: Final = "gitlab"
_GROUPS: Final = frozenset({"issue", "mr", "incident"})
_CLOSING: Final = frozenset({"close", "resolve", "merge", "accept"})
_NOTES: Final = frozenset({"note", "comment"})
_MESSAGE: Final = ("-m", "--message")
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
_ALREADY: Final = r"(?i)this (?:merge request|issue) has (?:already )?been (?:merged|closed)"
_REFUSED: Final = (
    r"(?im)^[^\w\n]*will auto-merge|^[ \t]*(?:ERROR\b|[45]\d\d [A-Z])"
    r"|\b(?:pipeline is required to succeed before merging"
    r"|still a work in progress|there are merge conflicts|no open merge request available)\b"
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitLab; a git repository alone does not say that its issues are the tickets."""
    overridden = EnabledWhen.OVERRIDDEN
    return [
        TicketProbe(
            name=SYSTEM, detect=detect, current_ticket=current_ticket, enabled_when=overridden
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of issues and merge requests."""
    verbs = ("close", "merge", "accept", "resolve", "reopen", "note", "comment", "api")
    return matchers(
        SYSTEM,
        closes,
        confirm,
        commands=[f"glab {verb}" for verb in verbs],
        tools=("issue_iid state_event", "merge_request_iid"),
    )


def detect(context: ProjectContext) -> Detection | None:
    """Find a git repository."""
    return find_git(context)


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    return ticket_of_branch(context, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return what a call would close and open again."""
    if call.name != "Bash":
        return _changed_by_tool(call)
    found: list[TicketClose] = []
    for command in shell_commands(call, "glab"):
        directory = store_directory(call, command.directory, None, context.environment)
        changed = _changed_by_glab(command, context.environment)
        found += [evolve(close, directory=directory) for close in changed]
    return found


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:  # noqa: ARG001
    """Return whether an issue or a merge request is closed; GitLab itself is never asked."""
    return confirmation(result, printed=lambda answer: _says_closed(answer, close.ticket_id))


def _changed_by_glab(command: "Command", environment: Mapping[str, str]) -> Iterator[TicketClose]:
    name, arguments = take_apart("glab", command.words[1:], _GROUPS)
    if arguments.has("-h", "--help"):
        return
    if name == "api":
        yield from _changed_by_request(arguments, command.stdin)
        return
    group, _, verb = name.partition(" ")
    waits = arguments.has("--auto-merge", "--when-pipeline-succeeds")
    actions = [(verb == "reopen", not waits)] if verb in _CLOSING | {"reopen"} else []
    if verb in _NOTES:
        text = arguments.value(*_MESSAGE) or ""
        said = re.findall(r"(?m)^/(close|reopen|merge)[ \t]*$", text)
        # A merge that a note asks for is done later.
        actions = [(what == "reopen", what != "merge") for what in said]
    if group not in _GROUPS or not actions:
        return
    named = arguments.value("-R", "--repo") or command.environment.get("GITLAB_REPO")
    project = repository_path(named or environment.get("GITLAB_REPO") or "")
    for one in _tickets(arguments, project, is_issue=group != "mr"):
        for reopens, certain in actions:
            yield TicketClose(system=SYSTEM, ticket_id=one, reopens=reopens, certain=certain)


def _tickets(arguments: Arguments, project: str, *, is_issue: bool) -> Sequence[str | None]:
    """Return what a command names; without a name, the branch's own merge request is meant."""
    words = [word for word in arguments.positionals if word]
    if is_issue and len(words) != 1:
        return ()
    if not words:
        return [None]
    typed = words[0].split(",") if len(words) == 1 else words
    return [one for word in typed for one in _named(word, project, is_issue=is_issue)]


def _named(typed: str, project: str, *, is_issue: bool) -> Sequence[str | None]:
    url = re.match(_URL, typed)
    if url is not None:
        return [_reference(url[1], url[3], is_issue=url[2] != "merge_requests")]
    if not is_known(typed + project):
        return [None]
    number = typed.removeprefix("#" if is_issue else "!")
    if is_number(number):
        return [_reference(project, number, is_issue=is_issue)]
    return () if is_issue else [None]  # a branch


def _reference(project: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a merge request."""
    return f"{project}{'#' if is_issue else '!'}{number}"


def _changed_by_request(arguments: Arguments, stdin: str | None) -> Sequence[TicketClose]:
    """Read ``glab api``."""
    from urllib.parse import parse_qsl

    endpoint, _, query = (*arguments.positionals, "")[0].partition("?")
    path = re.fullmatch(_API_PATH, endpoint)
    if path is None or (arguments.value("-X", "--method") or "").upper() != "PUT":
        return ()
    fields = {**dict(parse_qsl(query)), **request_fields(arguments, stdin)}
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
    from urllib.parse import unquote

    name = unquote(project)
    return name if "/" in name else ""


def _says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue or a merge request is closed."""
    text = output_text(result)
    wanted = re.search(r"([#!])(\d+)$", ticket_id or "")
    said = [
        closed
        for sign, number, closed in _said(result, text)
        if wanted is None or (wanted[1] == sign and number in {wanted[2], ""})
    ]
    if said:
        return said_last(said, ticket_id)
    if re.search(_ALREADY, text):
        return True
    refused = re.search(_REFUSED, text) or says_misuse(text) or says_error(result)
    return False if refused else None


def _said(result: ToolResult, text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the sign, the number and the state that lines and JSON tell."""
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
