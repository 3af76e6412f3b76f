"""``grove reflect``: from a submission to stored learnings and an open gate."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.errors import ReflectionError, StorageError, TooSoonError
from grove_core.identifiers import new_learning_id
from grove_core.model.events import Reflection, Rejected
from grove_core.model.gate import (
    GateEvent,
    ReflectionResult,
    SkipDecider,
    SkipDecision,
)
from grove_core.model.learning import Candidate, Learning, RejectedCandidate, Scope, Stage
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.project import Project
from grove_core.reflection.candidates import read_enum
from grove_core.reflection.pipeline import PassedCandidate, PipelineResult, learning_from
from grove_core.reflection.secrets import find_leak, without_secrets
from grove_core.reflection.submission import Reference, Submission
from grove_core.services.candidates import Known, evaluate_candidates, gather_known
from grove_core.services.closes import at_work
from grove_core.services.curate import Curator
from grove_core.services.feedback import correct, mark_used, rate, unknown_ids
from grove_core.services.inbox import hand_in, is_shut_out
from grove_core.services.result import Result
from grove_core.services.sessions import (
    SessionUpdate,
    note_skip,
    skip_event,
    ticket_of,
    trace_event,
    update_session,
)
from grove_core.services.storing import SESSION_BACKEND, alone, deliver_outbox, store_learning
from grove_core.text import counted

_DIGEST_LENGTH: Final = 16
_REFUSED_KEPT: Final = 100
_REST: Final = timedelta(seconds=10)


@frozen(kw_only=True)
class _Judged:
    """A submission of a session, and what the stages say of its candidates."""

    session: Session
    sent: Submission
    known: Known
    result: PipelineResult

    @property
    def uncounted(self) -> list[PassedCandidate]:
        """What was stored for this session before, and kept from counting by a crash."""
        written = {one.learning_id for one in self.session.written}
        return [one for one in self.result.repeated if one.learning_id not in written]

    @property
    def reflects(self) -> bool:
        """Whether it counts as a reflection: the same submission pays once."""
        return bool(self.result.accepted or self.uncounted)

    @property
    def skips(self) -> bool:
        """Whether it counts because it says that there is nothing to keep."""
        is_said = self.sent.nothing_learned is not None
        return is_said and not self.reflects and not self.result.repeated

    @property
    def opens(self) -> bool:
        """Whether the gate is open after it."""
        # Sent again because its answer got lost, it has done what it could.
        is_pending = self.session.gate.status.reflection_pending
        is_lost = bool(self.result.repeated) and not is_pending
        return self.reflects or self.skips or is_lost


@frozen(kw_only=True)
class _Stored:
    """A learning that a submission has stored."""

    learning: Learning
    receipt: Receipt
    fingerprint: str
    notes: tuple[str, ...] = ()


def refuse_secrets(project: Project, text: str | None, field: str) -> None:
    """Stop a command before it stores a secret."""
    leak = find_leak(text, project.config.secrets.allow, field)
    if leak is not None:
        raise ReflectionError(f"{leak.reason}; nothing was stored")


def submit(project: Project, session: Session, submission: Submission) -> Result:
    """Take a submission; it fails if no candidate was accepted."""
    sent = _without_secrets(project, submission)
    if is_shut_out(project, session):
        return _leave(project, _judge(project, session, sent))
    # From the duplicate check to the write no other process writes into this project.
    with alone(project):
        judged = _judge(project, session, sent)
        _refuse_haste(project, judged)
        stored = [_store(project, session, one) for one in judged.result.accepted]
    warnings = _correct(project, judged, {one.learning.id: one.learning for one in stored})
    reason = judged.sent.nothing_learned
    if judged.skips and reason is not None:
        session = take_skip(project, session, reason, SkipDecider.AGENT)
    else:
        session = _step(project, judged, stored)
    session = mark_used(project, session, _used(judged), ticket_of(judged.session.gate))
    warnings += _log(project, judged, stored)
    _publish(project, stored)
    return _report(session, judged, stored, warnings)


def take_skip(project: Project, session: Session, reason: str, decider: SkipDecider) -> Session:
    """Record, for the gate and the log, that there is nothing to write down."""
    measured = session.measurement
    decision = SkipDecision(
        reason=reason,
        decider=decider,
        timestamp=project.now,
        lines_changed=measured.lines if measured else None,
    )
    after = _open_gate(project, session, decision)
    project.log_events([skip_event(session.id, decision, ticket_of(session.gate))])
    note_skip(project, decision)
    return after


def try_out(project: Project, session: Session, submission: Submission) -> Result:
    """Report what would become of a submission."""
    judged = _judge(project, session, _without_secrets(project, submission))
    told = _preview(project, judged)
    document = {**(told.document or {}), "dry_run": True, "opens": judged.opens}
    return evolve(told, document=document, lines=[*told.lines, "Nothing was stored or logged."])


# --- before it is stored --------------------------------------------------------------------------


def _without_secrets(project: Project, submission: Submission) -> Submission:
    """Leave out what holds a secret, but for candidates, which are refused for theirs."""
    if not submission.candidates:
        refuse_secrets(project, submission.nothing_learned, "nothing_learned")
    sent, left_out = without_secrets(submission, project.config.secrets.allow)
    unknown = ", ".join(sent.unknown_fields)
    ignored = [f"ignored unknown fields: {unknown}"] if unknown else []
    return evolve(sent, problems=(*left_out, *sent.problems, *ignored))


def _judge(project: Project, session: Session, sent: Submission) -> _Judged:
    """Send the candidates through every stage."""
    known = gather_known(project, session, sent)
    result = evaluate_candidates(project, session, sent, known)
    return _Judged(session=session, sent=sent, known=known, result=result)


def _refuse_haste(project: Project, judged: _Judged) -> None:
    """Stop a flood of reflections, one after the other, that nobody has asked for."""
    session, gate = judged.session, judged.session.gate
    if gate.status.reflection_pending or gate.broken_cycles or not judged.result.accepted:
        return
    own = (*judged.known.learnings, *session.ephemeral)
    times = [one.timestamp for one in own if one.session_id == session.id]
    since = project.now - max(times, default=datetime.min.replace(tzinfo=UTC))
    if timedelta() <= since < _REST:
        raise TooSoonError(
            f"This session stored a reflection {counted(since.seconds, 'second')} ago, and one in"
            f" {_REST.seconds} is enough: put several learnings into one submission, or wait."
        )


# --- storing it -----------------------------------------------------------------------------------


def _store(project: Project, session: Session, one: PassedCandidate) -> _Stored:
    """Store what was accepted under a new id."""
    learning = learning_from(
        one.candidate,
        learning_id=new_learning_id(project.now),
        session_id=session.id,
        ticket_id=ticket_of(session.gate),
        now=project.now,
    )
    receipt = store_learning(project, learning)
    notes = (*one.notes, *([receipt.note] if receipt.note else ()))
    return _Stored(learning=learning, receipt=receipt, fingerprint=one.fingerprint, notes=notes)


def _correct(
    project: Project, judged: _Judged, written: Mapping[str, Candidate], *, dry_run: bool = False
) -> list[str]:
    """Mark what was superseded or said to be wrong; say what of the submission is ignored."""
    sent, session = judged.sent, judged.session
    written = {**written, **{one.learning_id: one.candidate for one in judged.result.repeated}}
    _, objections = correct(project, session.id, sent.corrections, written, dry_run=dry_run)
    unknown = unknown_ids(project, session, (one.id for one in sent.learnings_used))
    unused = (f"the use of {one} was not recorded: no learning has this id" for one in unknown)
    return [*sent.problems, *objections, *unused]


def _step(project: Project, judged: _Judged, stored: Sequence[_Stored]) -> Session:
    """Step the gate, and remember what was written, or why nothing was."""
    result = judged.result
    if judged.opens:
        note_skip(project, None)
    if judged.reflects:
        reflection = ReflectionResult(
            learning_ids=_ids(judged, stored),
            rejected=tuple(result.rejected),
            candidates_produced=len(judged.sent.candidates),
            completed_at=project.now,
        )
        return _open_gate(project, judged.session, reflection, judged.uncounted, stored)
    if judged.opens:
        return judged.session
    vague = [one.summary for one in result.rejected if one.stage is Stage.WRITE_GATE]
    kind, count = EventType.REFLECTION_REFUSED, len(result.rejected)

    def refuse(before: Session) -> SessionUpdate:
        refused = (*before.refused, *vague)[-_REFUSED_KEPT:]
        after = evolve(before, last_rejections=tuple(result.rejected), refused=refused)
        return SessionUpdate(after, trace=[trace_event(kind, project.now, rejected=count)])

    return update_session(project, judged.session, refuse)[0]


def _open_gate(
    project: Project,
    session: Session,
    event: GateEvent,
    found: Sequence[PassedCandidate] = (),
    stored: Sequence[_Stored] = (),
) -> Session:
    """Tell the gate, and keep in the session what was written."""
    detected = at_work(project, session)
    pairs = [(one.fingerprint, one.learning.id) for one in stored]
    pairs += [(one.fingerprint, one.learning_id) for one in found]
    written = [WrittenCandidate(fingerprint=sent, learning_id=name) for sent, name in pairs]
    kept = [one.learning for one in stored if one.receipt.backend == SESSION_BACKEND]

    def change(before: Session) -> SessionUpdate:
        after = evolve(
            before,
            written=(*before.written, *written),
            ephemeral=(*before.ephemeral, *kept),
            last_rejections=(),
            refused=(),
            recovered_from=None,
        )
        return SessionUpdate(session=after, events=[*detected, event])

    return update_session(project, session, change)[0]


def _used(judged: _Judged) -> Sequence[Reference]:
    """List the learnings that were used: those named as such, and shown ones named in the notes."""
    words = {word.strip(".,;:()[]`'\"") for word in judged.sent.notes.split()}
    shown = (one.learning_id for one in judged.session.injected)
    return (*judged.sent.learnings_used, *(Reference(id=one) for one in shown if one in words))


def _ids(judged: _Judged, stored: Sequence[_Stored]) -> tuple[str, ...]:
    repeated = (one.learning_id for one in judged.result.repeated)
    return (*(one.learning.id for one in stored), *repeated)


def _publish(project: Project, stored: Sequence[_Stored]) -> None:
    """Deliver what waits, and write beside a shared learning what hooks keep to themselves."""
    deliver_outbox(project)
    shared = [one for one in stored if one.learning.scope in (Scope.PROJECT, Scope.TEAM)]
    if any(one.receipt.status is ReceiptStatus.STORED for one in shared):
        try:
            Curator(project).archive_hidden()
        except StorageError as error:  # the next reflection tries again
            project.diagnostics.log("error", f"what decay hides was not archived: {error}")
        project.publish_events()
    for one in stored:
        project.plugins.learning_written(one.learning, one.receipt)


# --- the log --------------------------------------------------------------------------------------


def _log(project: Project, judged: _Judged, stored: Sequence[_Stored]) -> Sequence[str]:
    """Log what was stored, refused and rated; in the personal log where any of it is personal."""
    sent, rejected, session = judged.sent, judged.result.rejected, judged.session
    # A reason may quote another candidate of the same submission, or what is personal.
    personal = any(map(_is_personal, sent.candidates)) or any(
        one.rejection.existing_id in judged.known.personal_ids for one in rejected
    )
    criteria = {criterion.value for one in stored for criterion in one.learning.criteria_met}
    reflection = Reflection(
        ts=project.now,
        session_id=session.id,
        candidates=len(sent.candidates),
        accepted=len(stored),
        categories=tuple(sorted({one.learning.category.value for one in stored})),
        criteria=tuple(sorted(criteria)),
        ticket_id=ticket_of(session.gate),
        backend=", ".join(dict.fromkeys(one.receipt.backend for one in stored)),
        digest=_digest(sent.candidates),
    )
    if stored or rejected:
        refusals = (_rejection(project, judged, one) for one in rejected)
        project.log_events([reflection, *refusals], personal=personal)
    # Refused or repeated as a whole, it may be sent again.
    counts = judged.reflects or judged.skips
    ratings = [(one.learning_id, one.useful) for one in sent.ratings] if counts else []
    return rate(project, ratings).warnings


def _rejection(project: Project, judged: _Judged, one: RejectedCandidate) -> Rejected:
    """Describe a refusal for a log that is committed: of a secret nothing but its place."""
    summary, reason = one.summary, one.rejection.reason
    if one.stage is Stage.SECRET:
        # Tells a candidate from others where no word of it may be kept.
        summary = f"(withheld, sha256 {_digest(judged.sent.candidates[one.position])})"
        reason = f"holds what looks like a secret ({one.rejection.field})"
    return Rejected(
        ts=project.now,
        session_id=judged.session.id,
        summary=summary,
        tags=one.tags,
        stage=one.stage.value,
        reason=reason,
    )


def _digest(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    content = json.dumps(raw, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]


def _is_personal(raw: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(raw, Mapping) and read_enum(Scope, raw.get("scope")) is Scope.PERSONAL


# --- results --------------------------------------------------------------------------------------


def _report(
    session: Session, judged: _Judged, stored: Sequence[_Stored], warnings: Sequence[str]
) -> Result:
    """Say what became of the submission."""
    accepted = [
        {
            "id": one.learning.id,
            "summary": one.learning.summary,
            "status": one.receipt.status,
            "backend": one.receipt.backend,
            "location": one.receipt.location,
            "notes": one.notes,
        }
        for one in stored
    ]
    lines = [line for one in stored for line in _lines_of(one)]
    told = evolve(_told(session, judged, accepted, lines, warnings), ids=_ids(judged, stored))
    if judged.opens:
        return evolve(told, lines=[*told.lines, "The gate is open."])
    why = "no candidate was accepted"
    if judged.result.repeated:
        why = "what was accepted has counted already, for an earlier close"
    end = "; the gate stays closed" if session.gate.status.reflection_pending else ""
    document = {**(told.document or {}), "error": f"{why}{end}"}
    return evolve(told, document=document, warnings=(*told.warnings, document["error"]))


def _preview(project: Project, judged: _Judged) -> Result:
    """Say what would become of the submission."""
    by_place = {str(one.position): one.candidate for one in judged.result.accepted}
    warnings = _correct(project, judged, by_place, dry_run=True)
    accepted, lines = [], []
    for one in judged.result.accepted:
        accepted.append({"summary": one.candidate.summary, "notes": one.notes})
        lines.append(f"{one.position + 1}. would be accepted: {one.candidate.summary}")
        lines += _noted(one.notes)
    lines += ["It would count as a skip."] if judged.skips else []
    return _told(judged.session, judged, accepted, lines, warnings)


def _leave(project: Project, judged: _Judged) -> Result:
    """Hand in for the next hook what holds no secret, and say what it is going to refuse."""
    sent, told = judged.sent, _preview(project, judged)
    document, lines = dict(told.document or {}), list(told.lines)
    secret = {one.position for one in judged.result.rejected if one.stage is Stage.SECRET}
    candidates = [one for at, one in enumerate(sent.candidates) if at not in secret]
    if candidates or sent.nothing_learned is not None:
        submission = {
            "candidates": candidates,
            "learnings_used": [{"id": one.id, "how": one.remark} for one in sent.learnings_used],
            "corrections": [{"id": one.id, "why": one.remark} for one in sent.corrections],
            "ratings": [{"id": one.learning_id, "useful": one.useful} for one in sent.ratings],
            "notes": sent.notes,
            "nothing_learned": sent.nothing_learned,
        }
        left = hand_in(project, judged.session, "reflect", submission=submission)
        document |= left.document or {}
        lines += left.lines
    if told.exit_code:
        document["error"] = "What is refused does not count: change it and send it again."
        lines.append(document["error"])
    return evolve(told, document=document, lines=lines)


def _told(
    session: Session,
    judged: _Judged,
    accepted: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    warnings: Sequence[str],
) -> Result:
    """Say what was accepted, and what was not and why: once for those refused for the same."""
    repeated = [one.learning_id for one in judged.result.repeated]
    groups: dict[tuple[str, str], list[RejectedCandidate]] = {}
    for one in judged.result.rejected:
        groups.setdefault((one.stage.value, one.rejection.reason), []).append(one)
    refusals = [
        f"{', '.join(str(one.position + 1) for one in same)}. refused ({stage})"
        + (f" {same[0].summary!r}" if len(same) == 1 else "")
        + f": {reason}"
        for (stage, reason), same in groups.items()
    ]
    return Result(
        document={
            "session_id": session.id,
            "gate": session.gate.status,
            "accepted": accepted,
            "repeated": repeated,
            "rejected": [
                {
                    "position": one.position,
                    "summary": one.summary,
                    "stage": one.stage,
                    "field": one.rejection.field,
                    "reason": one.rejection.reason,
                    "existing_id": one.rejection.existing_id,
                }
                for one in judged.result.rejected
            ],
            "warnings": warnings,
        },
        lines=[*lines, *(f"already stored {one}" for one in repeated)],
        exit_code=0 if judged.opens else 1,
        warnings=(*warnings, *refusals),
    )


def _lines_of(one: _Stored) -> list[str]:
    receipt = one.receipt
    place = receipt.location or receipt.backend
    if receipt.status is ReceiptStatus.QUEUED:
        place = f"waits for the backend {receipt.backend}; delivered with the next reflection"
    elif receipt.backend == SESSION_BACKEND:
        place = "kept in this session only"
    head = f"{receipt.status.value} {one.learning.id} ({place})"
    return [head, f"  {one.learning.summary}", *_noted(one.notes)]


def _noted(notes: Sequence[str]) -> list[str]:
    return [f"  note: {note}" for note in notes]
