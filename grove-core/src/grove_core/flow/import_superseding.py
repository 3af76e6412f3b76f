"""What imported learnings correct: it is marked as superseded, as a reflection would do it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve

from grove_core.flow.correcting import CorrectedLearning, correct, foreseen_warnings
from grove_core.flow.import_judging import ImportState, Outcome
from grove_core.flow.judging import as_candidate
from grove_core.flow.reflection_log import log_corrections
from grove_core.interchange.identity import IMPORT_SESSION
from grove_core.model.learning import Learning, LearningStatus
from grove_core.workspace import Workspace

Learnings = Mapping[str, Learning]


def mark_superseded(
    workspace: Workspace,
    outcomes: Sequence[Outcome],
    progress: Callable[[str, int, int], None],
    *,
    dry_run: bool,
) -> list[Outcome]:
    """Mark what this import corrects, and what of it had been corrected here before."""
    imported = {one.learning.id: one.learning for one in outcomes if _is_new(one) and one.learning}
    present = {one.existing_id for one in outcomes if one.state is ImportState.PRESENT}
    stored = {one.hit.learning.id: one.hit.learning for one in workspace.library.iterate()}
    known = {**imported, **stored}
    claims = list(_claims(known, imported.keys() | present))
    corrected: dict[str, CorrectedLearning] = {}
    notes: dict[str, list[str]] = {}
    for done, (new, old) in enumerate(claims, start=1):
        if old in stored or old not in imported:
            changed, warnings = _mark(workspace, known[new], old, dry_run=dry_run)
        elif dry_run:
            changed, warnings = {old: CorrectedLearning(new, None)}, []
        else:
            waits = f"{old} waits for its backend: import this again to mark it as superseded"
            changed, warnings = {}, [waits]
        corrected |= changed
        said = [f"{old} {'would be' if dry_run else 'is now'} superseded by {new}" for _ in changed]
        notes.setdefault(new if new in imported else old, []).extend([*said, *warnings])
        progress("superseded", done, len(claims))
    if not dry_run:
        log_corrections(workspace, IMPORT_SESSION, corrected)
    return [_with_notes(one, notes) for one in outcomes]


def _is_new(outcome: Outcome) -> bool:
    return outcome.state is ImportState.IMPORTED and outcome.learning is not None


def _claims(known: Learnings, touched: AbstractSet[str | None]) -> Iterator[tuple[str, str]]:
    """Pair learnings with those they correct, as far as the import brings one of the two."""
    successors: dict[str, str] = {}
    newest_first = sorted(
        (one for one in known.values() if one.supersedes),
        key=lambda one: (one.timestamp, one.id),
        reverse=True,
    )
    for new in newest_first:
        for old in new.supersedes:
            if _leads_to(new.id, old, successors):
                continue
            successors.setdefault(old, new.id)
            is_done = old in known and known[old].status is LearningStatus.SUPERSEDED
            if not is_done and (new.id in touched or old in touched):
                yield new.id, old


def _leads_to(start: str, goal: str, successors: Mapping[str, str]) -> bool:
    while start != goal and start in successors:
        start = successors[start]
    return start == goal


def _mark(
    workspace: Workspace, new: Learning, old: str, *, dry_run: bool
) -> tuple[dict[str, CorrectedLearning], list[str]]:
    """Mark one learning; tell why not if that cannot be done."""
    new = evolve(new, supersedes=(old,))
    if not dry_run:
        return correct(workspace, (), {new.id: new})
    warnings = foreseen_warnings(workspace, (), [as_candidate(new)])
    return {} if warnings else {old: CorrectedLearning(new.id, None)}, warnings


def _with_notes(outcome: Outcome, notes: Mapping[str, Sequence[str]]) -> Outcome:
    own = notes.get(outcome.learning.id) if outcome.learning is not None else None
    return evolve(outcome, notes=(*outcome.notes, *own)) if own and _is_new(outcome) else outcome
