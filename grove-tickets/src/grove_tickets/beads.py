"""beads (``bd``): issues in ``.beads/``, shared by all work trees of a repository."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from grove_core import (
    CloseMatcher,
    Detection,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets import beads_stores as stores
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, valued_flags
from grove_tickets.asking import CURRENT_SECONDS, STATUS_SECONDS, ask
from grove_tickets.calls import close_of, matchers, store_directory, tool_of
from grove_tickets.outputs import json_objects, output_text
from grove_tickets.places import detected, exists, read_file
from grove_tickets.records import from_json, list_field, objects, text_field, ticket_of

grove_api = 2
SYSTEM: Final = "beads"
# `show` would change which issue was touched last, even when it is told to write nothing, and with
# that what a `bd close` without an id closes.
_READ: Final = ("list", "--json", "--readonly")
# Reading must not start anything that stays: old versions have a daemon, newer ones a server.
_NOTHING_STAYS: Final = {
    "BEADS_NO_DAEMON": "1",
    "BEADS_AUTO_START_DAEMON": "false",
    "BEADS_DOLT_AUTO_START": "0",
}
_LOCAL_HOSTS: Final = (None, "", "127.0.0.1", "localhost", "::1")
_SAFE: Final = {"dolt_mode": (None, "", "embedded", "server"), "dolt_server_host": _LOCAL_HOSTS}
_METADATA: Final = "metadata.json"
_MAX_BYTES: Final = 65536
_CLOSED: Final = r"(?m)^[^\w\n]*Closed ([\w.]+-[\w.-]*\w)"
_REFUSED: Final = r"(?i)\b(?:cannot close|error:? (?:closing|resolving))(?: epic| id)? ([\w.-]*\w)"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads."""
    paths = stores.MARKERS
    return [TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, paths=paths)]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads' issues."""
    tools = ("issue_id", "issue_ids")
    return matchers(
        SYSTEM, closes, printed=_says_closed, stored=_is_closed, commands=("bd",), tools=tools
    )


def detect(context: ProjectContext) -> Detection | None:
    """Find beads' store."""
    return detected(stores.find_store(context, _is_store))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress: the one touched last, else what ``bd`` itself says."""
    store = stores.find_store(context, _is_store)
    if store is None:
        return None
    issue: dict[str, Any] | None = stores.issue_in(store, stores.touched_last(store))
    if not issue or issue.get("status") == "closed":
        started = _ask(store, context, CURRENT_SECONDS, "--status", "in_progress")
        issue = stores.latest(started, store)
    return ticket_of(issue, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a call would close or open again."""
    if call.name == "Bash":
        return stores.closes_by_shell(call, context, SYSTEM, "bd", _changed_by)
    return [*_changed_by_mcp(call, context.environment)]


def _changed_by(name: str, arguments: Arguments, stdin: str | None) -> stores.Changed:
    """Read a command of ``bd``."""
    ids, reopens = stores.changed_by("close" if name == "done" else name, arguments)
    named = stores.ids_of(arguments)
    match name:
        case "done" if len(named) > 1 and not arguments.has(*valued_flags("bd")[name]):
            ids = named[:-1]  # the last of several words is the reason
        case "update" if arguments.has("--claim") and not ids:
            ids, reopens = named, True
        case "todo done" | "gate resolve" | "human dismiss" | "mol squash":
            ids = named
        case "human respond" | "duplicate" | "supersede":
            ids = named if arguments.value("-r", "--response", "--of", "--with") else ()
        case "gate check" | "duplicates" if name == "gate check" or arguments.has("--auto-merge"):
            ids = [UNKNOWN]
        case "batch":
            ids = [*_in_batch(stdin)]
    return ids, reopens


def _in_batch(text: str | None) -> Iterator[str]:
    """Return what the lines close that ``bd batch`` reads."""
    for line in [UNKNOWN] if text is None else text.splitlines():
        words = line.split()
        if words[:1] == ["close"] or (words[:1] == ["update"] and "status=closed" in words):
            yield from words[1:2]
        elif not all(map(is_known, words[:1])):
            yield UNKNOWN


def _changed_by_mcp(call: ToolCall, environment: Mapping[str, str]) -> Iterator[TicketClose]:
    tool = tool_of(call, "beads")
    status = call.input.get("status")
    closing = tool == "close" or (tool == "update" and status == "closed")
    if closing or tool == "reopen" or (tool == "update" and isinstance(status, str)):
        root = text_field(call.input, "workspace_root")
        directory = store_directory(call, root, None, environment)
        for one in list_field(call.input, "issue_ids") or [text_field(call.input, "issue_id")]:
            yield close_of(SYSTEM, one, directory, reopens=not closing)


def _says_closed(close: TicketClose, result: ToolResult, _: ProjectContext) -> bool | None:
    """Return whether a call's own output says that an issue was closed."""
    text = output_text(result)
    said = [(one, False) for one in re.findall(_REFUSED, text)]
    said += [(one, True) for one in re.findall(_CLOSED, text)]
    closed = (one for one in json_objects(result) if one.get("status") == "closed")
    said += [(text_field(one, "id"), True) for one in closed]
    return stores.told_of_issue(close, said, text)


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    """Ask ``bd``; where it does not answer, an export proves a close and nothing else."""
    if close.directory is not None:
        environment = {**context.environment, "BEADS_DIR": ""}
        context = evolve(context, cwd=Path(close.directory), environment=environment)
    store, ticket_id = stores.find_store(context, _is_store), close.ticket_id
    if store is None or ticket_id is None:
        return None
    for issue in _ask(store, context, STATUS_SECONDS, "--all", f"--id={ticket_id}"):
        if stores.is_same_issue(ticket_id, text_field(issue, "id")):
            return text_field(issue, "status") == "closed"
    return True if stores.issue_in(store, ticket_id).get("status") == "closed" else None


def _ask(store: Path, context: ProjectContext, limit: float, *filters: str) -> list[dict[str, Any]]:
    """Ask ``bd`` for issues; it may be missing, slow or of another version."""
    if not _may_be_asked(store, context.environment):
        return []
    environment = {**context.environment, **_NOTHING_STAYS}
    answer = from_json(ask("bd", (*_READ, *filters), context.cwd, environment, limit))
    if isinstance(answer, dict):
        answer = answer.get("data", [answer])
    return objects(answer)


def _may_be_asked(store: Path, environment: Mapping[str, str]) -> bool:
    """Return whether reading is known to start nothing and to stay on this machine."""
    if environment.get("BEADS_DOLT_SERVER_HOST", "") not in _LOCAL_HOSTS:
        return False
    content = read_file(store / _METADATA, _MAX_BYTES)
    if content is None:
        return not exists(store / _METADATA)  # an old store has none
    # `bd` takes a name in any letter case and more than once.
    metadata = from_json(content, pairs=tuple)
    return isinstance(metadata, tuple) and all(
        value in _SAFE.get(name.casefold(), (value,)) for name, value in metadata
    )


def _is_store(store: Path) -> bool:
    has_files = exists(store / _METADATA) or exists(store / "config.yaml")
    return has_files or stores.has_database(store)
