"""What an agent asks grove for: the commands and the tools of the session's server answer alike."""

import os
from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve

from grove_core import git
from grove_core.errors import ReflectionError
from grove_core.git import seen_from_root, without
from grove_core.model.gate import SkipAccepted, SkipDecider, SkipDecision
from grove_core.model.learning import Candidate, RejectedCandidate, Rejection, Stage
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.model.session import EventType, Session, SubagentObservation
from grove_core.model.ticket import Ticket
from grove_core.project import Project
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.pipeline import AcceptedCandidate, RepeatedCandidate
from grove_core.reflection.schema import REMARK_LENGTH_MAX
from grove_core.reflection.secrets import find_leak
from grove_core.reflection.submission import Submission, UsedLearning, parse_submission
from grove_core.services.feedback import mark_used, unknown_ids
from grove_core.services.reflect import preview, reflect, refuse_secrets
from grove_core.services.result import Result
from grove_core.services.session_mode import ignored_paths
from grove_core.services.sessions import (
    SessionUpdate,
    skip_event,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.services.storing import SESSION_BACKEND
from grove_core.text import clean_line, shorten

_GIT_SECONDS: Final = 2.0
_MOST_LISTED: Final = 30
_LONGEST_DESCRIPTION: Final = 1_000

# --- reflect --------------------------------------------------------------------------------------


def read_submission(data: bytes) -> Submission:
    """Read a submission, which must say something."""
    submission = parse_submission(data)
    if not submission.candidates and submission.nothing_learned is None:
        raise ReflectionError(
            "the submission holds no candidate; submit at least one, or"
            ' {"nothing_learned": "the reason"} (see grove reflect --schema)'
        )
    return submission


def submit(project: Project, session: Session, submission: Submission) -> Result:
    """Take a submission; it fails if no candidate was accepted."""
    outcome = reflect(project, session, submission)
    gate = outcome.session.gate
    document: dict[str, Any] = {
        "session_id": outcome.session.id,
        "gate": gate.status,
        "accepted": [
            {
                "id": one.learning.id,
                "summary": one.learning.summary,
                "status": one.receipt.status,
                "backend": one.receipt.backend,
                "location": one.receipt.location,
                "notes": one.notes,
            }
            for one in outcome.stored
        ],
        "repeated": outcome.repeated,
        "rejected": [_rejected(one) for one in outcome.rejected],
        "warnings": outcome.warnings,
    }
    reasons = [
        f"{one.position + 1}. refused ({one.stage.value}) {one.summary!r}: {one.rejection.reason}"
        for one in outcome.rejected
    ]
    if not outcome.opened:
        end = "; the gate stays closed" if gate.status.owes_reflection else ""
        document["error"] = f"no candidate was accepted{end}"
        reasons.append(document["error"])
    lines = []
    for one in outcome.stored:
        lines.append(f"{one.receipt.status.value} {one.learning.id} ({_place(one.receipt)})")
        lines += [f"  {one.learning.summary}", *(f"  note: {note}" for note in one.notes)]
    lines += [f"already stored {learning_id}" for learning_id in outcome.repeated]
    return Result(
        document=document,
        lines=[*lines, *([f"The gate is {gate.status.value}."] if outcome.opened else [])],
        ids=(*(one.learning.id for one in outcome.stored), *outcome.repeated),
        exit_code=0 if outcome.opened else 1,
        warnings=(*outcome.warnings, *reasons),
    )


def _rejected(one: RejectedCandidate) -> dict[str, Any]:
    return {
        "position": one.position,
        "summary": one.summary,
        "stage": one.stage,
        "field": one.rejection.field,
        "reason": one.rejection.reason,
        "existing_id": one.rejection.existing_id,
    }


def _place(receipt: Receipt) -> str:
    if receipt.status is ReceiptStatus.QUEUED:
        return f"waits for the backend {receipt.backend}; delivered with the next reflection"
    if receipt.backend == SESSION_BACKEND:
        return "kept in this session only"
    return receipt.location or receipt.backend


def try_out(project: Project, session: Session, submission: Submission) -> Result:
    """Report what would become of each candidate, and what the write gate thinks of it."""
    result, warnings = preview(project, session, submission)
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    every: list[RejectedCandidate | AcceptedCandidate | RepeatedCandidate] = [
        *result.rejected,
        *result.accepted,
        *result.repeated,
    ]
    for one in sorted(every, key=lambda each: each.position):
        number = one.position + 1
        summary = one.summary if isinstance(one, RejectedCandidate) else one.candidate.summary
        match one:
            case RejectedCandidate():
                unread = one.stage in {Stage.SCHEMA, Stage.SECRET}
                read = None if unread else read_candidate(submission.candidates[one.position])
                known = None if read is None or isinstance(read, Rejection) else read.candidate
                document = {**_rejected(one), "outcome": "rejected"}
                lines.append(f"{number}. would be refused ({one.stage.value}): {summary}")
                lines.append(f"   {one.rejection.reason}")
            case AcceptedCandidate():
                known = one.candidate
                document = {"outcome": "accepted", "notes": one.notes}
                lines.append(f"{number}. would be accepted: {summary}")
                lines += [f"   note: {note}" for note in one.notes]
            case RepeatedCandidate():
                known = one.candidate
                document = {"outcome": "repeated", "id": one.learning_id}
                lines.append(f"{number}. is stored already as {one.learning_id}: {summary}")
        about = {"position": one.position, "summary": summary}
        found.append({**about, **document, "write_gate": _assessment(known)})
    taken = bool(result.accepted or result.repeated)
    if submission.nothing_learned and not taken:
        lines.append("It would count as a skip.")
    opens = taken or submission.nothing_learned is not None
    return Result(
        document={
            "session_id": session.id,
            "gate": session.gate.status,
            "dry_run": True,
            "opens": opens,
            "candidates": found,
            "warnings": warnings,
        },
        lines=[*lines, "Nothing was stored or logged."],
        exit_code=0 if opens else 1,
        warnings=warnings,
    )


def _assessment(candidate: Candidate | None) -> dict[str, Any] | None:
    if candidate is None:
        return None
    from grove_core.reflection.write_gate import evaluate

    found = evaluate(candidate)
    return {"score": found.score, "threshold": found.threshold, "components": found.components}


# --- what there is to reflect on ------------------------------------------------------------------


def brief(project: Project, session: Session) -> Result:
    """Collect what a reflection can draw on."""
    files, subjects = _work(project)
    gate = session.gate
    of_cycle = gate.cycle.tickets if gate.cycle is not None else ()
    tickets: Sequence[Ticket] = of_cycle or ([gate.ticket] if gate.ticket is not None else [])
    lines: list[str] = []
    for ticket in tickets:
        lines.append(f"Ticket {ticket.ticket_id or '(unknown)'} {ticket.title}")
        if ticket.description:
            lines.append(shorten(ticket.description, _LONGEST_DESCRIPTION))
    sections = {
        "Changed files": files,
        "Commits on this branch": subjects,
        "Subagents noted": [f"{one.timestamp:%H:%M} {one.note}" for one in session.observations],
        "Learnings you were shown (name those that helped)": [
            f"{one.learning_id} {one.summary}" for one in session.injected
        ],
        "Refused last time": [
            f"{one.summary}: {one.rejection.reason}" for one in session.last_rejections
        ],
    }
    for title, entries in sections.items():
        if entries:
            more = len(entries) - _MOST_LISTED
            lines += [f"{title}:", *(f"  {entry}" for entry in entries[:_MOST_LISTED])]
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
            "last_rejections": session.last_rejections,
        },
        lines=[*lines, "The input's format: grove reflect --schema"],
    )


def _work(project: Project) -> tuple[list[str], list[str]]:
    top = git.find_top(project.root)
    if top is None:
        return [], []
    tree = git.read_work_tree(top, _GIT_SECONDS)
    history = git.read_branch_history(top, _GIT_SECONDS)
    changed = (*tree.changed, *tree.untracked) if tree is not None else ()
    paths = (*changed, *history.files)
    touched = seen_from_root(os.fspath(project.root), os.fspath(top), paths)
    return list(without(ignored_paths(project), touched)), list(history.subjects)


# --- skip, observe, ref ---------------------------------------------------------------------------


def skip(project: Project, session: Session, reason: str, decider: SkipDecider) -> Result:
    """Take a reason, checked, for there being nothing to write down."""
    decision = SkipDecision(
        reason=reason,
        decider=decider,
        timestamp=project.now,
        lines_changed=session.measurement.lines if session.measurement else None,
    )

    def change(stored: Session) -> SessionUpdate:
        rested = evolve(stored, last_rejections=(), recovered_from=None)
        return SessionUpdate(session=rested, events=[SkipAccepted(decision=decision)])

    ticket_id = ticket_of(session.gate)
    session, _ = update_session(project, session, change, cause="skip")
    project.log_events([skip_event(session.id, decision, ticket_id)])
    status = session.gate.status
    said = {"reason": reason, "decider": decision.decider}
    return Result(
        document={"session_id": session.id, "gate": status, **said},
        lines=[f"Skipped. The gate is {status.value}."],
    )


def read_remark(project: Project, text: str, what: str) -> str:
    """Check a remark and bring it into one line; empty when it has no words."""
    line = clean_line(text, REMARK_LENGTH_MAX)
    if line:
        refuse_secrets(project, line, what)
    return line


def observe(project: Project, session: Session, note: str) -> Result:
    """Keep a note, checked, for the agent that will reflect."""
    observation = SubagentObservation(note=note, timestamp=project.now)

    def change(stored: Session) -> SessionUpdate:
        kept = evolve(stored, observations=(*stored.observations, observation))
        number = len(kept.observations)
        noted = trace_event(EventType.OBSERVATION_RECORDED, project.now, number=number)
        return SessionUpdate(session=kept, trace=[noted])

    session, _ = update_session(project, session, change, cause="observation")
    count = len(session.observations)
    return Result(
        document={"session_id": session.id, "note": note, "observations": count},
        lines=[f"Noted ({count} in this session)."],
    )


def refer(project: Project, session: Session, ids: Sequence[str], how: str | None) -> Result:
    """Record that learnings were used; it fails if one of the ids is unknown, the others count."""
    remark = clean_line(how, REMARK_LENGTH_MAX) if how else None
    warnings = []
    if (leak := find_leak(remark, project.config.secrets.allow, "--how")) is not None:
        warnings.append(f"{leak.text}; the use was recorded without it")
        remark = None
    unknown = unknown_ids(project, session, dict.fromkeys(ids))
    names = [one for one in dict.fromkeys(ids) if one not in unknown]
    used = [UsedLearning(id=one, how=remark) for one in names]
    mark_used(project, session, used, ticket_of(session.gate))
    document: dict[str, Any] = {"session_id": session.id, "referenced": names, "unknown": unknown}
    if unknown:
        named = ", ".join(unknown)
        document["error"] = f"no learning has the id {named}; `grove search WORDS` finds ids"
        warnings.append(document["error"])
    return Result(
        document=document,
        lines=[f"Recorded: {', '.join(names)}."] if names else [],
        ids=names,
        exit_code=1 if unknown else 0,
        warnings=warnings,
    )
