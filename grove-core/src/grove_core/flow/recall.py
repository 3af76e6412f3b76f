"""Choosing which learnings to show, showing them, and remembering that they were shown."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from attrs import evolve, frozen

from grove_core.flow.consideration import Consideration, keep
from grove_core.injection import VIA_START, Injection, render
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Filters, Query
from grove_core.model.session import EventType, InjectedLearning, Session, TraceEvent
from grove_core.model.value import Value
from grove_core.retrieval.choosing import Choice, choose, choose_without_query, exact_matches
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.services.sync import ages_of, index_in_background
from grove_core.stats.log_lines import microseconds

if TYPE_CHECKING:
    from grove_core.model.events import Surfaced
    from grove_core.workspace import Workspace

SEARCH_SECONDS: Final = 1.0


@frozen(kw_only=True, eq=False, repr=False)
class Recall(Value):
    """What is to be shown."""

    injection: Injection
    learnings: tuple[InjectedLearning, ...]
    trace: tuple[TraceEvent, ...]
    events: "tuple[tuple[Surfaced, bool], ...]"
    consideration: Consideration


def recall(
    workspace: "Workspace",
    session: Session,
    query: Query,
    *,
    limit: int,
    max_chars: int,
    via: str,
    written_after: datetime | None = None,
) -> Recall | None:
    """Choose what to show, within the configured budget."""
    choice = consider(workspace, session, query, limit=limit, written_after=written_after)
    consideration = Consideration(query, choice, limit, max_chars, via)
    if not choice.chosen:
        keep(workspace, session.id, consideration)
        return None
    entries = [one.entry for one in choice.chosen]
    ages = ages_of(workspace) if via == VIA_START else ()
    injection = render(entries, workspace.now, max_chars, more=choice.beyond, ages=ages)
    return _remembered(workspace, session, injection, consideration)


def consider(
    workspace: "Workspace",
    session: Session,
    query: Query,
    *,
    limit: int,
    written_after: datetime | None = None,
) -> Choice:
    """Judge what there is, and choose."""
    strategy = workspace.config.retrieval.strategy
    shown = {one.learning_id for one in session.injected}
    if query.is_empty and strategy is RetrievalStrategy.CONSERVATIVE:
        return Choice((), ())  # nothing can be a match
    finder = workspace.finder
    # Where nothing is known about the work, only this project's own learnings may fit it.
    ranked = (
        finder.newest(Filters(), personal=False)
        if query.is_empty
        else finder.search(query, Filters(), seconds=SEARCH_SECONDS)
    )
    if written_after is not None:
        ranked = [one for one in ranked if one.entry.created > microseconds(written_after)]
    if not finder.complete:
        index_in_background(workspace)
    if query.is_empty:
        usage = workspace.usage([one.entry.id for one in ranked])
        return choose_without_query(ranked, usage, limit, shown=shown)
    if strategy is RetrievalStrategy.AGGRESSIVE:
        known = {one.entry.id for one in ranked}
        ranked += [one for one in finder.newest(Filters()) if one.entry.id not in known]
    exact = exact_matches(query.tags, query.files, f"{query.text} {query.ticket_title}")
    return choose(
        ranked, strategy, limit, workspace.now, floor=finder.floor, exact=exact, shown=shown
    )


def repeat(workspace: "Workspace", session: Session, max_chars: int) -> Injection:
    """Show again what a session was shown, after its context was compacted."""
    found = (workspace.finder.get(one.learning_id) for one in session.injected)
    active = [one for one in found if one and one.status == LearningStatus.ACTIVE.value]
    return render(active, workspace.now, max_chars)


def _remembered(
    workspace: "Workspace", session: Session, injection: Injection, consideration: Consideration
) -> Recall:
    from grove_core.model.events import Surfaced

    via = consideration.via
    by_id = {one.entry.id: one for one in consideration.choice.chosen}
    learnings: list[InjectedLearning] = []
    events: list[tuple[Surfaced, bool]] = []
    for learning_id in injection.shown:
        one = by_id[learning_id]
        score = round(one.score.total, 4)
        learnings.append(
            InjectedLearning(
                learning_id=learning_id,
                summary=one.entry.fields()["summary"],
                score=score,
                injected_at=workspace.now,
                via=via,
                personal=one.entry.personal,
            )
        )
        surfaced = Surfaced(
            ts=workspace.now,
            learning_id=learning_id,
            session_id=session.id,
            via=via,
            score=score,
        )
        events.append((surfaced, one.entry.personal))
    ids = " ".join(injection.shown)
    trace = trace_event(EventType.LEARNINGS_INJECTED, workspace.now, via=via, learnings=ids)
    return Recall(
        injection=injection,
        learnings=tuple(learnings),
        trace=(trace,) if injection.shown else (),
        events=tuple(events),
        consideration=consideration,
    )


def remember(workspace: "Workspace", session: Session, shown: Recall) -> str:
    """Keep in the session and in the log what is about to be shown."""
    added: list[str] = []
    via = shown.consideration.via
    given = _given(session, via)

    def change(stored: Session) -> SessionUpdate:
        known = {one.learning_id for one in stored.injected}
        # What another set of hooks has chosen for the same occasion stands.
        is_first = _given(stored, via) == given
        new = tuple(one for one in shown.learnings if is_first and one.learning_id not in known)
        added[:] = [one.learning_id for one in new]
        session = evolve(stored, injected=(*stored.injected, *new))
        return SessionUpdate(session=session, trace=shown.trace if new else ())

    update_session(workspace, session.id, change, absent=lambda: session, cause="injection")
    for personal in (False, True):
        events = [
            one
            for one, is_personal in shown.events
            if is_personal is personal and one.learning_id in added
        ]
        workspace.log_events(events, personal=personal)
    if added or not shown.learnings:
        keep(workspace, session.id, shown.consideration, shown.injection.shown)
    return shown.injection.text if added else ""


def _given(session: Session, via: str) -> int:
    return sum(one.via == via for one in session.injected)
