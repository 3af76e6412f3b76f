"""How commands for people name a session, and how they describe it."""

from collections.abc import Callable
from typing import Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, find_session
from grove_core.cli.options import session_option
from grove_core.cli.suggestions import session_ids
from grove_core.flow.session_debts import Debt
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.services.messages import name_of
from grove_core.text import clean_line

_LONGEST_TITLE: Final = 120


def session_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument ``SESSION``, and ``--session-id`` that says the same."""
    return click.argument("session", required=False, shell_complete=session_ids)(
        session_option(function)
    )


def find_named(
    invocation: Invocation, session: str | None, session_id: str | None
) -> tuple[Invocation, Session]:
    """Find the session that a command is about."""
    if session is not None and session_id not in (None, session):
        raise click.UsageError(f"name one session: {session} or {session_id}")
    return find_session(invocation, session or session_id)


def ticket_in_words(ticket: Ticket) -> str:
    """Name a ticket with its title, in one line."""
    return f"{name_of(ticket)} {clean_line(ticket.title, _LONGEST_TITLE)}".rstrip()


def debt_document(debt: Debt) -> dict[str, Any]:
    """Describe a debt for ``--json``."""
    return {
        "kind": debt.kind,
        "tickets": [name_of(one) for one in debt.tickets],
        "since": debt.since,
        "blocks": debt.blocks,
        "path": debt.path,
    }
