"""The pipeline of a submission: every candidate is accepted or refused by itself, in stages."""

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.model.learning import (
    SUMMARY_LENGTH_MAX,
    Candidate,
    Confidence,
    Learning,
    LearningStatus,
    RejectedCandidate,
    Rejection,
    Stage,
)
from grove_core.quotation import quote_line
from grove_core.reflection.candidates import CANDIDATE_FIELDS, read_candidate, readable_parts
from grove_core.reflection.secrets import find_leak
from grove_core.similarity import SimilarityIndex, overlap, terms_in
from grove_core.text import clean_line, shorten

WITHHELD: Final = "(withheld)"
"""Shown in place of a candidate that holds a secret."""

# Of the words of a candidate: so few new ones make an echo of what was shown.
_NEW_SHARE: Final = 0.2
_NEW_TERMS: Final = 4
_SAID_MIN: Final = 3
# Of the words of two candidates of one submission: so many make one form.
_SAME_FORM: Final = 0.7
_FORM_WORDS_MIN: Final = 4
# In the index of known summaries, before the position of a candidate of the same submission.
_POSITION: Final = "#"


@frozen
class Doubt:
    """An objection that lowers the confidence of a candidate and does not refuse it."""

    hint: str


@frozen(kw_only=True)
class CheckStage:
    """A check that a candidate must pass after its shape is right."""

    stage: Stage
    check: Callable[[Candidate], Rejection | Doubt | None]
    warns: bool = False


@frozen(kw_only=True)
class PassedCandidate:
    """A candidate that passed every stage."""

    position: int
    candidate: Candidate
    fingerprint: str = ""
    """Of the candidate as it was sent."""
    notes: tuple[str, ...] = ()
    learning_id: str = ""
    """Of one that this session has written already: it is not written again."""


@frozen(kw_only=True)
class PipelineResult:
    """What became of the candidates of a submission; each is in exactly one list."""

    accepted: Sequence[PassedCandidate]
    repeated: Sequence[PassedCandidate]
    rejected: Sequence[RejectedCandidate]


@frozen(kw_only=True)
class ShownText:
    """A text that grove has put before the agent."""

    text: str
    learning_id: str = ""
    summary: str = ""


class Pipeline:
    """The stages with what they need to know."""

    def __init__(
        self,
        *,
        existing: Iterable[Learning],
        written: Mapping[str, str],
        root: PurePath | None = None,
        checks: Sequence[CheckStage] = (),
        allowed: Container[str] = (),  # digests of what only looks like a secret
    ) -> None:
        """Begin with what is stored, and with the fingerprints of what this session has written."""
        self._existing = existing
        self._unclaimed = dict(written)
        self._root = root
        self._allowed = allowed
        self._forms: dict[int, frozenset[str]] = {}
        duplicates = CheckStage(
            stage=Stage.DUPLICATE,
            check=lambda candidate: (
                find_duplicate(candidate, self._known) or find_form(candidate, self._forms)
            ),
        )
        order = list(Stage).index
        self._stages = sorted((duplicates, *checks), key=lambda one: order(one.stage))

    @cached_property
    def _known(self) -> SimilarityIndex:
        return known_summaries(self._existing)

    def run(self, candidates: Sequence[Any]) -> PipelineResult:
        """Evaluate the candidates of a submission one by one, in their order."""
        passed: list[PassedCandidate] = []
        rejected: list[RejectedCandidate] = []
        for position, raw in enumerate(candidates):
            outcome = self._evaluate(position, raw)
            if isinstance(outcome, RejectedCandidate):
                rejected.append(outcome)
                continue
            passed.append(outcome)
            one = outcome.candidate
            self._forms[position] = _form_of(one)
            self._known.add(f"{_POSITION}{position + 1}", one.summary, one.detail)
        return PipelineResult(
            accepted=[one for one in passed if not one.learning_id],
            repeated=[one for one in passed if one.learning_id],
            rejected=rejected,
        )

    def _evaluate(self, position: int, raw: Any) -> PassedCandidate | RejectedCandidate:  # noqa: ANN401 - any JSON value
        if (leak := find_leak(raw, self._allowed)) is not None:
            return RejectedCandidate(position, WITHHELD, (), Stage.SECRET, leak)
        read = read_candidate(raw, root=self._root)
        if isinstance(read, Rejection):
            summary, tags = readable_parts(raw)
            shown = shorten(summary or "(no summary)", SUMMARY_LENGTH_MAX)
            return RejectedCandidate(position, shown, tags, Stage.SCHEMA, read)
        one = read.candidate
        # Claimed once: a copy within one submission goes on and is refused as a duplicate.
        sent = fingerprint(one)
        learning_id = self._unclaimed.pop(sent, None)
        if learning_id is not None:
            return PassedCandidate(position=position, candidate=one, learning_id=learning_id)
        notes = [*read.notes]
        for stage in self._stages:
            objection = stage.check(one)
            if isinstance(objection, Doubt):
                one = evolve(one, confidence=Confidence.LOW)
                notes.append(f"kept with confidence low: {objection.hint}")
            elif objection is not None and not stage.warns:
                return RejectedCandidate(position, one.summary, one.tags, stage.stage, objection)
            elif objection is not None:
                notes.append(f"accepted, though: {objection.reason}")
        return PassedCandidate(
            position=position, candidate=one, fingerprint=sent, notes=tuple(notes)
        )


def learning_from(
    candidate: Candidate,
    *,
    learning_id: str,
    session_id: str,
    ticket_id: str | None,
    now: datetime,
) -> Learning:
    """Make the learning of an accepted candidate."""
    return Learning(
        id=learning_id,
        session_id=session_id,
        timestamp=now,
        ticket_id=ticket_id,
        **_fields_of(candidate),
    )


def fingerprint(candidate: Candidate) -> str:
    """Digest all content of a candidate, so that one sent twice is recognised."""
    content = [_plain(value) for value in _fields_of(candidate).values()]
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()


def _fields_of(one: Candidate | Learning) -> dict[str, Any]:
    return {name: getattr(one, name) for name in CANDIDATE_FIELDS}


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a field
    if isinstance(value, Enum):
        return value.value
    return sorted(map(_plain, value)) if isinstance(value, tuple | frozenset) else value


# --- what says nothing new ------------------------------------------------------------------------


def known_summaries(existing: Iterable[Learning]) -> SimilarityIndex:
    """Index the stored learnings that a candidate must not repeat."""
    known = SimilarityIndex()
    for learning in existing:
        if learning.status is LearningStatus.ACTIVE:
            summary = clean_line(learning.summary, SUMMARY_LENGTH_MAX)
            known.add(learning.id, summary, learning.detail)
    return known


def find_duplicate(candidate: Candidate, known: SimilarityIndex) -> Rejection | None:
    """Object to a candidate that says what a known one says."""
    found = known.find(candidate.summary, candidate.detail, candidate.supersedes)
    if found is None:
        return None
    other, is_repeated = found
    verb, says = ("repeats", "") if is_repeated else ("says in other words what", " says")
    if other.key.startswith(_POSITION):
        number = other.key.removeprefix(_POSITION)
        reason = (
            f"{verb} candidate {number} of this submission{says}: send it once, with all that is"
            f" to be said; it says {quote_line(other.summary, SUMMARY_LENGTH_MAX)}"
        )
        return Rejection(reason=reason, field="summary")
    reason = (
        f"{verb} {other.key}{says}: leave it out, or, if it corrects or completes that learning,"
        f' add "supersedes": ["{other.key}"]; it says'
        f" {quote_line(other.summary, SUMMARY_LENGTH_MAX)}"
    )
    return Rejection(reason=reason, field="summary", existing_id=other.key)


def find_form(candidate: Candidate, earlier: Mapping[int, frozenset[str]]) -> Rejection | None:
    """Object to a candidate that only fills in the form of another one of its submission."""
    form = _form_of(candidate)
    if len(form) < _FORM_WORDS_MIN:
        return None
    same = (at for at, one in earlier.items() if overlap(form, one) >= _SAME_FORM)
    first = next(same, None)
    if first is None:
        return None
    reason = f"has the wording of candidate {first + 1} with other names: say once what all share"
    return Rejection(reason=reason, field="detail")


def _form_of(candidate: Candidate) -> frozenset[str]:
    """Return the words of a candidate without its numbers."""
    terms = terms_in(f"{candidate.summary} {candidate.detail}")
    return frozenset(one for one in terms if one.isalpha())


def find_echo(candidate: Candidate, shown: Sequence[ShownText]) -> Rejection | None:
    """Object to a candidate that merely repeats what was shown."""
    said = terms_in(f"{candidate.summary} {candidate.detail}")
    texts = [one for one in shown if one.learning_id not in candidate.supersedes]
    if len(said) < _SAID_MIN or not texts:
        return None
    # One text must hold it: the words of many together hold almost anything.
    new, nearest = min(
        ((said - terms_in(one.text), one) for one in texts), key=lambda pair: len(pair[0])
    )
    if len(new) >= _NEW_TERMS or len(new) > _NEW_SHARE * len(said):
        return None
    if not nearest.learning_id:
        reason = "this is the text of grove's own form: put in its place what the work taught"
        return Rejection(reason=reason, field="summary")
    known = nearest.learning_id
    reason = (
        f"says only what {known} has told you in this session:"
        f' if it helped, put {{"id": "{known}", "how": "..."}} into'
        ' "learnings_used"; if you found out more, submit that; if it is wrong, correct it with'
        f' "supersedes": ["{known}"]; it says {quote_line(nearest.summary, SUMMARY_LENGTH_MAX)}'
    )
    return Rejection(reason=reason, field="detail", existing_id=known)
