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
from grove_tickets.outputs import confirmation
from grove_tickets.records import ticket_of

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
    from grove_tickets.br.store import read_current

    issue = read_current(context)
    return None if issue is None else ticket_of(issue, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a shell command would close and open again."""
    from grove_tickets.br.commands import closed_by_shell

    return tuple(closed_by_shell(SYSTEM, call, context.environment))


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue is closed."""
    from grove_tickets.br.commands import says_closed
    from grove_tickets.br.store import is_closed

    def stored() -> bool | None:
        return None if close.ticket_id is None else is_closed(close.ticket_id, context)

    return confirmation(result, stored, printed=lambda answer: says_closed(answer, close.ticket_id))
