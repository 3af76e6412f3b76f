"""Confirm announced ticket closes: what the gate is told, and what is dropped."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from attrs import evolve

from grove_core.model.gate import Gate, GateEvent, TicketClosed, TicketCloseFailed, TicketDetected
from grove_core.model.session import EventType, Session, TraceEvent
from grove_core.model.ticket import CloseIntent, Confirmation, Ticket, TicketClose, ToolResult
from grove_core.plugins.hosts import DEFAULT_HOST
from grove_core.services.sessions import SessionUpdate, trace_event

if TYPE_CHECKING:
    from grove_core.project import Project
    from grove_core.ticketing import TicketSystems


class CheckedClose(NamedTuple):
    """An announced close and whether it counts."""

    close: TicketClose
    place: str | None
    intent_key: str
    counts: bool
    proven: bool
    why: str


class Closes(NamedTuple):
    """What ticket systems say about announced closes, asked outside the session's lock."""

    checked: Sequence[CheckedClose] = ()
    open_again: Sequence[Ticket] = ()
    done: frozenset[str] = frozenset()
    once_per_prompt: frozenset[str] = frozenset()

    @property
    def any_counts(self) -> bool:
        """Whether a close counts."""
        return any(one.counts for one in self.checked)


def ask_about(
    tickets: "TicketSystems",
    session: Session,
    ended: Sequence[CloseIntent],
    silent: Sequence[CloseIntent] = (),
    result: ToolResult | None = None,
) -> Closes:
    """Ask about calls that have ended, and about those that failed or never reported."""
    checked = (
        *check_closes(tickets, ended, result, unknown_counts=True),
        *check_closes(tickets, silent, result, unknown_counts=False),
    )
    return Closes(
        checked=checked,
        open_again=(
            *reopened(tickets, session, ended, succeeded=True),
            *reopened(tickets, session, silent, succeeded=False),
        ),
        done=frozenset(intent.key for intent in (*ended, *silent)),
        once_per_prompt=tickets.once_per_prompt() if checked else frozenset(),
    )


def check_closes(
    tickets: "TicketSystems",
    intents: Iterable[CloseIntent],
    result: ToolResult | None,
    *,
    unknown_counts: bool,
) -> list[CheckedClose]:
    """Ask the ticket systems whether announced closes really happened."""
    checked: list[CheckedClose] = []
    for intent in intents:
        for close in intent.closes:
            if close.reopens:
                continue
            # What the call does to the ticket, as far as its text tells.
            done = [
                one
                for one in intent.closes
                if one.system == close.system and _may_be_same(one.ticket_id, close.ticket_id)
            ]
            # What the call printed about a close says nothing once it has opened the ticket again.
            stays = not done[-1].reopens
            cwd = intent.call.cwd
            answer = tickets.confirm(close, result if stays else None, cwd=cwd)
            was_open = close not in intent.already_closed or any(one.reopens for one in done)
            counts = was_open and (
                answer is Confirmation.YES
                or (answer is Confirmation.UNKNOWN and unknown_counts and stays and close.certain)
            )
            checked.append(
                CheckedClose(
                    close=close,
                    place=close.directory or cwd or None,
                    intent_key=intent.key,
                    counts=counts,
                    proven=answer is Confirmation.YES,
                    why=f"confirmed {answer.value}" if was_open else "it was closed before",
                )
            )
    return checked


def _may_be_same(one: str | None, other: str | None) -> bool:
    """Return whether two ids may mean one ticket: one may lack its prefix, or be unknown."""
    if one is None or other is None:
        return one is None
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    return short == long or long.endswith(f"-{short}")


def worth_noting(closes: Sequence[TicketClose], session: Session) -> Sequence[TicketClose]:
    """Leave out reopenings that change nothing: most are the start of work on a ticket."""
    waiting = [close for intent in session.intents for close in intent.closes]
    systems = {close.system for close in (*closes, *waiting) if not close.reopens}
    systems |= {ticket.source for ticket in _owed_for(session.gate)}
    return [close for close in closes if not close.reopens or close.system in systems]


def reopened(
    tickets: "TicketSystems", session: Session, intents: Iterable[CloseIntent], *, succeeded: bool
) -> list[Ticket]:
    """Find the tickets with a pending reflection that calls have opened again."""
    found = []
    openings = [
        evolve(one, directory=one.directory or intent.call.cwd or None)
        for intent in intents
        # What the call does to each ticket last.
        for one in {_key(one): one for one in intent.closes}.values()
        if one.reopens
    ]
    for ticket in _owed_for(session.gate):
        if not any(one.system == ticket.source for one in openings):
            continue
        place = session.closed_in.get(ticket_key(ticket.source, ticket.ticket_id))
        close = TicketClose(system=ticket.source, ticket_id=ticket.ticket_id, directory=place)
        answer = tickets.confirm(close, None)
        named = succeeded and evolve(close, reopens=True) in openings
        if answer is Confirmation.NO or (answer is Confirmation.UNKNOWN and named):
            found.append(ticket)
    return found


def at_work(project: "Project", session: Session) -> Sequence[GateEvent]:
    """Tell which ticket is at work now: what is given ahead of its close counts for it."""
    if session.gate.status.reflection_pending or session.session_mode:
        return ()
    ticket = project.tickets(session.cwd, session.id).current_ticket()
    return () if ticket is None else [TicketDetected(ticket=ticket)]


def ticket_key(system: str, ticket_id: str | None) -> str:
    """Name a ticket in ``Session.closed_in``."""
    return f"{system}:{ticket_id or ''}"


def _owed_for(gate: Gate) -> Sequence[Ticket]:
    pending = gate.closed if gate.status.reflection_pending else ()
    return (*pending, *(one for cycle in gate.broken_cycles for one in cycle.tickets))


def resolve(
    session: Session, closes: Closes, *, prompt_id: str | None, now: datetime
) -> SessionUpdate:
    """Take checked closes out of a session and tell the gate about those that count."""
    open_keys = {intent.key for intent in session.intents}
    fresh = [one for one in closes.checked if one.intent_key in open_keys]
    trace = [_discarded(one.close, one.intent_key, one.why, now) for one in fresh if not one.counts]
    proven = {_key(one.close) for one in fresh if one.counts and one.proven}
    closed_in_prompt = dict(session.closed_in_prompt)
    events: list[GateEvent] = []
    unproven = list(session.unproven)
    closed_in = dict(session.closed_in) if _owed_for(session.gate) else {}
    for (system, ticket_id), one in _counted(fresh).items():
        close = one.close
        if system in closes.once_per_prompt and prompt_id is not None:
            if closed_in_prompt.get(system) == prompt_id:
                why = "this prompt has been asked already"
                trace.append(_discarded(close, None, why, now))
                continue
            closed_in_prompt[system] = prompt_id
        ticket = Ticket(ticket_id=ticket_id, source=system, title=close.title)
        events.append(TicketClosed(ticket=ticket))
        if (system, ticket_id) not in proven:
            unproven.append(evolve(close, directory=one.place))
        if one.place is not None:
            closed_in[ticket_key(system, ticket_id)] = one.place
    if not open_keys.isdisjoint(closes.done):
        events += [TicketCloseFailed(ticket=one, reopened=True) for one in closes.open_again]
    kept = tuple(intent for intent in session.intents if intent.key not in closes.done)
    changed = evolve(
        session,
        intents=kept,
        unproven=tuple(unproven),
        closed_in_prompt=closed_in_prompt,
        closed_in=closed_in,
    )
    return SessionUpdate(changed, events, trace)


def _counted(checked: Sequence[CheckedClose]) -> dict[tuple[str, str | None], CheckedClose]:
    """Return each ticket whose close counts once, told with its title if any call tells it."""
    counted: dict[tuple[str, str | None], CheckedClose] = {}
    for one in checked:
        key = _key(one.close)
        if one.counts and (key not in counted or not counted[key].close.title):
            counted[key] = one
    return counted


def _key(close: TicketClose) -> tuple[str, str | None]:
    return close.system, close.ticket_id


def _discarded(close: TicketClose, call: str | None, why: str, now: datetime) -> TraceEvent:
    return trace_event(
        EventType.TICKET_CLOSE_DISCARDED,
        now,
        system=close.system,
        ticket=close.ticket_id or "unknown",
        call=call,
        why=why,
    )


def watched_words(project: "Project", tickets: "TicketSystems", host: str) -> frozenset[str]:
    """Collect the words without which no call closes a ticket or concerns a plugin's gate."""
    gates = project.gates()
    # Another client may have its own names for the tools that a gate names.
    is_renamed = host != DEFAULT_HOST and any(one.gate.tools for one in gates)
    words = {word for one in gates for word in one.gate.literals}
    return tickets.literals() | words | ({""} if is_renamed else set())
