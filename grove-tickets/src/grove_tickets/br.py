"""beads_rust (``br``): issues in ``.beads/``, in a database and its export as JSON lines."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

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
from grove_tickets.calls import matchers
from grove_tickets.outputs import json_objects, output_text
from grove_tickets.places import changed_at, detected, exists
from grove_tickets.records import records, text_field, ticket_of

grove_api = 2
SYSTEM: Final = "br"
_DATABASE: Final = "beads.db"
_LAG_SECONDS: Final = 2.0
# A line such as "Closed br-1: title" or "Skipped br-1: already closed", or below "Updated br-1:"
# one such as "  status: open → closed".
_ISSUE: Final = r"\W*(Closed|Reopened|Skipped|Updated) ([\w.]+-[\w.-]+?):(.*)$"
_STATUS: Final = r"\s+status:.*(?:→|->) *(\w+)"
_REFUSED: Final = "refusing to close via `br update"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads_rust."""
    return [
        TicketProbe(name=SYSTEM, detect=detect, current_ticket=current_ticket, paths=stores.MARKERS)
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads_rust's issues."""
    commands = ("br close", "br update", "br reopen", "br close-eligible")
    return matchers(SYSTEM, closes, printed=_says_closed, stored=_is_closed, commands=commands)


def detect(context: ProjectContext) -> Detection | None:
    """Find beads_rust's store."""
    return detected(stores.find_store(context, _is_store))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress: the one touched last, else the one updated last."""
    store = stores.find_store(context, _is_store)
    export = None if store is None else stores.export_of(store)
    if store is None or export is None:
        return None
    started = [one for one in records(export, "in_progress") if one.get("status") == "in_progress"]
    return ticket_of(stores.latest(started, store), SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would close and open again."""
    return stores.closes_by_shell(call, context, SYSTEM, "br", stores.changed_by)


def _says_closed(close: TicketClose, result: ToolResult, _: ProjectContext) -> bool | None:
    """Return whether a call's own output says that an issue is closed."""
    text = output_text(result)
    return stores.told_of_issue(close, _said(result, text), text, _REFUSED)


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


def _is_closed(close: TicketClose, context: ProjectContext) -> bool | None:
    """Tell from the export whether an issue is closed, if it is as new as the database."""
    store, typed = stores.find_store(context, _is_store), close.ticket_id
    export = None if store is None else stores.export_of(store)
    if store is None or export is None or typed is None:
        return None
    written = max(changed_at(store / name) for name in (_DATABASE, f"{_DATABASE}-wal"))
    if written - changed_at(export) >= _LAG_SECONDS:
        return None
    issue = stores.issue_in(store, typed)
    ids = [text_field(one, "id").lower() for one in records(export, typed)]
    if not issue and any(typed.lower() in one for one in ids):
        return None  # a part of an id, which the tool may know how to complete
    return issue.get("status") == "closed"


def _is_store(store: Path) -> bool:
    return exists(store / _DATABASE) and stores.export_of(store) is not None
