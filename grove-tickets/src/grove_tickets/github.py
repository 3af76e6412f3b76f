"""GitHub: issues and pull requests, closed with ``gh``, its MCP server and words in commits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

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
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, parse, take_apart, valued_flags
from grove_tickets.calls import (
    behind_git,
    matchers,
    resolve,
    shell_commands,
    store_directory,
    text_of,
    tool_of,
)
from grove_tickets.forges import (
    find_git,
    is_default_branch,
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
from grove_tickets.places import read_file

if TYPE_CHECKING:
    from grove_tickets.shell import Command

grove_api = 2
SYSTEM: Final = "github"
_PROPOSALS: Final = ("pr create", "pr new", "pr edit")
_NO_COMMIT: Final = ("-h", "--help", "--dry-run", "--no-commit", "--abort", "--quit")
_MAX_MESSAGE_BYTES: Final = 65536
_ISSUE_TOOLS: Final = ("issue_write", "update_issue", "update_issue_state")
_OTHER_TOOLS: Final = ("update_pull_request", "update_pull_request_state", "merge_pull_request")
_URL: Final = r"https?://[^/]+/([^/]+/[^/]+)/(?:issues|pull)/(\d+)"
_API_PATH: Final = (
    r"(?:https?://[^/]+/(?:api/v3/)?|/)?"
    rf"repos/([^/]+/[^/]+|{UNKNOWN})/(issues|pulls)/([^/?]+)(/merge)?"
)
_PLACEHOLDERS: Final = frozenset({"{owner}/{repo}", ":owner/:repo"})
_TEXTS: Final = r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*'
_MUTATIONS: Final = (
    r"\b(close|reopen|merge|update|enable)(?:Issue|PullRequest(?:AutoMerge)?)\s*\(([^)]*)"
)
_KEYWORD: Final = (
    r"(?i)(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:https?://[^/\s]+/(?P<path>[\w.-]+/[\w.-]+)/issues/"
    r"|(?P<repository>[\w.-]+/[\w.-]+)?#|GH-)"
    r"(?P<number>\d+)(?!\w)"
)
_REFERENCE: Final = r"([\w.-]+/[\w.-]+|pr)?#(\d+)"
# "✓ Closed issue o/r#12 (title)", "! Pull request #30 (title) is already closed"
_LINE: Final = (
    r"(?im)^(?:X |[^\w\n]*)(?:(?P<verb>closed|reopened|(?:\w+ and )?merged) )?"
    r"(?:issue|pull request) "
    r"(?P<repository>[\w.-]+/[\w.-]+)?#(?P<number>\d+)(?P<rest>.*)$"
)
_IS_CLOSED: Final = r"already (?:closed|merged)"
_IS_OPEN: Final = (
    r"already open|will be (?:automatically merged|added to the merge queue)"
    r"|queued to merge|is not mergeable|not open"
)
_FAILED: Final = (
    r"(?m)^(?:GraphQL: .*|gh: .*\(HTTP [45]\d\d\)|HTTP [45]\d\d.*|could not .*|failed to .*"
    r"|no (?:open )?pull requests? found.*|error connecting to .*)$"
)
_COMMITTED: Final = r"(?m)^\[(\S+)(?: \(root-commit\))? [0-9a-f]{4,}\]"
# What `gh pr create` and `gh pr edit` print.
_PULL_REQUEST: Final = r"(?m)^https?://\S+/pull/\d+\s*$"
_NOT_COMMITTED: Final = (
    r"(?m)^(?:nothing (?:added )?to commit|no changes added|Aborting commit|error: |fatal: "
    r"|Automatic merge failed|Already up to date)"
)


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer GitHub; a git repository alone does not say that its issues are the tickets."""
    overridden = EnabledWhen.OVERRIDDEN
    return [
        TicketProbe(
            name=SYSTEM, detect=detect, current_ticket=current_ticket, enabled_when=overridden
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of issues and pull requests."""
    verbs = ("close", "merge", "reopen", "api", *_PROPOSALS)
    return matchers(
        SYSTEM,
        closes,
        confirm,
        commands=(*(f"gh {verb}" for verb in verbs), "git commit", "git merge"),
        tools=("issue_number state", "pullNumber", "pull_number"),
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
    for command in shell_commands(call, "gh", "git"):
        if command.program == "git":
            found += _closed_by_message(call, command, context.environment)
        else:
            directory = store_directory(call, command.directory, None, context.environment)
            changed = _changed_by_gh(command, context.environment)
            found += [evolve(close, directory=directory) for close in changed]
    return found


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue or a pull request is closed; GitHub itself is never asked."""

    def committed() -> bool | None:
        # Later another branch may be checked out than the one that was committed to.
        is_issue = close.ticket_id is not None and not close.ticket_id.startswith("pr#")
        is_asked = result is not None and not close.certain and is_issue
        return _takes_effect(result, context.cwd) if is_asked and result is not None else None

    return confirmation(
        result, committed, printed=lambda answer: _says_closed(answer, close.ticket_id)
    )


def _changed_by_gh(command: "Command", environment: Mapping[str, str]) -> Iterator[TicketClose]:
    name, arguments = take_apart("gh", command.words[1:], {"issue", "pr"})
    if not name or name not in valued_flags("gh") or arguments.has("-h", "--help"):
        return
    if name == "api":
        yield from _changed_by_request(arguments, command.stdin)
    elif name in _PROPOSALS:
        for issue in _mentioned(_body(arguments, command.stdin)):
            yield TicketClose(system=SYSTEM, ticket_id=issue, certain=False)
    else:
        named = arguments.value("-R", "--repo")
        named = named or command.environment.get("GH_REPO") or environment.get("GH_REPO") or ""
        repository = "/".join(repository_path(named).split("/")[-2:])
        reopens, certain = name.endswith("reopen"), not arguments.has("--auto")
        for one in _tickets(name, arguments, repository):
            yield TicketClose(system=SYSTEM, ticket_id=one, reopens=reopens, certain=certain)


def _body(arguments: Arguments, stdin: str | None) -> str:
    """Return the text of a pull request, which closes issues once it is merged."""
    if arguments.has("--dry-run"):
        return ""
    from_stdin = arguments.value("-F", "--body-file") == "-"
    return (stdin if from_stdin else arguments.value("-b", "--body")) or ""


def _tickets(name: str, arguments: Arguments, repository: str) -> Sequence[str | None]:
    """Return what a command names; each takes one, and ``pr merge`` none for the branch's own."""
    if name == "pr merge" and arguments.has("--disable-auto"):
        return ()
    match arguments.positionals:
        case (typed,) if typed:
            return _named(typed, repository, is_issue=name.startswith("issue"))
        case () if name == "pr merge" and arguments.value("-R", "--repo") is None:
            return [None]
        case _:
            return ()


def _named(typed: str, repository: str, *, is_issue: bool) -> Sequence[str | None]:
    url = re.match(_URL, typed)
    if url is not None:
        return [_reference(url[1], url[2], is_issue=is_issue)]
    if not is_known(typed + repository):
        return [None]
    number = typed.removeprefix("#")
    if is_number(number):
        return [_reference(repository, number, is_issue=is_issue)]
    return () if is_issue else [None]  # a branch


def _reference(repository: str, number: str, *, is_issue: bool) -> str:
    """Write the id of an issue or a pull request."""
    return f"{repository or ('' if is_issue else 'pr')}#{number}"


def _changed_by_request(arguments: Arguments, stdin: str | None) -> Iterator[TicketClose]:
    """Read ``gh api``."""
    endpoint = (*arguments.positionals, "")[0]
    fields = request_fields(arguments, stdin)
    has_body = bool(fields) or arguments.value("--input") is not None
    method = (arguments.value("-X", "--method") or ("POST" if has_body else "GET")).upper()
    if endpoint == "graphql":
        yield from _changed_by_query(text_of(fields, "query"))
    path = re.fullmatch(_API_PATH, endpoint)
    if path is None:
        return
    repository, kind, number, merge = path.groups()
    state = text_of(fields, "state").lower() if method in {"PATCH", "POST"} else ""
    if merge is not None:
        state = "closed" if method == "PUT" else ""
    if state in {"open", "closed"}:
        name = "" if repository in _PLACEHOLDERS else repository
        ticket_id = _reference(name, number, is_issue=kind == "issues")
        known_id = ticket_id if is_known(repository + number) else None
        yield TicketClose(system=SYSTEM, ticket_id=known_id, reopens=state == "open")


def _changed_by_query(query: str) -> Iterator[TicketClose]:
    """Read a query of GraphQL, which names what it changes by ids of another kind."""
    plain = re.sub(_TEXTS, "", query)
    is_mutation = re.search(r"\bmutation\b", plain) is not None
    for what, inputs in re.findall(_MUTATIONS, plain) if is_mutation else ():
        found = re.search(r"\bstate\s*:\s*(OPEN|CLOSED)\b", inputs)
        opens = what == "reopen" or (found is not None and found[1] == "OPEN")
        if what != "update" or found is not None:
            certain = what != "enable"
            yield TicketClose(system=SYSTEM, ticket_id=None, reopens=opens, certain=certain)


def _changed_by_tool(call: ToolCall) -> Sequence[TicketClose]:
    """Read a call of GitHub's MCP server."""
    tool, fields = tool_of(call, "github"), call.input
    state = "closed" if tool == "merge_pull_request" else text_of(fields, "state").lower()
    is_issue = tool in _ISSUE_TOOLS
    number = text_of(fields, *(("issue_number",) if is_issue else ("pullNumber", "pull_number")))
    is_change = (is_issue or tool in _OTHER_TOOLS) and fields.get("is_suggestion") is not True
    if not is_change or not number or state not in {"open", "closed"}:
        return ()
    owner, name = text_of(fields, "owner"), text_of(fields, "repo")
    repository = f"{owner}/{name}" if owner and name else ""
    ticket_id = _reference(repository, number, is_issue=is_issue)
    return [TicketClose(system=SYSTEM, ticket_id=ticket_id, reopens=state == "open")]


def _closed_by_message(
    call: ToolCall, command: "Command", environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    """Return which issues the message of a commit closes once it is on the default branch."""
    overall, base = behind_git(command)
    name, *rest = overall.positionals or ("",)
    # `-S` and `-u` take their values only where they are glued on.
    words = [word for word in rest if not re.match(r"-[Su].", word)]
    arguments = parse(words, valued_flags("git").get(name, ()))
    if name not in {"commit", "merge"} or arguments.has(*_NO_COMMIT):
        return
    text = _message(arguments, command.stdin, resolve(call.cwd, base, environment))
    directory = store_directory(call, base, None, environment)
    for ticket_id in _mentioned(text):
        yield TicketClose(system=SYSTEM, ticket_id=ticket_id, directory=directory, certain=False)


def _mentioned(text: str) -> Iterator[str]:
    """Return the issues that a text closes by its words."""
    for found in re.finditer(_KEYWORD, text):
        yield f"{found['path'] or found['repository'] or ''}#{found['number']}"


def _message(arguments: Arguments, stdin: str | None, directory: str | None) -> str:
    parts = []
    for flag, value in arguments.options:
        if flag in {"-m", "--message"}:
            parts.append(value)
        elif flag == "--trailer":
            parts.append(value.replace("=", ": ", 1))
        elif flag in {"-F", "--file"} and value in {"-", "/dev/stdin"}:
            parts.append(stdin or "")
        elif flag in {"-F", "--file"} and directory is not None:
            content = read_file(Path(directory, value), _MAX_MESSAGE_BYTES) or b""
            parts.append(content.decode("utf-8", "replace"))
    return "\n\n".join(parts)


def _says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue or a pull request is closed."""
    text = output_text(result)
    said = [
        closed
        for repository, number, closed in _said(result, text)
        if _is_meant(ticket_id, repository, number)
    ]
    if said:
        return said_last(said, ticket_id)
    failures = [re.findall(r"(?:number of |#)(\d+)", line) for line in re.findall(_FAILED, text)]
    number = None if ticket_id is None else ticket_id.rpartition("#")[2]
    is_failure = any(not named or number is None or number in named for named in failures)
    return False if is_failure or says_misuse(text) or says_error(result) else None


def _takes_effect(result: ToolResult, directory: Path) -> bool | None:
    """Return whether the words in a commit message take effect."""
    text = output_text(result)
    if re.search(_PULL_REQUEST, text):
        return False
    branches = re.findall(_COMMITTED, text)
    if branches:
        return any(is_default_branch(branch, directory) for branch in branches)
    if re.search(_NOT_COMMITTED, text):
        return False
    return None if is_default_branch(None, directory) else False


def _is_meant(ticket_id: str | None, repository: str, number: str) -> bool:
    wanted = None if ticket_id is None else re.fullmatch(_REFERENCE, ticket_id)
    if wanted is None:
        return True
    named = wanted[1] if wanted[1] != "pr" else None
    is_same = not named or not repository or named.lower() == repository.lower()
    return is_same and number in {wanted[2], ""}


def _said(result: ToolResult, text: str) -> Iterator[tuple[str, str, bool]]:
    """Return the repository, the number and the state that lines and JSON tell."""
    for match in re.finditer(_LINE, text):
        verb, rest = (match["verb"] or "").lower(), match["rest"]
        is_closed = verb.endswith(("closed", "merged"))
        says_so = not verb and re.search(_IS_CLOSED, rest) is not None
        if verb or says_so or re.search(_IS_OPEN, rest):
            yield match["repository"] or "", match["number"], is_closed or says_so
    for one in json_objects(result):
        state = one.get("state")
        if isinstance(one.get("number"), int) and isinstance(state, str):
            yield "", str(one["number"]), state.lower() in {"closed", "merged"}
        elif isinstance(one.get("merged"), bool) and "number" not in one:
            yield "", "", one["merged"]
