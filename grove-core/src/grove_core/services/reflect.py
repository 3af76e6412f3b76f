"""``grove reflect``: from a submission to stored learnings and an open gate."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.errors import ReflectionError, StorageError, TooSoonError
from grove_core.identifiers import new_learning_id
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
    Rejection,
    Scope,
    Stage,
)
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.model.session import EventType, Session, WrittenCandidate
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.reflection.candidates import read_candidate, read_enum
from grove_core.reflection.pipeline import PassedCandidate, learning_from
from grove_core.reflection.secrets import find_leak, without_secrets
from grove_core.reflection.submission import Reference, Submission
from grove_core.services.candidates import evaluate_candidates, gather_known
from grove_core.services.closes import at_work
from grove_core.services.curate import Curator
from grove_core.services.feedback import correct, mark_used, unknown_ids
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

_DIGEST_LENGTH: Final = 16
_REFUSED_KEPT: Final = 100
_REST: Final = timedelta(seconds=10)


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
        raise ReflectionError(f"{leak.text}; nothing was stored")


def submit(project: Project, session: Session, submission: Submission) -> Result:
    """Take a submission; it fails if no candidate was accepted."""
    work = _Work(project, session, submission)
    if is_shut_out(project, session):
        work.evaluate()
        work.correct(dry_run=True)
        return work.leave()
    # From the duplicate check to the write no other process writes into this project.
    with alone(project):
        work.evaluate()
        work.refuse_haste()
        work.store()
    work.correct()
    work.update_session()
    work.log()
    work.publish()
    return work.report()


def try_out(project: Project, session: Session, submission: Submission) -> Result:
    """Report what would become of a submission, and what the write gate thinks of it."""
    work = _Work(project, session, submission)
    work.evaluate()
    work.correct(dry_run=True)
    return work.preview()


class _Work:
    """A submission on its way to the memory, the session and the logs."""

    def __init__(self, project: Project, session: Session, submission: Submission) -> None:
        self._project = project
        self._session = session
        self._ticket_id = ticket_of(session.gate)
        if not submission.candidates:
            refuse_secrets(project, submission.nothing_learned, "nothing_learned")
        # Candidates are refused for theirs.
        self._sent, left_out = without_secrets(submission, project.config.secrets.allow)
        self._warnings = [*left_out, *self._sent.problems]
        if self._sent.unknown_fields:
            unknown = ", ".join(self._sent.unknown_fields)
            self._warnings.append(f"ignored unknown fields: {unknown}")
        self._stored: list[_Stored] = []
        self._detected = at_work(project, session)

    def evaluate(self) -> None:
        """Send the candidates through every stage."""
        self._known = gather_known(self._project, self._session, self._sent)
        self._result = evaluate_candidates(self._project, self._session, self._sent, self._known)

    def refuse_haste(self) -> None:
        """Stop a flood of reflections, one after the other, that nobody has asked for."""
        gate = self._session.gate
        if gate.status.reflection_pending or gate.broken_cycles or not self._result.accepted:
            return
        own = (*self._known.learnings, *self._session.ephemeral)
        times = [one.timestamp for one in own if one.session_id == self._session.id]
        since = self._project.now - max(times, default=datetime.min.replace(tzinfo=UTC))
        if timedelta() <= since < _REST:
            raise TooSoonError(
                f"This session stored a reflection {since.seconds} seconds ago, and one in"
                f" {_REST.seconds} is enough: put several learnings into one submission, or wait."
            )

    def store(self) -> None:
        """Store what was accepted under new ids."""
        for one in self._result.accepted:
            learning = learning_from(
                one.candidate,
                learning_id=new_learning_id(self._project.now),
                session_id=self._session.id,
                ticket_id=self._ticket_id,
                now=self._project.now,
            )
            receipt = store_learning(self._project, learning)
            notes = (*one.notes, *([receipt.note] if receipt.note else ()))
            self._stored.append(
                _Stored(
                    learning=learning, receipt=receipt, fingerprint=one.fingerprint, notes=notes
                )
            )

    def _is_counted(self, one: PassedCandidate) -> bool:
        return one.learning_id in {each.learning_id for each in self._session.written}

    @property
    def _counts(self) -> bool:
        """Whether it holds what has not counted yet: the same submission pays once."""
        return bool(self._result.accepted) or not all(map(self._is_counted, self._result.repeated))

    @property
    def _opens(self) -> bool:
        if self._counts or (self._sent.nothing_learned is not None and not self._result.repeated):
            return True
        # Sent again because its answer got lost, it has done what it could.
        return bool(self._result.repeated) and not self._session.gate.status.reflection_pending

    @property
    def _is_new(self) -> bool:
        """Whether its ratings count: refused or repeated as a whole, it may be sent again."""
        nothing = self._sent.nothing_learned and not self._result.repeated
        return bool(self._result.accepted or nothing)

    def correct(self, *, dry_run: bool = False) -> None:
        """Mark what was superseded or said to be wrong."""
        written: dict[str, Candidate] = {one.learning.id: one.learning for one in self._stored}
        if dry_run:
            written = {str(one.position): one.candidate for one in self._result.accepted}
        written |= {one.learning_id: one.candidate for one in self._result.repeated}
        _, objections = correct(
            self._project, self._session.id, self._sent.corrections, written, dry_run=dry_run
        )
        used = [one.id for one in self._sent.learnings_used]
        self._warnings += objections
        self._warnings += [
            f"the use of {unknown} was not recorded: no learning has this id"
            for unknown in unknown_ids(self._project, self._session, used)
        ]
        self._warnings += [
            f"the rating of {one.learning_id} was ignored: no learning has this id"
            for one in self._sent.ratings
            if self._is_new and self._project.library.get(one.learning_id) is None
        ]

    # --- session and events -----------------------------------------------------------------------

    @cached_property
    def _skip(self) -> SkipDecision | None:
        """The decision, if it counts because it says that there is nothing to keep."""
        if self._sent.nothing_learned is None or self._result.accepted or self._result.repeated:
            return None
        return SkipDecision(
            reason=self._sent.nothing_learned,
            decider=SkipDecider.AGENT,
            timestamp=self._project.now,
        )

    def update_session(self) -> None:
        """Step the gate, and remember what was written and used."""
        shown = (one.learning_id for one in self._session.injected)
        words = {word.strip(".,;:()[]`'\"") for word in self._sent.notes.split()}
        named = (Reference(id=one) for one in shown if one in words)
        used = (*self._sent.learnings_used, *named)
        after, _ = update_session(self._project, self._session, self._change)
        self._session = mark_used(self._project, after, used, self._ticket_id)

    def _change(self, session: Session) -> SessionUpdate:
        rejected = tuple(self._result.rejected)
        kept = [one.learning for one in self._stored if one.receipt.backend == SESSION_BACKEND]
        written = (
            WrittenCandidate(fingerprint=one.fingerprint, learning_id=one.learning.id)
            for one in self._stored
        )
        found = (
            WrittenCandidate(fingerprint=one.fingerprint, learning_id=one.learning_id)
            for one in self._result.repeated
            if one.learning_id and not self._is_counted(one)
        )
        changed = evolve(
            session,
            written=(*session.written, *written, *found),
            ephemeral=(*session.ephemeral, *kept),
            last_rejections=() if self._opens else rejected,
            refused=() if self._opens else (*session.refused, *self._refused)[-_REFUSED_KEPT:],
            recovered_from=None if self._opens else session.recovered_from,
        )
        if not self._opens:
            now = self._project.now
            refused = trace_event(EventType.REFLECTION_REFUSED, now, rejected=len(rejected))
            return SessionUpdate(session=changed, trace=[refused])
        if self._skip is not None:
            skipped = SkipAccepted(decision=self._skip)
            return SessionUpdate(session=changed, events=[*self._detected, skipped])
        if not self._counts:
            return SessionUpdate(session=changed)
        result = ReflectionResult(
            learning_ids=self._ids,
            rejected=rejected,
            candidates_produced=len(self._sent.candidates),
            completed_at=self._project.now,
        )
        return SessionUpdate(
            session=changed, events=[*self._detected, ReflectionAccepted(result=result)]
        )

    @property
    def _refused(self) -> Sequence[str]:
        found = (one for one in self._result.rejected if one.stage is Stage.WRITE_GATE)
        return [one.summary for one in found]

    @property
    def _ids(self) -> tuple[str, ...]:
        repeated = (one.learning_id for one in self._result.repeated)
        return (*(one.learning.id for one in self._stored), *repeated)

    def log(self) -> None:
        """Log what was stored, skipped and refused; what is personal goes into the personal log."""
        candidates = self._sent.candidates
        kinds = sorted(set(map(_is_personal, candidates)))
        events: list[tuple[StatsEvent, bool]] = []
        if self._stored or self._result.rejected:
            events += [(self._reflection(personal=personal), personal) for personal in kinds]
        if self._opens:
            note_skip(self._project, self._skip)
        if self._skip is not None:
            events.append((skip_event(self._session.id, self._skip, self._ticket_id), False))
        for one in self._result.rejected:
            raw, existing = candidates[one.position], one.rejection.existing_id
            # A reason may quote another candidate of the same submission, or what is personal.
            quotes_another = one.stage is Stage.DUPLICATE and existing is None
            is_quoted = existing in self._known.personal_ids or (True in kinds and quotes_another)
            events.append((self._rejection(one, raw), _is_personal(raw) or is_quoted))
        for rating in self._sent.ratings if self._is_new else ():
            found = self._project.library.get(rating.learning_id)
            if found is not None:
                rated = Rated(
                    ts=self._project.now, learning_id=rating.learning_id, useful=rating.useful
                )
                events.append((rated, found.area is Area.PERSONAL))
        self._project.log_by_area(events)

    def _reflection(self, *, personal: bool) -> Reflection:
        """Count what belongs to one of the logs."""
        of_log = (one for one in self._stored if (one.learning.scope is Scope.PERSONAL) is personal)
        own = list(of_log)
        criteria = {criterion.value for one in own for criterion in one.learning.criteria_met}
        return Reflection(
            ts=self._project.now,
            session_id=self._session.id,
            candidates=sum(_is_personal(one) is personal for one in self._sent.candidates),
            accepted=len(own),
            categories=tuple(sorted({one.learning.category.value for one in own})),
            criteria=tuple(sorted(criteria)),
            ticket_id=self._ticket_id,
            backend=", ".join(dict.fromkeys(one.receipt.backend for one in own)),
        )

    def _rejection(self, one: RejectedCandidate, raw: Any) -> Rejected:  # noqa: ANN401 - any JSON value
        """Describe a refusal for a log that is committed: of a secret nothing but its place."""
        summary, reason = one.summary, one.rejection.reason
        if one.stage is Stage.SECRET:
            # Tells a candidate from others where no word of it may be kept.
            content = json.dumps(raw, sort_keys=True, ensure_ascii=True, default=str)
            digest = hashlib.sha256(content.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]
            summary = f"(withheld, sha256 {digest})"
            reason = f"holds what looks like a secret ({one.rejection.field})"
        return Rejected(
            ts=self._project.now,
            session_id=self._session.id,
            summary=summary,
            tags=one.tags,
            stage=one.stage.value,
            reason=reason,
        )

    def publish(self) -> None:
        """Deliver what waits, and write beside a shared learning what hooks keep to themselves."""
        project = self._project
        deliver_outbox(project)
        shared = [one for one in self._stored if one.learning.scope in (Scope.PROJECT, Scope.TEAM)]
        if any(one.receipt.status is ReceiptStatus.STORED for one in shared):
            try:
                Curator(project).archive_hidden()
            except StorageError as error:  # the next reflection tries again
                project.diagnostics.log("error", f"what decay hides was not archived: {error}")
            project.publish_events()
        for one in self._stored:
            project.plugins.learning_written(one.learning, one.receipt)

    # --- results ----------------------------------------------------------------------------------

    def report(self) -> Result:
        """Say what became of the submission."""
        gate = self._session.gate
        document: dict[str, Any] = {
            "session_id": self._session.id,
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
                for one in self._stored
            ],
            "repeated": [one.learning_id for one in self._result.repeated],
            "rejected": [_refused(one) for one in self._result.rejected],
            "warnings": self._warnings,
        }
        groups: dict[tuple[str, str], list[RejectedCandidate]] = {}
        for one in self._result.rejected:
            groups.setdefault((one.stage.value, one.rejection.reason), []).append(one)
        reasons = [
            f"{', '.join(str(one.position + 1) for one in same)}. refused ({stage})"
            + (f" {same[0].summary!r}" if len(same) == 1 else "")
            + f": {reason}"
            for (stage, reason), same in groups.items()
        ]
        lines = [line for one in self._stored for line in _lines_of(one)]
        lines += [f"already stored {one.learning_id}" for one in self._result.repeated]
        if self._opens:
            lines.append("The gate is open.")
        else:
            end = "; the gate stays closed" if gate.status.reflection_pending else ""
            why = "no candidate was accepted"
            if self._result.repeated:
                why = "what was accepted has counted already, for an earlier close"
            document["error"] = f"{why}{end}"
            reasons.append(document["error"])
        return Result(
            document=document,
            lines=lines,
            ids=self._ids,
            exit_code=0 if self._opens else 1,
            warnings=(*self._warnings, *reasons),
        )

    def preview(self) -> Result:
        """Say what would become of each candidate."""
        result = self._result
        every: list[RejectedCandidate | PassedCandidate] = [*result.rejected]
        every += [*result.accepted, *result.repeated]
        every.sort(key=lambda one: one.position)
        expected = [_expected(one, self._sent.candidates[one.position]) for one in every]
        lines = [line for _, told in expected for line in told]
        if self._skip is not None:
            lines.append("It would count as a skip.")
        return Result(
            document={
                "session_id": self._session.id,
                "gate": self._session.gate.status,
                "dry_run": True,
                "opens": self._opens,
                "candidates": [document for document, _ in expected],
                "warnings": self._warnings,
            },
            lines=[*lines, "Nothing was stored or logged."],
            exit_code=0 if self._opens else 1,
            warnings=self._warnings,
        )

    def leave(self) -> Result:
        """Hand in for the next hook what holds no secret, and say what it is going to refuse."""
        sent, told, refused = self._sent, self.preview(), self._result.rejected
        document: dict[str, Any] = {"session_id": self._session.id}
        document |= {"rejected": [_refused(one) for one in refused], "warnings": self._warnings}
        lines = list(told.lines[:-1])
        secret = {one.position for one in refused if one.stage is Stage.SECRET}
        candidates = [one for at, one in enumerate(sent.candidates) if at not in secret]
        if candidates or sent.nothing_learned is not None:
            submission = {
                "candidates": candidates,
                "learnings_used": [
                    {"id": one.id, "how": one.remark} for one in sent.learnings_used
                ],
                "corrections": [{"id": one.id, "why": one.remark} for one in sent.corrections],
                "ratings": [{"id": one.learning_id, "useful": one.useful} for one in sent.ratings],
                "notes": sent.notes,
                "nothing_learned": sent.nothing_learned,
            }
            left = hand_in(self._project, self._session, "reflect", submission=submission)
            document |= left.document or {}
            lines += left.lines
        if told.exit_code:
            document["error"] = "What is refused above does not count: change it and send it again."
            lines.append(document["error"])
        return evolve(told, document=document, lines=lines)


def _is_personal(raw: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(raw, Mapping) and read_enum(Scope, raw.get("scope")) is Scope.PERSONAL


def _lines_of(one: _Stored) -> list[str]:
    receipt = one.receipt
    place = receipt.location or receipt.backend
    if receipt.status is ReceiptStatus.QUEUED:
        place = f"waits for the backend {receipt.backend}; delivered with the next reflection"
    elif receipt.backend == SESSION_BACKEND:
        place = "kept in this session only"
    head = f"{receipt.status.value} {one.learning.id} ({place})"
    return [head, f"  {one.learning.summary}", *(f"  note: {note}" for note in one.notes)]


def _refused(one: RejectedCandidate) -> dict[str, Any]:
    return {
        "position": one.position,
        "summary": one.summary,
        "stage": one.stage,
        "field": one.rejection.field,
        "reason": one.rejection.reason,
        "existing_id": one.rejection.existing_id,
    }


def _expected(
    one: RejectedCandidate | PassedCandidate,
    raw: Any,  # noqa: ANN401 - any JSON value
) -> tuple[dict[str, Any], Sequence[str]]:
    """Say what would become of a candidate, as a document and in lines."""
    number = one.position + 1
    if isinstance(one, RejectedCandidate):
        unread = one.stage in {Stage.SCHEMA, Stage.SECRET}
        read = None if unread else read_candidate(raw)
        known = None if read is None or isinstance(read, Rejection) else read.candidate
        head = f"{number}. would be refused ({one.stage.value}): {one.summary}"
        document = {**_refused(one), "outcome": "rejected", "write_gate": _assessment(known)}
        return document, [head, f"   {one.rejection.reason}"]
    summary = one.candidate.summary
    document = {"position": one.position, "summary": summary}
    document["write_gate"] = _assessment(one.candidate)
    if one.learning_id:
        head = f"{number}. is stored already as {one.learning_id}: {summary}"
        return {**document, "outcome": "repeated", "id": one.learning_id}, [head]
    notes = [f"   note: {note}" for note in one.notes]
    head = f"{number}. would be accepted: {summary}"
    return {**document, "outcome": "accepted", "notes": one.notes}, [head, *notes]


def _assessment(candidate: Candidate | None) -> dict[str, Any] | None:
    if candidate is None:
        return None
    from grove_core.reflection.write_gate import evaluate

    found = evaluate(candidate)
    return {"score": found.score, "threshold": found.threshold, "components": found.components}
