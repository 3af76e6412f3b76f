"""Confirming announced closes: what the gate is told, and what is dropped."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import evolve, frozen

from grove_core.flow.gatekeeper import Change
from grove_core.model.gate import GateEvent, TicketClosed
from grove_core.model.session import EventType, Session, TraceEvent
from grove_core.model.ticket import CloseIntent, Confirmation, Ticket, TicketClose, ToolResult
from grove_core.model.value import Value
from grove_core.ticketing import TicketSystems
from grove_core.tracing import event


@frozen(kw_only=True, eq=False, repr=False)
class JudgedClose(Value):
    """An announced close and whether it counts.

    Attributes:
        close: The close.
        intent_key: The intent that announced it.
        counts: Whether the gate is told.
        proven: Whether the ticket system has confirmed it.
        why: The reason, for the trace.
    """

    close: TicketClose
    intent_key: str
    counts: bool
    proven: bool
    why: str


def judge(
    tickets: TicketSystems,
    intents: Iterable[CloseIntent],
    result: ToolResult | None,
    *,
    unknown_counts: bool,
) -> list[JudgedClose]:
    """Ask the ticket systems whether announced closes really happened.

    Args:
        tickets: The ticket systems.
        intents: What was announced.
        result: What became of the call; ``None`` when it is asked later.
        unknown_counts: Whether a close counts that nobody can confirm.

    Returns:
        One judgement for each close.
    """
    judged: list[JudgedClose] = []
    for intent in intents:
        for close in intent.closes:
            answer = tickets.confirm(close, result)
            counts = answer is Confirmation.YES or (
                answer is Confirmation.UNKNOWN and unknown_counts
            )
            judged.append(
                JudgedClose(
                    close=close,
                    intent_key=intent.key,
                    counts=counts,
                    proven=answer is Confirmation.YES,
                    why=f"confirmed {answer.value}",
                )
            )
    return judged


def resolve(
    session: Session,
    judged: Sequence[JudgedClose],
    *,
    once_per_prompt: frozenset[str],
    prompt_id: str | None,
    now: datetime,
) -> Change:
    """Take judged closes out of a session and tell the gate about those that count.

    Args:
        session: The session under its lock.
        judged: The judgements.
        once_per_prompt: Systems that open at most one cycle in a prompt.
        prompt_id: The current prompt, if known.
        now: The time, UTC.

    Returns:
        What to do to the session. An intent that another process resolved first is passed over.
    """
    open_keys = {intent.key for intent in session.intents}
    settled = {one.intent_key for one in judged}
    closed_in_prompt = dict(session.closed_in_prompt)
    events: list[GateEvent] = []
    trace: list[TraceEvent] = []
    counted: dict[tuple[str, str | None], TicketClose] = {}
    proven: set[tuple[str, str | None]] = set()
    unproven = list(session.unproven)
    for one in judged:
        if one.intent_key not in open_keys:
            continue
        if not one.counts:
            trace.append(_discarded(one.close, one.intent_key, one.why, now))
            continue
        key = (one.close.system, one.close.ticket_id)
        if one.proven:
            proven.add(key)
        if key not in counted or not counted[key].title:
            counted[key] = one.close
    for (system, ticket_id), close in counted.items():
        if system in once_per_prompt and prompt_id is not None:
            if closed_in_prompt.get(system) == prompt_id:
                why = "this prompt has been asked already"
                trace.append(_discarded(close, None, why, now))
                continue
            closed_in_prompt[system] = prompt_id
        ticket = Ticket(ticket_id=ticket_id, source=system, title=close.title)
        events.append(TicketClosed(ticket=ticket))
        if (system, ticket_id) not in proven:
            unproven.append(close)
    kept = tuple(intent for intent in session.intents if intent.key not in settled)
    changed = evolve(
        session,
        intents=kept,
        unproven=tuple(unproven),
        closed_in_prompt=closed_in_prompt,
    )
    return Change(session=changed, events=events, trace=trace)


def _discarded(close: TicketClose, call: str | None, why: str, now: datetime) -> TraceEvent:
    return event(
        EventType.TICKET_CLOSE_DISCARDED,
        now,
        system=close.system,
        ticket=close.ticket_id or "unknown",
        call=call,
        why=why,
    )
