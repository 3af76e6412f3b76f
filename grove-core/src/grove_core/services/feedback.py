"""What is said of learnings: that they are wrong, that they helped, that they are useful or not."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import evolve

from grove_core.errors import BackendError, LearningNotFoundError, StorageError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Corrected, Rated, Referenced
from grove_core.model.learning import (
    Candidate,
    Category,
    LearningStats,
    LearningStatus,
    Scope,
)
from grove_core.model.session import EventType, InjectionOutcome, Session
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.reflection.submission import Reference
from grove_core.services.curate import curating
from grove_core.services.result import Result
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.text import counted

Question: TypeAlias = tuple[FoundLearning, LearningStats]
"""A learning that somebody is asked about, and how it has fared."""


# --- corrections ----------------------------------------------------------------------------------


def correct(
    project: Project,
    session_id: str,
    corrections: Iterable[Reference],
    written: Mapping[str, Candidate],
    *,
    dry_run: bool = False,
) -> tuple[Collection[str], list[str]]:
    """Mark what was superseded, and log it; return what is corrected, and what to warn of."""
    reasons = {one.id: one.remark for one in corrections}
    corrected: dict[str, str | None] = {
        name: None for name in reasons if project.library.get(name) is not None
    }
    warnings = [
        f"the correction of {name} was ignored: no learning has this id"
        for name in reasons
        if name not in corrected
    ]
    superseding = ((new, one, old) for new, one in written.items() for old in one.supersedes)
    for new, learning, old in superseding:
        objection = _supersede(project, old, new, learning.scope, dry_run=dry_run)
        if objection:
            warnings.append(f"{old} was not marked as superseded: {objection}")
        elif objection is not None:
            corrected[old] = new
    if not dry_run:
        stored = ((name, project.library.get(name)) for name in corrected)
        # What is logged again counts once for a session, as uses do.
        project.log_by_area(
            (
                Corrected(
                    ts=project.now,
                    learning_id=name,
                    session_id=session_id,
                    superseded_by=corrected[name],
                    why=reasons.get(name),
                ),
                found.area is Area.PERSONAL,
            )
            for name, found in stored
            if found is not None
        )
    return corrected.keys(), warnings


def _supersede(project: Project, old: str, new: str, scope: Scope, *, dry_run: bool) -> str | None:
    """Mark a learning as superseded, or say why not; ``None`` when it is marked already."""
    found = project.library.get(old)
    if found is None:
        return "no learning has this id"
    if found.hit.learning.status is LearningStatus.SUPERSEDED:
        return None
    if found.area is Area.PROJECT and scope in (Scope.PERSONAL, Scope.EPHEMERAL):
        kind = scope.value
        return f"its successor is {kind}, and others who share the project could not read it"
    if not dry_run:
        try:
            with curating(project):
                project.library.set_status(old, LearningStatus.SUPERSEDED, f"by {new}")
        except (LearningNotFoundError, BackendError, StorageError) as error:
            return str(error)
    return ""


# --- uses -----------------------------------------------------------------------------------------


def unknown_ids(project: Project, session: Session, ids: Iterable[str]) -> list[str]:
    """Find the ids that no learning has."""
    shown = {one.learning_id for one in session.injected}
    return [one for one in ids if one not in shown and project.library.get(one) is None]


def mark_used(
    project: Project, session: Session, used: Sequence[Reference], ticket_id: str | None
) -> Session:
    """Record learnings as used, each once; ids that do not exist are passed over."""
    shown = {one.learning_id: one.personal for one in session.injected}
    is_personal: dict[str, bool] = {}
    for one in used:
        if one.id in shown:
            is_personal[one.id] = shown[one.id]
        elif (found := project.library.get(one.id)) is not None:
            is_personal[one.id] = found.area is Area.PERSONAL
    if not is_personal:
        return session

    def change(stored: Session) -> SessionUpdate:
        injected = tuple(
            evolve(one, outcome=InjectionOutcome.REFERENCED)
            if one.learning_id in is_personal
            else one
            for one in stored.injected
        )
        names = " ".join(sorted(is_personal))
        note = trace_event(EventType.LEARNING_REFERENCED, project.now, learnings=names)
        return SessionUpdate(session=evolve(stored, injected=injected), trace=[note])

    after, _ = update_session(project, session, change)
    how = {one.id: one.remark for one in reversed(used)}
    # What is logged again counts once for a session.
    project.log_by_area(
        (
            Referenced(
                ts=project.now,
                learning_id=learning_id,
                session_id=session.id,
                ticket_id=ticket_id,
                how=how[learning_id],
            ),
            personal,
        )
        for learning_id, personal in is_personal.items()
    )
    return after


# --- ratings --------------------------------------------------------------------------------------


def choose_questions(
    project: Project, limit: int, categories: Collection[Category] = ()
) -> tuple[list[Question], int]:
    """Choose the learnings least rated and most shown; the second result says of how many."""
    usage = project.usage()
    found = {
        one.hit.learning.id: one
        for one in project.library.iterate()
        if one.hit.learning.status is LearningStatus.ACTIVE
        and (not categories or one.hit.learning.category in categories)
    }
    fared = [(one, usage.get(name) or LearningStats(name)) for name, one in found.items()]
    fared.sort(key=lambda one: (one[1].rated_useful.total, -one[1].surfaced, one[1].learning_id))
    return fared[:limit], len(fared)


def rate(project: Project, ratings: Iterable[tuple[str, bool]]) -> Result:
    """Log ratings; it fails where none names a learning."""
    given = {name: (useful, project.library.get(name)) for name, useful in ratings}
    rated = {name: useful for name, (useful, found) in given.items() if found is not None}
    unknown = [name for name in given if name not in rated]
    project.log_by_area(
        (Rated(ts=project.now, learning_id=name, useful=useful), found.area is Area.PERSONAL)
        for name, (useful, found) in given.items()
        if found is not None
    )
    useful = sum(rated.values())
    kept = f"Kept {counted(len(rated), 'rating')}: {useful} useful, {len(rated) - useful} not."
    warnings = [f"no learning has the id {name}" for name in unknown]
    failed = {"error": "; ".join(warnings)} if unknown and not rated else {}
    return Result(
        document={
            "rated": [{"id": name, "useful": useful} for name, useful in rated.items()],
            "unknown": unknown,
            **failed,
        },
        lines=[kept if rated else "Nothing was rated."],
        ids=[*rated],
        exit_code=1 if failed else 0,
        warnings=warnings,
    )
