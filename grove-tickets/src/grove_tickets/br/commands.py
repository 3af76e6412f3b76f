"""Which issues a ``br`` command closes and opens again."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from grove_core import TicketClose, ToolCall
from grove_tickets.arguments import Arguments
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.shell.words import UNKNOWN, is_known
from grove_tickets.subcommands import take_apart

if TYPE_CHECKING:
    from grove_tickets.shell import Command

_STORES: Final = frozenset({".beads", "_beads"})
_GLOBAL_FLAGS: Final = frozenset({"--db", "--actor", "--lock-timeout"})
_ATTRIBUTION: Final = ("--agent-name", "--harness", "--model")
_VALUED: Final[Mapping[str, Sequence[str]]] = {
    "close": (
        "-r", "--reason", "--transition-comment", "--session", "--bypass-reason", *_ATTRIBUTION,
    ),
    "reopen": ("-r", "--reason", *_ATTRIBUTION),
    "update": (
        "-s", "--status", "-t", "--type", "-p", "--priority", "-d", "--description", "--body",
        "--description-file", "--title", "--design", "--notes", "--append-notes", "--acceptance",
        "--acceptance-criteria", "--check-acceptance", "--uncheck-acceptance", "--add-acceptance",
        "--prerequisites", "--transition-comment", "--assignee", "--owner", "--due", "--defer",
        "--estimate", "--add-label", "--remove-label", "--set-labels", "--parent", "--external-ref",
        "--session", "--if-unchanged", *_ATTRIBUTION,
    ),
}  # fmt: skip
_NO_CLOSES: Final = frozenset({"tombstone"})


def closed_by_shell(
    system: str, call: ToolCall, environment: Mapping[str, str]
) -> Iterator[TicketClose]:
    """Return which issues a shell command would close and open again."""
    for command in shell_commands(call, "br"):
        name, arguments = take_apart(command.words[1:], {"epic"}, _GLOBAL_FLAGS, _VALUED)
        if arguments.has("-h", "--help", "--dry-run"):
            continue
        store = _named_store(command, arguments)
        directory = store_directory(call, command.directory, store, environment)
        ids, reopens = _issues(name, arguments)
        for ticket_id in ids:
            yield TicketClose(
                system=system,
                ticket_id=ticket_id if is_known(ticket_id) else None,
                directory=directory,
                reopens=reopens,
            )


def _issues(name: str, arguments: Arguments) -> tuple[Sequence[str], bool]:
    """Return the issues that a command changes, and whether it opens them."""
    # Without an id, the issue that was touched last is meant.
    ids = [word for word in arguments.positionals if word] or [UNKNOWN]
    status = (arguments.value("-s", "--status") or "").lower()
    match name:
        case "close" | "reopen":
            return ids, name == "reopen"
        case "update" if status and is_known(status) and status not in _NO_CLOSES:
            return ids, status != "closed"
        case "epic close-eligible":
            return [UNKNOWN], False
        case _:
            return (), False


def _named_store(command: "Command", arguments: Arguments) -> str | None:
    """Return the store that a command names; with a database elsewhere, ``br`` looks as usual."""
    database = PurePath(arguments.value("--db") or "")
    if database.parent.name in _STORES:
        return str(database.parent)
    return command.environment.get("BEADS_DIR")
