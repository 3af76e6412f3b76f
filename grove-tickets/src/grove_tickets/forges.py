"""What GitHub and GitLab have in common: trackers that belong to a git repository.

Its branches name issues, and words in messages of commits close them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from grove_core import (
    Detection,
    EnabledWhen,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
)
from grove_tickets.arguments import Arguments, is_known, parse, valued_flags
from grove_tickets.calls import behind_git, resolve, shell_commands, store_directory
from grove_tickets.outputs import output_text
from grove_tickets.places import branch_name, default_branch, find_repository, read_file
from grove_tickets.records import from_json

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_ADDRESS: Final = r"^(?:\w+://(?:[^@/]+@)?[^/]+/|[^@/]+@[^:/]+:)"
_NO_TICKETS: Final = r"(?i)^(?:releases?|versions?|dependabot|renovate)/"
_NUMBERED: Final = (
    r"(?i)(?:^|/)(?:(?:issues?|gh|gl|fix|bug|bugfix|feat|feature|task|ticket)[-_]?)?"
    r"([1-9]\d{0,8})(?=$|[-_/](?!\d))"
)
_NO_COMMIT: Final = ("-h", "--help", "--dry-run", "--no-commit", "--abort", "--quit")
_MAX_MESSAGE_BYTES: Final = 65536
_USUAL_DEFAULTS: Final = frozenset({"main", "master"})
_KEYWORD: Final = (
    r"(?i)(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:https?://[^/\s]+/([\w.-]+/[\w.-]+)/issues/|([\w.-]+/[\w.-]+)?#|GH-)(\d+)(?!\w)"
)
_COMMITTED: Final = r"(?m)^\[(\S+)(?: \(root-commit\))? [0-9a-f]{4,}\]"
_NOT_COMMITTED: Final = (
    r"(?m)^(?:nothing (?:added )?to commit|no changes added|Aborting commit|error: |fatal: "
    r"|Automatic merge failed|Already up to date)"
)


def probe(system: str) -> TicketProbe:
    """Offer a tracker; a git repository alone does not say that its issues are the tickets."""
    return TicketProbe(
        name=system,
        detect=_find_git,
        current_ticket=lambda context: _ticket_of_branch(context, system),
        enabled_when=EnabledWhen.OVERRIDDEN,
    )


def _find_git(context: ProjectContext) -> Detection | None:
    repository = find_repository(context.cwd)
    return None if repository is None else Detection(marker=str(repository.git))


def _ticket_of_branch(context: ProjectContext, system: str) -> Ticket | None:
    """Return which issue the branch that is checked out names."""
    repository = find_repository(context.cwd)
    name = None if repository is None else branch_name(repository)
    found = re.search(_NUMBERED, name) if name and not re.search(_NO_TICKETS, name) else None
    return None if found is None else Ticket(ticket_id=f"#{found[1]}", source=system)


def changed_by_program(
    call: ToolCall,
    context: ProjectContext,
    program: str,
    changed: Callable[["Command", Mapping[str, str]], Iterable[TicketClose]],
) -> list[TicketClose]:
    """Return what the commands of a program change, each in its own directory."""
    environment = context.environment
    return [
        evolve(close, directory=store_directory(call, command.directory, None, environment))
        for command in shell_commands(call, program)
        for close in changed(command, environment)
    ]


def repository_named(
    arguments: Arguments, command: "Command", environment: Mapping[str, str], variable: str
) -> str:
    """Return the path of the repository that a command names, perhaps by a variable."""
    named = arguments.value("-R", "--repo") or command.environment.get(variable)
    address = named or environment.get(variable) or ""
    return re.sub(_ADDRESS, "", address).strip("/").removesuffix(".git")


def ids_named(
    typed: str,
    repository: str,
    url: str,
    write: Callable[..., str],
    *,
    is_issue: bool,
) -> Sequence[str | None]:
    """Return the id of the issue, or of the other thing, that a word of a command names."""
    found = re.match(url, typed)
    if found is not None:
        path, kind, number = found.groups()
        return [write(path, number, is_issue=kind in {"issues", "work_items"})]
    if not is_known(typed + repository):
        return [None]
    number = typed.lstrip("#!")
    if number.isascii() and number.isdigit():
        return [write(repository, number, is_issue=is_issue)]
    return () if is_issue else [None]  # a branch


def request_of(arguments: Arguments, stdin: str | None) -> tuple[str, str, Mapping[str, Any]]:
    """Return the method, the path and the fields that ``gh api`` or ``glab api`` sends."""
    from urllib.parse import parse_qsl

    endpoint, _, query = (*arguments.positionals, "")[0].partition("?")
    flags = ("-f", "--raw-field", "-F", "--field")
    pairs = (value.partition("=") for name, value in arguments.options if name in flags)
    fields: dict[str, Any] = {key: value for key, _, value in pairs}
    usual = "POST" if fields or arguments.value("--input") is not None else "GET"
    if arguments.value("--input") == "-":
        body = from_json(stdin)
        fields |= body if isinstance(body, dict) else {}
    method = arguments.value("-X", "--method") or usual
    return method.upper(), endpoint, {**dict(parse_qsl(query)), **fields}


def closed_by_commits(call: ToolCall, context: ProjectContext) -> Iterator[tuple[str, str | None]]:
    """Return the issues that messages of commits close, and where the commits are made."""
    for command in shell_commands(call, "git"):
        overall, base = behind_git(command)
        text = _message(overall, command.stdin, resolve(call.cwd, base, context.environment))
        directory = store_directory(call, base, None, context.environment)
        for path, repository, number in re.findall(_KEYWORD, text):
            yield f"{path or repository}#{number}", directory


def _message(overall: Arguments, stdin: str | None, directory: str | None) -> str:
    """Return the message of the commit that a command makes, if any."""
    name, *rest = overall.positionals or ("",)
    # `-S` and `-u` take their values only where they are glued on.
    words = [word for word in rest if not re.match(r"-[Su].", word)]
    arguments = parse(words, valued_flags("git").get(name, ()))
    if name not in {"commit", "merge"} or arguments.has(*_NO_COMMIT):
        return ""
    return "\n\n".join(_part(*option, stdin, directory) for option in arguments.options)


def _part(flag: str, value: str, stdin: str | None, directory: str | None) -> str:
    """Return the paragraph of a message that an option of ``git commit`` gives."""
    if flag in {"-m", "--message"}:
        return value
    if flag == "--trailer":
        return value.replace("=", ": ", 1)
    if flag not in {"-F", "--file"}:
        return ""
    if value in {"-", "/dev/stdin"}:
        return stdin or ""
    content = None if directory is None else read_file(Path(directory, value), _MAX_MESSAGE_BYTES)
    return (content or b"").decode("utf-8", "replace")


def takes_effect(result: ToolResult, directory: Path) -> bool | None:
    """Return whether a commit was made on the branch on which its words close issues."""
    text = output_text(result)
    branches: Sequence[str] = re.findall(_COMMITTED, text)
    if branches:
        return any(_is_default_branch(branch, directory) for branch in branches)
    if re.search(_NOT_COMMITTED, text):
        return False
    return None if _is_default_branch(None, directory) else False


def _is_default_branch(name: str | None, directory: Path) -> bool:
    """Return whether a branch, or else the one that is checked out, is the default one."""
    repository = find_repository(directory)
    if repository is None:
        return False
    name = branch_name(repository) if name is None else name
    default = default_branch(repository)
    return name in _USUAL_DEFAULTS if default is None else name == default
