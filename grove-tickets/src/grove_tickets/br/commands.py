"""Which issues a ``br`` command closes and opens again, and what its output says of that."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from grove_core import TicketClose, ToolCall, ToolResult
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, take_apart
from grove_tickets.calls import shell_commands, store_directory
from grove_tickets.outputs import json_objects, output_text, says_misuse
from grove_tickets.records import is_same_issue

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


# A line such as "Closed br-1: title" or "Skipped br-1: already closed".
_ISSUE: Final = re.compile(r"^\W*(Closed|Reopened|Skipped|Updated) ([\w.]+-[\w.-]+?):(.*)$")
_STATUS: Final = re.compile(r"^\s+status:.*(?:→|->) *(\w+)")
_REFUSED: Final = "refusing to close via `br update"


def says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue is closed."""
    text = output_text(result)
    said = [
        closed
        for issue_id, closed in (*_lines(text), *_objects(result))
        if ticket_id is None or is_same_issue(ticket_id, issue_id)
    ]
    if said:
        return any(said) if ticket_id is None else said[-1]
    return False if _REFUSED in text or says_misuse(text) else None


def _lines(text: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    updated = ""
    for line in text.splitlines():
        issue, status = _ISSUE.match(line), _STATUS.match(line)
        if issue is None:
            if status is not None and updated:
                found.append((updated, status[1].lower() == "closed"))
            continue
        what, issue_id, rest = issue.groups()
        updated = issue_id if what == "Updated" else ""
        if what != "Updated":
            is_closed = what == "Closed" or (what == "Skipped" and "already closed" in rest)
            found.append((issue_id, is_closed))
    return found


def _objects(result: ToolResult) -> list[tuple[str, bool]]:
    return [
        (str(one["id"]), one["status"] == "closed")
        for one in json_objects(result)
        if isinstance(one.get("id"), str) and isinstance(one.get("status"), str)
    ]
