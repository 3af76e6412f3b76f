"""Decay of a project's learnings, and of the user's own."""

import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import Final

from grove_core.errors import StorageError
from grove_core.event_log import event_files
from grove_core.flow.curation import (
    REASON_LENGTH_MAX,
    Curated,
    Outcome,
    archive_found,
    curating,
    note_of,
)
from grove_core.memory.backends import FoundLearning
from grove_core.model.statistics import LearningStats
from grove_core.model.value import Value, frozen
from grove_core.plugins.descriptors import Area
from grove_core.stats.decay import DecayRule, DecayState, DecayVerdict, judge_decay
from grove_core.storage.files import is_readable
from grove_core.text import clean_line
from grove_core.workspace import Workspace

_MOST_AT_ONCE: Final = 20


@frozen(kw_only=True, eq=False, repr=False)
class JudgedLearning(Value):
    """A learning and how it stands to the rule."""

    found: FoundLearning
    verdict: DecayVerdict


def judged(
    workspace: Workspace, found: Iterable[FoundLearning], usage: Mapping[str, LearningStats]
) -> list[JudgedLearning]:
    """Judge learnings."""
    rules = _rules(workspace)
    verdicts = []
    for one in found:
        learning = one.hit.learning
        stats = usage.get(learning.id)
        verdict = judge_decay(
            learning.timestamp, learning.status.value, stats, workspace.now, rules[one.area]
        )
        if verdict.state is DecayState.DUE and learning.id in workspace.hidden:
            verdict = verdict._replace(hidden_since=workspace.hidden[learning.id].since)
        verdicts.append(JudgedLearning(found=one, verdict=verdict))
    return verdicts


def _rules(workspace: Workspace) -> Mapping[Area, DecayRule]:
    return {
        Area.PROJECT: workspace.decay_rule,
        Area.PERSONAL: workspace.personal_decay_rule,
    }


def decay(workspace: Workspace, *, dry_run: bool) -> list[Curated]:
    """Archive everything that is due."""
    with nullcontext() if dry_run else curating(workspace):
        return [archive_due(workspace, one, dry_run=dry_run) for one in due_learnings(workspace)]


def archive_hidden(workspace: Workspace) -> None:
    """Archive in their files what is hidden here and still due; some of it, for somebody waits."""
    names = [*workspace.hidden][:_MOST_AT_ONCE]
    if not names:
        return
    require_all_events(workspace)
    with curating(workspace):
        found = [one for one in map(workspace.library.get, names) if one is not None]
        for one in judged(workspace, found, workspace.usage(names)):
            if one.verdict.state is DecayState.DUE:
                archive_due(workspace, one, dry_run=False)


def archive_stale(workspace: Workspace, reason: str, *, dry_run: bool) -> list[Curated]:
    """Archive what is due now or within seven days."""
    require_all_events(workspace)
    note = note_of(reason, "going stale", workspace.now)
    reason = clean_line(reason, REASON_LENGTH_MAX)
    with nullcontext() if dry_run else curating(workspace):
        return [
            archive_found(
                workspace,
                one.found,
                reason or f"going stale: {one.verdict.reason}",
                note,
                dry_run=dry_run,
            )
            for one in stale_learnings(judged_learnings(workspace))
        ]


def judged_learnings(workspace: Workspace) -> list[JudgedLearning]:
    """Judge every learning that can be listed."""
    found = list(workspace.library.iterate())
    return judged(workspace, found, workspace.usage()) if found else []


def stale_learnings(learnings: Iterable[JudgedLearning]) -> list[JudgedLearning]:
    """Choose what is due now or within seven days, the most overdue first."""
    return sorted((one for one in learnings if one.verdict.is_stale), key=_days_left)


def archive_due(workspace: Workspace, one: JudgedLearning, *, dry_run: bool) -> Curated:
    """Archive one learning that is due; to be called while ``curating``."""
    learning_id = one.found.hit.learning.id
    # Looked at again: a reflection may have superseded it since, and that is final.
    found = one.found if dry_run else workspace.library.get(learning_id)
    if found is None:
        gone = "is gone, or its backend cannot fetch it"
        return Curated(learning_id=learning_id, outcome=Outcome.REFUSED, detail=gone)
    return archive_found(
        workspace,
        found,
        f"decayed: {one.verdict.reason}",
        note_of("", "decayed", workspace.now),
        dry_run=dry_run,
    )


def due_learnings(workspace: Workspace) -> list[JudgedLearning]:
    """Find what is to be archived now, the most overdue first."""
    learnings = judged_learnings(workspace)
    require_all_events(workspace)
    return sorted((one for one in learnings if one.verdict.state is DecayState.DUE), key=_days_left)


def require_all_events(workspace: Workspace) -> None:
    """Make sure that every use counts."""
    for path in (*event_files(workspace.project), workspace.paths.personal_events):
        if os.path.lexists(path) and not is_readable(path):
            raise StorageError(f"{path} cannot be read, and what is used would seem unused")
    if not workspace.numbers.cache.complete:
        raise StorageError("the event log is not counted to its end yet")


def _days_left(one: JudgedLearning) -> float:
    return one.verdict.days_left
