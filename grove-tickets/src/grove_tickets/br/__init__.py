"""beads_rust (``br``): issues in ``.beads/``, in a database and its export as JSON lines.

Old versions of ``bd`` keep the same files: which of the two a project uses, the command tells.
"""

from collections.abc import Sequence

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

grove_api = 2
SYSTEM = "br"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads_rust."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            paths=(".beads", "_beads"),
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads_rust's issues."""
    return [
        CloseMatcher(
            system=SYSTEM,
            literals=("br close", "br update", "br reopen", "br close-eligible"),
            tools=("Bash",),
            match=closes,
            confirm=confirm,
        )
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find beads_rust's store."""
    from grove_tickets.br.store import find_store

    store = find_store(context)
    return None if store is None else Detection(marker=str(store))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress."""
    from grove_tickets.br.state import read_current
    from grove_tickets.records import list_field, text_field

    issue = read_current(context)
    if issue is None:
        return None
    return Ticket(
        ticket_id=text_field(issue, "id"),
        source=SYSTEM,
        title=text_field(issue, "title"),
        description=text_field(issue, "description"),
        labels=list_field(issue, "labels"),
    )


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would close and open again."""
    from grove_tickets.br.commands import closed_by_shell

    return tuple(closed_by_shell(SYSTEM, call, context.environment))


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue is closed."""
    from grove_tickets.br.output import says_closed
    from grove_tickets.br.state import is_closed
    from grove_tickets.confirming import confirmation

    def printed() -> bool | None:
        return None if result is None else says_closed(result, close.ticket_id)

    def stored() -> bool | None:
        return None if close.ticket_id is None else is_closed(close.ticket_id, context)

    return confirmation(result, printed, stored)
