"""What ``grove reflect`` writes into the event log."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from grove_core.flow.correcting import CorrectedLearning
from grove_core.flow.said_before import said_to_be_wrong
from grove_core.flow.storing import StoredLearning
from grove_core.model.events import Corrected, Rated, Reflection, Rejected
from grove_core.model.learning import RejectedCandidate, Scope, Stage
from grove_core.plugins.descriptors import Area
from grove_core.reflection.candidates import read_enum
from grove_core.reflection.submission import Rating
from grove_core.workspace import Workspace

_DIGEST_LENGTH: Final = 16


def log_reflection(
    workspace: Workspace,
    session_id: str,
    ticket_id: str | None,
    candidates: Sequence[Any],
    stored: Sequence[StoredLearning],
) -> None:
    """Log that a submission was worked through; personal candidates count in the personal log."""
    for personal in (False, True):
        number = sum(_is_personal(one) is personal for one in candidates)
        if not number:
            continue
        own = [one for one in stored if (one.learning.scope is Scope.PERSONAL) is personal]
        learnings = [one.learning for one in own]
        criteria = {criterion.value for one in learnings for criterion in one.criteria_met}
        reflection = Reflection(
            ts=workspace.now,
            session_id=session_id,
            candidates=number,
            accepted=len(learnings),
            categories=tuple(sorted({one.category.value for one in learnings})),
            criteria=tuple(sorted(criteria)),
            ticket_id=ticket_id,
            backend=", ".join(dict.fromkeys(one.receipt.backend for one in own)),
        )
        workspace.log_events([reflection], personal=personal)


def log_rejections(
    workspace: Workspace,
    session_id: str,
    candidates: Sequence[Any],
    rejected: Sequence[RejectedCandidate],
    personal_ids: AbstractSet[str],
) -> None:
    """Log what was refused; what quotes a personal learning stays personal as well."""
    any_personal = any(_is_personal(one) for one in candidates)
    for personal in (False, True):
        events = [
            _rejected_event(workspace, session_id, one, candidates[one.position])
            for one in rejected
            if personal
            is (
                _is_personal(candidates[one.position])
                or one.rejection.existing_id in personal_ids
                or (any_personal and _repeats_a_candidate(one))
            )
        ]
        workspace.log_events(events, personal=personal)


def _repeats_a_candidate(rejected: RejectedCandidate) -> bool:
    """Return whether the reason quotes another candidate of the same submission."""
    return rejected.stage is Stage.DUPLICATE and rejected.rejection.existing_id is None


def _rejected_event(
    workspace: Workspace,
    session_id: str,
    rejected: RejectedCandidate,
    raw: Any,  # noqa: ANN401 - any JSON value
) -> Rejected:
    return Rejected(
        ts=workspace.now,
        session_id=session_id,
        summary=_digest(raw) if rejected.stage is Stage.SECRET else rejected.summary,
        tags=rejected.tags,
        stage=rejected.stage.value,
        reason=_logged_reason(rejected),
    )


def _digest(raw: Any) -> str:  # noqa: ANN401 - any JSON value
    """Tell a candidate from others where no word of it may be kept."""
    content = json.dumps(raw, sort_keys=True, ensure_ascii=True, default=str)
    digest = hashlib.sha256(content.encode("ascii")).hexdigest()[:_DIGEST_LENGTH]
    return f"(withheld, sha256 {digest})"


def _logged_reason(rejected: RejectedCandidate) -> str:
    """Word a refusal for a log that is committed: of a secret nothing but where it stood."""
    if rejected.stage is Stage.SECRET:
        return f"holds what looks like a secret ({rejected.rejection.field})"
    return rejected.rejection.reason


def _is_personal(raw: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(raw, Mapping) and read_enum(Scope, raw.get("scope")) is Scope.PERSONAL


def log_ratings(workspace: Workspace, ratings: Sequence[Rating]) -> list[str]:
    """Log what the agent thinks of learnings."""
    for one in ratings:
        found = workspace.library.get(one.learning_id)
        if found is not None:
            rated = Rated(ts=workspace.now, learning_id=one.learning_id, useful=one.useful)
            workspace.log_events([rated], personal=found.area is Area.PERSONAL)
    return unknown_ratings(workspace, ratings)


def unknown_ratings(workspace: Workspace, ratings: Sequence[Rating]) -> list[str]:
    """Find ratings of what does not exist."""
    return [
        f"the rating of {one.learning_id} was ignored: no learning has this id"
        for one in ratings
        if workspace.library.get(one.learning_id) is None
    ]


def log_corrections(
    workspace: Workspace, session_id: str, corrected: Mapping[str, CorrectedLearning]
) -> None:
    """Log which learnings were found wrong; what this session has said already is passed over."""
    said = said_to_be_wrong(workspace, session_id, corrected)
    for learning_id, one in corrected.items():
        found = workspace.library.get(learning_id)
        if found is None or (learning_id, one.superseded_by) in said:
            continue
        correction = Corrected(
            ts=workspace.now,
            learning_id=learning_id,
            session_id=session_id,
            superseded_by=one.superseded_by,
            why=one.why,
        )
        workspace.log_events([correction], personal=found.area is Area.PERSONAL)
