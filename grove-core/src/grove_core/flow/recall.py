"""Choosing which learnings to show, showing them, and remembering that they were shown."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from attrs import evolve, frozen

from grove_core.flow.gatekeeper import Change, move
from grove_core.injection import Injection, render
from grove_core.memory.backends import FoundLearning
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Filters, Hit, Query
from grove_core.model.session import EventType, InjectedLearning, Session, TraceEvent
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area
from grove_core.retrieval.ranking import (
    RankedHit,
    choose,
    choose_without_query,
    fitting,
    rank,
)
from grove_core.tracing import event
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from grove_core.model.events import Surfaced
    from grove_core.model.statistics import LearningStats

VIA_START: Final = "start"
VIA_PROMPT: Final = "prompt"
SEARCH_SECONDS: Final = 1.0


@frozen(kw_only=True, eq=False, repr=False)
class Recall(Value):
    """What is to be shown.

    Attributes:
        injection: The text and the ids in it.
        learnings: The learnings in it, as the session will remember them.
        trace: What to say in the trace.
        events: What to say in the log.
    """

    injection: Injection
    learnings: tuple[InjectedLearning, ...]
    trace: tuple[TraceEvent, ...]
    events: "tuple[tuple[Surfaced, bool], ...]"


def recall(
    workspace: Workspace, session: Session, query: Query, *, limit: int, max_chars: int, via: str
) -> Recall | None:
    """Choose what to show, within the configured budget.

    Args:
        workspace: The project.
        session: The session; what it was shown already is left out.
        query: The work at hand.
        limit: At most this many.
        max_chars: At most this many characters.
        via: How it is shown, for the log: start or prompt.

    Returns:
        What to show, or ``None`` for nothing.
    """
    found = workspace.library.search(query, Filters(), seconds=SEARCH_SECONDS)
    shown = {one.learning_id for one in session.injected}
    new = {one.hit.learning.id: one for one in found if one.hit.learning.id not in shown}
    if not new:
        return None
    usage = workspace.usage()
    chosen, number = _choose(workspace, query, list(new.values()), usage, limit)
    if not chosen:
        return None
    injection = render(
        [one.hit.learning for one in chosen],
        workspace.now,
        max_chars,
        more=number - len(chosen),
    )
    by_id = {one.hit.learning.id: one for one in chosen}
    return _remembered(workspace, session, injection, chosen=by_id, found=new, via=via)


def repeat(workspace: Workspace, session: Session, max_chars: int) -> Injection:
    """Show again what a session was shown, after its context was compacted.

    Args:
        workspace: The project.
        session: The session.
        max_chars: At most this many characters.

    Returns:
        The text; learnings that are gone or no longer active are left out.
    """
    found = (workspace.library.get(one.learning_id) for one in session.injected)
    again = [one.hit.learning for one in found if one is not None]
    active = [one for one in again if one.status is LearningStatus.ACTIVE]
    return render(active, workspace.now, max_chars)


def _choose(
    workspace: Workspace,
    query: Query,
    found: Sequence[FoundLearning],
    usage: "Mapping[str, LearningStats]",
    limit: int,
) -> tuple[Sequence[RankedHit], int]:
    """Choose hits, and tell how many fit the work in all."""
    retrieval = workspace.config.retrieval
    if query.is_empty:
        # Where nothing is known about the work, only this project's own learnings may fit it.
        found = [one for one in found if one.area is Area.PROJECT]
    hits: list[Hit] = [one.hit for one in found]
    ranked = rank(hits, usage, workspace.now, retrieval.recency_days_to_30_percent)
    if query.is_empty:
        chosen = choose_without_query(ranked, usage, limit)
        return chosen, len(chosen)
    chosen = choose(ranked, retrieval.strategy, limit, workspace.now)
    return chosen, max(len(fitting(ranked, retrieval.strategy)), len(chosen))


def _remembered(
    workspace: Workspace,
    session: Session,
    injection: Injection,
    *,
    chosen: dict[str, RankedHit],
    found: dict[str, FoundLearning],
    via: str,
) -> Recall:
    from grove_core.model.events import Surfaced

    learnings: list[InjectedLearning] = []
    events: list[tuple[Surfaced, bool]] = []
    for learning_id in injection.shown:
        one = chosen[learning_id]
        personal = found[learning_id].area is Area.PERSONAL
        score = round(one.score.total, 4)
        learnings.append(
            InjectedLearning(
                learning_id=learning_id,
                summary=one.hit.learning.summary,
                score=score,
                injected_at=workspace.now,
                via=via,
                personal=personal,
            )
        )
        surfaced = Surfaced(
            ts=workspace.now,
            learning_id=learning_id,
            session_id=session.id,
            via=via,
            score=score,
        )
        events.append((surfaced, personal))
    ids = " ".join(injection.shown)
    trace = event(EventType.LEARNINGS_INJECTED, workspace.now, via=via, learnings=ids)
    return Recall(
        injection=injection,
        learnings=tuple(learnings),
        trace=(trace,) if injection.shown else (),
        events=tuple(events),
    )


def remember(workspace: Workspace, session: Session, shown: Recall) -> str:
    """Keep in the session and in the log what is about to be shown.

    Args:
        workspace: The project.
        session: The session.
        shown: What is shown.

    Returns:
        The text.
    """
    added: list[str] = []

    def change(stored: Session) -> Change:
        known = {one.learning_id for one in stored.injected}
        new = tuple(one for one in shown.learnings if one.learning_id not in known)
        added[:] = [one.learning_id for one in new]
        session = evolve(stored, injected=(*stored.injected, *new))
        return Change(session=session, trace=shown.trace if new else ())

    move(workspace, session.id, change, absent=lambda: session, cause="injection")
    for personal in (False, True):
        events = [
            one
            for one, is_personal in shown.events
            if is_personal is personal and one.learning_id in added
        ]
        workspace.log_events(events, personal=personal)
    # Another hook of the same start or prompt may have shown all of it meanwhile.
    return shown.injection.text if added else ""
