"""beads_rust (``br``): issues in ``.beads/``, in a database and its export as JSON lines.

Old versions of ``bd`` keep the same files: which of the two a project uses, the command tells.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final

from grove_core import (
    CloseMatcher,
    Confirmation,
    Detection,
    ProjectContext,
    Ticket,
    TicketClose,
    TicketProbe,
    ToolCall,
    ToolResult,
    hookimpl,
)
from grove_tickets.arguments import UNKNOWN, Arguments, is_known, take_apart
from grove_tickets.calls import close_of, matchers, shell_commands, store_directory
from grove_tickets.outputs import confirmation, json_objects, output_text, said_last, says_misuse
from grove_tickets.places import (
    changed_at,
    detected,
    exists,
    find_repository,
    first_line,
    is_directory,
    real_path,
)
from grove_tickets.records import is_same_issue, records, text_field, ticket_of

grove_api = 2
SYSTEM: Final = "br"
_MARKERS: Final = (".beads", "_beads")
_DATABASE: Final = "beads.db"
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
_MAX_REDIRECTS: Final = 10
_LAG_SECONDS: Final = 2.0
# A line such as "Closed br-1: title" or "Skipped br-1: already closed", or below "Updated br-1:"
# one such as "  status: open → closed".
_ISSUE: Final = r"\W*(Closed|Reopened|Skipped|Updated) ([\w.]+-[\w.-]+?):(.*)$"
_STATUS: Final = r"\s+status:.*(?:→|->) *(\w+)"
_REFUSED: Final = "refusing to close via `br update"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads_rust."""
    return [TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, paths=_MARKERS)]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads_rust's issues."""
    commands = ("br close", "br update", "br reopen", "br close-eligible")
    return matchers(SYSTEM, closes, confirm, commands=commands)


def detect(context: ProjectContext) -> Detection | None:
    """Find beads_rust's store."""
    found = _find_store(context)
    return None if found is None else detected(found[0])


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress: the one touched last, else the one updated last."""
    found = _find_store(context)
    if found is None:
        return None
    store, export = found
    started = [one for one in records(export, "in_progress") if one.get("status") == "in_progress"]
    cache = Path(context.environment.get("BEADS_CACHE_DIR") or store)
    touched = first_line(context.cwd / cache / "last-touched")
    issue = max(
        started,
        key=lambda one: (text_field(one, "id") == touched, text_field(one, "updated_at")),
        default=None,
    )
    return ticket_of(issue, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would close and open again."""
    found = []
    for command in shell_commands(call, "br"):
        name, arguments = take_apart("br", command.words[1:], {"epic"})
        if arguments.has("-h", "--help", "--dry-run"):
            continue
        # With a database elsewhere, `br` looks for the rest of its store as usual.
        database = PurePath(arguments.value("--db") or "")
        is_named = database.parent.name in _MARKERS
        store = str(database.parent) if is_named else command.environment.get("BEADS_DIR")
        directory = store_directory(call, command.directory, store, context.environment)
        ids, reopens = _issues(name, arguments)
        found += [close_of(SYSTEM, one, directory, reopens=reopens) for one in ids]
    return found


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue is closed."""
    return confirmation(
        result,
        lambda: None if close.ticket_id is None else _is_closed(close.ticket_id, context),
        printed=lambda answer: _says_closed(answer, close.ticket_id),
    )


def _issues(name: str, arguments: Arguments) -> tuple[Sequence[str], bool]:
    """Return the issues that a command changes, and whether it opens them."""
    # Without an id, the issue that was touched last is meant.
    ids = [word for word in arguments.positionals if word] or [UNKNOWN]
    status = (arguments.value("-s", "--status") or "").lower()
    match name:
        case "close" | "reopen":
            return ids, name == "reopen"
        case "update" if status not in {"", "tombstone"} and is_known(status):
            return ids, status != "closed"
        case "epic close-eligible":
            return [UNKNOWN], False
        case _:
            return (), False


def _says_closed(result: ToolResult, ticket_id: str | None) -> bool | None:
    """Return whether a call's own output says that an issue is closed."""
    text = output_text(result)
    said = [
        closed
        for issue_id, closed in _said(result, text)
        if ticket_id is None or is_same_issue(ticket_id, issue_id)
    ]
    if said:
        return said_last(said, ticket_id)
    return False if _REFUSED in text or says_misuse(text) else None


def _said(result: ToolResult, text: str) -> Iterator[tuple[str, bool]]:
    """Return the issues and whether they are closed, by lines and by JSON."""
    updated = ""
    for line in text.splitlines():
        issue, status = re.match(_ISSUE, line), re.match(_STATUS, line)
        if issue is not None:
            what, issue_id, rest = issue.groups()
            updated = issue_id if what == "Updated" else ""
            if not updated:
                yield issue_id, what == "Closed" or (what == "Skipped" and "already closed" in rest)
        elif status is not None and updated:
            yield updated, status[1].lower() == "closed"
    for one in json_objects(result):
        if text_field(one, "id") and text_field(one, "status"):
            yield text_field(one, "id"), one["status"] == "closed"


def _is_closed(ticket_id: str, context: ProjectContext) -> bool | None:
    """Tell from the export whether an issue is closed, if it is as new as the database."""
    found = _find_store(context)
    if found is None:
        return None
    store, export = found
    written = max(changed_at(store / name) for name in (_DATABASE, f"{_DATABASE}-wal"))
    if written - changed_at(export) >= _LAG_SECONDS:
        return None
    statuses = {text_field(issue, "id"): issue.get("status") for issue in records(export)}
    closed = [status for one, status in statuses.items() if is_same_issue(ticket_id, one)]
    if not closed and any(ticket_id.lower() in one.lower() for one in statuses):
        return None  # a part of an id, which the tool may know how to complete
    return "closed" in closed[-1:]


def _find_store(context: ProjectContext) -> tuple[Path, Path] | None:
    """Find the store that ``br`` would use, and the export of its issues."""
    nearest = _nearest(context)
    store = None if nearest is None else _follow_redirects(nearest)
    if store is None or not exists(store / _DATABASE):
        return None
    named = context.environment.get("BEADS_JSONL")
    paths = [context.cwd / named] if named else [store / name for name in _EXPORTS]
    export = next((path for path in paths if exists(path)), None)
    return None if export is None else (store, export)


def _nearest(context: ProjectContext) -> Path | None:
    named = context.environment.get("BEADS_DIR")
    if named:
        return context.cwd / named
    for directory in (context.cwd, *context.cwd.parents):
        for store in (directory / name for name in _MARKERS):
            if is_directory(store):
                shared = _shared_store(directory) if exists(directory / ".git") else None
                own = exists(store / _DATABASE) or exists(store / "redirect")
                return store if own or shared is None else shared
    return _shared_store(context.cwd)


def _shared_store(directory: Path) -> Path | None:
    """Return the store of the main work tree, seen from a linked one."""
    repository = find_repository(directory)
    common = None if repository is None else repository.common
    if common is None or common.name != ".git":
        return None
    store = common.parent / _MARKERS[0]
    return store if is_directory(store) else None


def _follow_redirects(store: Path) -> Path | None:
    """Follow ``redirect`` files, each relative to the directory it lies in."""
    for _ in range(_MAX_REDIRECTS):
        target = first_line(store / "redirect")
        redirected = real_path(store / target) if target else store
        if redirected in {store, real_path(store)}:
            return store
        store = redirected
    return None
