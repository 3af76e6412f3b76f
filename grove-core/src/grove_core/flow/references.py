"""Recording that learnings were used."""

from collections.abc import Iterable, Sequence

from attrs import evolve

from grove_core.flow.said_before import adds_something, uses_logged
from grove_core.model.events import Referenced
from grove_core.model.session import EventType, InjectionOutcome, Session
from grove_core.plugins.descriptors import Area
from grove_core.reflection.submission import UsedLearning
from grove_core.services.sessions import SessionUpdate, trace_event, update_session
from grove_core.workspace import Workspace


def unknown_ids(workspace: Workspace, session: Session, ids: Iterable[str]) -> list[str]:
    """Find the ids that no learning has."""
    shown = {one.learning_id for one in session.injected}
    return [one for one in ids if one not in shown and workspace.library.get(one) is None]


def mark_used(
    workspace: Workspace, session: Session, used: Sequence[UsedLearning], ticket_id: str | None
) -> Session:
    """Record learnings as used, each once; ids that do not exist are passed over."""
    known = {one.learning_id: one.personal for one in session.injected}
    areas: dict[str, bool] = {}
    for one in used:
        if one.id in known:
            areas[one.id] = known[one.id]
        elif (found := workspace.library.get(one.id)) is not None:
            areas[one.id] = found.area is Area.PERSONAL
    if not areas:
        return session

    def change(stored: Session) -> SessionUpdate:
        injected = tuple(
            evolve(one, outcome=InjectionOutcome.REFERENCED) if one.learning_id in areas else one
            for one in stored.injected
        )
        note = trace_event(
            EventType.LEARNING_REFERENCED, workspace.now, learnings=" ".join(sorted(areas))
        )
        return SessionUpdate(session=evolve(stored, injected=injected), trace=[note])

    session, _ = update_session(
        workspace, session.id, change, absent=lambda: session, cause="reference"
    )
    how = {one.id: one.how for one in reversed(used)}
    logged = uses_logged(workspace, session.id, areas)
    for personal in (False, True):
        uses = [
            Referenced(
                ts=workspace.now,
                learning_id=learning_id,
                session_id=session.id,
                ticket_id=ticket_id,
                how=how[learning_id],
            )
            for learning_id, is_personal in areas.items()
            if is_personal is personal
        ]
        new = [one for one in uses if adds_something(one, logged.get(one.learning_id, ()))]
        workspace.log_events(new, personal=personal)
    return session
