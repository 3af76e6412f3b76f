"""What plugins answer about tickets, looked at before it goes into a session's state. Pure."""

from datetime import datetime
from typing import TypeGuard

from grove_core.model.ticket import Ticket, TicketClose


def is_list(answer: object) -> bool:
    """Return whether an answer is a list of something."""
    return isinstance(answer, list | tuple)


def is_close(value: object) -> TypeGuard[TicketClose]:
    """Return whether a value is a close that can be written down and read again."""
    return (
        isinstance(value, TicketClose)
        and isinstance(value.system, str)
        and isinstance(value.ticket_id, str | None)
        and isinstance(value.title, str)
        and isinstance(value.directory, str | None)
        and isinstance(value.reopens, bool)
        and isinstance(value.certain, bool)
    )


def is_ticket(value: object) -> TypeGuard[Ticket]:
    """Return whether a value is a ticket that can be written down and read again."""
    return (
        isinstance(value, Ticket)
        and isinstance(value.ticket_id, str | None)
        and all(isinstance(text, str) for text in (value.source, value.title, value.description))
        and isinstance(value.labels, tuple)
        and all(isinstance(label, str) for label in value.labels)
        and isinstance(value.detected_at, datetime | None)
    )
