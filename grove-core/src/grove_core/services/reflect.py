"""``grove reflect``: from a submission to stored learnings and an open gate."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.errors import ReflectionError, StorageError
from grove_core.event_log import publish
from grove_core.model.events import Rated, Reflection, Rejected, StatsEvent
from grove_core.model.gate import (
    ReflectionAccepted,
    ReflectionResult,
    SkipAccepted,
    SkipDecider,
    SkipDecision,
)
from grove_core.model.learning import (
    Candidate,
    Learning,
    RejectedCandidate,
    Scope,
    Stage,
)
from grove_core.model.memory import ReceiptStatus
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.reflection.candidates import read_enum
from grove_core.reflection.pipeline import (
    PipelineResult,
    candidate_from,
    fingerprint,
)
from grove_core.reflection.secrets import find_leak, without_secrets
from grove_core.reflection.submission import Submission, UsedLearning
from grove_core.services.candidates import evaluate_candidates, gather_known
from grove_core.services.curate import Curator
from grove_core.services.feedback import (
    correct,
    log_corrections,
    mark_used,
    unknown_ids,
)
from grove_core.services.sessions import (
    SessionUpdate,
    skip_event,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.services.storing import (
    SESSION_BACKEND,
    StoredLearning,
    alone,
    deliver_outbox,
    store,
)

_DIGEST_LENGTH: Final = 16
# For a mistake in these sections something may be refused that was meant to pass.
_CONFIGURED_STAGES: Final = (Stage.SECRET, Stage.WRITE_GATE)
_CONFIGURED_SECTIONS: Final = ("secrets", "gate")


@frozen(kw_only=True)
class ReflectionOutcome:
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


def reflect(project: Project, session: Session, submission: Submission) -> ReflectionOutcome:
    """Work through a submission."""
    ticket_id = ticket_of(session.gate)
    submission, left_out = _without_secrets(project, submission)
    # From the duplicate check to the write no other process writes into this project.
    with alone(project):
        known = gather_known(project, session, submission)
        result = evaluate_candidates(project, session, submission, known)
        stored = store(project, session.id, ticket_id, result.accepted)
    outcome = ReflectionOutcome(
        session=session,
        opened=bool(stored or result.repeated or submission.nothing_learned),
        stored=stored,
        repeated=tuple(one.learning_id for one in result.repeated),
        rejected=result.rejected,
    )
    written: dict[str, Learning | Candidate] = {one.learning.id: one.learning for one in stored}
    written |= {one.learning_id: one.candidate for one in result.repeated}
    corrected, objections = correct(project, submission.corrections, written)
    after = _update_session(project, outcome, submission)
    _log(project, outcome, submission, ticket_id, known.personal_ids)
    log_corrections(project, session.id, corrected)
    if _is_new(result, submission):
        _log_ratings(project, submission)
    warnings = _warnings(project, session, submission, result, (left_out, objections))
    used = (*submission.learnings_used, *_named_in_notes(submission, session))
    after = mark_used(project, after, used, ticket_id)
    deliver_outbox(project)
    shared = (one for one in stored if one.learning.scope in (Scope.PROJECT, Scope.TEAM))
    if any(one.receipt.status is ReceiptStatus.STORED for one in shared):
        _publish(project)
    for one in stored:
        project.plugins.learning_written(one.learning, one.receipt)
    return evolve(outcome, session=after, warnings=warnings)


def preview(
    project: Project, session: Session, submission: Submission
) -> tuple[PipelineResult, Sequence[str]]:
    """Evaluate a submission and do nothing else; the second result are warnings."""
    submission, left_out = _without_secrets(project, submission)
    known = gather_known(project, session, submission)
    result = evaluate_candidates(project, session, submission, known)
    candidates = [one.candidate for one in result.accepted]
    candidates += [one.candidate for one in result.repeated]
    written = {str(number): one for number, one in enumerate(candidates)}
    _, objections = correct(project, submission.corrections, written, dry_run=True)
    return result, _warnings(project, session, submission, result, (left_out, objections))


def _is_new(result: PipelineResult, submission: Submission) -> bool:
    """Return whether its ratings count: refused or repeated as a whole, it may be sent again."""
    return bool(result.accepted or (submission.nothing_learned and not result.repeated))


# --- secrets and warnings -------------------------------------------------------------------------


def refuse_secrets(project: Project, text: str | None, field: str) -> None:
    """Stop a command before it stores a secret."""
    leak = find_leak(text, project.config.secrets.allow, field)
    if leak is not None:
        why = "; ".join((leak.text, *_configuration_mistakes(project)))
        raise ReflectionError(f"{why}; nothing was stored")


def _configuration_mistakes(project: Project) -> tuple[str, ...]:
    return tuple(
        f"a mistake in the configuration: {problem}"
        for problem in project.loaded_config.problems
        if not problem.key or problem.key.partition(".")[0] in _CONFIGURED_SECTIONS
    )


def _without_secrets(
    project: Project, submission: Submission
) -> tuple[Submission, tuple[str, ...]]:
    """Take secrets out of everything but the candidates, which are refused for theirs."""
    if not submission.candidates:
        refuse_secrets(project, submission.nothing_learned, "nothing_learned")
    return without_secrets(submission, project.config.secrets.allow)


def _warnings(
    project: Project,
    session: Session,
    submission: Submission,
    result: PipelineResult,
    found: tuple[Sequence[str], Sequence[str]],
) -> tuple[str, ...]:
    """Say what was ignored, and name mistakes for which too much may have been refused."""
    left_out, corrections = found
    asked = any(one.stage in _CONFIGURED_STAGES for one in result.rejected)
    warnings = [*left_out, *(_configuration_mistakes(project) if left_out or asked else ())]
    warnings += submission.problems
    if submission.unknown_fields:
        warnings.append(f"ignored unknown fields: {', '.join(submission.unknown_fields)}")
    warnings += corrections
    used = [one.id for one in submission.learnings_used]
    warnings += [
        f"the use of {unknown} was not recorded: no learning has this id"
        for unknown in unknown_ids(project, session, used)
    ]
    warnings += [
        f"the rating of {one.learning_id} was ignored: no learning has this id"
        for one in submission.ratings
        if _is_new(result, submission) and project.library.get(one.learning_id) is None
    ]
    return tuple(warnings)


# --- session and events ---------------------------------------------------------------------------


def _update_session(
    project: Project, outcome: ReflectionOutcome, submission: Submission
) -> Session:
    """Step the gate, and remember what was written."""
    now = project.now

    def change(session: Session) -> SessionUpdate:
        kept = [one.learning for one in outcome.stored if one.receipt.backend == SESSION_BACKEND]
        written = (
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
            skipped = SkipAccepted(decision=_skip(project, submission))
            return SessionUpdate(session=changed, events=[skipped])
        result = ReflectionResult(
            learning_ids=(*(one.learning.id for one in outcome.stored), *outcome.repeated),
            rejected=outcome.rejected,
            candidates_produced=len(submission.candidates),
            completed_at=now,
        )
        return SessionUpdate(session=changed, events=[ReflectionAccepted(result=result)])

    session, _ = update_session(project, outcome.session, change, cause="reflection")
    return session


def _skip(project: Project, submission: Submission) -> SkipDecision:
    return SkipDecision(
        reason=submission.nothing_learned or "",
        decider=SkipDecider.AGENT,
        timestamp=project.now,
    )


def _log(
    project: Project,
    outcome: ReflectionOutcome,
    submission: Submission,
    ticket_id: str | None,
    personal_ids: Collection[str],
) -> None:
    """Log what was stored, skipped and refused; what is personal goes into the personal log."""
    session_id = outcome.session.id
    candidates = submission.candidates
    kinds = sorted(set(map(_is_personal, candidates)))
    events: list[tuple[StatsEvent, bool]] = []
    if outcome.stored or outcome.rejected:
        for personal in kinds:
            event = _reflection(project, outcome, ticket_id, candidates, personal)
            events.append((event, personal))
    if outcome.is_skip:
        skipped = skip_event(session_id, _skip(project, submission), ticket_id)
        events.append((skipped, False))
    for one in outcome.rejected:
        raw, existing = candidates[one.position], one.rejection.existing_id
        # A reason may quote another candidate of the same submission, or what is personal.
        quotes_another = one.stage is Stage.DUPLICATE and existing is None
        personal = (
            _is_personal(raw) or existing in personal_ids or (True in kinds and quotes_another)
        )
        events.append((_rejection(project, session_id, one, raw), personal))
    project.log_by_area(events)


def _reflection(
    project: Project,
    outcome: ReflectionOutcome,
    ticket_id: str | None,
    candidates: Sequence[Any],
    personal: bool,  # noqa: FBT001 - which log it goes to
) -> Reflection:
    own = [one for one in outcome.stored if (one.learning.scope is Scope.PERSONAL) is personal]
    criteria = {criterion.value for one in own for criterion in one.learning.criteria_met}
    return Reflection(
        ts=project.now,
        session_id=outcome.session.id,
        candidates=sum(_is_personal(one) is personal for one in candidates),
        accepted=len(own),
        categories=tuple(sorted({one.learning.category.value for one in own})),
        criteria=tuple(sorted(criteria)),
        ticket_id=ticket_id,
        backend=", ".join(dict.fromkeys(one.receipt.backend for one in own)),
    )


def _rejection(
    project: Project,
    session_id: str,
    rejected: RejectedCandidate,
    raw: Any,  # noqa: ANN401 - any JSON value
) -> Rejected:
    """Describe a refusal for a log that is committed: of a secret nothing but where it stood."""
    summary, reason = rejected.summary, rejected.rejection.reason
    if rejected.stage is Stage.SECRET:
        # Tells a candidate from others where no word of it may be kept.
        content = json.dumps(raw, sort_keys=True, ensure_ascii=True, default=str)
        digest = hashlib.sha256(content.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]
        summary = f"(withheld, sha256 {digest})"
        reason = f"holds what looks like a secret ({rejected.rejection.field})"
    return Rejected(
        ts=project.now,
        session_id=session_id,
        summary=summary,
        tags=rejected.tags,
        stage=rejected.stage.value,
        reason=reason,
    )


def _is_personal(raw: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(raw, Mapping) and read_enum(Scope, raw.get("scope")) is Scope.PERSONAL


def _log_ratings(project: Project, submission: Submission) -> None:
    found = ((one, project.library.get(one.learning_id)) for one in submission.ratings)
    project.log_by_area(
        [
            (
                Rated(ts=project.now, learning_id=one.learning_id, useful=one.useful),
                stored.area is Area.PERSONAL,
            )
            for one, stored in found
            if stored is not None
        ],
    )


# --- afterwards -----------------------------------------------------------------------------------


def _publish(project: Project) -> None:
    """Write beside the learning what hooks keep to themselves; what fails now is for next time."""
    try:
        Curator(project).archive_hidden()
        if project.files.initialised and project.config.stats.share:
            publish(project.files, project.now)
    except StorageError as error:
        project.diagnostics.log("error", f"events were not published: {error}")


def _named_in_notes(submission: Submission, session: Session) -> Iterable[UsedLearning]:
    """Find shown learnings whose ids stand in the notes."""
    words = {word.strip(".,;:()[]`'\"") for word in submission.notes.split()}
    shown = (one.learning_id for one in session.injected)
    return [UsedLearning(id=one) for one in shown if one in words]
