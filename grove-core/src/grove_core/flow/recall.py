"""Choosing which learnings to show, showing them, and remembering that they were shown."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core.injection import VIA_START, Injection, render
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Filters, Query
from grove_core.model.session import EventType, InjectedLearning, Session, TraceEvent
from grove_core.model.value import Value, frozen
from grove_core.retrieval.choosing import Choice, choose, choose_without_query, exact_matches
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.services.explain import log_retrieval
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.services.sync import ages_of, index_in_background
from grove_core.stats.lines import microseconds

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
    via: str
    log: Callable[..., None]


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
    log = partial(
        log_retrieval, workspace, session.id, choice, via=via, limit=limit, max_chars=max_chars
    )
    if not choice.chosen:
        log()
        return None
    entries = [one.entry for one in choice.chosen]
    ages = ages_of(workspace) if via == VIA_START else ()
    injection = render(entries, workspace.now, max_chars, more=choice.beyond, ages=ages)
    learnings, events = _shown(workspace, session.id, injection, choice, via)
    ids = " ".join(injection.shown)
    trace = trace_event(EventType.LEARNINGS_INJECTED, workspace.now, via=via, learnings=ids)
    return Recall(
        injection=injection,
        learnings=learnings,
        trace=(trace,) if injection.shown else (),
        events=events,
        via=via,
        log=log,
    )


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


def _shown(
    workspace: "Workspace", session_id: str, injection: Injection, choice: Choice, via: str
) -> "tuple[tuple[InjectedLearning, ...], tuple[tuple[Surfaced, bool], ...]]":
    """Return what was shown, for the session and for the event log."""
    from grove_core.model.events import Surfaced

    by_id = {one.entry.id: one for one in choice.chosen}
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
            session_id=session_id,
            via=via,
            score=score,
        )
        events.append((surfaced, one.entry.personal))
    return tuple(learnings), tuple(events)


def remember(workspace: "Workspace", session: Session, shown: Recall) -> str:
    """Keep in the session and in the log what is about to be shown."""
    added: list[str] = []
    via = shown.via
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
        shown.log(shown=shown.injection.shown)
    return shown.injection.text if added else ""


def _given(session: Session, via: str) -> int:
    return sum(one.via == via for one in session.injected)
