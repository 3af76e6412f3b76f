"""What the commands of ``gh``, and of git by their messages, close and open again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import Arguments, is_known, take_apart
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.forges import repository_path
from grove_tickets.github.api import read_request, reference
from grove_tickets.github.keywords import mentioned, read_message

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_PROPOSALS: Final = frozenset({"pr create", "pr new", "pr edit"})
_GROUPS: Final = frozenset({"issue", "pr"})
_GLOBAL_FLAGS: Final = frozenset({"-R", "--repo"})
_URL: Final = re.compile(r"https?://[^/]+/([^/]+/[^/]+)/(?:issues|pull)/(\d+)")
_VALUED: Final[Mapping[str, Sequence[str]]] = {
    "issue close": ("-c", "--comment", "-r", "--reason", "--duplicate-of"),
    "issue reopen": ("-c", "--comment"),
    "pr close": ("-c", "--comment"),
    "pr reopen": ("-c", "--comment"),
    "pr merge": (
        "-A", "--author-email", "-b", "--body", "-F", "--body-file", "-t", "--subject",
        "--match-head-commit",
    ),
    **dict.fromkeys(
        _PROPOSALS,
        (
            "-t", "--title", "-b", "--body", "-F", "--body-file", "-B", "--base", "-H", "--head",
            "-a", "--assignee", "-l", "--label", "-m", "--milestone", "-p", "--project", "-r",
            "--reviewer", "-T", "--template", "--recover", "--add-label", "--add-assignee",
            "--add-reviewer", "--add-project", "--remove-label", "--remove-assignee",
            "--remove-reviewer", "--remove-project",
        ),
    ),
    "api": (
        "-X", "--method", "-f", "--raw-field", "-F", "--field", "-H", "--header", "--input", "-q",
        "--jq", "-t", "--template", "-p", "--preview", "--hostname", "--cache",
    ),
}  # fmt: skip


def read_shell(
    system: str, call: ToolCall, environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    """Return what a shell command would close and open again."""
    for command in shell_commands(call, "gh", "git"):
        if command.program == "git":
            yield from read_message(system, call, command, environment)
            continue
        directory = store_directory(call, command.directory, None, environment)
        for close in _read_gh(system, command, environment):
            yield evolve(close, directory=directory)


def _read_gh(
    system: str, command: "Command", environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    name, arguments = take_apart(command.words[1:], _GROUPS, _GLOBAL_FLAGS, _VALUED)
    if name not in _VALUED or arguments.has("-h", "--help"):
        return
    if name == "api":
        yield from read_request(system, arguments, command.stdin)
        return
    if name in _PROPOSALS:
        for issue in mentioned(_body(arguments, command.stdin)):
            yield TicketClose(system=system, ticket_id=issue, certain=False)
        return
    named = arguments.value("-R", "--repo")
    repository = named or command.environment.get("GH_REPO") or environment.get("GH_REPO") or ""
    for ticket_id in _tickets(name, arguments, _owner_and_name(repository)):
        yield TicketClose(
            system=system,
            ticket_id=ticket_id,
            reopens=name.endswith("reopen"),
            certain=not arguments.has("--auto"),
        )


def _body(arguments: Arguments, stdin: str | None) -> str:
    """Return the text of a pull request, which closes issues once it is merged."""
    if arguments.has("--dry-run"):
        return ""
    from_stdin = arguments.value("-F", "--body-file") == "-"
    return (stdin if from_stdin else arguments.value("-b", "--body")) or ""


def _owner_and_name(repository: str) -> str:
    return "/".join(repository_path(repository).split("/")[-2:])


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
    url = _URL.match(typed)
    if url is not None:
        return [reference(url[1], url[2], is_issue=is_issue)]
    number = typed.removeprefix("#")
    if not is_known(typed + repository):
        return [None]
    if number.isascii() and number.isdigit():
        return [reference(repository, number, is_issue=is_issue)]
    return () if is_issue else [None]  # a branch
