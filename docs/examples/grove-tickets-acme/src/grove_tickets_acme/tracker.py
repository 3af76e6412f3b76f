"""The tracker: put yours in its place.

This one is made up. It keeps its tickets in `.acme/tickets.json`, an object for each by its id,
such as `{"T-1": {"title": "Slow", "status": "started"}}`, and has a program: `acme done T-1`
closes a ticket, `acme reopen T-1` opens it again.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import grove_core as grove

SYSTEM = "acme"
FOLDER = ".acme"
TICKETS = f"{FOLDER}/tickets.json"
_PROGRAM = "acme"
_REOPENS = {"done": False, "reopen": True}
LITERALS = tuple(f"{_PROGRAM} {verb}" for verb in _REOPENS)


def detect(context: grove.ProjectContext) -> grove.Detection | None:
    """Tell whether the project uses the tracker; looks at file names only."""
    return grove.Detection(marker=TICKETS) if (context.root / TICKETS).is_file() else None


def current_ticket(context: grove.ProjectContext) -> grove.Ticket | None:
    """Tell which ticket is in progress."""
    for ticket_id, ticket in _tickets(context.root).items():
        if ticket.get("status") == "started":
            title = str(ticket.get("title", ""))
            return grove.Ticket(ticket_id=ticket_id, source=SYSTEM, title=title)
    return None


def closes(call: grove.ToolCall, context: grove.ProjectContext) -> Sequence[grove.TicketClose]:
    """Tell which tickets a call of the shell would close, or open again; runs nothing."""
    # It knows the shell: quotes, comments, here-documents, variables, `&&`, `bash -c`.
    from grove_tickets.reader import read

    del context
    found = []
    for words in read(call):
        program, verb, ids = words[0], words[1:2], words[2:]
        if program == _PROGRAM and verb and verb[0] in _REOPENS:
            # An id that only the running shell knows is `None`.
            found += [
                grove.TicketClose(system=SYSTEM, ticket_id=one, reopens=_REOPENS[verb[0]])
                for one in ids
            ]
    return found


def confirm(
    close: grove.TicketClose, result: grove.ToolResult | None, context: grove.ProjectContext
) -> grove.Confirmation:
    """Tell from the file whether a ticket is closed, else from how the call ended."""
    ticket = _tickets(context.root).get(close.ticket_id or "")
    if ticket is not None:
        is_closed = ticket.get("status") == "done"
        return grove.Confirmation.YES if is_closed else grove.Confirmation.NO
    failed = result is not None and not result.succeeded
    return grove.Confirmation.NO if failed else grove.Confirmation.UNKNOWN


def _tickets(root: Path) -> dict[str, Mapping[str, Any]]:
    """Read the tickets; a file that is damaged or away has none."""
    try:
        stored = json.loads(grove.read_text(root / TICKETS) or "{}")
    except (grove.StorageError, ValueError, RecursionError):
        return {}
    items = stored.items() if isinstance(stored, dict) else ()
    return {ticket_id: ticket for ticket_id, ticket in items if isinstance(ticket, dict)}
