"""The funnel: every candidate of a submission is accepted or refused by itself."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any, Final

from attrs import frozen

from grove_core.model.learning import Candidate, Learning, RejectedCandidate, Rejection, Stage
from grove_core.model.value import Value
from grove_core.reflection.duplicates import (
    KnownSummary,
    find_duplicate,
    fingerprint,
    known_summaries,
    normalised_summary,
)
from grove_core.reflection.limits import SUMMARY_LENGTH_MAX, TAGS_MAX
from grove_core.reflection.sanitise import sanitise
from grove_core.reflection.schema import read_candidate
from grove_core.text import one_line, remove_invisible, shorten

_STAGES: Final = tuple(Stage)
WITHHELD: Final = "(withheld)"
"""What is shown of a candidate that holds a secret."""


@frozen(kw_only=True, eq=False, repr=False)
class CheckStage(Value):
    """A check that a candidate must pass after its shape is right."""

    stage: Stage
    check: Callable[[Candidate], Rejection | None]
    warns: bool = False


@frozen(kw_only=True, eq=False, repr=False)
class AcceptedCandidate(Value):
    """A candidate that passed every stage."""

    position: int
    candidate: Candidate
    notes: tuple[str, ...]


@frozen(kw_only=True, eq=False, repr=False)
class RepeatedCandidate(Value):
    """A candidate that this session has written already: accepted, and not written again."""

    position: int
    candidate: Candidate
    learning_id: str


@frozen(kw_only=True, eq=False, repr=False)
class SiftResult(Value):
    """What became of the candidates of a submission; each is in exactly one list."""

    accepted: tuple[AcceptedCandidate, ...] = ()
    repeated: tuple[RepeatedCandidate, ...] = ()
    rejected: tuple[RejectedCandidate, ...] = ()


def sift(
    candidates: Sequence[Any],
    *,
    existing: Sequence[Learning],
    written: Mapping[str, str],
    root: PurePath | None = None,
    checks: Sequence[CheckStage] = (),
    screen: Callable[[Any], Rejection | None] | None = None,
) -> SiftResult:
    """Judge the candidates of a submission one by one, in their order."""
    known = list(known_summaries(existing))
    duplicates = CheckStage(
        stage=Stage.DUPLICATE, check=lambda candidate: find_duplicate(candidate, known)
    )
    stages = sorted((duplicates, *checks), key=lambda item: _STAGES.index(item.stage))
    unclaimed = dict(written)
    outcomes: list[AcceptedCandidate | RepeatedCandidate | RejectedCandidate] = []
    for position, raw in enumerate(candidates):
        outcome = _judge(position, raw, root, stages, unclaimed, screen)
        outcomes.append(outcome)
        if not isinstance(outcome, RejectedCandidate):
            known.append(_known(outcome))
    return SiftResult(
        accepted=tuple(item for item in outcomes if isinstance(item, AcceptedCandidate)),
        repeated=tuple(item for item in outcomes if isinstance(item, RepeatedCandidate)),
        rejected=tuple(item for item in outcomes if isinstance(item, RejectedCandidate)),
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
        category=candidate.category,
        summary=candidate.summary,
        detail=candidate.detail,
        session_id=session_id,
        timestamp=now,
        scope=candidate.scope,
        confidence=candidate.confidence,
        criteria_met=candidate.criteria_met,
        tags=candidate.tags,
        context_files=candidate.context_files,
        ticket_id=ticket_id,
        supersedes=candidate.supersedes,
    )


def _judge(
    position: int,
    raw: Any,  # noqa: ANN401 - any JSON value
    root: PurePath | None,
    stages: Sequence[CheckStage],
    unclaimed: dict[str, str],
    screen: Callable[[Any], Rejection | None] | None,
) -> AcceptedCandidate | RepeatedCandidate | RejectedCandidate:
    leak = screen(raw) if screen is not None else None
    if leak is not None:
        return RejectedCandidate(
            position=position, summary=WITHHELD, tags=(), stage=Stage.SECRET, rejection=leak
        )
    read = read_candidate(raw, root=root)
    if isinstance(read, Rejection):
        return _refused_raw(position, raw, read)
    candidate = read.candidate
    # Claimed once: a copy within one submission goes on and is refused as a duplicate.
    learning_id = unclaimed.pop(fingerprint(candidate), None)
    if learning_id is not None:
        return RepeatedCandidate(position=position, candidate=candidate, learning_id=learning_id)
    warnings: list[str] = []
    for stage in stages:
        rejection = stage.check(candidate)
        if rejection is not None and stage.warns:
            warnings.append(f"accepted, though {rejection.reason}")
        elif rejection is not None:
            return RejectedCandidate(
                position=position,
                summary=candidate.summary,
                tags=candidate.tags,
                stage=stage.stage,
                rejection=rejection,
            )
    notes = (*read.notes, *warnings)
    return AcceptedCandidate(position=position, candidate=candidate, notes=notes)


def _refused_raw(position: int, raw: Any, rejection: Rejection) -> RejectedCandidate:  # noqa: ANN401
    """Show of a candidate without the right shape what can be shown."""
    fields = sanitise(raw)[0] if isinstance(raw, dict) else {"summary": raw}
    summary, tags = fields.get("summary"), fields.get("tags")
    text = one_line(remove_invisible(summary)) if isinstance(summary, str) else ""
    return RejectedCandidate(
        position=position,
        summary=shorten(text or "(no summary)", SUMMARY_LENGTH_MAX),
        tags=tuple(tags[:TAGS_MAX]) if isinstance(tags, list) else (),
        stage=Stage.SCHEMA,
        rejection=rejection,
    )


def _known(outcome: AcceptedCandidate | RepeatedCandidate) -> KnownSummary:
    return KnownSummary(
        summary=outcome.candidate.summary,
        detail=outcome.candidate.detail,
        normalised=normalised_summary(outcome.candidate.summary),
        position=outcome.position,
    )
