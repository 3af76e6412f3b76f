"""What an agent asks grove for: the commands and the tools of the session's server answer alike."""

import json
from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from grove_core.errors import ReflectionError, StorageError
from grove_core.model.gate import SkipDecider
from grove_core.model.session import EventType, Session, SubagentObservation
from grove_core.model.ticket import Ticket
from grove_core.project import Project
from grove_core.quotation import Foreign, shown_name
from grove_core.reflection.schema import REMARK_LENGTH_MAX
from grove_core.reflection.submission import NO_REASON, Reference, is_reason, parse_submission
from grove_core.services.feedback import mark_used, unknown_ids
from grove_core.services.inbox import HandedIn, hand_in, is_shut_out
from grove_core.services.messages import name_of
from grove_core.services.recall import work_at_hand
from grove_core.services.reflect import refuse_secrets, submit, take_skip
from grove_core.services.result import Line, Result
from grove_core.services.sessions import (
    SessionUpdate,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.services.transcript import read_said
from grove_core.text import clean_line, shorten

_MOST_LISTED: Final = 30
_LONGEST_DESCRIPTION: Final = 1_000
_MOST_NOTES: Final = 200
_LONGEST_ENTRY: Final = 300

# --- what there is to reflect on ------------------------------------------------------------------


def brief(project: Project, session: Session) -> Result:
    """Collect what a reflection can draw on."""
    _, subjects, files = work_at_hand(project)
    gate = session.gate
    of_cycle = gate.closed
    tickets: Sequence[Ticket] = of_cycle or ([gate.ticket] if gate.ticket is not None else [])
    said = read_said(session.transcript_path, project.config.secrets.allow)
    lines: list[Line] = []
    for ticket in tickets:
        told = f"{ticket.title}\n{shorten(ticket.description, _LONGEST_DESCRIPTION)}".strip()
        lines.append(f"Ticket {name_of(ticket)}{':' if told else ''}")
        lines += [Foreign(told)] if told else []
    sections = {
        "Changed files": files,
        "Commits on this branch": subjects,
        "Noted": [f"{one.timestamp:%H:%M} {one.note}" for one in session.observations],
        "Learnings you were shown (name those that helped)": [
            f"{shown_name(one.learning_id)} {one.summary}" for one in session.injected
        ],
        "Corrections by the user (keep what holds beyond this session)": said.corrections,
        "Commands that failed and then passed": said.repaired,
        "Review comments": said.remarks,
        "Refused last time": [
            f"{one.summary}: {one.rejection.reason}" for one in session.last_rejections
        ],
    }
    for title, entries in sections.items():
        if entries:
            more = len(entries) - _MOST_LISTED
            listed = [clean_line(entry, _LONGEST_ENTRY) for entry in entries[:_MOST_LISTED]]
            lines += [f"{title}:", *map(Foreign, listed)]
            lines += [f"  and {more} more"] if more > 0 else []
    return Result(
        document={
            "session_id": session.id,
            "gate": gate.status,
            "ticket_id": ticket_of(gate),
            "tickets": tickets,
            "files": files,
            "commits": subjects,
            "observations": session.observations,
            "injected": session.injected,
            **said._asdict(),
            "last_rejections": session.last_rejections,
        },
        lines=[*lines, "The input's format: grove reflect --schema"],
    )


# --- skip, observe, ref ---------------------------------------------------------------------------


def _read_remark(project: Project, text: str, what: str) -> str:
    """Check a remark and bring it into one line; empty when it has no words."""
    line = clean_line(text, REMARK_LENGTH_MAX)
    if line:
        refuse_secrets(project, line, what)
    return line


def skip(project: Project, session: Session, reason: str, decider: SkipDecider) -> Result:
    """Take a reason for there being nothing to write down."""
    reason = _read_remark(project, reason, "the reason")
    if not is_reason(reason):
        raise ReflectionError(f"{NO_REASON[0].upper()}{NO_REASON[1:]}")
    if is_shut_out(project, session):
        return hand_in(project, session, "skip", text=reason, decider=decider)
    was_pending = session.gate.status.reflection_pending or session.gate.broken_cycles
    session = take_skip(project, session, reason, decider)
    early = "No reflection is pending; the reason counts for what was done so far."
    return Result(
        document={
            "session_id": session.id,
            "gate": session.gate.status,
            "reason": reason,
            "decider": decider,
        },
        lines=["Skipped. The gate is open." if was_pending else early],
    )


def observe(project: Project, session: Session, note: str) -> Result:
    """Keep a note for the agent that will reflect."""
    note = _read_remark(project, note, "the note")
    if not note:
        raise ReflectionError("a note needs words")
    if is_shut_out(project, session):
        return hand_in(project, session, "observe", text=note)
    observation = SubagentObservation(note=note, timestamp=project.now)

    def change(stored: Session) -> SessionUpdate:
        if len(stored.observations) >= _MOST_NOTES:
            raise ReflectionError(f"this session keeps {_MOST_NOTES} notes already; reflect first")
        kept = evolve(stored, observations=(*stored.observations, observation))
        number = len(kept.observations)
        noted = trace_event(EventType.OBSERVATION_RECORDED, project.now, number=number)
        return SessionUpdate(session=kept, trace=[noted])

    session, _ = update_session(project, session, change)
    count = len(session.observations)
    return Result(
        document={"session_id": session.id, "note": note, "observations": count},
        lines=[f"Noted ({count} in this session)."],
    )


def refer(project: Project, session: Session, ids: Sequence[str], how: str | None) -> Result:
    """Record that learnings were used; it fails if one of the ids is unknown, the others count."""
    remark = _read_remark(project, how or "", "--how") or None
    unknown = unknown_ids(project, session, dict.fromkeys(ids))
    names = [one for one in dict.fromkeys(ids) if one not in unknown]
    document: dict[str, Any] = {"session_id": session.id, "referenced": names, "unknown": unknown}
    lines: Sequence[Line] = [f"Recorded: {', '.join(names)}."] if names else []
    if names and is_shut_out(project, session):
        left = hand_in(project, session, "ref", text=remark or "", ids=tuple(names))
        document, lines = {**document, **(left.document or {})}, left.lines
    else:
        used = [Reference(id=one, remark=remark) for one in names]
        mark_used(project, session, used, ticket_of(session.gate))
    if unknown:
        named = ", ".join(unknown)
        document["error"] = f"no learning has the id {named}; `grove search WORDS` finds ids"
    return Result(
        document=document,
        lines=lines,
        ids=names,
        exit_code=1 if unknown else 0,
        warnings=[document["error"]] if unknown else [],
    )


# --- what was handed in from a sandbox ------------------------------------------------------------


def carry_out(project: Project, session: Session, asked: HandedIn) -> None:
    """Do, outside of the sandbox, what the command would have done."""
    if asked.command == "reflect":
        data = json.dumps(asked.submission, ensure_ascii=False).encode("utf-8", "replace")
        submit(project, session, parse_submission(data))
        return
    if asked.command == "skip":
        skip(project, session, asked.text, asked.decider)
    elif asked.command == "observe":
        observe(project, session, asked.text)
    elif asked.command == "ref":
        refer(project, session, asked.ids, asked.text)
    else:
        raise StorageError("grove has no such command")
