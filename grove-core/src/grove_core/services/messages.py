"""Messages to an agent about a pending reflection: pure text from a session's state."""

import json
from collections.abc import Sequence
from typing import Any, Final

from grove_core.model.gate import Gate
from grove_core.model.learning import Category, Criterion, RejectedCandidate
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.quotation import quote_line, shown_name
from grove_core.text import clean_line

LONGEST_REASON: Final = 1_500
_INVITATION: Final = (
    "What would the next session do wrong without this, where, and what should it do?"
)
_MORE: Final = "(Several, or text with quotes? JSON on stdin; its shape: grove reflect --schema)"
REFLECT_OPTIONS: Final = {
    "category": "--category",
    "criteria_met": "--criterion",
    "tags": "--tag",
    "context_files": "--file",
    "summary": "--summary",
    "detail": "--detail",
}
"""The options of ``grove reflect``, by field of a candidate."""
_LONGEST_NAME: Final = 80
_MOST_NOTES: Final = 4
_MOST_IDS: Final = 6
_MOST_REJECTIONS: Final = 3
_REJECTIONS_LENGTH: Final = 600


def block_reason(session: Session, most_blocks: int, tools: str = "") -> str:
    """Write why the agent is stopped and what opens the way."""
    block = session.gate.breaker.block_count
    head = f"grove: {closed_work(session.gate)} – one step left before you finish."
    skip = f'{tools}skip with {{"reason": "…"}}' if tools else skip_command(session.id)
    next_stop = f"Until then each stop is held (this is {block} of {most_blocks})."
    if block >= most_blocks:
        next_stop = "At the next stop grove lets you go; the pending reflection stays on record."
    answers = [
        _way_to_reflect(session.id, tools),
        f"Nothing worth keeping? {skip}",
        next_stop,
    ]
    if block <= 1:
        return _filled([head, _INVITATION, *answers], _material(session), [], LONGEST_REASON)
    told = [*_refusals(session.last_rejections), *_noted(session)]
    return _filled([head], told, answers, LONGEST_REASON)


def pending_reflection(session: Session) -> str:
    """Restate at the start of a session the pending reflection; empty when there is none."""
    if not session.gate.status.reflection_pending:
        return past_reflection(session)
    return "\n".join(
        [
            f"grove: {closed_work(session.gate)} and its reflection is still pending.",
            f"To reflect: {reflect_command(session.id)}",
            f"To skip: {skip_command(session.id)}",
        ]
    )


def past_reflection(session: Session) -> str:
    """Say which reflection of a past session is pending; empty when none is."""
    if session.recovered_from is not None:
        return (
            f"grove: the state of session {session.id} could not be read and was set aside as"
            f" {session.recovered_from}; the reflection of a ticket closed there may be pending."
        )
    gate = session.gate
    pending = (gate.cycle,) if gate.status.reflection_pending else ()
    if not pending and not gate.broken_cycles:
        return ""
    tickets = [one for cycle in (*pending, *gate.broken_cycles) if cycle for one in cycle.tickets]
    what = ", ".join(map(name_of, tickets)) or "its changes"
    return (
        f"grove: session {session.id} ended with its reflection pending ({what}); if you know"
        f" what it taught: grove reflect --session-id {session.id}"
    )


def closed_work(gate: Gate) -> str:
    """Name what was closed."""
    names = [name_of(ticket) for ticket in gate.closed]
    if not names:
        return "this session has changed the project"
    if len(names) == 1:
        return f"ticket {names[0]} is closed"
    more = f" and {len(names) - _MOST_IDS} more" if len(names) > _MOST_IDS else ""
    return f"tickets {', '.join(names[:_MOST_IDS])}{more} are closed"


def name_of(ticket: Ticket) -> str:
    """Name a ticket for a message."""
    name = shown_name(ticket.ticket_id or "")
    if name != ticket.ticket_id and name:
        inner = name.replace('"', "'")
        return f'"{inner}"'
    return name or clean_line(f"of {ticket.source}", _LONGEST_NAME)


def reflect_command(session_id: str) -> str:
    """Write the command that reflects, with one learning to fill in."""
    words = [f"grove reflect --session-id {session_id}"]
    for name, value in example_candidate().items():
        (text,) = [value] if isinstance(value, str) else value
        # In double quotes the shell would run what stands in backticks.
        words.append(f"{REFLECT_OPTIONS[name]} " + (f"'{text}'" if " " in text else text))
    return " ".join(words)


def _way_to_reflect(session_id: str, tools: str) -> str:
    """Write how to reflect: with the tool where there is one, else with the command."""
    if not tools:
        return f"{reflect_command(session_id)}\n{_MORE}"
    form = json.dumps({"candidates": [example_candidate()]}, ensure_ascii=False)
    command = f"grove reflect --session-id {session_id}"
    return f"Call {tools}reflect with {form}\n(or, as JSON on stdin: {command})"


def skip_command(session_id: str) -> str:
    """Write the command that skips."""
    return f'grove skip "the reason" --session-id {session_id}'


def _refusals(rejections: Sequence[RejectedCandidate]) -> list[str]:
    if not rejections:
        return ["No reflection has been accepted yet."]
    told = rejections[:_MOST_REJECTIONS]
    room = _REJECTIONS_LENGTH // len(told)
    reasons = (f"{clean_line(one.summary, 40)}: {one.rejection.reason}" for one in told)
    return ["The last submission was refused:", *(quote_line(one, room) for one in reasons)]


def _material(session: Session) -> list[str]:
    """List what the reflection can draw on, shortened by count."""
    lines = _noted(session)
    if session.injected:
        ids = [shown_name(one.learning_id) for one in session.injected]
        more = f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
        shown = f"{', '.join(ids[:_MOST_IDS])}{more}"
        lines.append(f"You were shown {shown}. One helped? grove ref ID --how 'what it changed'")
    return lines


def _noted(session: Session) -> list[str]:
    """List the notes that no reflection or skip has answered yet."""
    reflection, skip = session.gate.reflection, session.gate.skip
    answered = [reflection.completed_at] if reflection is not None else []
    answered += [skip.timestamp] if skip is not None else []
    notes = [one for one in session.observations if all(one.timestamp > at for at in answered)]
    lines = [f"Noted with grove observe ({len(notes)}):"] if notes else []
    lines += [quote_line(one.note, 120) for one in notes[:_MOST_NOTES]]
    if len(notes) > _MOST_NOTES:
        lines.append(f"- and {len(notes) - _MOST_NOTES} more: grove reflect --brief")
    return lines


def _filled(before: list[str], optional: list[str], after: list[str], limit: int) -> str:
    """Put in as many of the optional lines as leave the text within a limit."""
    room = limit - len("\n".join([*before, *after]))
    fitting: list[str] = []
    for line in optional:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    return "\n".join([*before, *fitting, *after])


def example_candidate() -> dict[str, Any]:
    """Make the smallest candidate, to be filled in."""
    return {
        "category": Category.PITFALL.value,
        "criteria_met": [Criterion.BEHAVIOR_CHANGING.value],
        "tags": ["topic"],
        "context_files": ["path"],
        "summary": "One line: what goes wrong without this, or what holds",
        "detail": "Where it holds (file, function, case), why, and what to do there.",
    }
