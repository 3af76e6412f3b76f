"""``grove reflect``: from a submission to stored learnings and an open gate."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import StorageError
from grove_core.event_log import publish
from grove_core.flow.correcting import correct, foreseen_warnings
from grove_core.flow.decaying import archive_hidden
from grove_core.flow.judging import gather_known, judge_candidates
from grove_core.flow.references import mark_used, unknown_ids
from grove_core.flow.reflection_log import (
    log_corrections,
    log_ratings,
    log_reflection,
    log_rejections,
    unknown_ratings,
)
from grove_core.flow.secret_refusals import configuration_mistakes, refuse_secrets
from grove_core.flow.storing import (
    SESSION_BACKEND,
    StoredLearning,
    alone,
    deliver_outbox,
    route,
    store,
)
from grove_core.model.gate import ReflectionAccepted, SkipAccepted
from grove_core.model.learning import (
    Candidate,
    Learning,
    RejectedCandidate,
    Scope,
    Stage,
)
from grove_core.model.memory import ReceiptStatus
from grove_core.model.reflection import ReflectionResult, SkipDecider, SkipDecision
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.model.value import Value
from grove_core.reflection.pipeline import PipelineResult, candidate_from, fingerprint
from grove_core.reflection.secrets import without_secrets
from grove_core.reflection.submission import Submission, UsedLearning
from grove_core.services.sessions import (
    SessionUpdate,
    skip_event,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.workspace import Workspace

_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0
_CONFIGURED_STAGES: Final = (Stage.SECRET, Stage.WRITE_GATE)


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionOutcome(Value):
    """What became of a submission."""

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


@frozen(kw_only=True, eq=False, repr=False)
class ReflectionPreview(Value):
    """What would become of a submission."""

    session: Session
    result: PipelineResult
    nothing_learned: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def opens(self) -> bool:
        """Whether the submission would count as a reflection or a skip."""
        return bool(self.result.accepted or self.result.repeated or self.nothing_learned)


def reflect(workspace: Workspace, session: Session, submission: Submission) -> ReflectionOutcome:
    """Work through a submission."""
    ticket_id = ticket_of(session.gate)
    submission, left_out = _screened(workspace, submission)
    # From the duplicate check to the write nobody else writes into this project.
    patience = _SLOW_LOCK_SECONDS if workspace.library.is_slow else _LOCK_SECONDS
    with alone(workspace, patience):
        known = gather_known(workspace, session, submission)
        result, routed = route(workspace, judge_candidates(workspace, session, submission, known))
        stored = store(workspace, session.id, ticket_id, routed)
    outcome = ReflectionOutcome(
        session=session,
        opened=bool(stored or result.repeated or submission.nothing_learned),
        stored=stored,
        repeated=tuple(one.learning_id for one in result.repeated),
        rejected=result.rejected,
        warnings=_beside(workspace, submission, left_out, result),
    )
    written: dict[str, Learning | Candidate] = {one.learning.id: one.learning for one in stored}
    written |= {one.learning_id: one.candidate for one in result.repeated}
    corrected, warnings = correct(workspace, submission.corrections, written)
    warnings += _unknown_uses(workspace, session, submission)
    after = _settle(workspace, outcome, submission)
    if stored or result.rejected:
        log_reflection(workspace, session.id, ticket_id, submission.candidates, stored)
    if outcome.is_skip:
        workspace.log_events([skip_event(session.id, _skip(workspace, submission), ticket_id)])
    candidates = submission.candidates
    log_rejections(workspace, session.id, candidates, result.rejected, known.personal_ids)
    log_corrections(workspace, session.id, corrected)
    if outcome.opened and (stored or not result.repeated):
        # Sent again, a submission writes nothing again; refused, it may be sent again.
        warnings += log_ratings(workspace, submission.ratings)
    used = (*submission.learnings_used, *_named_in_notes(submission, session))
    after = mark_used(workspace, after, used, ticket_id)
    deliver_outbox(workspace)
    if any(_is_shared(one) for one in stored):
        _write_what_else_is_known(workspace)
    for one in stored:
        workspace.plugins.learning_written(one.learning, one.receipt)
    return evolve(outcome, session=after, warnings=(*outcome.warnings, *warnings))


def preview(workspace: Workspace, session: Session, submission: Submission) -> ReflectionPreview:
    """Judge a submission and do nothing else."""
    submission, left_out = _screened(workspace, submission)
    known = gather_known(workspace, session, submission)
    result, _ = route(workspace, judge_candidates(workspace, session, submission, known))
    return ReflectionPreview(
        session=session,
        result=result,
        nothing_learned=submission.nothing_learned,
        warnings=(
            *_beside(workspace, submission, left_out, result),
            *_foreseen(workspace, session, submission, result),
        ),
    )


def _screened(workspace: Workspace, submission: Submission) -> tuple[Submission, tuple[str, ...]]:
    """Take secrets out of everything but the candidates, which are refused for theirs."""
    if not submission.candidates:
        refuse_secrets(workspace, submission.nothing_learned, "nothing_learned")
    return without_secrets(submission, workspace.config.secrets.allow)


def _beside(
    workspace: Workspace, submission: Submission, left_out: Sequence[str], result: PipelineResult
) -> tuple[str, ...]:
    """Name what was ignored in reading, and mistakes for which too much may have been refused."""
    asked = any(one.stage in _CONFIGURED_STAGES for one in result.rejected)
    mistakes = configuration_mistakes(workspace) if left_out or asked else ()
    return (*left_out, *mistakes, *submission.problems, *_named(submission.unknown_fields))


def _foreseen(
    workspace: Workspace, session: Session, submission: Submission, result: PipelineResult
) -> list[str]:
    """Return what the submission itself would warn of besides."""
    candidates = [one.candidate for one in result.accepted]
    candidates += [one.candidate for one in result.repeated]
    warnings = foreseen_warnings(workspace, submission.corrections, candidates)
    warnings += _unknown_uses(workspace, session, submission)
    if result.accepted or (submission.nothing_learned and not result.repeated):
        warnings += unknown_ratings(workspace, submission.ratings)
    return warnings


def _unknown_uses(workspace: Workspace, session: Session, submission: Submission) -> list[str]:
    said_to_be_used = [one.id for one in submission.learnings_used]
    return [
        f"the use of {unknown} was not recorded: no learning has this id"
        for unknown in unknown_ids(workspace, session, said_to_be_used)
    ]


def _settle(workspace: Workspace, outcome: ReflectionOutcome, submission: Submission) -> Session:
    """Tell the gate, and remember what was written."""
    now = workspace.now

    def change(session: Session) -> SessionUpdate:
        kept = tuple(
            one.learning for one in outcome.stored if one.receipt.backend == SESSION_BACKEND
        )
        written = tuple(
            WrittenCandidate(
                fingerprint=fingerprint(candidate_from(one.learning)), learning_id=one.learning.id
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
            refused = trace_event(EventType.REFLECTION_REFUSED, now, rejected=len(outcome.rejected))
            return SessionUpdate(session=changed, trace=[refused])
        if outcome.is_skip:
            return SessionUpdate(
                session=changed, events=[SkipAccepted(decision=_skip(workspace, submission))]
            )
        result = ReflectionResult(
            learning_ids=(*(one.learning.id for one in outcome.stored), *outcome.repeated),
            rejected=outcome.rejected,
            candidates_produced=len(submission.candidates),
            completed_at=now,
        )
        return SessionUpdate(session=changed, events=[ReflectionAccepted(result=result)])

    session = outcome.session
    session, _ = update_session(
        workspace, session.id, change, absent=lambda: session, cause="reflection"
    )
    return session


def _is_shared(one: StoredLearning) -> bool:
    shared = one.learning.scope in (Scope.PROJECT, Scope.TEAM)
    return shared and one.receipt.status is ReceiptStatus.STORED


def _write_what_else_is_known(workspace: Workspace) -> None:
    """Write beside the learning what hooks keep to themselves; what fails now is for next time."""
    try:
        archive_hidden(workspace)
        if workspace.project.initialised and workspace.config.stats.share:
            publish(workspace.project, workspace.now)
    except StorageError as error:
        workspace.diagnostics.log("error", f"events were not published: {error}")


def _skip(workspace: Workspace, submission: Submission) -> SkipDecision:
    return SkipDecision(
        reason=submission.nothing_learned or "",
        decider=SkipDecider.AGENT,
        timestamp=workspace.now,
    )


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
