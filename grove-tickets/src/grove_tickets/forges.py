"""What GitHub and GitLab have in common: trackers that belong to a git repository."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
)
from grove_tickets.arguments import Arguments, is_known
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.places import branch_name, find_repository
from grove_tickets.records import from_json

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_ADDRESS: Final = r"^(?:\w+://(?:[^@/]+@)?[^/]+/|[^@/]+@[^:/]+:)"
_NO_TICKETS: Final = r"(?i)^(?:releases?|versions?|dependabot|renovate)/"
_NUMBERED: Final = (
    r"(?i)(?:^|/)(?:(?:issues?|gh|gl|fix|bug|bugfix|feat|feature|task|ticket)[-_]?)?"
    r"([1-9]\d{0,8})(?=$|[-_/](?!\d))"
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
