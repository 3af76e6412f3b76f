"""``grove reflect --brief`` and ``--dry-run``: what to reflect on, and what would become of it."""

import os
from collections.abc import Sequence
from typing import Any, Final

from grove_core import git
from grove_core.cli.result import Result
from grove_core.git import seen_from_root, without
from grove_core.model.learning import Candidate, Rejection, Stage
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.project import Project
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.submission import Submission
from grove_core.services.reflect import ReflectionPreview
from grove_core.services.requests import Outcome, rejected_fields
from grove_core.services.session_mode import ignored_paths
from grove_core.services.sessions import ticket_of
from grove_core.text import shorten

_GIT_SECONDS: Final = 2.0
_MOST_FILES: Final = 30
_MOST_DESCRIPTION: Final = 1_000


def brief(project: Project, session: Session) -> Result:
    """Collect what a reflection can draw on."""
    files, subjects = _work(project)
    tickets = _tickets(session)
    document = {
        "session_id": session.id,
        "gate": session.gate.status,
        "ticket_id": ticket_of(session.gate),
        "tickets": tickets,
        "files": files,
        "commits": subjects,
        "observations": session.observations,
        "injected": session.injected,
        "last_rejections": session.last_rejections,
    }
    lines: list[str] = []
    for ticket in tickets:
        lines.append(f"Ticket {ticket.ticket_id or '(unknown)'} {ticket.title}")
        lines += [shorten(ticket.description, _MOST_DESCRIPTION)] if ticket.description else []
    notes = [f"{one.timestamp:%H:%M} {one.note}" for one in session.observations]
    shown = [f"{one.learning_id} {one.summary}" for one in session.injected]
    refused = [f"{one.summary}: {one.rejection.reason}" for one in session.last_rejections]
    lines += [
        *_section("Changed files", files),
        *_section("Commits on this branch", subjects),
        *_section("Subagents noted", notes),
        *_section("Learnings you were shown (name those that helped)", shown),
        *_section("Refused last time", refused),
        "The input's format: grove reflect --schema",
    ]
    return Result.of(Outcome(document=document, lines=lines))


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


def _tickets(session: Session) -> list[Ticket]:
    gate = session.gate
    if gate.cycle is not None and gate.cycle.tickets:
        return list(gate.cycle.tickets)
    return [gate.ticket] if gate.ticket is not None else []


def _section(title: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    more = len(entries) - _MOST_FILES
    hidden = [f"  and {more} more"] if more > 0 else []
    return [f"{title}:", *(f"  {entry}" for entry in entries[:_MOST_FILES]), *hidden]


def dry_run(submission: Submission, preview: ReflectionPreview) -> Result:
    """Report what would become of each candidate."""
    result = preview.result
    found: list[dict[str, Any]] = []
    for refused in result.rejected:
        raw = submission.candidates[refused.position]
        unread = refused.stage in {Stage.SCHEMA, Stage.SECRET}
        read = None if unread else read_candidate(raw)
        readable = None if read is None or isinstance(read, Rejection) else read.candidate
        assessment = None if readable is None else _assessment(readable)
        found.append({**rejected_fields(refused), "outcome": "rejected", "write_gate": assessment})
    for accepted in result.accepted:
        outcome = {"outcome": "accepted", "notes": accepted.notes}
        found.append(_document(accepted.position, accepted.candidate, outcome))
    for repeated in result.repeated:
        outcome = {"outcome": "repeated", "id": repeated.learning_id}
        found.append(_document(repeated.position, repeated.candidate, outcome))
    found.sort(key=lambda one: one["position"])
    lines = [line for one in found for line in _lines(one)]
    if preview.nothing_learned and not result.accepted and not result.repeated:
        lines.append("It would count as a skip.")
    document = {
        "session_id": preview.session.id,
        "gate": preview.session.gate.status,
        "dry_run": True,
        "opens": preview.opens,
        "candidates": found,
        "warnings": preview.warnings,
    }
    return Result.of(
        Outcome(
            document=document,
            lines=[*lines, "Nothing was stored or logged."],
            succeeded=preview.opens,
            warnings=preview.warnings,
        )
    )


def _document(position: int, candidate: Candidate, outcome: dict[str, Any]) -> dict[str, Any]:
    return {
        "position": position,
        "summary": candidate.summary,
        **outcome,
        "write_gate": _assessment(candidate),
    }


def _assessment(candidate: Candidate) -> dict[str, Any]:
    from grove_core.reflection.write_gate import evaluate

    assessment = evaluate(candidate)
    return {
        "score": assessment.score,
        "threshold": assessment.threshold,
        "components": assessment.components,
    }


def _lines(one: dict[str, Any]) -> list[str]:
    number, summary = one["position"] + 1, one["summary"]
    if one["outcome"] == "accepted":
        notes = [f"   note: {note}" for note in one["notes"]]
        return [f"{number}. would be accepted: {summary}", *notes]
    if one["outcome"] == "repeated":
        return [f"{number}. is stored already as {one['id']}: {summary}"]
    refused = f"{number}. would be refused ({one['stage'].value}): {summary}"
    return [refused, f"   {one['reason']}"]
