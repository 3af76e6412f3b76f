"""Words in commit messages that close issues once the commit is on the default branch."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import Arguments, parse
from grove_tickets.calls import resolve, store_directory
from grove_tickets.files import read_file

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_MAX_MESSAGE_BYTES: Final = 65536
_GLOBAL_FLAGS: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"}
)
_VALUED: Final[Mapping[str, Sequence[str]]] = {
    "commit": (
        "-m", "--message", "-F", "--file", "-c", "--reedit-message", "-C", "--reuse-message",
        "--fixup", "--squash", "--author", "--date", "-t", "--template", "--trailer", "--cleanup",
        "--pathspec-from-file",
    ),
    "merge": (
        "-m", "--message", "-F", "--file", "-s", "--strategy", "-X", "--strategy-option",
        "--into-name", "--cleanup",
    ),
}  # fmt: skip
_NO_COMMIT: Final = ("-h", "--help", "--dry-run", "--no-commit", "--abort", "--quit")
_OPTIONAL_VALUE: Final = re.compile(r"-[Su].")
_KEYWORD: Final = re.compile(
    r"(?<![\w-])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+"
    r"(?:https?://[^/\s]+/(?P<path>[\w.-]+/[\w.-]+)/issues/"
    r"|(?P<repository>[\w.-]+/[\w.-]+)?#|GH-)"
    r"(?P<number>\d+)(?!\w)",
    re.IGNORECASE,
)


def read_message(
    system: str, call: ToolCall, command: "Command", environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    """Return which issues the message of a commit would close."""
    overall = parse(command.words[1:], _GLOBAL_FLAGS, interspersed=False)
    name, *rest = overall.positionals or ("",)
    if name not in _VALUED:
        return
    # `-S` and `-u` take their values only where they are glued on.
    words = [word for word in rest if not _OPTIONAL_VALUE.match(word)]
    arguments = parse(words, _VALUED[name])
    if arguments.has(*_NO_COMMIT):
        return
    moves = [value for flag, value in overall.options if flag == "-C"]
    base = str(Path(command.directory, *moves))
    text = _message(arguments, command.stdin, resolve(call.cwd, base, environment))
    directory = store_directory(call, base, None, environment)
    for ticket_id in mentioned(text):
        yield TicketClose(system=system, ticket_id=ticket_id, directory=directory, certain=False)


def mentioned(text: str) -> Iterator[str]:
    """Return the issues that a text closes by its words."""
    for found in _KEYWORD.finditer(text):
        yield f"{found['path'] or found['repository'] or ''}#{found['number']}"


def _message(arguments: Arguments, stdin: str | None, directory: str | None) -> str:
    parts = []
    for flag, value in arguments.options:
        if flag in {"-m", "--message"}:
            parts.append(value)
        elif flag == "--trailer":
            parts.append(value.replace("=", ": ", 1))
        elif flag in {"-F", "--file"}:
            from_stdin = value in {"-", "/dev/stdin"}
            parts.append(stdin or "" if from_stdin else _read(directory, value))
    return "\n\n".join(parts)


def _read(directory: str | None, file: str) -> str:
    if directory is None:
        return ""
    content = read_file(Path(directory, file), _MAX_MESSAGE_BYTES) or b""
    return content.decode("utf-8", "replace")
