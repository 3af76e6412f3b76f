"""``grove reflect``: from a submission to stored learnings and an open gate."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from grove_core import files
from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.flow.gatekeeper import Change, current_ticket, move, skip_event, ticket_of
from grove_core.flow.references import mark_used, unknown_ids
from grove_core.flow.reflection_log import log_corrections, log_reflection, log_rejections
from grove_core.flow.storing import (
    SESSION_BACKEND,
    StoredLearning,
    deliver_outbox,
    route,
    store,
)
from grove_core.memory.backends import FoundLearning
from grove_core.model.gate import ReflectionAccepted, SkipAccepted
from grove_core.model.learning import (
    Candidate,
    Learning,
    LearningStatus,
    RejectedCandidate,
    Rejection,
    Stage,
)
from grove_core.model.reflection import ReflectionResult, SkipDecider, SkipDecision
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area, ReflectionContext
from grove_core.reflection.duplicates import fingerprint
from grove_core.reflection.funnel import CheckStage, SiftResult, sift
from grove_core.reflection.submission import Submission, UsedLearning
from grove_core.tracing import event
from grove_core.workspace import Workspace

_LOCK_SECONDS: Final = 30.0


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionOutcome(Value):
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

    @property
    def is_skip(self) -> bool:
        """Whether it counts because it says that there is nothing to keep."""
        return self.opened and not self.stored and not self.repeated


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
        sifted, routed = route(workspace, _sift(workspace, session, submission, existing))
        stored = store(workspace, session.id, ticket_id, routed)
    outcome = ReflectionOutcome(
        session=session,
        opened=bool(stored or sifted.repeated or submission.nothing_learned),
        stored=stored,
        repeated=tuple(one.learning_id for one in sifted.repeated),
        rejected=sifted.rejected,
        warnings=(*submission.problems, *_named(submission.unknown_fields)),
    )
    written = {one.learning.id: one.learning.supersedes for one in stored}
    written |= {one.learning_id: one.candidate.supersedes for one in sifted.repeated}
    corrected, warnings = _correct(workspace, submission, written)
    said_to_be_used = [one.id for one in submission.learnings_used]
    warnings += [
        f"the use of {unknown} was not recorded: no learning has this id"
        for unknown in unknown_ids(workspace, session, said_to_be_used)
    ]
    after = _settle(workspace, outcome, submission)
    if stored or sifted.rejected:
        log_reflection(workspace, session.id, ticket_id, submission.candidates, stored)
    if outcome.is_skip:
        workspace.log_events([skip_event(session.id, _skip(workspace, submission), ticket_id)])
    personal_ids = {one.hit.learning.id for one in existing if one.area is Area.PERSONAL}
    candidates = submission.candidates
    log_rejections(workspace, session.id, candidates, sifted.rejected, personal_ids)
    log_corrections(workspace, session.id, corrected)
    used = (*submission.learnings_used, *_named_in_notes(submission, session))
    after = mark_used(workspace, after, used, ticket_id)
    deliver_outbox(workspace)
    for one in stored:
        workspace.plugins.learning_written(one.learning, one.receipt)
    return evolve(outcome, session=after, warnings=(*outcome.warnings, *warnings))


def _sift(
    workspace: Workspace,
    session: Session,
    submission: Submission,
    existing: Sequence[FoundLearning],
) -> SiftResult:
    waiting = [entry.learning for entry in workspace.outbox.entries(workspace.root)]
    learnings = [*(one.hit.learning for one in existing), *waiting]
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
        ticket=current_ticket(session.gate),
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
        if outcome.is_skip:
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


def _correct(
    workspace: Workspace, submission: Submission, written: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, str | None], list[str]]:
    """Mark what was superseded; give back what was corrected and by what.

    Learnings that this session had written before are looked at again: a crash may have come
    between their writing and this.
    """
    warnings: list[str] = []
    corrected: dict[str, str | None] = {}
    for one in submission.corrections:
        if workspace.library.get(one.id) is None:
            warnings.append(f"the correction of {one.id} was ignored: no learning has this id")
        else:
            corrected[one.id] = None
    for new, superseded in written.items():
        for old in superseded:
            found = workspace.library.get(old)
            if found is not None and found.hit.learning.status is LearningStatus.SUPERSEDED:
                continue
            try:
                workspace.library.set_status(old, LearningStatus.SUPERSEDED, f"by {new}")
                corrected[old] = new
            except (LearningNotFoundError, BackendError, StorageError) as error:
                warnings.append(f"{old} was not marked as superseded: {error}")
    return corrected, warnings


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
