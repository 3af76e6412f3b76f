"""What an agent asks grove for: the commands and the tools of the session's server answer alike."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import evolve

from grove_core.errors import ReflectionError
from grove_core.finder import found_learning
from grove_core.memory.backends import FoundLearning
from grove_core.model.gate import SkipAccepted, SkipDecider, SkipDecision
from grove_core.model.learning import Learning, RejectedCandidate
from grove_core.model.memory import Filters, Query, Receipt, ReceiptStatus
from grove_core.model.session import EventType, Session, SubagentObservation
from grove_core.model.usage import LearningStats
from grove_core.model.value import frozen
from grove_core.project import Project
from grove_core.reflection.schema import REMARK_LENGTH_MAX
from grove_core.reflection.secrets import find_leak
from grove_core.reflection.submission import Submission, UsedLearning, parse_submission
from grove_core.retrieval.entry import learning_of
from grove_core.retrieval.explaining import explanation_of
from grove_core.retrieval.matching import in_words, matches_of
from grove_core.retrieval.ranking import Ranked
from grove_core.retrieval.strategy import DEFAULT_ENGINE
from grove_core.retrieval.terms import terms_of
from grove_core.services.feedback import mark_used, unknown_ids
from grove_core.services.reflect import ReflectionOutcome, reflect, refuse_secrets
from grove_core.services.sessions import (
    SessionUpdate,
    skip_event,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.services.storing import SESSION_BACKEND
from grove_core.text import clean_line

SEARCH_LIMIT: Final = 10
_LONGEST_NOTE: Final = 500
_LEARNING_FIELDS: Final = (
    *("id", "category", "summary", "detail", "scope", "confidence", "status", "criteria_met"),
    *("tags", "context_files", "ticket_id", "session_id", "timestamp", "supersedes"),
)
_COUNTS: Final = ("surfaced", "referenced", "dismissed", "corrected")
_SHARES_AND_TIMES: Final = ("hit_rate", "last_surfaced", "last_referenced")


@frozen(kw_only=True)
class Outcome:
    """What became of a request."""

    document: Mapping[str, Any]
    lines: Sequence[str]
    ids: Sequence[str] = ()
    succeeded: bool = True
    warnings: Sequence[str] = ()


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


def submit(project: Project, session: Session, submission: Submission) -> Outcome:
    """Take a submission; it fails if no candidate was accepted."""
    outcome = reflect(project, session, submission)
    document: dict[str, Any] = {
        "session_id": outcome.session.id,
        "gate": outcome.session.gate.status,
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
        "rejected": [rejected_fields(one) for one in outcome.rejected],
        "warnings": outcome.warnings,
    }
    reasons = [
        f"{one.position + 1}. refused ({one.stage.value}) {one.summary!r}: {one.rejection.reason}"
        for one in outcome.rejected
    ]
    if not outcome.opened:
        stays = outcome.session.gate.status.owes_reflection
        end = "; the gate stays closed" if stays else ""
        document["error"] = f"no candidate was accepted{end}"
        reasons.append(document["error"])
    return Outcome(
        document=document,
        lines=_reflection_lines(outcome),
        ids=(*(one.learning.id for one in outcome.stored), *outcome.repeated),
        succeeded=outcome.opened,
        warnings=(*outcome.warnings, *reasons),
    )


def rejected_fields(one: RejectedCandidate) -> dict[str, Any]:
    """Tell of a refused candidate what the documented JSON has."""
    return {
        "position": one.position,
        "summary": one.summary,
        "stage": one.stage,
        "field": one.rejection.field,
        "reason": one.rejection.reason,
        "existing_id": one.rejection.existing_id,
    }


def _reflection_lines(outcome: ReflectionOutcome) -> list[str]:
    lines = []
    for one in outcome.stored:
        lines.append(f"{one.receipt.status.value} {one.learning.id} ({_place(one.receipt)})")
        lines.append(f"  {one.learning.summary}")
        lines += [f"  note: {note}" for note in one.notes]
    lines += [f"already stored {learning_id}" for learning_id in outcome.repeated]
    if outcome.opened:
        lines.append(f"The gate is {outcome.session.gate.status.value}.")
    return lines


def _place(receipt: Receipt) -> str:
    if receipt.status is ReceiptStatus.QUEUED:
        return f"waits for the backend {receipt.backend}; delivered with the next reflection"
    if receipt.backend == SESSION_BACKEND:
        return "kept in this session only"
    return receipt.location or receipt.backend


# --- skip, observe, ref ---------------------------------------------------------------------------


def skip(project: Project, session: Session, reason: str, decider: SkipDecider) -> Outcome:
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
    return Outcome(
        document={
            "session_id": session.id,
            "gate": status,
            "reason": reason,
            "decider": decision.decider,
        },
        lines=[f"Skipped. The gate is {status.value}."],
    )


def checked_remark(project: Project, text: str, what: str, longest: int) -> str:
    """Bring a remark into one line; empty when it has no words."""
    line = clean_line(text, longest)
    if line:
        refuse_secrets(project, line, what)
    return line


def read_reason(project: Project, text: str) -> str:
    """Check the reason of a skip; empty when it has no words."""
    return checked_remark(project, text, "the reason", REMARK_LENGTH_MAX)


def read_note(project: Project, text: str) -> str:
    """Check an observation; empty when it has no words."""
    return checked_remark(project, text, "the note", _LONGEST_NOTE)


def observe(project: Project, session: Session, note: str) -> Outcome:
    """Keep a note, checked, for the agent that will reflect."""
    observation = SubagentObservation(note=note, timestamp=project.now)

    def change(stored: Session) -> SessionUpdate:
        kept = evolve(stored, observations=(*stored.observations, observation))
        number = len(kept.observations)
        noted = trace_event(EventType.OBSERVATION_RECORDED, project.now, number=number)
        return SessionUpdate(session=kept, trace=[noted])

    session, _ = update_session(project, session, change, cause="observation")
    count = len(session.observations)
    return Outcome(
        document={"session_id": session.id, "note": note, "observations": count},
        lines=[f"Noted ({count} in this session)."],
    )


def refer(project: Project, session: Session, ids: Sequence[str], how: str | None) -> Outcome:
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
    return Outcome(
        document=document,
        lines=[f"Recorded: {', '.join(names)}."] if names else [],
        ids=names,
        succeeded=not unknown,
        warnings=warnings,
    )


# --- search ---------------------------------------------------------------------------------------


@frozen(kw_only=True)
class Found:
    """What a search has found."""

    ranked: Sequence[Ranked]
    usage: Mapping[str, LearningStats]
    reasons: Mapping[str, Sequence[str]]
    outcome: Outcome


def search(
    project: Project,
    query: Query,
    filters: Filters,
    *,
    limit: int | None,
    wanted: Callable[[Learning], bool] = lambda _: True,
) -> Found:
    """Search the learnings of a project and the user's own, in all active backends."""
    found = [
        one
        for one in project.finder.search(query, filters, notes=True)
        if one.score.relevance > 0 and wanted(learning_of(one.entry))
    ]
    ranked = found[: limit or SEARCH_LIMIT]
    ids = [one.entry.id for one in ranked]
    usage = project.usage(ids)
    reasons = _reasons_of(project, query, ranked)
    results = [
        {
            **learning_document(found_learning(one), usage.get(one.entry.id)),
            "score": explanation_of(one.score),
            "reasons": reasons[one.entry.id],
        }
        for one in ranked
    ]
    outcome = Outcome(
        document={"query": query.text, "count": len(ranked), "results": results},
        lines=[
            f"{one.entry.id} ({one.entry.category}) {learning_of(one.entry).summary}"
            for one in ranked
        ]
        or ["Nothing fits."],
        ids=ids,
    )
    return Found(ranked=ranked, usage=usage, reasons=reasons, outcome=outcome)


def _reasons_of(project: Project, query: Query, ranked: Sequence[Ranked]) -> dict[str, list[str]]:
    """Return what learnings and the query have in common."""
    terms = terms_of(query)
    listed = {one.backend.name for one in project.library.listable()}
    # Asked after the search: where the engine is not there or has failed, the index has scored.
    by_index = project.finder.scored_by == DEFAULT_ENGINE
    return {
        one.entry.id: in_words(matches_of(terms, one.entry))
        if by_index and one.entry.backend in listed and not one.score.reasons
        else list(one.score.reasons)
        for one in ranked
    }


def learning_document(found: FoundLearning, stats: LearningStats | None) -> dict[str, Any]:
    """Describe a learning for JSON: all its fields, ``backend``, ``complete`` and ``usage``."""
    learning = found.hit.learning
    return {
        **{name: getattr(learning, name) for name in _LEARNING_FIELDS},
        "backend": found.backend,
        "complete": found.hit.complete,
        "usage": {
            **{name: getattr(stats, name, 0) for name in _COUNTS},
            **{name: getattr(stats, name, None) for name in _SHARES_AND_TIMES},
        },
    }
