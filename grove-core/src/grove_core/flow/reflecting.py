"""``grove reflect``: from a submission to stored learnings and an open gate."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from attrs import evolve, frozen

from grove_core import files
from grove_core.errors import BackendError, GroveError, LearningNotFoundError, StorageError
from grove_core.flow.gatekeeper import Change, move, skip_event, ticket_of
from grove_core.flow.references import mark_used
from grove_core.identifiers import new_learning_id
from grove_core.memory.library import FoundLearning, queued_receipt
from grove_core.model.events import Corrected, Reflection, Rejected, StatsEvent
from grove_core.model.gate import ReflectionAccepted, SkipAccepted
from grove_core.model.learning import (
    Candidate,
    Learning,
    LearningStatus,
    RejectedCandidate,
    Rejection,
    Scope,
    Stage,
)
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.model.reflection import ReflectionResult, SkipDecider, SkipDecision
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.plugins.descriptors import Area, ReflectionContext
from grove_core.reflection.duplicates import fingerprint
from grove_core.reflection.funnel import CheckStage, SiftResult, learning_from, sift
from grove_core.reflection.schema import read_enum
from grove_core.reflection.submission import Submission, UsedLearning
from grove_core.tracing import event
from grove_core.workspace import Workspace

SESSION_BACKEND: Final = "session"
_LOCK_SECONDS: Final = 30.0


@frozen(kw_only=True)
class StoredLearning:
    """A learning that a submission has stored.

    Attributes:
        learning: The learning.
        receipt: Where it is now.
        notes: What was cleaned up in it, a sentence each.
    """

    learning: Learning
    receipt: Receipt
    notes: tuple[str, ...] = ()


@frozen(kw_only=True)
class ReflectionOutcome:
    """What became of a submission.

    Attributes:
        session: The session afterwards.
        opened: Whether the submission counts as a reflection or a skip.
        stored: What was stored now.
        repeated: Ids of learnings that this session had stored already.
        rejected: What was refused.
        warnings: What was ignored or went wrong besides, a sentence each.
    """

    session: Session
    opened: bool
    stored: tuple[StoredLearning, ...] = ()
    repeated: tuple[str, ...] = ()
    rejected: tuple[RejectedCandidate, ...] = ()
    warnings: tuple[str, ...] = ()


def reflect(workspace: Workspace, session: Session, submission: Submission) -> ReflectionOutcome:
    """Work through a submission.

    Args:
        workspace: The project.
        session: The session that submits, as stored.
        submission: What it submits.

    Returns:
        What became of it.

    Raises:
        StorageError: An accepted learning could be neither delivered nor kept; nothing counts then.
    """
    ticket_id = ticket_of(session.gate)
    lock = workspace.project_cache / "reflect.lock"
    files.make_directory(lock.parent)
    # From the duplicate check to the write nobody else writes into this project.
    with files.locked(lock, timeout=_LOCK_SECONDS):
        existing = tuple(workspace.library.iterate())
        sifted = _sift(workspace, session, submission, existing)
        sifted, routed = _route(workspace, sifted)
        stored = _store(workspace, session, ticket_id, routed)
    outcome = ReflectionOutcome(
        session=session,
        opened=bool(stored or sifted.repeated or submission.nothing_learned),
        stored=tuple(stored),
        repeated=tuple(one.learning_id for one in sifted.repeated),
        rejected=sifted.rejected,
        warnings=(*submission.problems, *_named(submission.unknown_fields)),
    )
    corrected, warnings = _correct(workspace, submission, stored)
    after = _settle(workspace, outcome, submission)
    personal_ids = {one.hit.learning.id for one in existing if one.area is Area.PERSONAL}
    _log(workspace, session.id, ticket_id, submission, outcome)
    _log_rejections(workspace, session.id, submission, outcome.rejected, personal_ids)
    _log_corrections(workspace, session, corrected)
    used = (*submission.learnings_used, *_named_in_notes(submission, session))
    after = mark_used(workspace, after, used, ticket_id)
    _deliver_outbox(workspace)
    for one in outcome.stored:
        workspace.plugins.learning_written(one.learning, one.receipt)
    return evolve(outcome, session=after, warnings=(*outcome.warnings, *warnings))


def _sift(
    workspace: Workspace,
    session: Session,
    submission: Submission,
    existing: Sequence[FoundLearning],
) -> SiftResult:
    learnings = [one.hit.learning for one in existing]
    written = {one.fingerprint: one.learning_id for one in session.written}
    # What this session has stored counts as its own even if a crash kept it from saying so.
    written |= {
        fingerprint(_as_candidate(learning)): learning.id
        for learning in learnings
        if learning.session_id == session.id
    }
    context = ReflectionContext(
        root=workspace.root,
        session_id=session.id,
        ticket=session.gate.cycle.tickets[0]
        if session.gate.cycle and session.gate.cycle.tickets
        else session.gate.ticket,
        now=workspace.now,
    )
    return sift(
        submission.candidates,
        existing=[one for one in learnings if one.status is LearningStatus.ACTIVE],
        written=written,
        root=workspace.root,
        checks=[CheckStage(stage=Stage.PLUGIN, check=_plugins_check(workspace, context))],
    )


def _plugins_check(
    workspace: Workspace, context: ReflectionContext
) -> Callable[[Candidate], Rejection | None]:
    def check(candidate: Candidate) -> Rejection | None:
        objections = workspace.plugins.check_candidate(candidate, context)
        return objections[0].value if objections else None

    return check


def _route(
    workspace: Workspace, sifted: SiftResult
) -> tuple[SiftResult, list[tuple[Candidate, tuple[str, ...]]]]:
    """Refuse what no backend can take; give back what can be stored."""
    routed: list[tuple[Candidate, tuple[str, ...]]] = []
    refused: list[RejectedCandidate] = []
    for one in sifted.accepted:
        reason = _why_not(workspace, one.candidate.scope)
        if reason is None:
            routed.append((one.candidate, one.notes))
            continue
        refused.append(
            RejectedCandidate(
                position=one.position,
                summary=one.candidate.summary,
                tags=one.candidate.tags,
                stage=Stage.ROUTING,
                rejection=Rejection(reason=reason, field="scope"),
            )
        )
    rejected = sorted((*sifted.rejected, *refused), key=lambda one: one.position)
    return evolve(sifted, rejected=tuple(rejected)), routed


def _why_not(workspace: Workspace, scope: Scope) -> str | None:
    """Tell why a learning of some scope cannot be stored here, if it cannot."""
    if scope is Scope.EPHEMERAL:
        return None
    if scope is Scope.PERSONAL:
        if workspace.library.target_for(scope) is not None:
            return None
        return (
            "no installed backend keeps personal learnings; install grove-backend-markdown or"
            " submit it with another scope"
        )
    if not workspace.project.initialised and not _has_ticket_system(workspace):
        return (
            f"{workspace.root} does not use grove yet; run `grove init` there, or submit it with"
            ' scope "personal"'
        )
    if workspace.library.target_for(scope) is not None:
        return None
    return (
        "no memory backend is installed that works here; install grove-backend-markdown"
        " (`grove backends` lists what there is)"
    )


def _has_ticket_system(workspace: Workspace) -> bool:
    return any(
        system.takes_part and not system.probe.per_session for system in workspace.tickets().all
    )


def _store(
    workspace: Workspace,
    session: Session,
    ticket_id: str | None,
    routed: Sequence[tuple[Candidate, tuple[str, ...]]],
) -> list[StoredLearning]:
    stored: list[StoredLearning] = []
    for candidate, notes in routed:
        learning = learning_from(
            candidate,
            learning_id=new_learning_id(workspace.now),
            session_id=session.id,
            ticket_id=ticket_id,
            now=workspace.now,
        )
        receipt = _deliver(workspace, learning)
        stored.append(StoredLearning(learning=learning, receipt=receipt, notes=notes))
    return stored


def _deliver(workspace: Workspace, learning: Learning) -> Receipt:
    """Write to the backend, else into the outbox; ephemeral ones may stay in the session."""
    target = workspace.library.target_for(learning.scope)
    if target is None:
        return Receipt(
            learning_id=learning.id, status=ReceiptStatus.STORED, backend=SESSION_BACKEND
        )
    receipt = workspace.library.write(target, learning)
    if receipt is not None:
        return receipt
    workspace.outbox.put(learning, workspace.root, workspace.now)
    name = target.backend.name
    workspace.diagnostics.log(
        "warning", f"{learning.id} waits in the outbox for the backend {name}"
    )
    return queued_receipt(learning, name)


def _settle(workspace: Workspace, outcome: ReflectionOutcome, submission: Submission) -> Session:
    """Tell the gate, and remember what was written."""
    now = workspace.now

    def change(session: Session) -> Change:
        kept = tuple(
            one.learning for one in outcome.stored if one.receipt.backend == SESSION_BACKEND
        )
        written = tuple(
            WrittenCandidate(
                fingerprint=fingerprint(_as_candidate(one.learning)), learning_id=one.learning.id
            )
            for one in outcome.stored
        )
        changed = evolve(
            session,
            written=(*session.written, *written),
            ephemeral=(*session.ephemeral, *kept),
            last_rejections=() if outcome.opened else outcome.rejected,
            recovered_from=None if outcome.opened else session.recovered_from,
        )
        if not outcome.opened:
            refused = event(EventType.REFLECTION_REFUSED, now, rejected=len(outcome.rejected))
            return Change(session=changed, trace=[refused])
        if not outcome.stored and not outcome.repeated and submission.nothing_learned:
            return Change(
                session=changed, events=[SkipAccepted(decision=_skip(workspace, submission))]
            )
        result = ReflectionResult(
            learning_ids=(*(one.learning.id for one in outcome.stored), *outcome.repeated),
            rejected=outcome.rejected,
            candidates_produced=len(submission.candidates),
            completed_at=now,
        )
        return Change(session=changed, events=[ReflectionAccepted(result=result)])

    session = outcome.session
    moved = move(workspace, session.id, change, absent=lambda: session, cause="reflection")
    return moved.session


def _skip(workspace: Workspace, submission: Submission) -> SkipDecision:
    return SkipDecision(
        reason=submission.nothing_learned or "",
        decider=SkipDecider.AGENT,
        timestamp=workspace.now,
    )


def _log(
    workspace: Workspace,
    session_id: str,
    ticket_id: str | None,
    submission: Submission,
    outcome: ReflectionOutcome,
) -> None:
    learnings = [one.learning for one in outcome.stored]
    events: list[StatsEvent] = []
    if submission.candidates:
        criteria = {criterion.value for one in learnings for criterion in one.criteria_met}
        backends = dict.fromkeys(one.receipt.backend for one in outcome.stored)
        events.append(
            Reflection(
                ts=workspace.now,
                session_id=session_id,
                candidates=len(submission.candidates),
                accepted=len(learnings),
                categories=tuple(sorted({one.category.value for one in learnings})),
                criteria=tuple(sorted(criteria)),
                ticket_id=ticket_id,
                backend=", ".join(backends),
            )
        )
    elif submission.nothing_learned:
        events.append(skip_event(session_id, _skip(workspace, submission), ticket_id))
    workspace.log_events(events)


def _log_rejections(
    workspace: Workspace,
    session_id: str,
    submission: Submission,
    rejected: Sequence[RejectedCandidate],
    personal_ids: AbstractSet[str],
) -> None:
    """Log what was refused; what quotes a personal learning stays personal as well."""
    for personal in (False, True):
        events = [
            _rejected_event(workspace, session_id, one)
            for one in rejected
            if personal
            is (
                _is_personal(submission.candidates[one.position])
                or one.rejection.existing_id in personal_ids
            )
        ]
        workspace.log_events(events, personal=personal)


def _rejected_event(workspace: Workspace, session_id: str, rejected: RejectedCandidate) -> Rejected:
    return Rejected(
        ts=workspace.now,
        session_id=session_id,
        summary=rejected.summary,
        tags=rejected.tags,
        stage=rejected.stage.value,
        reason=rejected.rejection.reason,
    )


def _is_personal(raw: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(raw, Mapping) and read_enum(Scope, raw.get("scope")) is Scope.PERSONAL


def _correct(
    workspace: Workspace, submission: Submission, stored: Sequence[StoredLearning]
) -> tuple[dict[str, str | None], list[str]]:
    """Mark what was superseded; give back what was corrected and by what."""
    corrected: dict[str, str | None] = {one.id: None for one in submission.corrections}
    warnings: list[str] = []
    for one in stored:
        for old in one.learning.supersedes:
            try:
                workspace.library.set_status(
                    old, LearningStatus.SUPERSEDED, f"by {one.learning.id}"
                )
                corrected[old] = one.learning.id
            except (LearningNotFoundError, BackendError, StorageError) as error:
                warnings.append(f"{old} was not marked as superseded: {error}")
    return corrected, warnings


def _log_corrections(
    workspace: Workspace, session: Session, corrected: Mapping[str, str | None]
) -> None:
    for learning_id, successor in corrected.items():
        found = workspace.library.get(learning_id)
        if found is None:
            continue
        correction = Corrected(
            ts=workspace.now,
            learning_id=learning_id,
            session_id=session.id,
            superseded_by=successor,
        )
        workspace.log_events([correction], personal=found.area is Area.PERSONAL)


def _named_in_notes(submission: Submission, session: Session) -> Sequence[UsedLearning]:
    """Find shown learnings whose ids stand in the notes."""
    words = {word.strip(".,;:()[]`'\"") for word in submission.notes.split()}
    return [
        UsedLearning(id=one.learning_id, how=None)
        for one in session.injected
        if one.learning_id in words
    ]


def _named(fields: Sequence[str]) -> tuple[str, ...]:
    return (f"ignored unknown fields: {', '.join(fields)}",) if fields else ()


def _deliver_outbox(workspace: Workspace) -> None:
    try:
        receipts = workspace.outbox.deliver(workspace.library, workspace.root)
    except (GroveError, OSError) as error:
        workspace.diagnostics.log("warning", f"the outbox could not be delivered: {error}")
        return
    for receipt in receipts:
        workspace.diagnostics.log(
            "info", f"{receipt.learning_id} was delivered from the outbox to {receipt.backend}"
        )


def _as_candidate(learning: Learning) -> Candidate:
    return Candidate(
        category=learning.category,
        summary=learning.summary,
        detail=learning.detail,
        scope=learning.scope,
        confidence=learning.confidence,
        criteria_met=learning.criteria_met,
        tags=learning.tags,
        context_files=learning.context_files,
        supersedes=learning.supersedes,
    )
