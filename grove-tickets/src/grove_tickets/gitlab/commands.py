"""What the commands of ``glab`` close and open again."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import Arguments, is_known, take_apart
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.forges import repository_path
from grove_tickets.gitlab.api import read_request, reference

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_GROUPS: Final = frozenset({"issue", "mr", "incident"})
_GLOBAL_FLAGS: Final = frozenset({"-R", "--repo"})
_CLOSING: Final = frozenset({"close", "resolve", "merge", "accept"})
_NOTES: Final = frozenset({"note", "comment"})
_QUICK_ACTION: Final = re.compile(r"(?m)^/(close|reopen|merge)[ \t]*$")
_MESSAGE: Final = ("-m", "--message")
_VALUED: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("issue note", "issue comment", "mr note", "mr comment"), _MESSAGE),
    **dict.fromkeys(("mr merge", "mr accept"), (*_MESSAGE, "--squash-message", "--sha")),
    "api": (
        "-X", "--method", "-f", "--raw-field", "-F", "--field", "-H", "--header", "--input",
        "--hostname", "--output",
    ),
}  # fmt: skip
_URL: Final = re.compile(
    r"https?://[^/]+/(.+?)/(?:-/)?(issues|work_items|merge_requests)/(?:incident/)?(\d+)"
)


def read_shell(
    system: str, call: ToolCall, environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    """Return what a shell command would close and open again."""
    for command in shell_commands(call, "glab"):
        name, arguments = take_apart(command.words[1:], _GROUPS, _GLOBAL_FLAGS, _VALUED)
        if arguments.has("-h", "--help"):
            continue
        directory = store_directory(call, command.directory, None, environment)
        found = (
            read_request(system, arguments, command.stdin)
            if name == "api"
            else _read(system, name, arguments, _project(command, arguments, environment))
        )
        for close in found:
            yield evolve(close, directory=directory)


def _project(command: "Command", arguments: Arguments, environment: Mapping[str, str]) -> str:
    named = arguments.value("-R", "--repo") or command.environment.get("GITLAB_REPO")
    return repository_path(named or environment.get("GITLAB_REPO") or "")


def _read(system: str, name: str, arguments: Arguments, project: str) -> Iterator[TicketClose]:
    group, _, verb = name.partition(" ")
    certain = not arguments.has("--auto-merge", "--when-pipeline-succeeds")
    actions = [(verb == "reopen", certain)] if verb in _CLOSING | {"reopen"} else []
    if verb in _NOTES:
        said = _QUICK_ACTION.findall(arguments.value(*_MESSAGE) or "")
        # A merge that a note asks for is done later.
        actions = [(what == "reopen", what != "merge") for what in said]
    if group not in _GROUPS or not actions:
        return
    for ticket_id in _tickets(arguments, project, is_issue=group != "mr"):
        for reopens, is_certain in actions:
            yield TicketClose(
                system=system, ticket_id=ticket_id, reopens=reopens, certain=is_certain
            )


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
    url = _URL.match(typed)
    if url is not None:
        return [reference(url[1], url[3], is_issue=url[2] != "merge_requests")]
    number = typed.removeprefix("#" if is_issue else "!")
    if not is_known(typed + project):
        return [None]
    if number.isascii() and number.isdigit():
        return [reference(project, number, is_issue=is_issue)]
    return () if is_issue else [None]  # a branch
