"""Corrections in a submission: what is said to be wrong, and what takes its place."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.flow.curation import curating
from grove_core.model.learning import Candidate, Learning, LearningStatus, Scope
from grove_core.plugins.descriptors import Area
from grove_core.reflection.submission import Correction
from grove_core.workspace import Workspace


class CorrectedLearning(NamedTuple):
    """A learning that a submission has corrected."""

    superseded_by: str | None
    why: str | None


def correct(
    workspace: Workspace,
    corrections: Iterable[Correction],
    written: Mapping[str, Learning | Candidate],
) -> tuple[dict[str, CorrectedLearning], list[str]]:
    """Mark what was superseded."""
    reasons = {one.id: one.why for one in corrections}
    warnings = _unknown(workspace, reasons)
    corrected = {
        name: CorrectedLearning(None, why)
        for name, why in reasons.items()
        if workspace.library.get(name) is not None
    }
    for new, learning in written.items():
        for old in learning.supersedes:
            if _is_superseded(workspace, old):
                continue
            objection = _objection(workspace, old, learning.scope) or _supersede(
                workspace, old, new
            )
            if objection:
                warnings.append(_not_marked(old, objection))
            else:
                corrected[old] = CorrectedLearning(new, reasons.get(old))
    return corrected, warnings


def foreseen_warnings(
    workspace: Workspace, corrections: Iterable[Correction], candidates: Iterable[Candidate]
) -> list[str]:
    """Return what ``correct`` would warn of, and change nothing."""
    warnings = _unknown(workspace, [one.id for one in corrections])
    for candidate in candidates:
        for old in candidate.supersedes:
            objection = _objection(workspace, old, candidate.scope)
            if objection and not _is_superseded(workspace, old):
                warnings.append(_not_marked(old, objection))
    return warnings


def _unknown(workspace: Workspace, ids: Iterable[str]) -> list[str]:
    return [
        f"the correction of {one} was ignored: no learning has this id"
        for one in ids
        if workspace.library.get(one) is None
    ]


def _is_superseded(workspace: Workspace, learning_id: str) -> bool:
    found = workspace.library.get(learning_id)
    return found is not None and found.hit.learning.status is LearningStatus.SUPERSEDED


def _not_marked(learning_id: str, objection: str) -> str:
    return f"{learning_id} was not marked as superseded: {objection}"


def _objection(workspace: Workspace, old: str, scope: Scope) -> str:
    found = workspace.library.get(old)
    if found is None:
        return "no learning has this id"
    if found.area is Area.PROJECT and scope in (Scope.PERSONAL, Scope.EPHEMERAL):
        kind = scope.value
        return f"its successor is {kind}, and others who share the project could not read it"
    return ""


def _supersede(workspace: Workspace, old: str, new: str) -> str:
    """Mark a learning as superseded; say why not if that cannot be done."""
    try:
        with curating(workspace):
            workspace.library.set_status(old, LearningStatus.SUPERSEDED, f"by {new}")
    except (LearningNotFoundError, BackendError, StorageError) as error:
        return str(error)
    return ""
