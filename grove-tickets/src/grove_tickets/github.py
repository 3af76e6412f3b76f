"""GitHub: issues and pull requests, closed with ``gh``, its MCP server and words in commits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

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
from grove_tickets.arguments import UNKNOWN, Arguments, known, take_apart, valued_flags
from grove_tickets.calls import matchers, text_of, tool_of
from grove_tickets.outputs import json_objects, output_text, told

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM: Final = "github"
_TOOLS: Final = (
    "issue_write", "update_issue", "update_issue_state", "update_pull_request",
    "update_pull_request_state", "merge_pull_request",
)  # fmt: skip
_URL: Final = r"https?://[^/]+/([^/]+/[^/]+)/(issues|pull)/(\d+)"
_API_PATH: Final = rf"(?:^|/)repos/([^/]+/[^/]+|{UNKNOWN})/(issues|pulls)/([^/]+)(/merge)?$"
_TEXTS: Final = r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*'
_MUTATIONS: Final = (
    r"\b(?:(close|reopen|merge|enable)(?:Issue|PullRequest(?:AutoMerge)?)\s*\("
    r"|update(?:Issue|PullRequest)\s*\([^)]*\bstate\s*:\s*(OPEN|CLOSED)\b)"
)
_REFERENCE: Final = r"(?:([\w.-]+/[\w.-]+)|pr)?#(\d+)"
# "✓ Closed issue o/r#12 (title)", "! Pull request #30 (title) is already closed"
_LINE: Final = (
    r"(?im)^(?:X |[^\w\n]*)(?:(closed|reopened|(?:\w+ and )?merged) )?(?:issue|pull request) "
    r"([\w.-]+/[\w.-]+)?#(\d+)(?:.*(already (?:closed|merged|open)|will be automatically"
    r"|will be added to the merge queue|queued to merge|is not mergeable|not open))?"
)
_FAILED: Final = (
    r"(?m)^(?:GraphQL: (?:.*number of (\d+))?|gh: .*\(HTTP [45]\d\d\)|HTTP [45]\d\d|could not "
    r"|failed to |no (?:open )?pull requests? found|error connecting to )"
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitHub."""
    return [forges.probe(SYSTEM)]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of issues and pull requests; GitHub itself is never asked."""
    programs = [f"gh {verb}" for verb in ("close", "merge", "reopen", "api")]
    return matchers(
        SYSTEM,
        closes,
        printed=_says_closed,
        commands=(*programs, "git commit", "git merge"),
        tools=("issue_number state", "pullNumber", "pull_number"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return what a call would close and open again."""
    if call.name != "Bash":
        return _changed_by_tool(call)
    found = forges.changed_by_program(call, context, "gh", _changed_by_gh)
    for issue, directory in forges.closed_by_commits(call, context):
        later = TicketClose(system=SYSTEM, ticket_id=issue, directory=directory, certain=False)
        found.append(later)
    return found


def _changed_by_gh(command: "Command", environment: Mapping[str, str]) -> Iterator[TicketClose]:
    name, arguments = take_apart("gh", command.words[1:], {"issue", "pr"})
    if name not in valued_flags("gh") or arguments.has("-h", "--help", "--disable-auto"):
        return
    if name == "api":
        yield from _changed_by_request(arguments, command.stdin)
        return
    named = forges.repository_named(arguments, command, environment, "GH_REPO")
    repository = "/".join(named.split("/")[-2:])
    reopens, certain = name.endswith("reopen"), not arguments.has("--auto")
    ids: Sequence[str | None] = ()
    match arguments.positionals:
        case (typed,) if typed:
            is_issue = name.startswith("issue")
            ids = forges.ids_named(typed, repository, _URL, _reference, is_issue=is_issue)
        case () if name == "pr merge" and arguments.value("-R", "--repo") is None:
            ids = [None]  # of the branch
    for one in ids:
        yield TicketClose(system=SYSTEM, ticket_id=one, reopens=reopens, certain=certain)


def _reference(repository: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a pull request."""
    return f"{repository or ('' if is_issue else 'pr')}#{number}"


def _changed_by_request(arguments: Arguments, stdin: str | None) -> Iterator[TicketClose]:
    """Read ``gh api``."""
    method, endpoint, fields = forges.request_of(arguments, stdin)
    if endpoint == "graphql":
        yield from _changed_by_query(text_of(fields, "query"))
    path = re.search(_API_PATH, endpoint)
    if path is None:
        return
    repository, kind, number, merge = path.groups()
    if method in ({"PATCH", "POST"} if merge is None else {"PUT"}):
        state = "closed" if merge else text_of(fields, "state")
        name = "" if repository in {"{owner}/{repo}", ":owner/:repo"} else repository
        yield from _change(name, number, state, is_issue=kind == "issues")


def _changed_by_query(query: str) -> Iterator[TicketClose]:
    """Read a query of GraphQL, which names what it changes by ids of another kind."""
    plain = re.sub(_TEXTS, "", query)
    for verb, state in re.findall(_MUTATIONS, plain.partition("mutation")[2]):
        reopens, certain = "reopen" in verb or state == "OPEN", verb != "enable"
        yield TicketClose(system=SYSTEM, ticket_id=None, reopens=reopens, certain=certain)


def _changed_by_tool(call: ToolCall) -> Sequence[TicketClose]:
    """Read a call of GitHub's MCP server."""
    tool, fields = tool_of(call, "github"), call.input
    number = text_of(fields, "issue_number", "pullNumber", "pull_number")
    if tool not in _TOOLS or not number or fields.get("is_suggestion") is True:
        return ()
    state = "closed" if tool == "merge_pull_request" else text_of(fields, "state")
    owner, name = text_of(fields, "owner"), text_of(fields, "repo")
    repository = f"{owner}/{name}" if owner and name else ""
    return _change(repository, number, state, is_issue="issue" in tool)


def _change(repository: str, number: str, state: str, *, is_issue: bool) -> Sequence[TicketClose]:
    """Return what setting a state changes."""
    if state.lower() not in {"open", "closed"}:
        return ()
    ticket_id = known(_reference(repository, number, is_issue=is_issue))
    return [TicketClose(system=SYSTEM, ticket_id=ticket_id, reopens=state.lower() == "open")]


def _says_closed(close: TicketClose, result: ToolResult, context: ProjectContext) -> bool | None:
    """Return whether a call's own output says that an issue or a pull request is closed."""
    text = output_text(result)
    wanted = re.fullmatch(_REFERENCE, (close.ticket_id or "").lower())
    said = (
        closed
        for repository, number, closed in _said(result, text)
        if wanted is None
        or (
            number in {wanted[2], ""}
            and (not repository or wanted[1] in {None, repository.lower()})
        )
    )
    answer = told(said, close.ticket_id, text)
    is_commit = not close.certain and not (close.ticket_id or "pr#").startswith("pr#")
    return forges.takes_effect(result, context.cwd) if answer is None and is_commit else answer


def _said(result: ToolResult, text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the repository, the number and the state that lines and JSON tell."""
    for number in re.findall(_FAILED, text):
        yield "", number, False
    for verb, repository, number, state in re.findall(_LINE, text):
        if verb or state:
            yield repository, number, (verb or state).lower().endswith(("closed", "merged"))
    for one in json_objects(result):
        state = one.get("state")
        if isinstance(one.get("number"), int) and isinstance(state, str):
            yield "", str(one["number"]), state.lower() in {"closed", "merged"}
        elif isinstance(one.get("merged"), bool) and "number" not in one:
            yield "", "", one["merged"]
