"""Whether a session lives, and what it still owes."""

from datetime import datetime
from enum import Enum

from attrs import frozen

from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.services.messages import name_of
from grove_core.services.sessions import is_over
from grove_core.workspace import Workspace


class Life(Enum):
    """Whether a session goes on."""

    LIVE = "live"
    ENDED = "ended"
    DIED = "died"
    """It never said that it ended: its client is gone, or it has been idle for a day."""


class DebtKind(Enum):
    """How a reflection came to be owed."""

    OPEN = "open"
    """The gate holds the agent until it is paid."""
    BREAKER = "breaker"
    """The circuit breaker has let the agent go without it."""
    UNREADABLE = "unreadable"
    """Earlier state of the session could not be read and may have held one."""


@frozen(kw_only=True)
class Debt:
    """A reflection that a session owes."""

    kind: DebtKind
    tickets: tuple[Ticket, ...] = ()
    since: datetime | None = None
    blocks: int = 0
    path: str | None = None

    def __str__(self) -> str:
        if self.kind is DebtKind.UNREADABLE:
            return f"may owe a reflection: its earlier state lies unread in {self.path}"
        what = ", ".join(name_of(one) for one in self.tickets) or "its changes"
        if self.kind is DebtKind.BREAKER:
            return f"was let go without its reflection ({what})"
        return f"owes a reflection ({what})"


def life_of(session: Session, workspace: Workspace) -> Life:
    """Return whether a session goes on."""
    if session.ended_at is not None:
        return Life.ENDED
    return Life.DIED if is_over(session, workspace) else Life.LIVE


def debts_of(session: Session) -> tuple[Debt, ...]:
    """List what a session owes."""
    gate = session.gate
    debts = []
    if gate.status.owes_reflection:
        cycle = gate.cycle
        debts.append(
            Debt(
                kind=DebtKind.OPEN,
                tickets=cycle.tickets if cycle is not None else (),
                since=cycle.opened_at if cycle is not None else None,
                blocks=gate.breaker.cycle_blocks,
            )
        )
    debts += [
        Debt(
            kind=DebtKind.BREAKER,
            tickets=broken.tickets,
            since=broken.broken_at,
            blocks=broken.blocks,
        )
        for broken in gate.broken_cycles
    ]
    if session.recovered_from is not None:
        debts.append(Debt(kind=DebtKind.UNREADABLE, path=session.recovered_from))
    return tuple(debts)
