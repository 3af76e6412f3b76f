"""beads (``bd``): issues in ``.beads/``, shared by all work trees of a repository."""

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
SYSTEM = "beads"


@hookimpl
def grove_ticket_probes() -> Sequence[TicketProbe]:
    """Offer beads."""
    return [
        TicketProbe(
            name=SYSTEM,
            detect=detect,
            current_ticket=current_ticket,
            paths=(".beads",),
        )
    ]


@hookimpl
def grove_close_matchers() -> Sequence[CloseMatcher]:
    """Offer to recognise closes of beads' issues."""
    return [
        CloseMatcher(
            system=SYSTEM, literals=("bd",), tools=("Bash",), match=closes, confirm=confirm
        ),
        CloseMatcher(
            system=SYSTEM,
            literals=("issue_id", "issue_ids"),
            tools=("mcp__*",),
            match=closes,
            confirm=confirm,
        ),
    ]


def detect(context: ProjectContext) -> Detection | None:
    """Find beads' store."""
    from grove_tickets.beads.store import find_store

    store = find_store(context.cwd, context.environment)
    return None if store is None else Detection(marker=str(store))


def current_ticket(context: ProjectContext) -> Ticket | None:
    """Return which issue is in progress."""
    from grove_tickets.beads.state import read_current

    issue = read_current(context)
    if issue is None:
        return None
    return ticket_of(issue, SYSTEM)


def closes(call: ToolCall, context: ProjectContext) -> Sequence[TicketClose]:
    """Return which issues a call would close or open again."""
    from grove_tickets.beads import commands

    if call.name == "Bash":
        found = commands.effects_of_shell(call, context.environment)
    else:
        found = commands.effects_of_mcp(call, context.environment)
    return tuple(
        TicketClose(
            system=SYSTEM, ticket_id=one.ticket_id, directory=one.directory, reopens=one.reopens
        )
        for one in found
    )


def confirm(close: TicketClose, result: ToolResult | None, context: ProjectContext) -> Confirmation:
    """Return whether an issue was really closed."""
    from grove_tickets.beads import output, state

    def stored() -> bool | None:
        if close.ticket_id is None:
            return None
        return state.is_closed(close.ticket_id, close.directory, context)

    return confirmation(
        result, stored, printed=lambda answer: output.says_closed(answer, close.ticket_id)
    )
