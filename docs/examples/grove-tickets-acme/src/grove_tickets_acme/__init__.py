"""A ticket system for grove: acme."""

import grove_core as grove

from grove_tickets_acme import tracker

grove_api = 2


@grove.hookimpl
def grove_ticket_probes() -> list[grove.TicketProbe]:
    """Offer the system: where it is used, and which ticket is in progress."""
    return [
        grove.TicketProbe(
            name=tracker.SYSTEM,
            detect=tracker.detect,
            current_ticket=tracker.current_ticket,
            paths=(tracker.FOLDER,),
        )
    ]


@grove.hookimpl
def grove_close_matchers() -> list[grove.CloseMatcher]:
    """Offer to recognise closes: calls without one of the literals are never looked at."""
    return [
        grove.CloseMatcher(
            system=tracker.SYSTEM,
            literals=tracker.LITERALS,
            tools=("Bash",),
            match=tracker.closes,
            confirm=tracker.confirm,
        )
    ]
