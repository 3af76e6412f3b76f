"""What ``gh api`` and the tools of MCP servers of GitHub close and open again."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import UNKNOWN, Arguments, is_known
from grove_tickets.calls import text_of, tool_of
from grove_tickets.forges import request_fields

_HOST: Final = re.compile(r"^https?://[^/]+/(?:api/v3/)?|^/")
_PATH: Final = re.compile(rf"repos/([^/]+/[^/]+|{UNKNOWN})/(issues|pulls)/([^/?]+)(/merge)?")
_PLACEHOLDERS: Final = frozenset({"{owner}/{repo}", ":owner/:repo"})
_TEXTS: Final = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*')
_MUTATIONS: Final = re.compile(
    r"\b(close|reopen|merge|update|enable)(?:Issue|PullRequest(?:AutoMerge)?)\s*\(([^)]*)"
)


def read_request(system: str, arguments: Arguments, stdin: str | None) -> Iterator[TicketClose]:
    """Return what a request would close and open again."""
    if not arguments.positionals:
        return
    endpoint = _HOST.sub("", arguments.positionals[0], count=1)
    fields = request_fields(arguments, stdin)
    has_body = bool(fields) or arguments.value("--input") is not None
    method = arguments.value("-X", "--method") or ("POST" if has_body else "GET")
    if endpoint == "graphql":
        yield from _read_query(system, text_of(fields, "query"))
    path = _PATH.fullmatch(endpoint)
    if path is None:
        return
    reopens = _reopens(method.upper(), is_merge=path[4] is not None, state=text_of(fields, "state"))
    if reopens is not None:
        yield TicketClose(system=system, ticket_id=_ticket(path), reopens=reopens)


def _reopens(method: str, *, is_merge: bool, state: str) -> bool | None:
    """Return whether a request opens something; ``None`` when it neither opens nor closes."""
    if is_merge:
        return False if method == "PUT" else None
    if method not in {"PATCH", "POST"}:
        return None
    return {"closed": False, "open": True}.get(state.lower())


def _ticket(path: re.Match[str]) -> str | None:
    repository, kind, number = path[1], path[2], path[3]
    if not is_known(repository + number):
        return None
    repository = "" if repository in _PLACEHOLDERS else repository
    return reference(repository, number, is_issue=kind == "issues")


def _read_query(system: str, query: str) -> Sequence[TicketClose]:
    """Read a query of GraphQL, which names what it changes by ids of another kind."""
    plain = _TEXTS.sub("", query)
    if re.search(r"\bmutation\b", plain) is None:
        return ()
    found = []
    for what, inputs in _MUTATIONS.findall(plain):
        state = re.search(r"\bstate\s*:\s*(\w+)", inputs)
        opens = what == "reopen" or (state is not None and state[1] == "OPEN")
        if what != "update" or (state is not None and state[1] in {"OPEN", "CLOSED"}):
            found.append(
                TicketClose(system=system, ticket_id=None, reopens=opens, certain=what != "enable")
            )
    return found


def reference(repository: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a pull request."""
    return f"{repository or ('' if is_issue else 'pr')}#{number}"


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
